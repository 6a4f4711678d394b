import { asBlockNumber } from '../../protocol/units.js'
import type { ShardWriter } from '../../shard/shardWriter.types.js'

/** Batches of history that can be taken back: twice the distance between two comparisons with the contract. */
export const UNDOABLE_BATCHES = 32
/** Undo of a fuller batch costs more than it is worth: what is missing there shows within the batch. */
const MOST_EVENTS = 2_000

/**
 * How far down history can be read again while it is backfilled. A log that is missing at the end of one batch shows in
 * a later one, when the next deposit has the wrong count; so the last batches keep their undo, each as a whole.
 */
export class BatchUndo {
  /** Ends of the batches that can be taken back, and below them the deepest checkpoint to go back to; ascending. */
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
   * @returns the floor to store it with; undefined when it is not to be taken back.
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
