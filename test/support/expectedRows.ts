import { numberToHex } from 'viem/utils'
import type { BridgeRecord } from '../../src/query/records.js'
import type { FakeWorld } from './fakeChain.js'
import { type ExpectedDeposit, expectedDeposits, type ModelOptions, pays } from './fakeChainModel.js'
import { archivedIn, type FakeClaim, type FakeDeposit } from './fakeState.js'
import { toHex } from './indexedBlocks.js'

/** Rows as plain values, so that answers and expectations compare as wholes. */
export type PlainRow = Readonly<Record<string, unknown>>

/** Bytes and addresses as hex. What an answer leaves out of most rows is left out here. */
export function plainRow(record: object): PlainRow {
  const told = Object.entries(record).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return []
    const bytes = typeof value === 'object' && value !== null && 'bytes' in value ? value.bytes : value
    return [[name, bytes instanceof Uint8Array ? toHex(bytes) : bytes]]
  })
  return Object.fromEntries(told)
}

export function plainBridge({ metadataLength, metadataHash, ...record }: BridgeRecord): PlainRow {
  return { claimMatches: true, ...plainRow(record) }
}

const uint256 = (value: bigint) => numberToHex(value, { size: 32 })

export function expectedBridge(deposit: ExpectedDeposit): PlainRow {
  const { networkId, originNetwork, leaf, caller, isForwardLeaf, firstCoveringIndex, usableIndex, ...row } =
    deposit
  return {
    ...row,
    sourceNetwork: networkId,
    // The sender of a message is its own origin address.
    originAddress: row.leafType === 1 ? row.originAddress : caller,
    amount: uint256(row.amount),
    tokenNetwork: originNetwork,
    tokenAddress: row.originAddress,
    // More than 4,096 bytes of two digits each.
    metadata: row.metadata.length > 2 + 2 * 4_096 ? null : row.metadata,
    globalIndex: uint256(row.globalIndex),
    l1InfoTreeIndex: usableIndex,
  }
}

/** All deposits of a network, newest first. */
export function expectedBridges(world: FakeWorld, source: number, options: ModelOptions): ExpectedDeposit[] {
  return expectedDeposits(world, source, options).reverse()
}

/** All claims that a network's list should show, newest first. */
export function expectedClaims(
  world: FakeWorld,
  networkId: number,
): Array<PlainRow & { isByNobody: boolean }> {
  return [...world.network(networkId).claims()].reverse().flatMap((claim) => {
    const {
      networkId: destinationNetwork,
      originNetwork,
      originAddress,
      isSetByAdministrator,
      ...row
    } = claim
    const told = isSetByAdministrator ? world.network(row.sourceNetwork).deposits()[row.depositCount] : claim
    // Set by an administrator for a deposit that does not exist any more: not listed.
    if (told === undefined) return []
    return [
      {
        ...{ ...row, destinationNetwork, destinationAddress: told.destinationAddress },
        globalIndex: uint256(row.globalIndex),
        amount: uint256(told.amount),
        bridgeTransactionHash: claimedDeposit(world, claim)?.transactionHash ?? null,
        tokenNetwork: told.originNetwork,
        tokenAddress: told.originAddress,
        caller: isSetByAdministrator ? null : row.caller,
        isByNobody: isSetByAdministrator,
      },
    ]
  })
}

/**
 * The deposit that a claim paid out: of the deposits with its count and content the current one, else the last
 * archived one.
 */
function claimedDeposit(world: FakeWorld, claim: FakeClaim): FakeDeposit | undefined {
  const { state } = world.network(claim.sourceNetwork).head
  const live = state.deposits[claim.depositCount]
  const cutOff = archivedIn(state)
    .filter(({ depositCount }) => depositCount === claim.depositCount)
    .reverse()
  if (claim.isSetByAdministrator || cutOff.length === 0) return live
  return [live, ...cutOff].find((deposit) => deposit !== undefined && pays(deposit, claim))
}
