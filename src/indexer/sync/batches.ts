import type { FetchedRange } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import type { BlockBatch, BlockHeader, ChainEvent, IndexedBlock } from '../../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'

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
 * may have been read before the earlier one showed that the chain numbers logs per transaction.
 * @param stored the first block numbered per transaction, as stored.
 */
export function isCountedAlike(stored: BlockNumber | undefined, range: FetchedRange): boolean {
  const { perTransactionFrom: from, fromBlock } = range
  return from === stored || (stored === undefined && from !== undefined && from >= fromBlock)
}

export function countEvents(blocks: readonly IndexedBlock[]): number {
  return blocks.reduce((sum, { events }) => sum + events.length, 0)
}

/** Batches of backfill that can be taken back: twice the distance between two comparisons with the contract. */
export const UNDOABLE_BATCHES = 32
/** No undo is kept for a batch with more events: it costs more than it is worth, since a missing log shows within the batch. */
const MOST_EVENTS = 2_000

/**
 * Keeps undo of the last batches in backfill, each as a whole. A log that is missing at the end of a batch shows in a later one,
 * when the next deposit has the wrong count: then these batches can be taken back and read again.
 */
export class BatchUndo {
  /** Last blocks of the batches, ascending. The first is the deepest checkpoint that can be gone back to. */
  #ends: number[] = []

  constructor(writer: Pick<ShardWriter, 'checkpoint' | 'headerAtOrBelow'>) {
    let header = writer.checkpoint()
    while (header !== undefined && this.#ends.length < UNDOABLE_BATCHES) {
      this.#ends.unshift(header.number)
      header = header.number === 0 ? undefined : writer.headerAtOrBelow(asBlockNumber(header.number - 1))
    }
  }

  /**
   * @param events number of events in the next batch. @param end its last block.
   * @returns the `batchUndoFloor` to store it with; undefined: without undo.
   */
  nextFloor(events: number, end: number): number | undefined {
    if (events > MOST_EVENTS) {
      this.#ends = [end]
      return undefined
    }
    const floor = this.#ends[0]
    this.#ends.push(end)
    if (this.#ends.length > UNDOABLE_BATCHES) this.#ends.shift()
    return floor
  }
}

/**
 * Checks that deposit counts continue from one window of backfill to the next, before the first one is stored: a deposit that is
 * missing at the end of `range` shows in `next`, and nothing has to be taken back.
 * @param deposits number of deposits stored before `range`.
 * @throws ChainDataError `deposit_count_gap`
 */
export function assertContinues(deposits: number, range: FetchedRange, next: FetchedRange): void {
  const last = lastCount(range)
  // After BackwardLET or ForwardLET the writer checks the counts.
  if (last?.type === 'backwardLet' || last?.type === 'forwardLet') return
  const expected = last === undefined ? deposits : last.depositCount + 1
  const first = firstCount(next)
  if (first?.type !== 'deposit' || first.depositCount === expected) return
  throw new ChainDataError(
    'deposit_count_gap',
    `deposit count ${first.depositCount} in block ${first.blockNumber}, expected ${expected}`,
  )
}

type CountEvent = Extract<ChainEvent, { type: 'deposit' | 'backwardLet' | 'forwardLet' }>

function asCount(event: ChainEvent): CountEvent | undefined {
  const { type } = event
  return type === 'deposit' || type === 'backwardLet' || type === 'forwardLet' ? event : undefined
}

/** The last event that determines the number of deposits. */
function lastCount({ blocks }: FetchedRange): CountEvent | undefined {
  for (let block = blocks.length - 1; block >= 0; block--) {
    const { events } = blocks[block]!
    for (let index = events.length - 1; index >= 0; index--) {
      const event = asCount(events[index]!)
      if (event !== undefined) return event
    }
  }
  return undefined
}

function firstCount({ blocks }: FetchedRange): CountEvent | undefined {
  for (const { events } of blocks)
    for (const each of events) {
      const event = asCount(each)
      if (event !== undefined) return event
    }
  return undefined
}
