import type { Clock } from '../../telemetry/clocks.js'
import { Refusal } from './refusal.js'

/** Failed transactions in a row before the tracer gets a rest: a single failure says nothing about other transactions. */
const FAILURES_BEFORE_REST = 3
const REST_MS = 5_000

/** Whether one endpoint traces transactions, as far as it has shown. Nothing that it refuses is believed for ever. */
export class TraceSkill {
  /** It has traced before, so a refusal is likely to be one backend's. */
  hasTraced = false
  readonly #clock: Pick<Clock, 'now'>
  readonly #missing: Refusal
  readonly #gone: Refusal
  /** Traces of transactions up to this block are gone. */
  #goneUpTo = -1
  #failures = 0
  #restsUntilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#missing = new Refusal(clock)
    this.#gone = new Refusal(clock)
  }

  /** Whether a transaction of this block is worth a question now. */
  isReady(block: number): boolean {
    if (this.#missing.holds || this.#clock.now() < this.#restsUntilMs) return false
    return block > this.#goneUpTo || !this.#gone.holds
  }

  answered(block: number): void {
    this.hasTraced = true
    this.#failures = 0
    this.#missing.forget()
    if (block > this.#goneUpTo) return
    this.#goneUpTo = block - 1
    this.#gone.forget()
  }

  /**
   * The endpoint, or one of its backends, does not offer traces.
   * @returns false while that is in doubt because it has traced other transactions: then only this one counts as failed.
   */
  refused(): boolean {
    if (this.hasTraced && ++this.#failures < FAILURES_BEFORE_REST) return false
    this.#failures = 0
    this.hasTraced = false
    this.#missing.told()
    return true
  }

  /** It no longer keeps what the trace of a transaction in this block needs. */
  gone(block: number): void {
    this.#goneUpTo = Math.max(this.#goneUpTo, block)
    this.#gone.told()
  }

  /** The tracer failed on a transaction. */
  failed(): void {
    if (++this.#failures < FAILURES_BEFORE_REST) return
    this.#failures = 0
    this.#restsUntilMs = this.#clock.now() + REST_MS
  }
}
