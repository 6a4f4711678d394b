import { isMainThread, Worker } from 'node:worker_threads'
import type { Logger } from './telemetry/logger.js'

/** Shared with the watchdog's thread. */
export interface WatchdogData {
  readonly cells: Int32Array<SharedArrayBuffer>
  /** Longest silence of the main thread. */
  readonly silenceMs: number
}

export const watchdogCell = { budgetMs: 0, beats: 1 } as const
/** In `budgetMs`: nobody asked for an end yet. */
export const NO_BUDGET = -1

const BEAT_EVERY_MS = 500
const MEMORY_MB = 16

/**
 * The last resort: a thread that does nothing but wait, needs no input or output and no other thread, and kills the process
 * (SIGKILL, status 137) when it is not gone in time after it was told to go, or when the main thread has given no sign of life
 * for too long. It counts only time in which it ran itself, so that a process that was stopped for a while is not killed for it.
 */
export class Watchdog {
  private readonly cells = new Int32Array(new SharedArrayBuffer(8))
  private timer: NodeJS.Timeout | undefined

  constructor(silenceMs: number, logger: Logger) {
    if (!isMainThread) throw new Error('the watchdog watches the main thread')
    this.cells[watchdogCell.budgetMs] = NO_BUDGET
    const workerData: WatchdogData = { cells: this.cells, silenceMs }
    new Worker(new URL('./watchdog.worker.js', import.meta.url), {
      name: 'watchdog',
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 1 },
    })
      .on('error', (error) => logger.error('there is no watchdog', { error }))
      .unref()
  }

  /** From now on the main thread is expected to give signs of life. */
  watch(): void {
    const beat = (): void => void Atomics.add(this.cells, watchdogCell.beats, 1)
    beat()
    this.timer ??= setInterval(beat, BEAT_EVERY_MS).unref()
  }

  /** The process must be gone in so much time. A later call replaces an earlier one. */
  mustEndWithin(ms: number): void {
    Atomics.store(this.cells, watchdogCell.budgetMs, ms)
    Atomics.notify(this.cells, watchdogCell.budgetMs)
  }
}
