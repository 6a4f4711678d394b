import type { StatusRow } from '../../board/statusBoard.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeCommits } from '../../store/layout/metaValues.js'
import type { ReadView, ShardStoreWriter } from '../../store/shardStore.types.js'
import type { ShardCounts } from '../shardWriter.types.js'
import { readCatchingUp, readCheckpoint, readEpoch, readFinalized } from './chainPosition.js'
import { readCounters, senderWatermark } from './counters.js'

/** Tells the status board what is stored: main before anything can be asked, then the indexer's thread after each commit. */
export function tellStored(store: ReadView & Pick<ShardStoreWriter, 'fileBytes'>, row: StatusRow): void {
  const checkpoint = readCheckpoint(store)
  const counts = readCounts(store)
  const { emergencyState, lineage } = readCounters(store)
  row.set('depositCount', counts.deposits)
  row.set('claimCount', counts.claims)
  row.set('l1InfoLeafCount', counts.l1InfoLeaves)
  row.set('unresolvedSenders', counts.unresolvedSenders)
  row.set('finalizedBlock', readFinalized(store))
  row.set('emergencyState', emergencyState)
  row.set('catchingUp', readCatchingUp(store) ? 1 : 0)
  row.set('storeBytes', store.fileBytes())
  // A BackwardLET voids answers as a reorg does, and its undoing is one: reorgs outweigh every lineage (u16) there can be.
  row.set('epoch', readEpoch(store) * 2 ** 16 + lineage)
  row.set('syncedTimestampSec', checkpoint?.timestampSec ?? -1)
  // Behind all that it holds: who is told a block is told no count of before it.
  row.set('syncedBlock', checkpoint?.number ?? -1)
  row.publishCommit(decodeCommits(store.get('meta', metaKey('commits'))) ?? 0)
}

/** What the shard holds, as far as it is in force. */
export function readCounts(view: ReadView): ShardCounts {
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
