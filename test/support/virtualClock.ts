import type { Clock } from '../../src/telemetry/clocks.js'

interface Timer {
  readonly atMs: number
  readonly fire: () => void
}

/** Rounds of the event loop without any activity before time moves on. */
const QUIET_ROUNDS = 3

/**
 * Time that moves only when nothing is left to do: a sleep of ten minutes takes no real time, and the same seed
 * gives the same run. `busy` holds time still, for example while answers are on their way.
 */
export class VirtualClock implements Clock {
  /** True while work other than a timer is pending. */
  busy: () => boolean = () => false
  /** Every sleep so far, ms. */
  readonly sleeps: number[] = []
  readonly random: () => number
  #nowMs = 1_000_000
  #timers: Timer[] = []
  #isPumping = false
  #quietRounds = 0

  /** @param random chance is always one half unless set otherwise. */
  constructor({ random = () => 0.5 }: { readonly random?: () => number } = {}) {
    this.random = random
  }

  now(): number {
    return this.#nowMs
  }

  unixMs(): number {
    return this.now()
  }

  advance(ms: number): void {
    this.#nowMs += ms
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      this.sleeps.push(ms)
      const timer = this.#schedule(ms, () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      })
      const onAbort = () => {
        this.#timers.splice(this.#timers.indexOf(timer), 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Changes the world `ms` from now. */
  after(ms: number, action: () => void): void {
    this.#schedule(ms, action)
  }

  #schedule(ms: number, fire: () => void): Timer {
    const timer = { atMs: this.#nowMs + Math.max(0, ms), fire }
    // Placed after all timers of the same time: first come, first served.
    const index = this.#timers.findIndex((other) => other.atMs > timer.atMs)
    this.#timers.splice(index < 0 ? this.#timers.length : index, 0, timer)
    this.#quietRounds = 0
    if (!this.#isPumping) {
      this.#isPumping = true
      setImmediate(() => this.#pump())
    }
    return timer
  }

  #pump(): void {
    if (this.#timers.length === 0) {
      this.#isPumping = false
      return
    }
    if (this.busy()) this.#quietRounds = 0
    else if (this.#quietRounds++ >= QUIET_ROUNDS) {
      const timer = this.#timers.shift()!
      this.#nowMs = Math.max(this.#nowMs, timer.atMs)
      this.#quietRounds = 0
      timer.fire()
    }
    setImmediate(() => this.#pump())
  }
}
