/** Events of the front. Labels are few and bounded: a route is an operation id, never a URL. */
export interface HttpMetrics {
  requestFinished(route: string, method: string, status: number, durationSec: number): void
  requestAborted(route: string): void
  rateLimited(route: string): void
  /** A connection was closed because more requests came on it at once than are answered in one turn of the event loop. */
  connectionCut(): void
  /** A connection was not taken, or was ended, for a limit of connections. */
  connectionRefused(reason: ConnectionRefusal): void
  /** A client was cut off because it was slow to take its answer. */
  slowReaderCut(limit: SlowReaderLimit): void
  cacheHit(route: string): void
}

/** Events of the pool. */
export interface PoolMetrics {
  batchFinished(requests: number, waitSec: number): void
  workerRestarted(): void
  rejected(reason: RejectReason): void
}

export const rejectReasons = ['queue_full', 'deadline', 'draining'] as const
export type RejectReason = (typeof rejectReasons)[number]

/** The settings (of `http`) that a connection was refused or ended for. */
export const connectionRefusals = ['max_connections', 'max_connections_per_address'] as const
export type ConnectionRefusal = (typeof connectionRefusals)[number]

/** What clients that are slow to take their answers are cut off for: the memory of all those answers, the time of one, or the buffer of one that gets events. */
export const slowReaderLimits = ['memory', 'time', 'buffer'] as const
export type SlowReaderLimit = (typeof slowReaderLimits)[number]

/** Seconds. Point answers take less than a millisecond, large pages some tens of milliseconds, the deadline is some seconds. */
export const DURATION_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
export const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** The values of labels that are counted one by one. Any other value is counted as `OTHER`. */
export interface CountLabels {
  /** What routes are told by: their paths. One without is told by its own name. */
  readonly paths?: Readonly<Record<string, string>>
  readonly routes: readonly string[]
  readonly methods: readonly string[]
  readonly statuses: readonly number[]
}

const OTHER = 'other'

/** How a thread has spent its time since its start. */
export interface ThreadTimes {
  /** Seconds that its event loop was busy, and that it waited. */
  readonly activeSec: number
  readonly idleSec: number
  /** How often the garbage collector held it up, and for how long. */
  readonly collections: number
  readonly collectingSec: number
}

/** The counts of one front thread, as they are passed to it: plain data with shared memory inside. */
export interface FrontCountsHandle {
  readonly labels: CountLabels
  readonly memory: SharedArrayBuffer
}

/** Where each count stands in the memory: numbers of 64 bits. Each list of labels has one place more, for all other values. */
interface Layout {
  readonly beats: number
  readonly waiting: number
  readonly pending: number
  readonly restarts: number
  readonly rejected: number
  readonly batches: number
  readonly batchedRequests: number
  readonly waits: number
  readonly waitedSec: number
  readonly answers: number
  readonly durations: number
  readonly durationSec: number
  readonly cacheHits: number
  readonly aborted: number
  readonly limited: number
  readonly cut: number
  readonly connections: number
  readonly refused: number
  readonly slow: number
  readonly loopActiveSec: number
  readonly loopIdleSec: number
  readonly collections: number
  readonly collectingSec: number
  readonly size: number
}

function layoutOf({ routes, methods, statuses }: CountLabels): Layout {
  let size = 0
  const take = (places: number): number => {
    size += places
    return size - places
  }
  const ofRoutes = routes.length + 1
  const layout = {
    beats: take(1),
    waiting: take(1),
    pending: take(1),
    restarts: take(1),
    rejected: take(rejectReasons.length),
    batches: take(BATCH_BUCKETS.length + 1),
    batchedRequests: take(1),
    waits: take(DURATION_BUCKETS.length + 1),
    waitedSec: take(1),
    answers: take(ofRoutes * (methods.length + 1) * (statuses.length + 1)),
    durations: take(ofRoutes * (DURATION_BUCKETS.length + 1)),
    durationSec: take(ofRoutes),
    cacheHits: take(ofRoutes),
    aborted: take(ofRoutes),
    limited: take(ofRoutes),
    cut: take(1),
    connections: take(1),
    refused: take(connectionRefusals.length),
    slow: take(slowReaderLimits.length),
    loopActiveSec: take(1),
    loopIdleSec: take(1),
    collections: take(1),
    collectingSec: take(1),
  }
  return { ...layout, size }
}

