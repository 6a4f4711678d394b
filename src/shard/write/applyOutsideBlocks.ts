import type { Hash } from '../../protocol/chainEvent.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeUint32, encodeLocalExitRootEntry, encodeUint32 } from '../../store/layout/smallRows.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import type { FoundExitRoot } from '../localExitRoots.types.js'
import { readCheckpoint, readUndoFloor } from '../position/chainPosition.js'
import { findLocalExitRoot, readSettledInsideBlocks } from '../snapshot/localExitRoots.js'
import { applyGerInjected } from './applyGers.js'
import { refuse } from './refuse.js'
import type { WriteContext } from './writeContext.js'

/** Number of L1 info leaves that polling is done with; undefined while it has found nothing. */
export function readPolledLeaves(view: ReadView): number | undefined {
  const stored = view.get('meta', metaKey('polledLeaves'))
  return stored === undefined ? undefined : decodeUint32(stored)
}

/**
 * Stores global exit roots that were found by asking the manager, as of the checkpoint: undoing its block undoes them.
 * @throws Refusal when nothing is stored yet.
 */
export function applyPolledGers(
  context: WriteContext,
  globalExitRoots: readonly Hash[],
  polledLeaves: number,
): void {
  const { view } = context
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined)
    refuse('nothing_stored', 'global exit roots were polled before the first block')
  view.setUndoBlock(checkpoint.number > readUndoFloor(view) ? checkpoint.number : undefined)
  for (const globalExitRoot of globalExitRoots) applyGerInjected(context, checkpoint, globalExitRoot)
  context.flush()
  view.put('meta', metaKey('polledLeaves'), encodeUint32(polledLeaves))
  view.setUndoBlock(undefined)
}

/**
 * Stores roots that were settled inside a block, as of the checkpoint: undoing its block undoes them, before any of their leaves.
 * @throws Refusal when nothing is stored yet.
 */
export function applySettledRoots(view: WriteView, found: readonly FoundExitRoot[]): void {
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined) refuse('nothing_stored', 'exit roots were found before the first block')
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
