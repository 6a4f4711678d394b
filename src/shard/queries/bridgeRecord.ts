import type { DepositCount } from '../../protocol/units.js'
import type { BridgeRecord } from '../../query/records.js'
import { claimsListedDeposit } from '../snapshot/claimedContent.js'
import type { ShardView } from '../snapshot/shardView.js'
import type { ShardReaders } from './shardReaders.js'

/**
 * A deposit, joined with its claim and its readiness from other shards.
 * @param depositCount must be below the number of deposits. @param isAlone true when only this deposit was asked for: its
 * metadata is then shown at full length.
 */
export function bridgeRow(
  shards: ShardReaders,
  source: ShardView,
  depositCount: number,
  isAlone: boolean,
): BridgeRecord {
  const row = source.deposits.get(depositCount)
  const sender = source.deposits.senders.find(depositCount)
  const token = source.dictionary.getToken(row.tokenId)
  const path = shards.claimFacts.path(source, row.destinationNetwork)
  const { destination } = path
  const claim = destination?.claims.findOf(source.networkId, depositCount)
  return {
    transactionHash: row.transactionHash,
    depositCount: depositCount as DepositCount,
    sourceNetwork: source.networkId,
    destinationNetwork: row.destinationNetwork,
    caller: sender?.caller ?? null,
    transactionSender: sender?.transactionSender ?? null,
    destinationAddress: row.destinationAddress,
    amount: row.amount,
    timestampSec: row.timestampSec,
    blockNumber: row.blockNumber,
    logIndex: row.logIndex,
    leafType: row.leafType,
    tokenNetwork: token.network,
    tokenAddress: token.address,
    metadata: isAlone
      ? source.dictionary.getWhole(row.metadataId)
      : source.dictionary.getListed(row.metadataId),
    readyForClaim: claim === undefined && path.isReady(depositCount),
    claimTransactionHash: claim === undefined ? null : destination!.claims.getTransactionHash(claim),
    l1InfoTreeIndex: path.findUsable(depositCount) ?? null,
    claimMatches: claim === undefined || claimsListedDeposit(source, depositCount, destination!, claim),
  }
}

/** Whether the deposit is ready, as its row says. */
export function isReady(shards: ShardReaders, source: ShardView, depositCount: number): boolean {
  const path = shards.claimFacts.path(source, source.deposits.getDestinationNetwork(depositCount))
  return (
    path.isReady(depositCount) &&
    path.destination !== undefined &&
    path.destination.claims.findOf(source.networkId, depositCount) === undefined
  )
}

/** Whether the deposit has a claim in force, as far as this instance knows. */
export function isClaimed(shards: ShardReaders, source: ShardView, depositCount: number): boolean {
  const path = shards.claimFacts.path(source, source.deposits.getDestinationNetwork(depositCount))
  return path.destination?.claims.findOf(source.networkId, depositCount) !== undefined
}
