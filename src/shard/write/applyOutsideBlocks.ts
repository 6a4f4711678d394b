import { InvariantError } from '../../errors/invariantError.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { metaKey } from '../../store/layout/keys.js'
import { decodeUint32, encodeLocalExitRootEntry, encodeUint32 } from '../../store/layout/smallRows.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import type { FoundExitRoot } from '../localExitRoots.types.js'
import { readCheckpoint, readUndoFloor } from '../position/chainPosition.js'
import { findLocalExitRoot, readSettledInsideBlocks } from '../snapshot/localExitRoots.js'
import { applyGerInjected } from './applyGers.js'
import type { WriteContext } from './writeContext.js'

/** Leaves of the L1 info tree that need no question any more; undefined while polling has found nothing. */
export function readPolledLeaves(view: ReadView): number | undefined {
  const stored = view.get('meta', metaKey('polledLeaves'))
  return stored === undefined ? undefined : decodeUint32(stored)
}

/**
 * Stores global exit roots that no log told of, at the checkpoint: they go with its block when it is taken back.
 * @throws InvariantError when nothing is stored yet.
 */
export function applyPolledGers(
  context: WriteContext,
  globalExitRoots: readonly Hash[],
  polledLeaves: number,
): void {
  const { view } = context
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined)
    throw new InvariantError('global exit roots were polled before the first block')
  view.setUndoBlock(checkpoint.number > readUndoFloor(view) ? checkpoint.number : undefined)
  for (const globalExitRoot of globalExitRoots) applyGerInjected(context, checkpoint, globalExitRoot)
  context.flush()
  view.put('meta', metaKey('polledLeaves'), encodeUint32(polledLeaves))
  view.setUndoBlock(undefined)
}

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
