import { Gauge, type Registry } from 'prom-client'
import { monotonicMs } from '../clocks.js'
import { counterIn, type Labels, registerHistogram } from '../metrics.js'
import {
  auditResults,
  BATCH_CALL_BUCKETS,
  COMMIT_BUCKETS,
  type EndpointView,
  type IndexerCountsHandle,
  IndexerCountsReader,
  mismatchedRoots,
  REORG_BUCKETS,
  RPC_BUCKETS,
  restReasons,
} from './indexerCounts.js'

type Add = (labels: Labels, value: number) => void

/** Registers what the indexer threads count of their networks and endpoints. Everything that can be counted is there from the start, as 0. */
export function registerIndexerMetrics(
  registry: Registry,
  handle: IndexerCountsHandle,
  now: () => number = monotonicMs,
): void {
  const networks = handle.networkIds.map((id) => ({
    labels: { network_id: String(id) },
    counts: new IndexerCountsReader(handle, id),
  }))
  const endpoints = (): { readonly labels: Labels; readonly endpoint: EndpointView }[] =>
    networks.flatMap(({ labels, counts }) =>
      counts
        .endpoints(now())
        .map((endpoint) => ({ labels: { ...labels, endpoint: endpoint.alias }, endpoint })),
    )
  const count = counterIn(registry)
  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    collectInto: (add: Add) => void,
  ): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        collectInto((labels, value) => this.set(labels, value))
      },
    })
  }
  const ofEndpoint = ['network_id', 'endpoint']
  const eachEndpoint = (read: (endpoint: EndpointView, labels: Labels, add: Add) => void) => (add: Add) => {
    for (const { labels, endpoint } of endpoints()) read(endpoint, labels, add)
  }
  const eachNetwork =
    (read: (counts: IndexerCountsReader, labels: Labels, add: Add) => void) => (add: Add) => {
      for (const { labels, counts } of networks) read(counts, labels, add)
    }
  /** One number of each endpoint. */
  const numbers: readonly [
    name: string,
    help: string,
    register: typeof gauge,
    read: (endpoint: EndpointView) => number,
  ][] = [
    ['bds_rpc_sent_bytes_total', 'Bytes of requests', count, ({ sentBytes }) => sentBytes],
    [
      'bds_rpc_received_bytes_total',
      'Bytes of answers after they were unpacked',
      count,
      ({ receivedBytes }) => receivedBytes,
    ],
    [
      'bds_rpc_window_blocks',
      'Blocks that the endpoint is asked for logs of at once',
      gauge,
      ({ windowBlocks }) => windowBlocks,
    ],
    ['bds_rpc_batch_calls', 'Calls of the next batch', gauge, ({ batchCalls }) => batchCalls],
    [
      'bds_rpc_endpoint_in_use',
      '1 for the endpoint that served last',
      gauge,
      ({ isInUse }) => (isInUse ? 1 : 0),
    ],
    ['bds_rpc_budget_waits_total', 'Requests that waited for max_rps', count, ({ waits }) => waits],
    [
      'bds_rpc_budget_wait_seconds_total',
      'Time that requests waited for max_rps',
      count,
      ({ waitedSec }) => waitedSec,
    ],
    [
      'bds_rpc_failovers_total',
      'Times that another endpoint took over from this one',
      count,
      ({ failovers }) => failovers,
    ],
    [
      'bds_missing_logs_recovered_total',
      'Logs that a first answer left out and a second one had',
      count,
      ({ recoveredLogs }) => recoveredLogs,
    ],
  ]
  for (const [name, help, register, read] of numbers)
    register(
      name,
      help,
      ofEndpoint,
      eachEndpoint((endpoint, labels, add) => add(labels, read(endpoint))),
    )
  count(
    'bds_rpc_requests_total',
    'Calls that the endpoint was asked, each of a batch',
    [...ofEndpoint, 'method'],
    eachEndpoint(({ requests }, labels, add) => {
      for (const [method, counted] of requests) add({ ...labels, method }, counted)
    }),
  )
  count(
    'bds_rpc_errors_total',
    'Calls that failed',
    [...ofEndpoint, 'method', 'kind'],
    eachEndpoint(({ errors }, labels, add) => {
      for (const { method, kind, count: counted } of errors) add({ ...labels, method, kind }, counted)
    }),
  )
  gauge(
    'bds_rpc_endpoint_resting',
    '1 for the reason why the endpoint is not asked now, or asked last',
    [...ofEndpoint, 'reason'],
    eachEndpoint(({ rests }, labels, add) => {
      for (const reason of restReasons) add({ ...labels, reason }, reason === rests ? 1 : 0)
    }),
  )
  registerHistogram(
    registry,
    'bds_rpc_request_duration_seconds',
    'Time of one HTTP request to the endpoint',
    RPC_BUCKETS,
    () => endpoints().map(({ labels, endpoint }) => ({ labels, ...endpoint.durations })),
  )
  registerHistogram(
    registry,
    'bds_rpc_request_calls',
    'Calls in one HTTP request to the endpoint',
    BATCH_CALL_BUCKETS,
    () => endpoints().map(({ labels, endpoint }) => ({ labels, ...endpoint.batches })),
  )
  registerHistogram(registry, 'bds_reorg_depth_blocks', 'Blocks that a reorg took back', REORG_BUCKETS, () =>
    networks.map(({ labels, counts }) => ({ labels, ...counts.reorgDepths() })),
  )
  registerHistogram(
    registry,
    'bds_lmdb_commit_duration_seconds',
    'Time that LMDB takes to commit what was written',
    COMMIT_BUCKETS,
    () => networks.map(({ labels, counts }) => ({ labels, ...counts.commits() })),
  )
  count(
    'bds_root_mismatches_total',
    'Times that what was read, or what a contract holds, did not lead to the same root',
    ['network_id', 'reason'],
    eachNetwork((counts, labels, add) => {
      for (const reason of mismatchedRoots) add({ ...labels, reason }, counts.mismatches(reason))
    }),
  )
  count(
    'bds_audits_total',
    'Comparisons of what is stored with the contracts, by how they ended',
    ['network_id', 'result'],
    eachNetwork((counts, labels, add) => {
      for (const result of auditResults) add({ ...labels, result }, counts.audits(result))
    }),
  )
  gauge(
    'bds_seconds_since_audit',
    'Seconds since a contract last answered such a comparison; no series before the first',
    ['network_id'],
    eachNetwork((counts, labels, add) => {
      const atMs = counts.auditedAtMs()
      if (atMs !== undefined) add(labels, Math.max(0, now() - atMs) / 1000)
    }),
  )
}
