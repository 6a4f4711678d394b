import { setTimeout as delay } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import type { ExitCode } from './cli/exitCodes.js'
import { killProcess } from './killProcess.js'
import type { Logger } from './telemetry/logger.js'
import { standardError } from './telemetry/standardStreams.js'
import { Watchdog } from './watchdog.js'

/** From the decision to leave until the watchdog's kill; less where less of the grace time is left. */
const LONGEST_EXIT_MS = 3_000
const SHORTEST_EXIT_MS = 1_000
/** Of that, the wait for threads that are told to end: they do so at the next line of JavaScript, once they get a core. */
const THREAD_END_SHARE = 0.7
/** For lines that nobody has taken yet. */
const LONGEST_LAST_LINES_MS = 200

/** The only way out of the process. It depends on no log line and on no thread. */
export class Exit {
  private readonly threads = new Set<Worker>()
  private leaving: Promise<never> | undefined
  private readonly watchdog: Watchdog

  constructor(silenceMs: number, logger: Logger) {
    this.watchdog = new Watchdog(silenceMs, logger)
    process.on('worker', (thread) => {
      // It watches to the end, and ends in `process.exit`.
      if (thread === this.watchdog.thread) return
      this.threads.add(thread)
      thread.once('exit', () => this.threads.delete(thread))
    })
  }

  /** The job has started. */
  started(): void {
    this.watchdog.started()
  }

  /** Whatever happens, the process is gone in so much time. */
  mustEndWithin(ms: number): void {
    this.watchdog.mustEndWithin(ms)
  }

  /** The first call's code counts. */
  leave(code: ExitCode): Promise<never> {
    this.leaving ??= this.end(code)
    return this.leaving
  }

  /**
   * `process.exit` ends the watchdog and waits for every other thread, those of libuv too, also for one that sits in a system call
   * for ever: then only a kill helps.
   */
  private async end(code: ExitCode): Promise<never> {
    const exitMs = Math.max(Math.min(this.watchdog.leftMs(), LONGEST_EXIT_MS), SHORTEST_EXIT_MS)
    this.watchdog.mustEndWithin(exitMs)
    const threads = [...this.threads].map((thread) => thread.terminate())
    const ended = Promise.all([libuvIsIdle(), ...threads]).then(() => true)
    if (!(await Promise.race([ended, awake(THREAD_END_SHARE * exitMs).then(() => false)]))) {
      standardError().flush(LONGEST_LAST_LINES_MS)
      killProcess()
    }
    process.exit(code)
  }
}

const LOOK_EVERY_MS = 5
/** What libuv's threads do for this thread: looks at files and for the addresses of hosts. */
const LIBUV_WORK = /^(?:FSReq|GetAddrInfo|GetNameInfo)/

async function libuvIsIdle(): Promise<void> {
  while (process.getActiveResourcesInfo().some((name) => LIBUV_WORK.test(name))) await delay(LOOK_EVERY_MS)
}

const AWAKE_STEP_MS = 250

/** Resolves after so much time in which this process ran: one that was stopped meanwhile gets its time all the same. */
export async function awake(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= AWAKE_STEP_MS) await delay(Math.min(left, AWAKE_STEP_MS))
}
