import { DEPOSITS_PER_CHUNK } from '../../store/layout/tables.js'
import type { Stretch } from '../sets/listAlgebra.js'
import type { ShardView } from '../snapshot/shardView.js'

/**
 * Least and greatest deposit time per chunk of rows, for a network where a block may be older than the one before it. Each pool
 * worker keeps one; it grows with the deposits, and chunks that were rewound are read again. A query reads only chunks that lie
 * partly in its range of time. With 200,000 deposits the first use takes 0.1 s; a query then takes under 1 ms where times
 * rarely fall, 20 ms where they are in no order at all (November 2026, a busy machine).
 */
export class DepositTimes {
  readonly #least: number[] = []
  readonly #greatest: number[] = []
  /** Times of the chunk being read. */
  readonly #times = new Float64Array(DEPOSITS_PER_CHUNK)
  /** Deposits whose chunks are summed up. */
  #count = 0
  #rewindCount = 0

  /** Deposits with times in `from` … `to`, in seconds, both included, as stretches of deposit counts. */
  within(view: ShardView, from: number, to: number): Stretch[] {
    this.update(view)
    const stretches: Stretch[] = []
    let start = -1
    const note = (depositCount: number, isWithin: boolean): void => {
      if (isWithin) start = start < 0 ? depositCount : start
      else if (start >= 0) {
        stretches.push({ from: start, below: depositCount })
        start = -1
      }
    }
    for (let chunk = 0; chunk < this.#least.length; chunk++) {
      const first = chunk * DEPOSITS_PER_CHUNK
      const [least, greatest] = [this.#least[chunk]!, this.#greatest[chunk]!]
      if (least > to || greatest < from) note(first, false)
      else if (least >= from && greatest <= to) note(first, true)
      else {
        const rows = view.deposits.readTimes(first, this.#times)
        for (let row = 0; row < rows; row++)
          note(first + row, this.#times[row]! >= from && this.#times[row]! <= to)
      }
    }
    note(this.#count, false)
    return stretches
  }

  /** Reads the chunks that are new or were rewound since the last update. */
  update({ deposits, state }: ShardView): void {
    if (state.rewindCount !== this.#rewindCount)
      this.#count = Math.min(this.#count, state.untouchedSince(this.#rewindCount).deposits)
    this.#rewindCount = state.rewindCount
    const kept = Math.floor(this.#count / DEPOSITS_PER_CHUNK)
    this.#least.length = kept
    this.#greatest.length = kept
    this.#count = kept * DEPOSITS_PER_CHUNK
    for (let first = this.#count; first < deposits.count; first += DEPOSITS_PER_CHUNK) {
      const rows = deposits.readTimes(first, this.#times)
      let [least, greatest] = [this.#times[0]!, this.#times[0]!]
      for (let row = 1; row < rows; row++) {
        const time = this.#times[row]!
        if (time < least) least = time
        else if (time > greatest) greatest = time
      }
      this.#least.push(least)
      this.#greatest.push(greatest)
    }
    this.#count = deposits.count
  }
}
