import type { Clock } from '../../src/telemetry/clocks.js'

/** Time that stands still until a sleep, and then jumps to its end. Chance is always one half unless set otherwise. */
export class FakeClock implements Clock {
  /** Every sleep so far, ms. */
  readonly sleeps: number[] = []
  chance = 0.5
  #now = 1_000_000

  epochMs(): number {
    return this.now()
  }

  now(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
  }

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    this.sleeps.push(ms)
    this.#now += ms
    await Promise.resolve()
  }

  random(): number {
    return this.chance
  }
}
