import type { FetchedRange } from '../../chain/chainClient.types.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { depositCountOf } from '../../protocol/abiBytes.js'
import {
  type BlockBatch,
  type BlockEvent,
  type BlockHeader,
  type IndexedBlock,
  isRows,
} from '../../protocol/chainEvent.js'
import { asBlockNumber, type BlockNumber, type DepositCount } from '../../protocol/units.js'
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
  blocks: readonly IndexedBlock<BlockEvent>[],
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

export function countEvents(blocks: readonly IndexedBlock<BlockEvent>[]): number {
  let count = 0
  for (const { events } of blocks)
    for (const event of events) count += isRows(event) ? event.to - event.from : 1
  return count
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
  if (last === 'unknown') return
  const expected = last === undefined ? deposits : last.count + 1
  const first = firstCount(next)
  if (first === undefined || first === 'unknown' || first.count === expected) return
  throw new ChainDataError(
    'deposit_count_gap',
    `deposit count ${first.count} in block ${first.block}, expected ${expected}`,
  )
}

/** A deposit's count and block; `unknown` after BackwardLET and ForwardLET, which change the number of deposits otherwise. */
type Counted = { readonly count: DepositCount; readonly block: BlockNumber } | 'unknown'

/** @returns undefined for an event that leaves the number of deposits as it is. */
function countedBy(event: BlockEvent, block: BlockNumber, end: 'first' | 'last'): Counted | undefined {
  switch (event.type) {
    case 'deposit':
      return { count: event.depositCount, block }
    case 'depositRows':
      return { count: depositCountOf(event.logs, end === 'first' ? event.from : event.to - 1), block }
    case 'backwardLet':
    case 'forwardLet':
      return 'unknown'
    default:
      return undefined
  }
}

/** What the last event that determines the number of deposits says. */
function lastCount({ blocks }: FetchedRange): Counted | undefined {
  for (let at = blocks.length - 1; at >= 0; at--) {
    const { header, events } = blocks[at]!
    for (let index = events.length - 1; index >= 0; index--) {
      const counted = countedBy(events[index]!, header.number, 'last')
      if (counted !== undefined) return counted
    }
  }
  return undefined
}

function firstCount({ blocks }: FetchedRange): Counted | undefined {
  for (const { header, events } of blocks)
    for (const event of events) {
      const counted = countedBy(event, header.number, 'first')
      if (counted !== undefined) return counted
    }
  return undefined
}
