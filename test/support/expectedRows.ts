import { numberToHex } from 'viem/utils'
import type { BridgeRecord, ClaimRecord } from '../../src/query/records.js'
import type { FakeWorld } from './fakeChain.js'
import { type ExpectedDeposit, expectedDeposits, type ModelOptions, pays } from './fakeChainModel.js'
import type { FakeClaim, FakeDeposit } from './fakeState.js'
import { toHex } from './indexedBlocks.js'
import { globalIndexOf } from './naiveTree.js'

/** Rows as plain values, so that answers and expectations compare as wholes. */
export type PlainRow = Readonly<Record<string, unknown>>

/** Bytes and addresses as hex. What an answer leaves out of most rows is left out here. */
function plain(record: object): PlainRow {
  const told = Object.entries(record).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return []
    const bytes = typeof value === 'object' && value !== null && 'bytes' in value ? value.bytes : value
    return [[name, bytes instanceof Uint8Array ? toHex(bytes) : bytes]]
  })
  return Object.fromEntries(told)
}

export function plainBridge({ metadataLength, metadataHash, ...record }: BridgeRecord): PlainRow {
  return { claimMatches: true, ...plain(record) }
}

export function expectedBridge(deposit: ExpectedDeposit): PlainRow {
  return {
    depositCount: deposit.depositCount,
    sourceNetwork: deposit.networkId,
    destinationNetwork: deposit.destinationNetwork,
    transactionHash: deposit.transactionHash,
    // The sender of a message is its own origin address.
    originAddress: deposit.leafType === 1 ? deposit.originAddress : deposit.caller,
    transactionSender: deposit.transactionSender,
    destinationAddress: deposit.destinationAddress,
    amount: numberToHex(deposit.amount, { size: 32 }),
    timestampSec: deposit.timestampSec,
    blockNumber: deposit.blockNumber,
    logIndex: deposit.logIndex,
    leafType: deposit.leafType,
    tokenNetwork: deposit.originNetwork,
    tokenAddress: deposit.originAddress,
    // More than 4,096 bytes of two digits each.
    metadata: deposit.metadata.length > 2 + 2 * 4_096 ? null : deposit.metadata,
    globalIndex: numberToHex(globalIndexOf(deposit.networkId, deposit.depositCount), { size: 32 }),
    readyForClaim: deposit.readyForClaim,
    claimTransactionHash: deposit.claimTransactionHash,
    claimMatches: deposit.claimMatches,
    l1InfoTreeIndex: deposit.usableIndex,
  }
}

/** All deposits of a network, newest first. */
export function expectedBridges(world: FakeWorld, source: number, options: ModelOptions): ExpectedDeposit[] {
  return expectedDeposits(world, source, options).reverse()
}

export const plainClaim: (record: ClaimRecord) => PlainRow = plain

/** All claims that a network's list should show, newest first. */
export function expectedClaims(
  world: FakeWorld,
  networkId: number,
): Array<PlainRow & { isByNobody: boolean }> {
  return [...world.network(networkId).claims()].reverse().flatMap((claim) => {
    const deposit = claimedDeposit(world, claim)
    const isByNobody = claim.caller === null
    const told = isByNobody ? world.network(claim.sourceNetwork).deposits()[claim.depositCount] : claim
    // Set by an administrator for a deposit that does not exist any more: not listed.
    if (told === undefined) return []
    return [
      {
        transactionHash: claim.transactionHash,
        globalIndex: numberToHex(
          isByNobody ? globalIndexOf(claim.sourceNetwork, claim.depositCount) : claim.globalIndex,
          { size: 32 },
        ),
        amount: numberToHex(told.amount, { size: 32 }),
        timestampSec: claim.timestampSec,
        bridgeTransactionHash: deposit?.transactionHash ?? null,
        blockNumber: claim.blockNumber,
        logIndex: claim.logIndex,
        sourceNetwork: claim.sourceNetwork,
        depositCount: claim.depositCount,
        destinationNetwork: networkId,
        destinationAddress: told.destinationAddress,
        tokenNetwork: told.originNetwork,
        tokenAddress: told.originAddress,
        caller: claim.caller,
        transactionSender: claim.transactionSender,
        isByNobody,
      },
    ]
  })
}

/**
 * The deposit that a claim paid out: of the deposits with its count and content the current one, else the last
 * archived one.
 */
function claimedDeposit(world: FakeWorld, claim: FakeClaim): FakeDeposit | undefined {
  const { deposits, archived } = world.network(claim.sourceNetwork).head.state
  const live = deposits[claim.depositCount]
  const cutOff = archived.filter(({ depositCount }) => depositCount === claim.depositCount).reverse()
  if (claim.caller === null || cutOff.length === 0) return live
  return [live, ...cutOff].find((deposit) => deposit !== undefined && pays(deposit, claim))
}
