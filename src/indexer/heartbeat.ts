import type { StatusRow } from '../telemetry/statusBoard.js'

const BEAT_EVERY_MS = 500

/**
 * Signs of life of this thread in shared memory. A thread that hangs, for example behind a transaction that a dead thread
 * left open, stops beating, and the supervisor ends the process.
 * @returns stops it.
 */
export function startHeartbeat(row: StatusRow): () => void {
  const beat = () => row.add('heartbeats', 1)
  beat()
  const timer = setInterval(beat, BEAT_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
