import type { Clock } from '../../telemetry/clocks.js'
import { Refusal } from './refusal.js'

/** After so many failures in a row the tracer is not asked for REST_MS: one failure may be due to its transaction. */
const FAILURES_BEFORE_REST = 3
const REST_MS = 5_000

/** Whether one endpoint can be asked for traces, as far as its answers have shown. What it refused is asked for again after a while. */
export class TraceSkill {
  /** It has traced before. A refusal then most likely comes from one of several nodes behind it. */
  hasTraced = false
  readonly #clock: Pick<Clock, 'now'>
  readonly #missing: Refusal
  readonly #gone: Refusal
  /** The endpoint no longer has what traces of transactions up to this block need. */
  #goneUpTo = -1
  #failures = 0
  #restsUntilMs = Number.NEGATIVE_INFINITY

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#missing = new Refusal(clock)
    this.#gone = new Refusal(clock)
  }

  /** Whether a trace of a transaction in this block may be asked for now. */
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
   * The endpoint, or one node behind it, does not offer traces.
   * @returns false while it has traced other transactions lately: then only this transaction counts as failed.
   */
  refused(): boolean {
    if (this.hasTraced && ++this.#failures < FAILURES_BEFORE_REST) return false
    this.#failures = 0
    this.hasTraced = false
    this.#missing.refused()
    return true
  }

  /** The endpoint no longer has what a trace of a transaction in this block needs. */
  gone(block: number): void {
    this.#goneUpTo = Math.max(this.#goneUpTo, block)
    this.#gone.refused()
  }

  /** The tracer failed on a transaction. */
  failed(): void {
    if (++this.#failures < FAILURES_BEFORE_REST) return
    this.#failures = 0
    this.#restsUntilMs = this.#clock.now() + REST_MS
  }
}
