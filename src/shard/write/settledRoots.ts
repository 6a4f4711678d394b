import { InvariantError } from '../../errors/invariantError.js'
import { metaKey } from '../../store/codecs/keys.js'
import { encodeLocalExitRootEntry, encodeUint32 } from '../../store/codecs/smallRows.js'
import type { WriteView } from '../../store/shardStore.types.js'
import { findLocalExitRoot, readSettledInsideBlocks } from '../localExitRoots.js'
import type { FoundExitRoot } from '../localExitRoots.types.js'
import { readCheckpoint, readUndoFloor } from './chainPosition.js'

/**
 * Stores settled roots that stand inside a block, at the checkpoint: with its block they go, and so before any of their leaves.
 * @throws InvariantError when nothing is stored yet.
 */
export function applySettledRoots(view: WriteView, found: readonly FoundExitRoot[]): void {
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined) throw new InvariantError('exit roots were found before the first block')
  view.setUndoBlock(checkpoint.number > readUndoFloor(view) ? checkpoint.number : undefined)
  let count = readSettledInsideBlocks(view)
  for (const entry of found) {
    if (findLocalExitRoot(view, entry.root) !== undefined) continue
    view.put('settledInsideBlocks', entry.root, encodeLocalExitRootEntry(entry))
    count++
  }
  view.put('meta', metaKey('settledInsideBlocks'), encodeUint32(count))
  view.setUndoBlock(undefined)
}
