import type { Clock } from '../../telemetry/clocks.js'

/** Limits calls to `perSecond` on average, with bursts of one second's worth. */
export class TokenBucket {
  readonly #perSecond: number
  readonly #clock: Clock
  #tokens: number
  #at: number

  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond
    this.#clock = clock
    this.#tokens = Math.max(1, perSecond)
    this.#at = clock.now()
  }

  /**
   * Takes `count` tokens, on credit if need be, and waits until the credit is paid: callers queue in order.
   * @returns milliseconds that it waited.
   */
  async take(count: number, signal: AbortSignal): Promise<number> {
    const now = this.#clock.now()
    const burst = Math.max(1, this.#perSecond)
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#at) / 1000) * this.#perSecond)
    this.#at = now
    this.#tokens -= count
    if (this.#tokens >= 0) return 0
    const waitMs = (-this.#tokens / this.#perSecond) * 1000
    await this.#clock.sleep(waitMs, signal)
    return waitMs
  }
}
