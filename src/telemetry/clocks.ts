/**
 * Milliseconds of the one clock that all threads share and that nobody sets: for every duration. It stands still while the machine
 * is suspended, and runs while the process is stopped. (`performance.now()` is the same with a zero of its own in each thread.)
 */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** Milliseconds since 1970. It may jump at any time: only for dates that are shown, stored, or compared with another machine's. */
export function epochMs(): number {
  return Date.now()
}

const TICK_MS = 250
/** A tick that comes later than this after the last one was held up with the whole process. */
const LATE_MS = 500

/**
 * Time in which this thread ran: it ticks, and what passes between two ticks beyond half a second does not count. So a process that was stopped for
 * an hour (SIGSTOP, a paused container) finds nobody silent or stuck for an hour.
 */
export class AwakeClock {
  private elapsedMs = 0
  private lastMs: number
  private readonly monotonic: () => number

  constructor(monotonic: () => number = () => performance.now()) {
    this.monotonic = monotonic
    this.lastMs = monotonic()
  }

  /** @returns stops it. */
  start(): () => void {
    const timer = setInterval(() => this.tick(), TICK_MS).unref()
    return () => clearInterval(timer)
  }

  tick(): void {
    this.elapsedMs = this.now()
    this.lastMs = this.monotonic()
  }

  now(): number {
    return this.elapsedMs + Math.min(this.monotonic() - this.lastMs, LATE_MS)
  }
}
