import { PerformanceObserver, performance } from 'node:perf_hooks'

/** Takes what `watchThread` measures. */
export interface ThreadCounts {
  /** @param activeSec how long the event loop was busy. @param idleSec how long it waited. Both since the thread's start. */
  loop(activeSec: number, idleSec: number): void
  /** The garbage collector held the thread up for so long. */
  collected(seconds: number): void
}

/**
 * Counts how the calling thread spends its time. The event loop is not sampled by a timer, which would wake a resting thread: libuv
 * itself measures how long it waits.
 */
export function watchThread(counts: ThreadCounts): { measure(): void; close(): void } {
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) counts.collected(duration / 1000)
  })
  observer.observe({ entryTypes: ['gc'] })
  return {
    measure() {
      const { active, idle } = performance.eventLoopUtilization()
      counts.loop(active / 1000, idle / 1000)
    },
    close: () => observer.disconnect(),
  }
}
