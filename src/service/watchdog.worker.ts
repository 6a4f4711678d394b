import { workerData } from 'node:worker_threads'
import { killProcess, NO_BUDGET, type WatchdogData, watchdogCell } from './watchdog.js'

const SLICE_MS = 250
/** While no end is near, only the beats count, which come once a second. Each slice wakes this thread. */
const SLICE_AT_REST_MS = 1_000

// `Watchdog` passes exactly this.
const { cells } = workerData as WatchdogData
let beats = 0
let silentMs = 0

for (;;) {
  const budget = Atomics.load(cells, watchdogCell.budgetMs)
  const slice = budget === NO_BUDGET ? SLICE_AT_REST_MS : Math.min(budget, SLICE_MS)
  // One slice counts, however late this thread wakes up: in the rest of the time the process was stopped.
  if (Atomics.wait(cells, watchdogCell.budgetMs, budget, slice) !== 'timed-out') continue
  const newest = Atomics.load(cells, watchdogCell.beats)
  silentMs = newest === beats ? silentMs + slice : 0
  beats = newest
  const isSilent = silentMs > Atomics.load(cells, watchdogCell.silenceMs)
  if (budget !== NO_BUDGET)
    Atomics.compareExchange(cells, watchdogCell.budgetMs, budget, Math.max(0, budget - slice))
  if (isSilent || Atomics.load(cells, watchdogCell.budgetMs) === 0) killProcess()
}
