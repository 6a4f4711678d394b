import { setTimeout as sleep } from 'node:timers/promises'
import { epochMs } from '../telemetry/clocks.js'

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
