import type { Clock } from '../telemetry/clocks.js'

/**
 * Growing waits between tries: twice as long each time, up to a cap. Each wait is a random part of that, at least half, so that
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
    // 2^20 exceeds every cap; larger powers would overflow in time.
    const grown = this.#baseMs * 2 ** Math.min(this.#failures++, 20)
    return Math.min(this.#capMs, grown) * (0.5 + this.#clock.random() / 2)
  }

  reset(): void {
    this.#failures = 0
  }
}
