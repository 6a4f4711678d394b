import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** With this, the thread gets a tenth of an ordinary thread's share of a core that both want, and all of a free core. */
const INDEXER_NICE = 10

/**
 * Lowers this thread's priority, so that a backfill does not slow down answers. Measured on two cores that front, query thread
 * and load generator keep busy (CPU time per request, November 2026): an indexer thread of ordinary priority left lookups 0.67
 * and proofs 0.47 of their rate; with this it leaves 0.95 and 0.82, and writes half as many blocks meanwhile. Only Linux has
 * priorities of threads; elsewhere this does nothing.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    setPriority(thread, Math.max(getPriority(thread), INDEXER_NICE))
  } catch {
    // A container without /proc, or without the right to do this: answers are slower during a backfill, which is no reason to stop.
  }
}
