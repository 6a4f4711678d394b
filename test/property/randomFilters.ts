import { hexToBytes, numberToHex } from 'viem/utils'
import { asBlockNumber, asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import type { BridgesQuery, ClaimsQuery } from '../../src/query/queries.js'
import type { expectedClaims } from '../support/expectedRows.js'
import type { ExpectedDeposit } from '../support/fakeChainModel.js'
import { account, userContract } from '../support/fakeState.js'
import { toHex } from '../support/indexedBlocks.js'
import { TestNumbers } from '../support/testNumbers.js'

export type ExpectedClaim = ReturnType<typeof expectedClaims>[number]

const SENDERS = [1, 2, 3, 9, 555].map(account).concat(userContract(0), userContract(1))
const RECEIVERS = [20, 21, 22, 555].map(account)
const CLAIMERS = [5, 6, 7, 555].map(account).concat(userContract(1))
const NETWORK_IDS = [[0], [1], [2], [3], [77], [1, 2], [0, 77], [0, 1, 2, 3, 77], [500]]

/** Each filter of bridges, or none. */
export function randomBridgeFilters(
  random: () => number,
  deposits: readonly ExpectedDeposit[],
): Partial<BridgesQuery> {
  const dice = new TestNumbers(random)
  const any = dice.pick(deposits)
  const counts = () => {
    const chosen = Array.from({ length: 1 + dice.below(5) }, () => dice.below(deposits.length + 2))
    return [...new Set(chosen)].sort((a, b) => a - b)
  }
  const [block, time] = [any?.blockNumber ?? 5, any?.timestampSec ?? 5]
  return {
    ...(dice.chance(0.1) && { depositCounts: counts().map(asDepositCount) }),
    ...(dice.chance(0.3) && { fromAddress: hexToBytes(dice.pick(SENDERS)) }),
    ...(dice.chance(0.3) && { toAddress: hexToBytes(dice.pick(RECEIVERS)) }),
    ...(any && dice.chance(0.1) && { transactionHash: hexToBytes(any.transactionHash) }),
    ...(any && dice.chance(0.1) && { leafHash: hexToBytes(any.leaf) }),
    ...(dice.chance(0.4) && { networkIds: dice.pick(NETWORK_IDS).map(asNetworkId) }),
    ...(dice.chance(0.3) && { leafType: dice.pick([0, 0, 1, 1, 2]) }),
    ...(dice.chance(0.3) && { claimed: dice.chance(0.5) }),
    ...(dice.chance(0.4) && { readyForClaim: dice.chance(0.5) }),
    ...(dice.chance(0.15) && { fromBlock: asBlockNumber(Math.max(0, block - dice.below(3))) }),
    ...(dice.chance(0.15) && { toBlock: asBlockNumber(block + dice.below(3)) }),
    ...(dice.chance(0.1) && { fromTimestampSec: Math.max(0, time - dice.below(30)) }),
    ...(dice.chance(0.1) && { toTimestampSec: time + dice.below(30) }),
  }
}

/** The caller of a message is its origin address. */
function originShownAsSender({ leafType, originAddress }: ExpectedDeposit): string | undefined {
  return leafType === 1 ? originAddress : undefined
}

/** One line per filter: a bridge is in the list when every filter accepts it. */
export function matchesBridge(deposit: ExpectedDeposit, query: Partial<BridgesQuery>): boolean {
  const { fromAddress, toAddress, transactionHash, leafHash } = query
  const from = fromAddress && toHex(fromAddress)
  const objections = [
    query.depositCounts && !query.depositCounts.some((count) => count === deposit.depositCount),
    from && ![deposit.caller, deposit.transactionSender, originShownAsSender(deposit)].includes(from),
    toAddress && deposit.destinationAddress !== toHex(toAddress),
    transactionHash && deposit.transactionHash !== toHex(transactionHash),
    leafHash && deposit.leaf !== toHex(leafHash),
    query.networkIds && !query.networkIds.some((id) => id === deposit.destinationNetwork),
    query.leafType !== undefined && deposit.leafType !== query.leafType,
    query.claimed !== undefined && (deposit.claimTransactionHash !== null) !== query.claimed,
    query.readyForClaim !== undefined && deposit.readyForClaim !== query.readyForClaim,
    query.fromBlock !== undefined && deposit.blockNumber < query.fromBlock,
    query.toBlock !== undefined && deposit.blockNumber > query.toBlock,
    query.fromTimestampSec !== undefined && deposit.timestampSec < query.fromTimestampSec,
    query.toTimestampSec !== undefined && deposit.timestampSec > query.toTimestampSec,
  ]
  return !objections.some(Boolean)
}

/** Each filter of claims, or none. */
export function randomClaimFilters(
  random: () => number,
  claims: readonly ExpectedClaim[],
): Partial<ClaimsQuery> {
  const dice = new TestNumbers(random)
  const any = dice.pick(claims)
  const index = () => BigInt(dice.chance(0.7) ? String(any?.globalIndex ?? 3) : dice.below(20))
  return {
    ...(dice.chance(0.4) && { fromAddress: hexToBytes(dice.pick(CLAIMERS)) }),
    ...(dice.chance(0.4) && { toAddress: hexToBytes(dice.pick(RECEIVERS)) }),
    ...(any && dice.chance(0.15) && { transactionHash: hexToBytes(any.transactionHash as `0x${string}`) }),
    ...(dice.chance(0.4) && { networkIds: dice.pick(NETWORK_IDS).map(asNetworkId) }),
    ...(dice.chance(0.15) && { globalIndex: hexToBytes(numberToHex(index(), { size: 32 })) }),
  }
}

export function matchesClaim(claim: ExpectedClaim, networkId: number, query: Partial<ClaimsQuery>): boolean {
  const { fromAddress, toAddress, transactionHash, globalIndex } = query
  const from = fromAddress && toHex(fromAddress)
  const objections = [
    from && claim.caller !== from && claim.transactionSender !== from,
    toAddress && claim.destinationAddress !== toHex(toAddress),
    transactionHash && claim.transactionHash !== toHex(transactionHash),
    query.networkIds && !query.networkIds.some((id) => id === claim.sourceNetwork),
    globalIndex && !namesClaim(claim, networkId, BigInt(toHex(globalIndex))),
  ]
  return !objections.some(Boolean)
}

/** The index is the claim's global index, or the bare index of a claim before etrog. */
function namesClaim(claim: ExpectedClaim, networkId: number, index: bigint): boolean {
  const deposit = [claim.sourceNetwork, claim.depositCount].join()
  const emitted = BigInt(String(claim.globalIndex))
  const v1 = [networkId === 0 ? 1 : 0, Number(index)].join()
  const isV1 = namedBy(emitted) !== deposit
  return namedBy(index) === deposit || (isV1 && index < 2n ** 32n && v1 === deposit)
}

function namedBy(index: bigint): string {
  const isMainnet = (index >> 64n) % 2n === 1n
  const rollup = Number(BigInt.asUintN(32, index >> 32n))
  return [isMainnet ? 0 : rollup + 1, Number(BigInt.asUintN(32, index))].join()
}
