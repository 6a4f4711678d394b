/**
 * Milliseconds of the monotonic clock that all threads share, for durations across threads. It stops while the machine is
 * suspended, and runs while the process is stopped. (`performance.now()` is the same clock, with another zero in each thread.)
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** Milliseconds since 1970. It may jump, so use it only for dates that are shown, stored, or compared with other machines' dates. */
export function unixMs(): number {
  return Date.now()
}

/** A tick that comes so late means that the whole process was stopped, or got no core: of the time since the last one twice this counts. */
const LATE_MS = 250

/**
 * Running time of this thread. When the process was stopped for an hour (SIGSTOP, a paused container), or other processes leave it no core,
 * no thread looks silent or stuck because of it.
 */
export class AwakeClock {
  private elapsedMs = 0
  private lastMs: number
  /** The latest time that was told: the next tick may count less than that. */
  private toldMs = 0
  private readonly tickMs: number
  private readonly lateMs: number
  private readonly monotonic: () => number

  /** @param tickMs usual time between two calls of `tick`. */
  constructor(tickMs: number, monotonic: () => number = () => performance.now()) {
    this.tickMs = tickMs
    this.lateMs = Math.min(tickMs, LATE_MS)
    this.monotonic = monotonic
    this.lastMs = monotonic()
  }

  /** Ticks by itself. @returns a function that stops the clock. */
  start(): () => void {
    if (this.tickMs === SECOND_MS) return everySecond(() => this.tick())
    const timer = setInterval(() => this.tick(), this.tickMs).unref()
    return () => clearInterval(timer)
  }

  tick(): void {
    const nowMs = this.monotonic()
    const sinceMs = nowMs - this.lastMs
    this.elapsedMs += sinceMs > this.tickMs + this.lateMs ? 2 * this.lateMs : sinceMs
    this.lastMs = nowMs
  }

  /** Never less than before. */
  now(): number {
    const sinceMs = Math.min(this.monotonic() - this.lastMs, this.tickMs + this.lateMs)
    this.toldMs = Math.max(this.toldMs, this.elapsedMs + sinceMs)
    return this.toldMs
  }
}

/** Interval of `everySecond`. */
export const SECOND_MS = 1_000

const everySecondTasks = new Set<() => void>()
let seconds: NodeJS.Timeout | undefined

/**
 * Calls `task` once a second, first within a second, as long as this thread has something else to do. All tasks of a thread share one
 * timer: of a service at rest each wake of a thread takes 0.1 to 0.2 ms of CPU time, far more than such tasks do.
 * @returns a function that ends it.
 */
export function everySecond(task: () => void): () => void {
  everySecondTasks.add(task)
  seconds ??= setInterval(() => {
    for (const each of everySecondTasks) each()
  }, SECOND_MS).unref()
  return () => {
    everySecondTasks.delete(task)
    if (everySecondTasks.size > 0) return
    clearInterval(seconds)
    seconds = undefined
  }
}

/**
 * Calls `look` every `everyMs` while it returns that there is something to watch. While there is not, nothing wakes the thread for it: a
 * look comes once a second, and `everyMs` after the last one at the latest when the event loop has turned for whatever reason, since
 * without a turn nothing can have come. For one pulse of a thread: the looks of two would be each other's turns.
 * @returns a function that ends it.
 */
export function startPulse(everyMs: number, look: () => boolean): () => void {
  let timer: NodeJS.Timeout | undefined
  let turn: NodeJS.Immediate | undefined
  let lookedAtMs = performance.now()
  const lookNow = (): void => {
    clearTimeout(timer)
    clearImmediate(turn)
    timer = undefined
    lookedAtMs = performance.now()
    if (look()) timer = setTimeout(lookNow, everyMs)
    // Called at the end of the next turn. Without a reference it does not keep the loop from waiting for one.
    else turn = setImmediate(hasTurned).unref()
  }
  const restMs = (): number => everyMs - (performance.now() - lookedAtMs)
  const hasTurned = (): void => {
    if (restMs() <= 0) lookNow()
    else timer = setTimeout(lookNow, restMs())
  }
  timer = setTimeout(lookNow, everyMs)
  const stop = everySecond(() => {
    // The turn that this timer brings may have looked already.
    if (timer === undefined && restMs() <= 0) lookNow()
  })
  return () => {
    stop()
    clearTimeout(timer)
    clearImmediate(turn)
  }
}

/** Time and randomness, passed in so that tests control them. */
export interface Clock {
  /** Monotonic milliseconds of this thread. */
  now(): number
  /** Milliseconds since 1970, for what outlives the process; may jump. */
  unixMs(): number
  /** @throws the signal's reason if it is aborted before the time is over. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** 0 ≤ value < 1. */
  random(): number
}

export const systemClock: Clock = {
  now: () => performance.now(),
  unixMs,
  // Not by `node:timers/promises`: it takes a fifth more CPU time.
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const stop = (): void => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', stop)
        resolve()
      }, ms)
      signal.addEventListener('abort', stop, { once: true })
    }),
  random: Math.random,
}
