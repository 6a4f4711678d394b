import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** A tenth of an ordinary thread's share of a core that both want; all of one that nobody else wants. */
const INDEXER_NICE = 10

/**
 * Puts this thread behind the ordinary ones, so that answers go on while networks are read from far back: on two cores, of
 * which front, query worker and load already take all, an indexer left points 0.67 and proofs 0.47 of their rate, and leaves
 * 0.95 and 0.82 so (by CPU time per request, November 2026); it writes half as many blocks meanwhile. Only Linux has
 * priorities of threads; where they can't be had, things are as they were.
 */
export function stepBehindAnswers(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, Math.max(getPriority(thread), INDEXER_NICE))
  } catch {
    // A container without /proc, or one that may not: slower answers during a backfill are no reason not to index.
  }
}
