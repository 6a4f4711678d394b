import { setTimeout as delay } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { Logger } from '../telemetry/logger.js'
import { standardError } from '../telemetry/standardStreams.js'
import type { ExitCode } from './exitCodes.js'
import { killProcess, Watchdog } from './watchdog.js'

/** Longest time from the decision to exit to the watchdog's kill; shorter when less grace time is left. */
const LONGEST_EXIT_MS = 3_000
const SHORTEST_EXIT_MS = 1_000
/** Share of that time for ending the other threads: each ends at its next JavaScript instruction, once it gets a core. */
const THREAD_END_SHARE = 0.7
/** Longest wait for unwritten log lines. */
const LONGEST_LAST_LINES_MS = 200

/** How to end threads that can't just be terminated. */
const ways = new WeakMap<Worker, () => Promise<unknown>>()

/** Has `end` called in place of `terminate` when the process ends before this thread. */
export function endThreadBy(thread: Worker, end: () => Promise<unknown>): void {
  ways.set(thread, end)
}

/** Ends the process; nothing else does. It waits for no log line and for no thread that hangs. */
export class Exit {
  private readonly threads = new Set<Worker>()
  private leaving: Promise<never> | undefined
  private readonly watchdog: Watchdog

  constructor(silenceMs: number, logger: Logger) {
    this.watchdog = new Watchdog(silenceMs, logger)
    process.on('worker', (thread) => {
      // The watchdog runs until `process.exit` ends it.
      if (thread === this.watchdog.thread) return
      this.threads.add(thread)
      thread.once('exit', () => this.threads.delete(thread))
    })
  }

  /** Call it when the job has started: from then on the main thread may be silent for less time. */
  started(): void {
    this.watchdog.started()
  }

  /** Has the watchdog kill the process if it still runs after `ms`. */
  mustEndWithin(ms: number): void {
    this.watchdog.mustEndWithin(ms)
  }

  /** Ends the process. Only the first call's code counts. */
  leave(code: ExitCode): Promise<never> {
    this.leaving ??= this.end(code)
    return this.leaving
  }

  /**
   * `process.exit` ends the watchdog and then waits for all other threads, including libuv's. A thread stuck in a system call
   * would make it wait for ever, so it is called only when every thread has ended; otherwise the process kills itself.
   */
  private async end(code: ExitCode): Promise<never> {
    const exitMs = Math.max(Math.min(this.watchdog.leftMs(), LONGEST_EXIT_MS), SHORTEST_EXIT_MS)
    this.watchdog.mustEndWithin(exitMs)
    const threads = [...this.threads].map((thread) => ways.get(thread)?.() ?? thread.terminate())
    const ended = Promise.all([libuvIsIdle(), ...threads]).then(() => true)
    if (!(await Promise.race([ended, awake(THREAD_END_SHARE * exitMs).then(() => false)]))) {
      standardError().flush(LONGEST_LAST_LINES_MS)
      killProcess()
    }
    process.exit(code)
  }
}

const LOOK_EVERY_MS = 5
/** Names that Node gives to work which libuv's threads do for this thread: file operations and DNS look-ups. */
const LIBUV_WORK = /^(?:FSReq|GetAddrInfo|GetNameInfo)/

async function libuvIsIdle(): Promise<void> {
  while (process.getActiveResourcesInfo().some((name) => LIBUV_WORK.test(name))) await delay(LOOK_EVERY_MS)
}

const AWAKE_STEP_MS = 250

/** Resolves after `ms` of running time: time in which the process was stopped (SIGSTOP) hardly counts. */
export async function awake(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= AWAKE_STEP_MS) await delay(Math.min(left, AWAKE_STEP_MS))
}
