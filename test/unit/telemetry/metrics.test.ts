import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createStatusBoard, statusRow } from '../../../src/board/statusBoard.js'
import { registerNetworkMetrics } from '../../../src/health/networkMetrics.js'
import { createFrontCounts, FrontCounts } from '../../../src/telemetry/frontCounts.js'
import { registerFrontMetrics } from '../../../src/telemetry/metrics.js'

test('the status board is exported as gauges, and unknown values are left out', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000_042_500 })
  const registry = new Registry()
  const status = createStatusBoard([0, 7])
  let nowMs = 5_000
  registerNetworkMetrics(registry, status, false, () => nowMs)
  nowMs += 3_250
  const row = statusRow(status, 7)
  row.set('headBlock', 120)
  row.set('headTimestampSec', 1_000_000_000)
  row.set('syncedBlock', 100)
  row.set('reorgs', 2)
  row.setHaltReason('missing_log')
  const lines = (await registry.metrics()).split('\n')
  for (const line of [
    'bds_chain_head_block{network_id="7"} 120',
    'bds_indexed_block{network_id="7"} 100',
    'bds_lag_blocks{network_id="7"} 20',
    'bds_lag_blocks{network_id="0"} 0',
    'bds_deposits_indexed{network_id="0"} 0',
    'bds_reorgs_total{network_id="7"} 2',
    'bds_sync_halted{network_id="7",reason="missing_log"} 1',
    'bds_head_age_seconds{network_id="7"} 42',
    // Since the start, before the first commit.
    'bds_seconds_since_progress{network_id="0"} 3.25',
  ])
    assert.ok(lines.includes(line), line)
  for (const name of ['bds_chain_head_block', 'bds_head_age_seconds'])
    assert.ok(!lines.some((line) => line.startsWith(`${name}{network_id="0"}`)), name)
  row.setHaltReason('none')
  row.set('reorgs', 3)
  const later = await registry.metrics()
  assert.ok(!later.includes('bds_sync_halted{'), 'a network that runs again is not halted')
  assert.ok(later.includes('bds_reorgs_total{network_id="7"} 3'), 'the counter is set, not added up')
})

test('snapshots of a cluster are exported; a network without one has no age', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_000_000_042_500 })
  const registry = new Registry()
  const status = createStatusBoard([0, 7])
  registerNetworkMetrics(registry, status, true, () => 0)
  const row = statusRow(status, 7)
  row.set('snapshots', 2)
  row.set('snapshotMadeMs', 1_000_000_000_000)
  row.set('snapshotBytes', 12_345)
  row.add('snapshotFailures', 3)
  const lines = (await registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('bds_cluster_snapshot'))
  assert.deepEqual(lines, [
    'bds_cluster_snapshots{network_id="0"} 0',
    'bds_cluster_snapshots{network_id="7"} 2',
    'bds_cluster_snapshot_age_seconds{network_id="7"} 42.5',
    'bds_cluster_snapshot_bytes{network_id="7"} 12345',
    'bds_cluster_snapshot_failures_total{network_id="0"} 0',
    'bds_cluster_snapshot_failures_total{network_id="7"} 3',
  ])
})

/** Some labels of the front, and what two front threads count. */
function twoFronts() {
  const labels = { routes: ['getBridges', 'getClaims'], methods: ['GET', 'HEAD'], statuses: [200, 503] }
  const handles = [createFrontCounts(labels), createFrontCounts(labels)]
  const registry = new Registry()
  registerFrontMetrics(registry, handles)
  return { registry, fronts: handles.map((handle) => new FrontCounts(handle)) as [FrontCounts, FrontCounts] }
}

