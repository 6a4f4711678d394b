import type { Clock } from '../telemetry/clocks.js'

/** @param capMs the longest wait. */
export interface Waits {
  readonly baseMs: number
  readonly capMs: number
}

/** The longest wait after so many failures in a row: it doubles with each, up to the cap. */
export function longestWaitMs({ baseMs, capMs }: Waits, failures: number): number {
  // 2^20 exceeds every cap; larger powers would overflow in time.
  return Math.min(capMs, baseMs * 2 ** Math.min(failures, 20))
}

/** A random part of a wait, at least half, so that threads which failed together do not come back together. */
export function partOfWait(longestMs: number, random: number): number {
  return longestMs * (0.5 + random / 2)
}

/** Growing waits between tries. */
export class Backoff {
  readonly #waits: Waits
  readonly #clock: Pick<Clock, 'random'>
  #failures = 0

  constructor(clock: Pick<Clock, 'random'>, waits: Waits) {
    this.#clock = clock
    this.#waits = waits
  }

  /** Failures in a row so far. */
  get failures(): number {
    return this.#failures
  }

  /** @returns milliseconds to wait after one more failure. */
  nextMs(): number {
    return partOfWait(longestWaitMs(this.#waits, this.#failures++), this.#clock.random())
  }

  reset(): void {
    this.#failures = 0
  }
}
