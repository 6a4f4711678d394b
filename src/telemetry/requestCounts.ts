import { Counter, type Metric, type Registry } from 'prom-client'

/** Counts of one route. */
interface RouteCounts {
  /** Method → status → requests. */
  readonly answers: Map<string, Map<number, number>>
  /** Requests by the first bucket that holds them; the last bucket is for durations above all bounds. */
  readonly buckets: Float64Array
  durationSec: number
  cacheHits: number
}

/**
 * Counts requests and their durations. prom-client's own counters join the labels to a text at each count, which takes a tenth of
 * the front's time for a cached answer. Here prom-client gets the numbers when Prometheus asks.
 */
export class RequestCounts {
  private readonly bounds: readonly number[]
  private readonly routes = new Map<string, RouteCounts>()

  /** @param bounds upper bounds of the duration's buckets, in seconds, ascending. */
  constructor(registry: Registry, bounds: readonly number[]) {
    this.bounds = bounds
    const { routes } = this
    new Counter({
      name: 'bds_http_requests_total',
      help: 'Requests answered',
      labelNames: ['route', 'method', 'status'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [route, { answers }] of routes)
          for (const [method, statuses] of answers)
            for (const [status, count] of statuses) this.inc({ route, method, status }, count)
      },
    })
    new Counter({
      name: 'bds_http_cache_hits_total',
      help: 'Requests answered from the front cache',
      labelNames: ['route'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [route, { cacheHits }] of routes) if (cacheHits > 0) this.inc({ route }, cacheHits)
      },
    })
    // The values of a histogram can't be set, but the registry accepts any object that returns values.
    registry.registerMetric(this.durationMetric() as unknown as Metric)
  }

  requestFinished(route: string, method: string, status: number, durationSec: number): void {
    const counts = this.countsOf(route)
    let statuses = counts.answers.get(method)
    if (statuses === undefined) {
      statuses = new Map()
      counts.answers.set(method, statuses)
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const { bounds } = this
    let bucket = 0
    while (bucket < bounds.length && durationSec > bounds[bucket]!) bucket++
    counts.buckets[bucket]! += 1
    counts.durationSec += durationSec
  }

  cacheHit(route: string): void {
    this.countsOf(route).cacheHits++
  }

  private countsOf(route: string): RouteCounts {
    let counts = this.routes.get(route)
    if (counts === undefined) {
      const buckets = new Float64Array(this.bounds.length + 1)
      counts = { answers: new Map(), buckets, durationSec: 0, cacheHits: 0 }
      this.routes.set(route, counts)
    }
    return counts
  }

  private durationMetric(): { readonly name: string; get(): Promise<object> } {
    const name = 'bds_http_request_duration_seconds'
    return {
      name,
      get: async () => ({
        name,
        help: 'Time from the request line to the last byte handed to the socket',
        type: 'histogram',
        aggregator: 'sum',
        values: [...this.routes].flatMap(([route, counts]) => this.valuesOf(name, route, counts)),
      }),
    }
  }

  private valuesOf(name: string, route: string, { buckets, durationSec }: RouteCounts): object[] {
    let count = 0
    const values: object[] = []
    for (const [at, inBucket] of buckets.entries()) {
      count += inBucket
      values.push({
        metricName: `${name}_bucket`,
        labels: { le: this.bounds[at] ?? '+Inf', route },
        value: count,
      })
    }
    return [
      ...values,
      { metricName: `${name}_sum`, labels: { route }, value: durationSec },
      { metricName: `${name}_count`, labels: { route }, value: count },
    ]
  }
}
