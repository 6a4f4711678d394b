import { readUint48BigEndian } from '../../store/layout/bytes.js'
import { blockKey } from '../../store/layout/keys.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { readCheckpoint, readHeaderAtOrBelow, readUndoFloor } from './chainPosition.js'

/** How a shard can go back to a block. */
export type RewindPlan =
  | { readonly type: 'nothing'; readonly checkpoint: number | undefined }
  /** `ancestor` is the block asked for, or a lower one with nothing stored in between. */
  | { readonly type: 'undo'; readonly ancestor: number }
  /** Undo does not reach back to the block. `oldest`: the lowest block that it reaches, if any. */
  | { readonly type: 'tooDeep'; readonly oldest: number | undefined }

/** @param startBlock the network's first block: an ancestor of `startBlock` − 1 empties the shard. */
export function planRewind(view: ReadView, block: number, startBlock: number): RewindPlan {
  const checkpoint = readCheckpoint(view)
  if (checkpoint === undefined || block >= checkpoint.number)
    return { type: 'nothing', checkpoint: checkpoint?.number }
  const ancestor = readHeaderAtOrBelow(view, block)?.number ?? startBlock - 1
  const undoFloor = readUndoFloor(view)
  if (ancestor >= undoFloor) return { type: 'undo', ancestor }
  const [oldest] = view.list('headers', {
    start: blockKey(undoFloor),
    end: blockKey(checkpoint.number),
    limit: 1,
  })
  return { type: 'tooDeep', oldest: oldest && readUint48BigEndian(oldest.key, 0) }
}
