import type { StatusRow } from '../../board/statusBoard.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeCommits } from '../../store/layout/metaValues.js'
import type { ReadView, ShardStoreWriter } from '../../store/shardStore.types.js'
import type { ShardCounts } from '../shardWriter.types.js'
import {
  readCatchingUp,
  readCheckpoint,
  readCounters,
  readEpoch,
  readFinalized,
  senderWatermark,
} from './chainPosition.js'
import { readFeedPlace } from './feedPosition.js'

/** Publishes on the status board what is stored. Main calls it before the service answers, the indexer thread after each commit. */
export function publishStored(store: ReadView & Pick<ShardStoreWriter, 'fileBytes'>, row: StatusRow): void {
  const checkpoint = readCheckpoint(store)
  const counts = readShardCounts(store)
  const { emergencyState } = readCounters(store)
  row.set('depositCount', counts.deposits)
  row.set('claimCount', counts.claims)
  row.set('l1InfoLeafCount', counts.l1InfoLeaves)
  row.set('unresolvedSenders', counts.unresolvedSenders)
  row.set('finalizedBlock', readFinalized(store))
  row.set('emergencyState', emergencyState)
  row.set('catchingUp', readCatchingUp(store) ? 1 : 0)
  row.set('storeBytes', store.fileBytes())
  row.set('epoch', readEpoch(store))
  row.set('syncedTimestampSec', checkpoint?.timestampSec)
  // Written after the counts, so that a reader who sees the new block never sees older counts with it.
  row.set('syncedBlock', checkpoint?.number)
  publishFeed(store, row)
  row.publishCommit(decodeCommits(store.get('meta', metaKey('commits'))) ?? 0)
}

/** Publishes which events of the feed there are. */
export function publishFeed(store: Pick<ReadView, 'get'>, row: StatusRow): void {
  const place = readFeedPlace(store)
  if (place === undefined) return
  row.set('feedId', place.feedId)
  row.set('feedOldest', place.oldest)
  row.set('feedNewest', place.newest)
}

/** Totals of the shard. Claims are counted while they are in force. */
export function readShardCounts(view: ReadView): ShardCounts {
  const { deposits, claims, claimsOutOfForce, l1InfoLeaves, gerInjections } = readCounters(view)
  const unresolvedDeposits = deposits - senderWatermark(view, 'deposit')
  const unresolvedClaims = claims - senderWatermark(view, 'claim')
  return {
    deposits,
    claims: claims - claimsOutOfForce,
    l1InfoLeaves,
    unresolvedSenders: unresolvedDeposits + unresolvedClaims,
    gerInjections,
  }
}