/** The main thread calls it once for each front thread, before that starts. */
export function createFrontCounts(labels: CountLabels): FrontCountsHandle {
  const bytes = layoutOf(labels).size * Float64Array.BYTES_PER_ELEMENT
  return { labels, memory: new SharedArrayBuffer(bytes) }
}

/**
 * Counts what one front thread and its pool do; no other thread writes. So a count is a plain addition: no atomic, no text that
 * joins labels (prom-client's own counters took a tenth of the front's time for a cached answer). Main reads at any time
 * (`FrontCountsReader`): a 64-bit machine writes an aligned number of 64 bits in one piece.
 */
export class FrontCounts implements HttpMetrics, PoolMetrics {
  private readonly counts: Float64Array
  private readonly layout: Layout
  private readonly routeAt: ReadonlyMap<string, number>
  private readonly methodAt: ReadonlyMap<string, number>
  private readonly statusAt: ReadonlyMap<number, number>
  private readonly others: { readonly route: number; readonly method: number; readonly status: number }

  constructor({ labels, memory }: FrontCountsHandle) {
    const { routes, methods, statuses } = labels
    this.counts = new Float64Array(memory)
    this.layout = layoutOf(labels)
    this.routeAt = new Map(routes.map((route, at) => [route, at]))
    this.methodAt = new Map(methods.map((method, at) => [method, at]))
    this.statusAt = new Map(statuses.map((status, at) => [status, at]))
    this.others = { route: routes.length, method: methods.length, status: statuses.length }
  }

  requestFinished(route: string, method: string, status: number, durationSec: number): void {
    const { counts, layout, others } = this
    const ofRoute = this.placeOf(route)
    const ofMethod = this.methodAt.get(method) ?? others.method
    const ofStatus = this.statusAt.get(status) ?? others.status
    counts[layout.answers + (ofRoute * (others.method + 1) + ofMethod) * (others.status + 1) + ofStatus]! += 1
    const durations = layout.durations + ofRoute * (DURATION_BUCKETS.length + 1)
    counts[durations + bucketOf(DURATION_BUCKETS, durationSec)]! += 1
    counts[layout.durationSec + ofRoute]! += durationSec
  }

  requestAborted(route: string): void {
    this.counts[this.layout.aborted + this.placeOf(route)]! += 1
  }

  rateLimited(route: string): void {
    this.counts[this.layout.limited + this.placeOf(route)]! += 1
  }

  connectionCut(): void {
    this.counts[this.layout.cut]! += 1
  }

  connectionRefused(reason: ConnectionRefusal): void {
    this.counts[this.layout.refused + connectionRefusals.indexOf(reason)]! += 1
  }

  slowReaderCut(limit: SlowReaderLimit): void {
    this.counts[this.layout.slow + slowReaderLimits.indexOf(limit)]! += 1
  }

  cacheHit(route: string): void {
    this.counts[this.layout.cacheHits + this.placeOf(route)]! += 1
  }

  batchFinished(requests: number, waitSec: number): void {
    const { counts, layout } = this
    counts[layout.batches + bucketOf(BATCH_BUCKETS, requests)]! += 1
    counts[layout.batchedRequests]! += requests
    counts[layout.waits + bucketOf(DURATION_BUCKETS, waitSec)]! += 1
    counts[layout.waitedSec]! += waitSec
  }

  workerRestarted(): void {
    this.counts[this.layout.restarts]! += 1
  }

  rejected(reason: RejectReason): void {
    this.counts[this.layout.rejected + rejectReasons.indexOf(reason)]! += 1
  }

  /**
   * Shows that the thread lives, and how much waits now.
   * @param waiting requests that wait for a batch. @param pending requests without an answer. @param connections open ones.
   */
  beat(waiting: number, pending: number, connections: number): void {
    this.counts[this.layout.waiting] = waiting
    this.counts[this.layout.pending] = pending
    this.counts[this.layout.connections] = connections
    this.counts[this.layout.beats]! += 1
  }

  /** See `ThreadTimes`. */
  loop(activeSec: number, idleSec: number): void {
    this.counts[this.layout.loopActiveSec] = activeSec
    this.counts[this.layout.loopIdleSec] = idleSec
  }

