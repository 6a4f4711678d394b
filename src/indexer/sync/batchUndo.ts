import { asBlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'

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
