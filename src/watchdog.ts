import { isMainThread, Worker } from 'node:worker_threads'
import type { Logger } from './telemetry/logger.js'

/** Shared with the watchdog's thread. */
export interface WatchdogData {
  readonly cells: Int32Array<SharedArrayBuffer>
}

export const watchdogCell = { budgetMs: 0, beats: 1, silenceMs: 2 } as const
/** In `budgetMs`: nobody asked for an end yet. */
export const NO_BUDGET = -1

const BEAT_EVERY_MS = 500
/** Until the job runs: large stores are opened in one go. */
const SHORTEST_START_SILENCE_MS = 60_000
const MEMORY_MB = 16

/**
 * The last resort: a thread that does nothing but wait, needs no input or output and no other thread, and kills the process
 * (SIGKILL, status 137; 133 as process 1 of a container) when it is not gone in time after it was told to go, or when the main thread has given no sign of life
 * for too long. It counts only time in which it ran itself, so that a process that was stopped for a while is not killed for it.
 */
export class Watchdog {
  readonly thread: Worker
  private readonly cells = new Int32Array(new SharedArrayBuffer(12))
  private readonly silenceMs: number

  /** @param silenceMs longest time without a sign of life of the main thread. */
  constructor(silenceMs: number, logger: Logger) {
    if (!isMainThread) throw new Error('the watchdog watches the main thread')
    this.cells[watchdogCell.budgetMs] = NO_BUDGET
    this.silenceMs = silenceMs
    this.cells[watchdogCell.silenceMs] = Math.max(silenceMs, SHORTEST_START_SILENCE_MS)
    setInterval(() => Atomics.add(this.cells, watchdogCell.beats, 1), BEAT_EVERY_MS).unref()
    const workerData: WatchdogData = { cells: this.cells }
    this.thread = new Worker(new URL('./watchdog.worker.js', import.meta.url), {
      name: 'watchdog',
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 1 },
    }).on('error', (error) => logger.error('there is no watchdog', { error }))
    this.thread.unref()
  }

  /** The job has started. */
  started(): void {
    Atomics.store(this.cells, watchdogCell.silenceMs, this.silenceMs)
  }

  /** What is left of the time in which the process must be gone. */
  leftMs(): number {
    const left = Atomics.load(this.cells, watchdogCell.budgetMs)
    return left === NO_BUDGET ? Number.POSITIVE_INFINITY : left
  }

  /** The process must be gone in so much time. A later call replaces an earlier one. */
  mustEndWithin(ms: number): void {
    Atomics.store(this.cells, watchdogCell.budgetMs, ms)
    Atomics.notify(this.cells, watchdogCell.budgetMs)
  }
}
