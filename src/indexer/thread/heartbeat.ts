import type { StatusRow } from '../../board/statusBoard.js'

/** Longest time between two heartbeats. Each one wakes the thread, also of a network that rests. */
const BEAT_EVERY_MS = 5_000
/** Heartbeats in the shortest time without one that ends the process. */
const BEATS_IN_TIMEOUT = 4

/**
 * Counts up in shared memory while this thread lives. A thread that hangs, for example behind a transaction that a dead thread
 * left open, stops counting, and the supervisor ends the process.
 * @param onBeat called with each.
 * @returns a function that stops it.
 */
export function startHeartbeat(row: StatusRow, timeoutMs: number, onBeat: () => void): () => void {
  const beat = (): void => {
    row.add('heartbeats', 1)
    onBeat()
  }
  beat()
  const timer = setInterval(beat, Math.min(BEAT_EVERY_MS, timeoutMs / BEATS_IN_TIMEOUT))
  timer.unref()
  return () => clearInterval(timer)
}
