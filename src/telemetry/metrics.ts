import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { RequestCounts } from './requestCounts.js'

/** Events that the front counts. Labels are few and bounded: a route is an operation id, never a URL. */
export interface HttpMetrics {
  requestFinished(route: string, method: string, status: number, durationSec: number): void
  requestAborted(route: string): void
  rateLimited(route: string): void
  cacheHit(route: string): void
}

/** Events that the pool counts. */
export interface PoolMetrics {
  batchFinished(requests: number, waitSec: number): void
  workerRestarted(): void
  rejected(reason: 'queue_full' | 'deadline' | 'draining'): void
}

/** What the service passes to the rooms. Counting one event of the pool takes about 0.4 µs (prom-client 15, Node 20). */
export interface Metrics {
  readonly http: HttpMetrics
  readonly pool: PoolMetrics
}

/** Seconds. Point answers take less than a millisecond, large pages some tens of milliseconds, the deadline is some seconds. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** Registers the counters and histograms of the front and the pool. */
export function createMetrics(registry: Registry): Metrics {
  const registers = [registry]
  const counts = new RequestCounts(registry, DURATION_BUCKETS)
  const aborted = new Counter({
    name: 'bds_http_aborted_total',
    help: 'Requests whose client went away before the answer',
    labelNames: ['route'],
    registers,
  })
  const limited = new Counter({
    name: 'bds_rate_limited_total',
    help: 'Requests refused with 429',
    labelNames: ['route'],
    registers,
  })
  const waits = new Histogram({
    name: 'bds_pool_wait_seconds',
    help: 'Time from handing a batch to the pool to its answer',
    buckets: DURATION_BUCKETS,
    registers,
  })
  const batches = new Histogram({
    name: 'bds_pool_batch_requests',
    help: 'Requests in one batch',
    buckets: BATCH_BUCKETS,
    registers,
  })
  const restarts = new Counter({
    name: 'bds_pool_worker_restarts_total',
    help: 'Pool workers that died and were replaced',
    registers,
  })
  const rejected = new Counter({
    name: 'bds_pool_rejected_total',
    help: 'Requests that the pool did not accept or did not answer',
    labelNames: ['reason'],
    registers,
  })
  return {
    http: {
      requestFinished: (route, method, status, durationSec) =>
        counts.requestFinished(route, method, status, durationSec),
      requestAborted: (route) => aborted.inc({ route }),
      rateLimited: (route) => limited.inc({ route }),
      cacheHit: (route) => counts.cacheHit(route),
    },
    pool: {
      batchFinished: (size, waitSec) => {
        batches.observe(size)
        waits.observe(waitSec)
      },
      workerRestarted: () => restarts.inc(),
      rejected: (reason) => rejected.inc({ reason }),
    },
  }
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
