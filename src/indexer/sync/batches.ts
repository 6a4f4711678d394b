import type { FetchedRange } from '../../chain/chainClient.types.js'
import type { BlockBatch, BlockHeader, IndexedBlock } from '../../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'

/** What is known of the chain's own judgement when a batch is made. */
export interface ChainPosition {
  readonly head: BlockHeader
  readonly finalizedBlock: BlockNumber
}

/**
 * One transaction's worth of blocks. Undo is kept for `rollbackBlocks` below the head and at least down to the final
 * block: finality never limits what can be followed, only what is served as final.
 * @param batchUndoFloor in backfill: how far down whole batches can be taken back.
 */
export function makeBatch(
  range: FetchedRange,
  blocks: readonly IndexedBlock[],
  position: ChainPosition,
  rollbackBlocks: number,
  batchUndoFloor?: number,
): BlockBatch {
  const undoFloor = Math.max(0, Math.min(position.finalizedBlock, position.head.number - rollbackBlocks))
  return {
    fromBlock: range.fromBlock,
    head: range.head,
    blocks,
    finalizedBlock: asBlockNumber(Math.min(position.finalizedBlock, range.head.number)),
    undoFloor: asBlockNumber(undoFloor),
    ...(batchUndoFloor === undefined
      ? {}
      : { batchUndoFloor: asBlockNumber(Math.min(batchUndoFloor, undoFloor)) }),
    ...(range.perTransactionFrom === undefined ? {} : { perTransactionFrom: range.perTransactionFrom }),
  }
}

/**
 * Whether the logs of `range` got their positions by the same counting as those stored before it. Two ranges are read at once,
 * and the later one may have been read before the earlier one showed that the chain counts per transaction.
 * @param stored first block counted per transaction, as stored.
 */
export function isCountedAlike(stored: BlockNumber | undefined, range: FetchedRange): boolean {
  const { perTransactionFrom: from, fromBlock } = range
  return from === stored || (stored === undefined && from !== undefined && from >= fromBlock)
}

export function countEvents(blocks: readonly IndexedBlock[]): number {
  return blocks.reduce((sum, { events }) => sum + events.length, 0)
}
