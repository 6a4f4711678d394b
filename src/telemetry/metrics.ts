import { Counter, Gauge, type Metric, type Registry } from 'prom-client'
import {
  BATCH_BUCKETS,
  connectionRefusals,
  DURATION_BUCKETS,
  type FrontCountsHandle,
  FrontCountsReader,
  type Histogram,
  rejectReasons,
  slowReaderLimits,
} from './frontCounts.js'

export type Labels = Readonly<Record<string, string>>
type Series = Histogram & { readonly labels: Labels }

/** Registers the metrics of all front threads and their pools: sums of what each thread has counted, read when Prometheus asks. */
export function registerFrontMetrics(registry: Registry, handles: readonly FrontCountsHandle[]): void {
  const fronts = handles.map((handle) => new FrontCountsReader(handle))
  const count = counterIn(registry)
  const countByRoute = (
    name: string,
    help: string,
    what: Parameters<FrontCountsReader['byRoute']>[0],
  ): void =>
    count(name, help, ['route'], (add) => {
      for (const front of fronts)
        for (const { route, count: counted } of front.byRoute(what)) add({ route }, counted)
    })
  const total = (read: (front: FrontCountsReader) => number): number =>
    fronts.reduce((sum, front) => sum + read(front), 0)

  count('bds_http_requests_total', 'Requests answered', ['route', 'method', 'status'], (add) => {
    for (const front of fronts)
      for (const { count: counted, ...labels } of front.answers()) add(labels, counted)
  })
  countByRoute('bds_http_cache_hits_total', 'Requests answered from the front cache', 'cacheHits')
  countByRoute('bds_http_aborted_total', 'Requests whose client went away before the answer', 'aborted')
  countByRoute('bds_rate_limited_total', 'Requests refused with 429', 'limited')
  count(
    'bds_http_pipelines_cut_total',
    'Connections closed for more pipelined requests than are answered at once',
    [],
    (add) =>
      add(
        {},
        total((front) => front.connectionsCut()),
      ),
  )
  count(
    'bds_http_connections_refused_total',
    'Connections that were refused or ended for a limit of connections',
    ['reason'],
    (add) => {
      for (const reason of connectionRefusals) {
        add(
          { reason },
          total((front) => front.connectionsRefused(reason)),
        )
      }
    },
  )
  count(
    'bds_http_slow_readers_cut_total',
    'Clients cut off for the memory of answers that were not taken, the time of one, or events that were not taken',
    ['limit'],
    (add) => {
      for (const limit of slowReaderLimits) {
        add(
          { limit },
          total((front) => front.slowReadersCut(limit)),
        )
      }
    },
  )
  registerHistogram(
    registry,
    'bds_http_request_duration_seconds',
    'Time from the request line to the last byte handed to the socket',
    DURATION_BUCKETS,
    () => {
      const byRoute = new Map<string, Histogram[]>()
      for (const front of fronts)
        for (const { route, ...part } of front.durations())
          byRoute.set(route, [...(byRoute.get(route) ?? []), part])
      return [...byRoute].map(([route, parts]) => ({ ...sumOf(parts), labels: { route } }))
    },
  )
  registerHistogram(registry, 'bds_pool_batch_requests', 'Requests in one batch', BATCH_BUCKETS, () => [
    { ...sumOf(fronts.map((front) => front.batches())), labels: {} },
  ])
  registerHistogram(
    registry,
    'bds_pool_wait_seconds',
    'Time from handing a batch to the pool to its answer',
    DURATION_BUCKETS,
    () => [{ ...sumOf(fronts.map((front) => front.waits())), labels: {} }],
  )
  count('bds_pool_worker_restarts_total', 'Pool workers that died and were replaced', [], (add) =>
    add(
      {},
      total((front) => front.restarts()),
    ),
  )
  count(
    'bds_pool_rejected_total',
    'Requests that the pool did not accept or did not answer',
    ['reason'],
    (add) => {
      for (const reason of rejectReasons) {
        add(
          { reason },
          total((front) => front.rejected(reason)),
        )
      }
    },
  )
  gaugeOf(registry, 'bds_pool_queue_depth', 'Requests that wait for a batch', () =>
    total((front) => front.waiting()),
  )
  gaugeOf(registry, 'bds_http_connections', 'Connections of clients', () =>
    total((front) => front.connections()),
  )
  gaugeOf(registry, 'bds_http_in_flight', 'Requests that wait for their answer', () =>
    total((front) => front.pending()),
  )
}

/** Registers a counter whose values are read when Prometheus asks. */
export type RegisterCounter = (
  name: string,
  help: string,
  labelNames: readonly string[],
  collectInto: (add: (labels: Labels, count: number) => void) => void,
) => void

export function counterIn(registry: Registry): RegisterCounter {
  return (name, help, labelNames, collectInto) => {
    new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        collectInto((labels, counted) => this.inc(labels, counted))
      },
    })
  }
}

function sumOf(parts: readonly Histogram[]): Histogram {
  const buckets = new Float64Array(parts[0]!.buckets.length)
  for (const part of parts) for (const [at, inBucket] of part.buckets.entries()) buckets[at]! += inBucket
  return { buckets, sum: parts.reduce((sum, part) => sum + part.sum, 0) }
}

/** The values of prom-client's own histogram can't be set, but the registry accepts any object that returns values. */
export function registerHistogram(
  registry: Registry,
  name: string,
  help: string,
  bounds: readonly number[],
  read: () => readonly Series[],
): void {
  const metric = {
    name,
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: read().flatMap((series) => valuesOf(name, bounds, series)),
    }),
  }
  registry.registerMetric(metric as unknown as Metric)
}

function valuesOf(name: string, bounds: readonly number[], { buckets, sum, labels }: Series): object[] {
  let count = 0
  const values: object[] = []
  for (const [at, inBucket] of buckets.entries()) {
    count += inBucket
    values.push({
      metricName: `${name}_bucket`,
      labels: { le: bounds[at] ?? '+Inf', ...labels },
      value: count,
    })
  }
  return [
    ...values,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

/** Registers a gauge whose value is read when Prometheus asks. */
export function gaugeOf(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read())
    },
  })
}
