import type { BlockHeader } from '../../protocol/chainEvent.js'
import type { WriteView } from '../../store/shardStore.types.js'
import {
  lowerFinalized,
  noteRewind,
  putCheckpoint,
  readCheckpoint,
  readCounters,
  readHeaderAtOrBelow,
  readUndoFloor,
  removeHeadersAbove,
  removeOrigin,
} from '../position/chainPosition.js'
import { readLineages } from '../snapshot/tiles.js'
import { refuse } from './refuse.js'

/**
 * Undoes every block above `ancestor` inside the transaction.
 * @param startBlock the network's first block: an ancestor of `startBlock` − 1 means that no stored block is on the chain.
 */
export function revertTo(view: WriteView, ancestor: number, startBlock: number): void {
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
  view.undoAbove(ancestor)
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
}
