import type { Clock } from '../telemetry/clocks.js'

/**
 * Growing waits between tries: doubled each time up to a cap, and each wait is between half of that and all of it, so that
 * threads which failed together do not come back together.
 */
export class Backoff {
  readonly #baseMs: number
  readonly #capMs: number
  readonly #clock: Pick<Clock, 'random'>
  #failures = 0

  constructor(clock: Pick<Clock, 'random'>, options: { readonly baseMs: number; readonly capMs: number }) {
    this.#clock = clock
    this.#baseMs = options.baseMs
    this.#capMs = options.capMs
  }

  /** Failures in a row so far. */
  get failures(): number {
    return this.#failures
  }

  /** @returns milliseconds to wait after one more failure. */
  nextMs(): number {
    // 2^20 is past every cap; more would overflow in the long run.
    const grown = this.#baseMs * 2 ** Math.min(this.#failures++, 20)
    return Math.min(this.#capMs, grown) * (0.5 + this.#clock.random() / 2)
  }

  reset(): void {
    this.#failures = 0
  }
}
