import type { FetchedRange } from '../../chain/chainClient.types.js'
import type { BlockBatch, BlockHeader, IndexedBlock } from '../../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'

/** Head and finality of the chain when a batch is made. */
export interface ChainPosition {
  readonly head: BlockHeader
  readonly finalizedBlock: BlockNumber
}

/**
 * Makes the batch that is stored in one transaction. Undo is kept down to `rollbackBlocks` below the head, and at least down to the
 * finalized block: a reorg of final blocks is followed, too.
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
 * Whether the positions of the logs in `range` were counted like those stored before it. Two ranges are read at once: the later one
 * may have been read before the earlier one showed that the chain counts logs per transaction.
 * @param stored the first block counted per transaction, as stored.
 */
export function isCountedAlike(stored: BlockNumber | undefined, range: FetchedRange): boolean {
  const { perTransactionFrom: from, fromBlock } = range
  return from === stored || (stored === undefined && from !== undefined && from >= fromBlock)
}

export function countEvents(blocks: readonly IndexedBlock[]): number {
  return blocks.reduce((sum, { events }) => sum + events.length, 0)
}
