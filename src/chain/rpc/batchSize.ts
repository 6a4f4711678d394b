import type { Clock } from '../../telemetry/clocks.js'

/** Calls per batch unless configured: providers allow 100 to 1,000, and the answer to a batch is held in memory whole. */
const USUAL_MAX = 50
/** A refused size is tried again after this time, then after four times as long, and so on: gateways change their backends. */
const FIRST_PATIENCE_MS = 60_000
const PATIENCE_CAP_MS = 60 * 60_000
/** The search for the largest size ends when the smallest refused size exceeds the served one by at most 1 / NEAR_ENOUGH of it. */
const NEAR_ENOUGH = 8
/** When a single call fails like the batch before it, the endpoint counts as down: no further single call is tried for this time. */
const FIRST_REST_MS = 5_000
const REST_CAP_MS = 5 * 60_000
/** After this many put-offs in a row, with a pause after each, the size of the batches may be the reason. */
const PUT_OFFS_BEFORE_DOUBT = 2

/**
 * Learns how many calls one request to an endpoint may carry. When a batch fails, its size need not be the reason: a size counts
 * as refused only when a smaller batch is answered. The size then starts again at one call and doubles. That meets one refusal
 * on the way, where halving would meet one per step, and each may be a time-out.
 *
 * A batch is put off when the endpoint asks to slow down, or does not answer it in time.
 */
export class BatchSize {
  /** As configured. */
  readonly max: number
  readonly #clock: Pick<Clock, 'now'>
  #size: number
  /** Largest batch that was answered; always below the wall. */
  #served = 1
  /** The wall: the smallest batch that was refused. */
  #wall = Number.POSITIVE_INFINITY
  #wallUntil = Number.NEGATIVE_INFINITY
  #patienceMs = FIRST_PATIENCE_MS
  /** The wall was a time-out: searching for the exact one would cost more of them. */
  #isWallSlow = false
  /** Put-offs in a row. */
  #putOffs = 0
  #smallestPutOff = Number.POSITIVE_INFINITY
  #putOffsMeanSize = false
  /** The last batch had no answer in time, though a single call had. */
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

  /** True while the next batch would have the same size again: nothing is to be learned from it. */
  get isSteady(): boolean {
    return this.#size < this.#wall && this.#next() === this.#size
  }

  /** True after put-offs that may be due to the size of the batches: a single call must be tried first. */
  get isInDoubt(): boolean {
    return this.#putOffs === PUT_OFFS_BEFORE_DOUBT
  }

  /** Whether a single call may be tried after a failed batch. False while the endpoint seems down. */
  get mayTrySingle(): boolean {
    return this.#clock.now() >= this.#restUntil
  }

  /** A batch of so many calls was answered. */
  answered(calls: number): void {
    this.#restMs = FIRST_REST_MS
    if (calls > 1) this.#isLate = false
    if (calls >= this.#smallestPutOff) this.#forgetPutOffs()
    if (calls < this.#size) return
    this.#served = calls
    if (calls >= this.#wall) {
      this.#wall = Number.POSITIVE_INFINITY
      this.#putOffsMeanSize = false
      this.#patienceMs = FIRST_PATIENCE_MS
    }
    this.#size = this.#next()
  }

  /** A batch of so many calls failed, and a smaller one is answered. @param served how many of its calls were answered. */
  refused(calls: number, { served = 0, isSlow = false } = {}): void {
    this.#forgetPutOffs()
    this.#isLate = false
    if (calls === this.#wall) this.#patienceMs = Math.min(PATIENCE_CAP_MS, this.#patienceMs * 4)
    this.#wall = Math.min(this.#wall, calls)
    this.#wallUntil = this.#clock.now() + this.#patienceMs
    this.#isWallSlow = isSlow
    // After a time-out a quarter of the batch is tried: if the size was the reason, it needs a quarter of the time.
    const likely = isSlow ? Math.ceil(calls / 4) : 1
    const known = this.#served < this.#wall ? this.#served : 1
    this.#served = Math.max(known, Math.min(Math.max(served, likely), this.#wall - 1))
    this.#size = this.#served
    if (!isSlow) this.#size = this.#next()
  }

  /**
   * A batch of so many calls was put off.
   * @returns true when a single call was answered just before: then the batch is too large.
   */
  wasPutOff(calls: number): boolean {
    this.#smallestPutOff = Math.min(this.#smallestPutOff, calls)
    if (++this.#putOffs > PUT_OFFS_BEFORE_DOUBT + 1) this.#putOffsMeanSize = true
    return this.#putOffsMeanSize
  }

  /**
   * A batch had no answer in time, though a single call had.
   * @returns true when the batch before was late as well: then lateness is no accident.
   */
  wasLateAgain(): boolean {
    const isAgain = this.#isLate
    this.#isLate = true
    return isAgain
  }

  /** True once put-offs of this endpoint were found to be due to the size of the batches. */
  get putOffsMeanSize(): boolean {
    return this.#putOffsMeanSize
  }

  /** A single call was answered after batches were put off: if the next batch is put off as well, its size is the reason. */
  singleAnswered(): void {
    this.#putOffs++
  }

  /** A single call failed like the batch before it: the size of the batch is not the reason. */
  singleFailedToo(): void {
    this.#forgetPutOffs()
    this.#putOffsMeanSize = false
    this.#restUntil = this.#clock.now() + this.#restMs
    this.#restMs = Math.min(REST_CAP_MS, this.#restMs * 2)
  }

  #forgetPutOffs(): void {
    this.#putOffs = 0
    this.#smallestPutOff = Number.POSITIVE_INFINITY
  }

  #next(): number {
    const doubled = Math.min(this.max, this.#size * 2)
    if (doubled < this.#wall) return doubled
    if (this.#clock.now() >= this.#wallUntil) return Math.min(this.max, this.#wall)
    const isNear = (this.#wall - this.#size) * NEAR_ENOUGH <= this.#size
    return isNear || this.#isWallSlow ? this.#size : Math.floor((this.#size + this.#wall) / 2)
  }
}