test('requests and batches are counted by route, method and status, and summed over all front threads', async () => {
  const { registry, fronts } = twoFronts()
  const [first, second] = fronts
  first.requestFinished('getBridges', 'GET', 200, 0.002)
  second.requestFinished('getBridges', 'GET', 200, 0.2)
  first.requestFinished('getBridges', 'GET', 503, 0.0001)
  second.requestFinished('getBridges', 'HEAD', 200, 60)
  first.cacheHit('getBridges')
  second.cacheHit('getBridges')
  second.requestAborted('getClaims')
  first.rateLimited('getClaims')
  first.connectionCut()
  second.connectionCut()
  first.batchFinished(3, 0.001)
  second.batchFinished(300, 20)
  second.rejected('queue_full')
  second.workerRestarted()
  first.connectionRefused('max_connections')
  second.connectionRefused('max_connections')
  first.slowReaderCut('memory')
  second.slowReaderCut('memory')
  second.slowReaderCut('time')
  first.beat(2, 7, 30)
  second.beat(3, 4, 12)
  // Asking changes nothing.
  await registry.metrics()
  const lines = (await registry.metrics()).split('\n')
  for (const line of [
    'bds_http_requests_total{route="getBridges",method="GET",status="200"} 2',
    'bds_http_requests_total{route="getBridges",method="GET",status="503"} 1',
    'bds_http_request_duration_seconds_bucket{le="0.0025",route="getBridges"} 2',
    'bds_http_requests_total{route="getBridges",method="HEAD",status="200"} 1',
    'bds_http_request_duration_seconds_bucket{le="0.0005",route="getBridges"} 1',
    'bds_http_request_duration_seconds_bucket{le="10",route="getBridges"} 3',
    'bds_http_request_duration_seconds_bucket{le="+Inf",route="getBridges"} 4',
    'bds_http_request_duration_seconds_sum{route="getBridges"} 60.2021',
    'bds_http_request_duration_seconds_count{route="getBridges"} 4',
    'bds_http_cache_hits_total{route="getBridges"} 2',
    '# TYPE bds_http_request_duration_seconds histogram',
    'bds_http_aborted_total{route="getClaims"} 1',
    'bds_rate_limited_total{route="getClaims"} 1',
    'bds_http_pipelines_cut_total 2',
    'bds_http_slow_readers_cut_total{limit="memory"} 2',
    'bds_http_slow_readers_cut_total{limit="time"} 1',
    'bds_pool_batch_requests_bucket{le="4"} 1',
    'bds_pool_batch_requests_bucket{le="+Inf"} 2',
    'bds_pool_batch_requests_sum 303',
    'bds_pool_batch_requests_count 2',
    'bds_pool_wait_seconds_bucket{le="0.001"} 1',
    'bds_pool_wait_seconds_sum 20.001',
    'bds_pool_rejected_total{reason="queue_full"} 1',
    'bds_pool_worker_restarts_total 1',
    'bds_pool_queue_depth 5',
    'bds_http_in_flight 11',
    'bds_http_connections 42',
    'bds_http_connections_refused_total{reason="max_connections"} 2',
  ])
    assert.ok(lines.includes(line), line)
})

test('a label without a place of its own is counted as other, and no request is lost', async () => {
  const { registry, fronts } = twoFronts()
  const combinations = ['getBridges', 'nowhere'].flatMap((route) =>
    ['GET', 'BREW'].flatMap((method) => [200, 418].map((status) => [route, method, status] as const)),
  )
  for (const [route, method, status] of combinations)
    for (const front of fronts) {
      front.requestFinished(route, method, status, 0.003)
      front.cacheHit(route)
    }
  const told = (await registry.metrics()).split('\n')
  const counted = told.filter((line) => /^bds_http_requests_total\{.* [1-9]\d*$/.test(line))
  assert.deepEqual(
    counted.toSorted(),
    ['getBridges', 'other']
      .flatMap((route) =>
        ['GET', 'other'].flatMap((method) =>
          ['200', 'other'].map(
            (status) => `bds_http_requests_total{route="${route}",method="${method}",status="${status}"} 2`,
          ),
        ),
      )
      .toSorted(),
  )
  assert.ok(told.includes('bds_http_cache_hits_total{route="other"} 8'))
  assert.ok(told.includes('bds_http_request_duration_seconds_count{route="other"} 8'))
})

test('counts that did not happen yet are 0, with every label that an alert may ask for', async () => {
  const { registry } = twoFronts()
  const lines = (await registry.metrics()).split('\n').filter((line) => !/^(#|$)/.test(line))
  for (const line of lines) assert.match(line, / 0$/)
  for (const series of [
    'bds_pool_worker_restarts_total',
    'bds_pool_wait_seconds_count',
    'bds_http_requests_total{route="getClaims",method="GET",status="200"}',
    'bds_http_requests_total{route="getClaims",method="GET",status="503"}',
    'bds_http_request_duration_seconds_count{route="getClaims"}',
    'bds_rate_limited_total{route="getBridges"}',
    'bds_http_aborted_total{route="getBridges"}',
    'bds_http_cache_hits_total{route="getBridges"}',
    'bds_pool_rejected_total{reason="deadline"}',
    'bds_http_connections_refused_total{reason="max_connections"}',
    'bds_http_slow_readers_cut_total{limit="time"}',
  ])
    assert.ok(lines.includes(`${series} 0`), series)
  assert.ok(!lines.some((line) => line.includes('method="HEAD"')), 'others come with their first request')
})

test('a route is told by its path, where it has one', async () => {
  const registry = new Registry()
  const labels = { routes: ['getBridges', 'unknown'], methods: ['GET'], statuses: [200] }
  const handle = createFrontCounts({ ...labels, paths: { getBridges: '/bridge/v1/bridges' } })
  registerFrontMetrics(registry, [handle])
  new FrontCounts(handle).requestFinished('getBridges', 'GET', 200, 0.1)
  const text = await registry.metrics()
  assert.ok(text.includes('bds_http_requests_total{route="/bridge/v1/bridges",method="GET",status="200"} 1'))
  assert.ok(text.includes('bds_http_request_duration_seconds_count{route="/bridge/v1/bridges"} 1'))
  assert.ok(text.includes('bds_http_requests_total{route="unknown",method="GET",status="200"} 0'))
})
