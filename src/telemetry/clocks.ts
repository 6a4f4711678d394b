import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Milliseconds of the monotonic clock, which all threads share: for durations across threads. It stands still while the machine is
 * suspended, and runs while the process is stopped. (`performance.now()` is the same clock with a zero of its own per thread.)
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** Milliseconds since 1970. It may jump at any time: only for dates that are shown, stored, or compared with another machine's. */
export function epochMs(): number {
  return Date.now()
}

const TICK_MS = 250
/** A tick this late means that the whole process was stopped meanwhile. */
const LATE_MS = 500

/**
 * Time in which this thread ran: between two ticks at most half a second counts. So after a process was stopped for an hour
 * (SIGSTOP, a paused container), no thread looks as if it had been silent or stuck for an hour.
 */
export class AwakeClock {
  private elapsedMs = 0
  private lastMs: number
  private readonly monotonic: () => number

  constructor(monotonic: () => number = () => performance.now()) {
    this.monotonic = monotonic
    this.lastMs = monotonic()
  }

  /** @returns stops it. */
  start(): () => void {
    const timer = setInterval(() => this.tick(), TICK_MS).unref()
    return () => clearInterval(timer)
  }

  tick(): void {
    this.elapsedMs = this.now()
    this.lastMs = this.monotonic()
  }

  now(): number {
    return this.elapsedMs + Math.min(this.monotonic() - this.lastMs, LATE_MS)
  }
}

/** Time and chance, handed in so that tests can bend them. */
export interface Clock {
  /** Milliseconds, monotone; of this thread. */
  now(): number
  /** Milliseconds since 1970, for what outlives the process; may jump. */
  epochMs(): number
  /** @throws the signal's reason when it is aborted meanwhile. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** 0 ≤ value < 1. */
  random(): number
}

export const systemClock: Clock = {
  now: () => performance.now(),
  epochMs,
  async sleep(ms, signal) {
    try {
      await sleep(ms, undefined, { signal })
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  },
  random: Math.random,
}
