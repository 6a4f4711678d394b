import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { BlockHeader } from '../../protocol/chainEvent.js'
import type { BlockNumber } from '../../protocol/units.js'
import type { WriteView } from '../../store/shardStore.types.js'
import {
  lowerFinalized,
  noteRewind,
  putCheckpoint,
  putLastReorg,
  readCheckpoint,
  readCounters,
  readHeaderAtOrBelow,
  readUndoFloor,
  removeHeadersAbove,
  removeOrigin,
} from '../position/chainPosition.js'
import { readLineages } from '../snapshot/tiles.js'
import { refuse } from './refuse.js'

/** What has come back with a revert, or is other than before, of all that stays. */
export interface BroughtBack {
  /** Deposits that BackwardLET had cut off, in a block that is undone: from here on. Equal to the number of deposits when there are none. */
  readonly depositsFrom: number
  /** Ordinals of claims that are in force again, ascending. */
  readonly claims: readonly number[]
  /** Ordinals of token mappings that have changed, ascending. */
  readonly tokenMappings: readonly number[]
}

/**
 * Undoes every block above `ancestor` inside the transaction.
 * @param startBlock the network's first block: an ancestor of `startBlock` − 1 means that no stored block is on the chain.
 * @param reorgSeenAtSec Unix seconds at which it was noticed that the chain has dropped the blocks; undefined if it has not.
 */
export function revertTo(
  view: WriteView,
  ancestor: number,
  startBlock: number,
  reorgSeenAtSec?: number,
): BroughtBack {
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined || ancestor > checkpoint.number)
    refuse(
      'unknown_ancestor',
      `revert to block ${ancestor} above the checkpoint ${checkpoint?.number ?? '(none)'}`,
    )
  const undoFloor = readUndoFloor(view)
  if (ancestor < undoFloor)
    refuse('reorg_too_deep', `ancestor ${ancestor} of the reorg is below ${undoFloor}, where undo ends`)
  let header: BlockHeader | undefined
  if (ancestor !== startBlock - 1) {
    header = readHeaderAtOrBelow(view, ancestor)
    if (header?.number !== ancestor) refuse('unknown_ancestor', `block ${ancestor} has no stored header`)
  }
  const before = readCounters(view)
  const lineages = readLineages(view, before.lineage)
  const touched = { claimsOutOfForce: new Set<number>(), tokenMappings: new Set<number>() }
  view.undoAbove(ancestor, (table, key) => {
    if (table === 'claimsOutOfForce' || table === 'tokenMappings')
      touched[table].add(readUint32BigEndian(key, 0))
  })
  removeHeadersAbove(view, ancestor)
  putCheckpoint(view, header)
  if (header === undefined) removeOrigin(view)
  lowerFinalized(view, header?.number)
  const after = readCounters(view)
  // Undoing a cut brings back deposits whose counts other deposits had in the meantime.
  const undoneCuts = lineages.slice(after.lineage + 1).map(({ cut }) => cut)
  const rewind = {
    deposits: Math.min(after.deposits, ...undoneCuts),
    claims: after.claims,
    tokenMappings: after.tokenMappings,
  }
  noteRewind(view, rewind, { isReorg: true })
  if (reorgSeenAtSec !== undefined)
    putLastReorg(view, {
      ancestor: ancestor as BlockNumber,
      lastBlock: checkpoint.number,
      detectedAtSec: reorgSeenAtSec,
    })
  const below = (ordinals: ReadonlySet<number>, count: number) =>
    [...ordinals].filter((ordinal) => ordinal < count).sort((a, b) => a - b)
  return {
    depositsFrom: rewind.deposits,
    claims: below(touched.claimsOutOfForce, after.claims),
    tokenMappings: below(touched.tokenMappings, after.tokenMappings),
  }
}
