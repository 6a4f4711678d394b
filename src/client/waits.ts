import type { ClientClock } from './call.types.js'

export const clientClock: ClientClock = {
  now: () => performance.now(),
  unixMs: () => Date.now(),
  random: () => Math.random(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, timerMs(ms))
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

/** Timers take 31 bits: what is longer would fire at once. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(ms, 0), 2 ** 31 - 1)
}

const BASE_MS = 250
const CAP_MS = 10_000

/**
 * The wait before one more try. Full jitter: anything from nothing up to a limit that doubles with each failure, so that clients that failed
 * together do not come back together.
 * @param failures in a row, from 1 on.
 * @param retryAfterMs what the service asked for: the wait is that and the jitter, never less.
 */
export function waitAfter(failures: number, clock: Pick<ClientClock, 'random'>, retryAfterMs = 0): number {
  return retryAfterMs + clock.random() * Math.min(CAP_MS, BASE_MS * 2 ** (failures - 1))
}

/**
 * @param text of `Retry-After`: seconds, or a date.
 * @param date of the answer: the difference of two times of one clock holds even if ours is wrong. Scripts of other origins see none.
 * @returns undefined for what is neither.
 */
export function readRetryAfter(
  text: string | null,
  date: string | null,
  clock: Pick<ClientClock, 'unixMs'>,
): number | undefined {
  if (text === null) return undefined
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const until = Date.parse(text)
  if (Number.isNaN(until)) return undefined
  const told = Date.parse(date ?? '')
  return Math.max(0, until - (Number.isNaN(told) ? clock.unixMs() : told))
}
