import { PerformanceObserver, performance } from 'node:perf_hooks'
import type { Registry } from 'prom-client'
import type { ThreadTimes } from '../frontCounts.js'
import { counterIn, type Labels } from '../metrics.js'

/** The times of one thread, by its name. */
export interface NamedThread {
  readonly thread: string
  read(): ThreadTimes
}

/** Registers how threads spend their time. */
export function registerThreadMetrics(registry: Registry, threads: readonly NamedThread[]): void {
  const count = counterIn(registry)
  const each =
    (tell: (times: ThreadTimes, labels: Labels, add: (labels: Labels, value: number) => void) => void) =>
    (add: (labels: Labels, value: number) => void): void => {
      for (const { thread, read } of threads) tell(read(), { thread }, add)
    }
  count(
    'bds_thread_event_loop_seconds_total',
    'Time that the event loop of a thread was busy (active), and that it waited (idle)',
    ['thread', 'state'],
    each(({ activeSec, idleSec }, labels, add) => {
      add({ ...labels, state: 'active' }, activeSec)
      add({ ...labels, state: 'idle' }, idleSec)
    }),
  )
  count(
    'bds_thread_gc_seconds_total',
    'Time that the garbage collector held a thread up',
    ['thread'],
    each(({ collectingSec }, labels, add) => add(labels, collectingSec)),
  )
  count(
    'bds_thread_gc_pauses_total',
    'Times that the garbage collector held a thread up',
    ['thread'],
    each(({ collections }, labels, add) => add(labels, collections)),
  )
}

/** Watches the calling thread. */
export function watchOwnThread(thread: string): NamedThread {
  const times = { activeSec: 0, idleSec: 0, collections: 0, collectingSec: 0 }
  const watched = watchThread({
    loop: (activeSec, idleSec) => Object.assign(times, { activeSec, idleSec }),
    collected: (seconds) => {
      times.collections++
      times.collectingSec += seconds
    },
  })
  return {
    thread,
    read() {
      watched.measure()
      return times
    },
  }
}

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