  collected(seconds: number): void {
    this.counts[this.layout.collections]! += 1
    this.counts[this.layout.collectingSec]! += seconds
  }

  private placeOf(route: string): number {
    return this.routeAt.get(route) ?? this.others.route
  }
}

/** The first bucket that holds the value; the last one is for values above all bounds. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let bucket = 0
  while (bucket < bounds.length && value > bounds[bucket]!) bucket++
  return bucket
}

/** How often each bucket was hit, and the sum of all values. */
export interface Histogram {
  readonly buckets: Float64Array
  readonly sum: number
}

/** Reads the counts of one front thread, in any thread. */
export class FrontCountsReader {
  private readonly labels: CountLabels
  private readonly counts: Float64Array
  private readonly layout: Layout

  constructor({ labels, memory }: FrontCountsHandle) {
    this.labels = labels
    this.counts = new Float64Array(memory)
    this.layout = layoutOf(labels)
  }

  /** It changes while the thread lives; 0 until its query threads have started. */
  beats(): number {
    return this.counts[this.layout.beats]!
  }

  waiting(): number {
    return this.counts[this.layout.waiting]!
  }

  pending(): number {
    return this.counts[this.layout.pending]!
  }

  restarts(): number {
    return this.counts[this.layout.restarts]!
  }

  connections(): number {
    return this.counts[this.layout.connections]!
  }

  connectionsRefused(reason: ConnectionRefusal): number {
    return this.counts[this.layout.refused + connectionRefusals.indexOf(reason)]!
  }

  slowReadersCut(limit: SlowReaderLimit): number {
    return this.counts[this.layout.slow + slowReaderLimits.indexOf(limit)]!
  }

  connectionsCut(): number {
    return this.counts[this.layout.cut]!
  }

  rejected(reason: RejectReason): number {
    return this.counts[this.layout.rejected + rejectReasons.indexOf(reason)]!
  }

  batches(): Histogram {
    const { batches, batchedRequests } = this.layout
    return { buckets: this.many(batches, BATCH_BUCKETS.length + 1), sum: this.counts[batchedRequests]! }
  }

  waits(): Histogram {
    const { waits, waitedSec } = this.layout
    return { buckets: this.many(waits, DURATION_BUCKETS.length + 1), sum: this.counts[waitedSec]! }
  }

  thread(): ThreadTimes {
    const { loopActiveSec, loopIdleSec, collections, collectingSec } = this.layout
    return {
      activeSec: this.counts[loopActiveSec]!,
      idleSec: this.counts[loopIdleSec]!,
      collections: this.counts[collections]!,
      collectingSec: this.counts[collectingSec]!,
    }
  }

  /** Every combination of labels that was counted, and of each route what alerts ask for: a success and each failure of ours. */
  *answers(): Generator<{ route: string; method: string; status: string; count: number }> {
    const { routes, methods, statuses } = this.labels
    let at = this.layout.answers
    for (const route of [...routes, OTHER])
      for (const method of [...methods, OTHER])
        for (const status of [...statuses, OTHER]) {
          const count = this.counts[at++]!
          const isAlwaysTold = method === 'GET' && (status === 200 || Number(status) >= 500)
          if (count > 0 || (isAlwaysTold && route !== OTHER))
            yield { route: this.told(route), method, status: String(status), count }
        }
  }

  /** Durations of each route's requests. */
  *durations(): Generator<Histogram & { readonly route: string }> {
    const places = DURATION_BUCKETS.length + 1
    for (const [at, route] of [...this.labels.routes, OTHER].entries()) {
      const buckets = this.many(this.layout.durations + at * places, places)
      yield { route: this.told(route), buckets, sum: this.counts[this.layout.durationSec + at]! }
    }
  }

  /** A count by route. */
  *byRoute(what: 'cacheHits' | 'aborted' | 'limited'): Generator<{ route: string; count: number }> {
    for (const [at, route] of [...this.labels.routes, OTHER].entries()) {
      yield { route: this.told(route), count: this.counts[this.layout[what] + at]! }
    }
  }

  private told(route: string): string {
    return this.labels.paths?.[route] ?? route
  }

  private many(from: number, places: number): Float64Array {
    return this.counts.slice(from, from + places)
  }
}
