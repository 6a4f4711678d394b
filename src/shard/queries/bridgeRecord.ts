import type { DepositCount } from '../../protocol/units.js'
import type { BridgeRecord } from '../../query/records.js'
import { bridgeSources, moreOfBridge } from '../rows/bridgeRows.js'
import { recordOf } from '../rows/rowSources.js'
import { claimsListedDeposit } from '../snapshot/claimedContent.js'
import type { ShardView } from '../snapshot/shardView.js'
import type { ShardReaders } from './shardReaders.js'

/**
 * Makes the record of a deposit, with its claim and readiness from the other shards.
 * @param depositCount must be below the number of deposits. @param isAlone true when the query names only this deposit: its
 * metadata is then shown up to a higher limit. @param hasMore whether it has what our own API does not tell.
 */
export function makeBridgeRecord(
  shards: ShardReaders,
  source: ShardView,
  depositCount: number,
  isAlone: boolean,
  hasMore = false,
): BridgeRecord {
  const row = source.deposits.get(depositCount)
  const sender = source.deposits.senders.find(depositCount)
  const token = source.dictionary.getToken(row.tokenId)
  const path = shards.claimFacts.path(source, row.destinationNetwork)
  const { destination } = path
  const claim = destination?.claims.findOf(source.networkId, depositCount)
  const { dictionary } = source
  const fields = recordOf(bridgeSources, {
    sourceNetwork: source.networkId,
    depositCount: depositCount as DepositCount,
    row,
    sender,
    token,
    metadata: isAlone ? dictionary.getWhole(row.metadataId) : dictionary.getListed(row.metadataId),
    path,
    claimTransactionHash: claim === undefined ? null : destination!.claims.getTransactionHash(claim),
    claimMatches: claim === undefined || claimsListedDeposit(source, depositCount, destination!, claim),
  })
  return hasMore ? { ...fields, ...moreOfBridge(fields, source.exitTree.getLeaf(depositCount)) } : fields
}

/** Whether the deposit is ready: `readyForClaim` of its record. */
export function isReady(shards: ShardReaders, source: ShardView, depositCount: number): boolean {
  const path = shards.claimFacts.path(source, source.deposits.getDestinationNetwork(depositCount))
  return (
    path.isReady(depositCount) &&
    path.destination !== undefined &&
    path.destination.claims.findOf(source.networkId, depositCount) === undefined
  )
}

/** Whether the deposit has a claim in force on a network that is indexed here. */
export function isClaimed(shards: ShardReaders, source: ShardView, depositCount: number): boolean {
  const path = shards.claimFacts.path(source, source.deposits.getDestinationNetwork(depositCount))
  return path.destination?.claims.findOf(source.networkId, depositCount) !== undefined
}
