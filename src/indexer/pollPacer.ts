import type { Clock } from '../chain/clock.js'

const REMEMBERED_INTERVALS = 8
const LONGEST_WAIT_IN_POLLS = 6
/** Look again a little before the next block is due: waiting too long costs freshness, looking too early one call. */
const SHARE_OF_INTERVAL = 0.95

/**
 * When to look at the head again. After a new block the next one is due no sooner than the shortest of the last intervals,
 * so there is nothing to ask before; from then on each poll interval. A chain that mines every 12 s costs about two looks
 * per block instead of six, one that mines in bursts is followed as closely as the poll interval allows.
 */
export class PollPacer {
  readonly #clock: Pick<Clock, 'now'>
  readonly #pollIntervalMs: number
  readonly #intervals: number[] = []
  #lastNewHeadMs: number | undefined
  #isNew = false

  constructor(clock: Pick<Clock, 'now'>, pollIntervalMs: number) {
    this.#clock = clock
    this.#pollIntervalMs = pollIntervalMs
  }

  /** A look at the head found a block that was not there before. */
  headMoved(): void {
    const now = this.#clock.now()
    if (this.#lastNewHeadMs !== undefined) {
      this.#intervals.push(now - this.#lastNewHeadMs)
      if (this.#intervals.length > REMEMBERED_INTERVALS) this.#intervals.shift()
    }
    this.#lastNewHeadMs = now
    this.#isNew = true
  }

  /** @returns milliseconds until the next look. */
  nextWaitMs(): number {
    const wasNew = this.#isNew
    this.#isNew = false
    if (!wasNew || this.#intervals.length < REMEMBERED_INTERVALS) return this.#pollIntervalMs
    const due = SHARE_OF_INTERVAL * Math.min(...this.#intervals)
    return Math.min(LONGEST_WAIT_IN_POLLS * this.#pollIntervalMs, Math.max(this.#pollIntervalMs, due))
  }
}
