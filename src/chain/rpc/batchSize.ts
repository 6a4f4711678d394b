import type { Clock } from '../../telemetry/clocks.js'

/** Calls of one request: providers cap batches at 100 to 1,000, and one batch is one answer in memory. */
const USUAL_MAX = 50
/** A size that was refused is tried again after so long, then after four times as long: gateways change their backends. */
const FIRST_PATIENCE_MS = 60_000
const PATIENCE_CAP_MS = 60 * 60_000
/** The search for the wall ends when the distance to it is at most one part in this many of the size. */
const NEAR_ENOUGH = 8
/** Pauses without a look whether single calls are answered, after one that was not: the endpoint is down then. */
const FIRST_REST_MS = 5_000
const REST_CAP_MS = 5 * 60_000
/** Batches in a row that met a plea to slow down, or a time-out, each with a pause behind it: then it may be their size. */
const PLEAS_BEFORE_DOUBT = 2

/**
 * How many calls one request to an endpoint carries. A refusal of a large batch can't be told from other trouble, so a size
 * counts as refused only when a batch failed and a smaller one is answered. The size then starts at one call and doubles: that
 * meets one refusal on the way, where halving would meet one per step, each maybe a time-out.
 */
export class BatchSize {
  /** As configured. */
  readonly max: number
  readonly #clock: Pick<Clock, 'now'>
  #size: number
  /** Largest batch that was answered, as far as it is below the wall. */
  #served = 1
  /** Smallest batch that was refused. */
  #wall = Number.POSITIVE_INFINITY
  #wallUntil = Number.NEGATIVE_INFINITY
  #patienceMs = FIRST_PATIENCE_MS
  /** Looking for the exact wall would cost more time-outs. */
  #isWallSlow = false
  #pleas = 0
  #pleadedAt = Number.POSITIVE_INFINITY
  #pleasMeanSize = false
  #isLate = false
  #restMs = FIRST_REST_MS
  #restUntil = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>, max = USUAL_MAX) {
    this.#clock = clock
    this.max = max
    this.#size = max
  }

  /** Calls of the next batch, ≥ 1. */
  get size(): number {
    return this.#size
  }

  /** True while there is nothing to be learned by the next batch. */
  get isSettled(): boolean {
    return this.#size < this.#wall && this.#next() === this.#size
  }

  /** True after failures that may mean the size of the batches: a single call must be asked first. */
  get isInDoubt(): boolean {
    return this.#pleas === PLEAS_BEFORE_DOUBT
  }

  /** Whether a single call may be sent now, to find out if only the batch is refused. False while the endpoint seems down. */
  get maySound(): boolean {
    return this.#clock.now() >= this.#restUntil
  }

  /** A batch of so many calls was answered. */
  answered(calls: number): void {
    this.#restMs = FIRST_REST_MS
    if (calls > 1) this.#isLate = false
    if (calls >= this.#pleadedAt) this.#forgetPleas()
    if (calls < this.#size) return
    this.#served = calls
    if (calls >= this.#wall) {
      this.#wall = Number.POSITIVE_INFINITY
      this.#pleasMeanSize = false
      this.#patienceMs = FIRST_PATIENCE_MS
    }
    this.#size = this.#next()
  }

  /** A batch of so many calls failed, and a smaller one is answered. @param served calls of it that were answered. */
  refused(calls: number, { served = 0, isSlow = false } = {}): void {
    this.#forgetPleas()
    this.#isLate = false
    if (calls === this.#wall) this.#patienceMs = Math.min(PATIENCE_CAP_MS, this.#patienceMs * 4)
    this.#wall = Math.min(this.#wall, calls)
    this.#wallUntil = this.#clock.now() + this.#patienceMs
    this.#isWallSlow = isSlow
    // A late batch takes time in proportion to its calls, or was late by chance: a quarter may be served in time.
    const likely = isSlow ? Math.ceil(calls / 4) : 1
    const known = this.#served < this.#wall ? this.#served : 1
    this.#served = Math.max(known, Math.min(Math.max(served, likely), this.#wall - 1))
    this.#size = this.#served
    if (!isSlow) this.#size = this.#next()
  }

  /**
   * A batch of so many calls met a plea to slow down, or a time-out.
   * @returns true when a single call was answered just before: then the plea is about the size.
   */
  pleaded(calls: number): boolean {
    this.#pleadedAt = Math.min(this.#pleadedAt, calls)
    if (++this.#pleas > PLEAS_BEFORE_DOUBT + 1) this.#pleasMeanSize = true
    return this.#pleasMeanSize
  }

  /**
   * A batch had no answer in time, though a single call had.
   * @returns true when the batch before had none either: then it is no chance.
   */
  wasLateAgain(): boolean {
    const isAgain = this.#isLate
    this.#isLate = true
    return isAgain
  }

  /** True once it was the size that this endpoint minded when it asked to slow down. */
  get pleasMeanSize(): boolean {
    return this.#pleasMeanSize
  }

  /** A single call was answered where batches met pleas: one more plea means the size. */
  doubtedRightly(): void {
    this.#pleas++
  }

  /** A single call failed like the batch before it: the batches are not to blame. */
  acquitted(): void {
    this.#forgetPleas()
    this.#pleasMeanSize = false
    this.#restUntil = this.#clock.now() + this.#restMs
    this.#restMs = Math.min(REST_CAP_MS, this.#restMs * 2)
  }

  #forgetPleas(): void {
    this.#pleas = 0
    this.#pleadedAt = Number.POSITIVE_INFINITY
  }

  #next(): number {
    const doubled = Math.min(this.max, this.#size * 2)
    if (doubled < this.#wall) return doubled
    if (this.#clock.now() >= this.#wallUntil) return Math.min(this.max, this.#wall)
    const isNear = (this.#wall - this.#size) * NEAR_ENOUGH <= this.#size
    return isNear || this.#isWallSlow ? this.#size : Math.floor((this.#size + this.#wall) / 2)
  }
}
