import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createIndexerCounts, IndexerCounts } from '../../../../src/telemetry/counts/indexerCounts.js'
import { registerIndexerMetrics } from '../../../../src/telemetry/counts/indexerMetrics.js'

/** Counts of networks 0 and 7, and what Prometheus is told of them. */
function counted() {
  const handle = createIndexerCounts([0, 7])
  const registry = new Registry()
  const time = { ms: 50_000 }
  const now = () => time.ms
  registerIndexerMetrics(registry, handle, now)
  const told = async () => (await registry.metrics()).split('\n')
  return { time, told, open: (networkId: number) => new IndexerCounts(handle, networkId, now) }
}

test('what endpoints are asked is told by network and alias, and what was not asked yet is 0', async () => {
  const { told, open } = counted()
  const [alpha] = open(7).endpoints(['alpha', 'b:8545 "x"'])
  alpha!.called('eth_getLogs')
  alpha!.called('eth_getLogs')
  alpha!.called('eth_syncing')
  alpha!.failed('eth_getLogs', 'timeout')
  alpha!.requested(3, 0.2)
  alpha!.sent(400)
  alpha!.received(9_000)
  alpha!.sizes(2_000, 50)
  alpha!.waited(1.5)
  alpha!.recoveredLogs(2)
  const lines = await told()
  for (const line of [
    'bds_rpc_requests_total{network_id="7",endpoint="alpha",method="eth_getLogs"} 2',
    'bds_rpc_requests_total{network_id="7",endpoint="alpha",method="other"} 1',
    'bds_rpc_requests_total{network_id="7",endpoint="alpha",method="eth_call"} 0',
    'bds_rpc_requests_total{network_id="7",endpoint="b:8545 \\"x\\"",method="eth_call"} 0',
    'bds_rpc_errors_total{network_id="7",endpoint="alpha",method="eth_getLogs",kind="timeout"} 1',
    'bds_rpc_errors_total{network_id="7",endpoint="alpha",method="eth_getLogs",kind="rateLimit"} 0',
    'bds_rpc_errors_total{network_id="7",endpoint="alpha",method="eth_call",kind="timeout"} 0',
    'bds_rpc_request_duration_seconds_bucket{le="0.25",network_id="7",endpoint="alpha"} 1',
    'bds_rpc_request_duration_seconds_bucket{le="0.1",network_id="7",endpoint="alpha"} 0',
    'bds_rpc_request_calls_sum{network_id="7",endpoint="alpha"} 3',
    'bds_rpc_sent_bytes_total{network_id="7",endpoint="alpha"} 400',
    'bds_rpc_received_bytes_total{network_id="7",endpoint="alpha"} 9000',
    'bds_rpc_window_blocks{network_id="7",endpoint="alpha"} 2000',
    'bds_rpc_batch_calls{network_id="7",endpoint="alpha"} 50',
    'bds_rpc_budget_waits_total{network_id="7",endpoint="alpha"} 1',
    'bds_rpc_budget_wait_seconds_total{network_id="7",endpoint="alpha"} 1.5',
    'bds_missing_logs_recovered_total{network_id="7",endpoint="alpha"} 2',
    'bds_rpc_failovers_total{network_id="7",endpoint="alpha"} 0',
    'bds_root_mismatches_total{network_id="0",reason="exit_root_mismatch"} 0',
    'bds_audits_total{network_id="0",result="same"} 0',
    'bds_reorg_depth_blocks_count{network_id="0"} 0',
    'bds_lmdb_commit_duration_seconds_count{network_id="0"} 0',
  ])
    assert.ok(lines.includes(line), line)
  assert.ok(!lines.some((line) => /^bds_(rpc.*network_id="0"|seconds_since_audit\{)/.test(line)))
})

test('an endpoint rests for its newest reason until the time is over or it answers', async () => {
  const { time, told, open } = counted()
  const [alpha] = open(0).endpoints(['alpha'])
  const resting = async () =>
    (await told())
      .map((line) => /^bds_rpc_endpoint_resting\{.*reason="(\w+)"\} 1$/.exec(line)?.[1])
      .filter((reason) => reason !== undefined)
  assert.deepEqual(await resting(), [])
  alpha!.rests('rateLimit', 2_000)
  time.ms += 1_999
  assert.deepEqual(await resting(), ['rateLimit'])
  time.ms += 1
  assert.deepEqual(await resting(), [])
  alpha!.rests('timeout', 2_000)
  alpha!.answered()
  assert.deepEqual(await resting(), [])
  alpha!.lags(true)
  alpha!.answered()
  assert.deepEqual(await resting(), ['lagging'], 'an endpoint that lags answers well')
})

test('an endpoint that takes over is in use, and the other one counts it', async () => {
  const { told, open } = counted()
  const counts = open(0)
  counts.endpoints(['a', 'b'])
  for (const alias of ['a', 'b', 'b', 'a']) counts.served(alias)
  const lines = await told()
  for (const [endpoint, inUse, failovers] of [
    ['a', 1, 1],
    ['b', 0, 1],
  ] as const) {
    assert.ok(lines.includes(`bds_rpc_endpoint_in_use{network_id="0",endpoint="${endpoint}"} ${inUse}`))
    assert.ok(lines.includes(`bds_rpc_failovers_total{network_id="0",endpoint="${endpoint}"} ${failovers}`))
  }
})

test('a network that starts again goes on with the counts of the endpoints that it still has', async () => {
  const { told, open } = counted()
  for (const endpoint of open(7).endpoints(['kept', 'gone'])) endpoint.called('eth_call')
  const again = open(7).endpoints(['new', 'kept'])
  for (const endpoint of again) endpoint.called('eth_call')
  const calls = (await told()).filter((line) => /^bds_rpc_requests_total.*eth_call/.test(line))
  assert.deepEqual(calls.toSorted(), [
    'bds_rpc_requests_total{network_id="7",endpoint="kept",method="eth_call"} 2',
    'bds_rpc_requests_total{network_id="7",endpoint="new",method="eth_call"} 1',
  ])
})

test('as many endpoints as a configuration may have are told apart, by aliases of any letters', async () => {
  const { told, open } = counted()
  const aliases = Array.from({ length: 32 }, (_, index) => `節點 ${index}`)
  for (const [index, endpoint] of open(0).endpoints(aliases).entries()) endpoint.sent(index)
  const lines = await told()
  for (const [index, alias] of aliases.entries())
    assert.ok(lines.includes(`bds_rpc_sent_bytes_total{network_id="0",endpoint="${alias}"} ${index}`), alias)
})

test('reorgs, commits, audits and roots are counted by network', async () => {
  const { time, told, open } = counted()
  const counts = open(7)
  counts.reorged(3)
  counts.reorged(5_000)
  counts.committed(0.004)
  counts.audited('same')
  time.ms += 4_500
  counts.audited('unanswered')
  counts.contradicted('exit_root_mismatch')
  counts.contradicted('deposit_count_gap')
  const lines = await told()
  for (const line of [
    'bds_reorg_depth_blocks_bucket{le="4",network_id="7"} 1',
    'bds_reorg_depth_blocks_bucket{le="2",network_id="7"} 0',
    'bds_reorg_depth_blocks_bucket{le="+Inf",network_id="7"} 2',
    'bds_lmdb_commit_duration_seconds_bucket{le="0.005",network_id="7"} 1',
    'bds_audits_total{network_id="7",result="same"} 1',
    'bds_audits_total{network_id="7",result="unanswered"} 1',
    'bds_seconds_since_audit{network_id="7"} 4.5',
    'bds_root_mismatches_total{network_id="7",reason="exit_root_mismatch"} 1',
    'bds_root_mismatches_total{network_id="7",reason="l1_info_root_mismatch"} 0',
  ])
    assert.ok(lines.includes(line), line)
})
