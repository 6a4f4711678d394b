import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { isMainThread, Worker } from 'node:worker_threads'
import { everySecond } from '../telemetry/clocks.js'
import type { Logger } from '../telemetry/logger.js'

/** Shared with the watchdog's thread. */
export interface WatchdogData {
  readonly cells: Int32Array<SharedArrayBuffer>
}

export const watchdogCell = { budgetMs: 0, beats: 1, silenceMs: 2 } as const
/** Value of `budgetMs` while nobody has called `mustEndWithin`. */
export const NO_BUDGET = -1

/** Silence that is always allowed until the job has started: opening large stores blocks the main thread. */
const SHORTEST_START_SILENCE_MS = 60_000
const MEMORY_MB = 16

/**
 * The last resort: a thread that only waits, and needs no I/O and no other thread. It kills the process (SIGKILL, status 137; 133
 * as process 1 of a container) if the process has not ended in time after `mustEndWithin`, or if the main thread has sent no beat
 * for too long. It counts only its own running time, so a process that was stopped for a while is not killed for that.
 */
export class Watchdog {
  readonly thread: Worker
  private readonly cells = new Int32Array(new SharedArrayBuffer(12))
  private readonly silenceMs: number

  /** @param silenceMs longest time without a beat of the main thread. */
  constructor(silenceMs: number, logger: Logger) {
    if (!isMainThread) throw new Error('the watchdog watches the main thread')
    this.cells[watchdogCell.budgetMs] = NO_BUDGET
    this.silenceMs = silenceMs
    this.cells[watchdogCell.silenceMs] = Math.max(silenceMs, SHORTEST_START_SILENCE_MS)
    everySecond(() => Atomics.add(this.cells, watchdogCell.beats, 1))
    const workerData: WatchdogData = { cells: this.cells }
    this.thread = new Worker(new URL('./watchdog.worker.js', import.meta.url), {
      name: 'watchdog',
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, maxYoungGenerationSizeMb: 1 },
    }).on('error', (error) => logger.error('the watchdog has failed', { error }))
    this.thread.unref()
  }

  /** Call it when the job has started: from then on `silenceMs` holds, without the longer time for the start. */
  started(): void {
    Atomics.store(this.cells, watchdogCell.silenceMs, this.silenceMs)
  }

  /** Time left until the kill; Infinity before `mustEndWithin`. */
  leftMs(): number {
    const left = Atomics.load(this.cells, watchdogCell.budgetMs)
    return left === NO_BUDGET ? Number.POSITIVE_INFINITY : left
  }

  /** Kills the process if it still runs after `ms`. A later call replaces an earlier one. */
  mustEndWithin(ms: number): void {
    Atomics.store(this.cells, watchdogCell.budgetMs, ms)
    Atomics.notify(this.cells, watchdogCell.budgetMs)
  }
}

/** Ends this process at once, whatever its threads do. It needs no I/O. Any thread may call it. */
export function killProcess(): void {
  process.kill(process.pid, 'SIGKILL')
  // Still running: the kernel protects the first process of a pid namespace, as in a container, from its own signals, but not
  // from a trap. V8 has a function that traps into a debugger; without a debugger the trap ends the process.
  setFlagsFromString('--allow-natives-syntax')
  runInThisContext('%SystemBreak()')
}
