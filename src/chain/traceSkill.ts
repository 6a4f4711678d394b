import type { Clock } from './clock.js'
import { Refusal } from './refusal.js'

/** Transactions in a row that a tracer fails at before it is left alone: one alone says nothing of the others. */
const FAILURES_BEFORE_REST = 3
const REST_MS = 5_000

/** Whether one endpoint traces transactions, as far as it has shown. Nothing that it refuses is believed for ever. */
export class TraceSkill {
  /** It has traced before: a refusal is hardly the last word. */
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
   * It does not offer such calls, or one of its backends does not.
   * @returns false where that is doubtful, as it has traced others: then it is about this transaction only.
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

  /** It tried this transaction and could not. */
  failed(): void {
    if (++this.#failures < FAILURES_BEFORE_REST) return
    this.#failures = 0
    this.#restsUntilMs = this.#clock.now() + REST_MS
  }
}
