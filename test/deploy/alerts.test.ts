import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { installedProgram, skipWithout } from '../support/installedProgram.js'
import { tempFolder } from '../support/tempFolder.js'
import { alertRules } from './monitoring.js'

/** A series in promtool's notation, a sample each minute: `0x9 1x50` is ten times 0, then 1. */
type Series = readonly [labels: Readonly<Record<string, string>>, values: string]

/** What a fault looks like from the tenth minute on, and the first minute in which its alert fires. */
interface Fault {
  readonly series: Readonly<Record<string, readonly Series[]>>
  readonly firesAt: number
  /** Labels of the alert besides `severity`. */
  readonly labels: Readonly<Record<string, string>>
}

const target = { job: 'bds', instance: 'first:9091' }
const network = { ...target, network_id: '1' }
const endpoint = { ...network, endpoint: 'alpha' }

/** A metric that has one value for ten minutes, then another one. */
const turns = (labels: Readonly<Record<string, string>>, from: number, to: number): Series => [
  labels,
  `${from}x9 ${to}x900`,
]
const ofNetwork = (metric: string, from: number, to: number, firesAt: number): Fault => ({
  series: { [metric]: [turns(network, from, to)], bds_caught_up: [[network, '1x910']] },
  firesAt,
  labels: network,
})
/** A counter that stands still for ten minutes, then counts so much each minute. */
const counts = (labels: Readonly<Record<string, string>>, perMinute: number): Series => [
  labels,
  `0x9 ${perMinute}+${perMinute}x100`,
]

const GIB = 2 ** 30
const faults: Readonly<Record<string, Fault>> = {
  BdsDown: { series: { up: [turns(target, 1, 0)] }, firesAt: 12, labels: target },
  BdsAbsent: { series: { up: [[target, '1x9 stale']] }, firesAt: 15, labels: { job: 'bds' } },
  BdsRestarts: {
    series: { process_start_time_seconds: [[target, '100x9 700 760 820x50']] },
    firesAt: 12,
    labels: target,
  },
  BdsMemoryHigh: {
    series: {
      bds_resident_bytes: [
        turns({ ...target, part: 'anonymous' }, GIB, 1.7 * GIB),
        [{ ...target, part: 'file' }, `${8 * GIB}x900`],
      ],
    },
    firesAt: 20,
    labels: { ...target, part: 'anonymous' },
  },
  BdsFewDescriptorsLeft: {
    series: { process_open_fds: [turns(target, 60, 900)], process_max_fds: [[target, '1024x900']] },
    firesAt: 15,
    labels: target,
  },
  BdsMainThreadBusy: {
    series: { nodejs_eventloop_lag_p99_seconds: [turns(target, 0.26, 1.5)] },
    firesAt: 20,
    labels: target,
  },
  BdsLogLinesLost: {
    series: { bds_log_lines_dropped_total: [turns(target, 0, 3)] },
    firesAt: 10,
    labels: target,
  },
  BdsDiskLow: {
    series: { bds_disk_free_bytes: [turns(target, 30 * GIB, GIB)] },
    firesAt: 20,
    labels: target,
  },
  // 2 GiB an hour, from the start: it would be full after 20 hours. The second sample makes the first slope.
  BdsDiskFillsUp: {
    series: { bds_disk_free_bytes: [[target, `${40 * GIB}-${(2 * GIB) / 64}x300`]] },
    firesAt: 61,
    labels: target,
  },
  BdsNetworkHalted: {
    series: { bds_sync_halted: [[{ ...network, reason: 'missing_log' }, '_x10 1x900']] },
    firesAt: 12,
    labels: { ...network, reason: 'missing_log' },
  },
  BdsSnapshotsFail: {
    series: { bds_cluster_snapshot_failures_total: [counts(network, 1)] },
    firesAt: 12,
    labels: network,
  },
  BdsDiskFull: {
    series: { bds_sync_halted: [[{ ...network, reason: 'disk_full' }, '_x10 1x900']] },
    firesAt: 10,
    labels: { ...network, reason: 'disk_full' },
  },
  BdsNoEndpointAnswers: ofNetwork('bds_rpc_down', 0, 1, 13),
  BdsEndpointFails: {
    series: {
      bds_rpc_errors_total: [
        counts({ ...endpoint, method: 'eth_getLogs', kind: 'timeout' }, 20),
        counts({ ...endpoint, method: 'eth_getLogs', kind: 'body' }, 20),
      ],
      bds_rpc_requests_total: [[{ ...endpoint, method: 'eth_getLogs' }, '0+100x100']],
    },
    // 40 % from the first sample on; the mean of five minutes is above 20 % after three.
    firesAt: 27,
    labels: endpoint,
  },
  BdsEndpointLimitsUs: {
    series: {
      bds_rpc_errors_total: [counts({ ...endpoint, method: 'eth_call', kind: 'rateLimit' }, 60)],
      bds_rpc_requests_total: [[{ ...endpoint, method: 'eth_call' }, '0+1000x100']],
    },
    firesAt: 20,
    labels: endpoint,
  },
  BdsEndpointLeavesLogsOut: {
    series: { bds_missing_logs_recovered_total: [turns(endpoint, 0, 2)] },
    firesAt: 10,
    labels: endpoint,
  },
  BdsRootsDiffer: {
    series: {
      bds_root_mismatches_total: [turns({ ...network, reason: 'exit_root_mismatch' }, 0, 1)],
    },
    firesAt: 10,
    labels: { ...network, reason: 'exit_root_mismatch' },
  },
  BdsNoAudit: ofNetwork('bds_seconds_since_audit', 600, 15_000, 25),
  BdsSnapshotStaysOpen: ofNetwork('bds_lmdb_oldest_reader_transactions', 1, 1500, 40),
  BdsNetworkLags: ofNetwork('bds_lag_seconds', 12, 700, 20),
  BdsNoProgress: {
    series: {
      bds_seconds_since_progress: [turns(network, 3, 1000)],
      bds_lag_blocks: [[network, '40x900']],
      bds_rpc_down: [[network, '0x900']],
    },
    firesAt: 15,
    labels: network,
  },
  BdsInstancesApart: {
    series: {
      bds_indexed_block: [
        [network, '5000+5x900'],
        [{ ...network, instance: 'second:9091' }, '5000+5x9 3000x900'],
      ],
    },
    firesAt: 25,
    labels: { job: 'bds', network_id: '1' },
  },
  BdsFirstSyncTakesLong: {
    series: { bds_caught_up: [turns(network, 1, 0)] },
    firesAt: 730,
    labels: network,
  },
  BdsChainStandsStill: ofNetwork('bds_head_age_seconds', 10_000, 30_000, 15),
  BdsHeadBelowStored: {
    series: {
      bds_chain_head_block: [turns(network, 5000, 4000)],
      bds_indexed_block: [[network, '4990x900']],
    },
    firesAt: 15,
    labels: network,
  },
  BdsContractsNotCompared: ofNetwork('bds_contracts_compared', 1, 0, 40),
  BdsDepositsMissing: {
    series: {
      bds_contract_deposits: [turns(network, 100, 101)],
      bds_deposits_indexed: [[network, '100x900']],
      bds_caught_up: [[network, '1x900']],
    },
    firesAt: 40,
    labels: network,
  },
  BdsStartsOver: ofNetwork('bds_start_overs_total', 0, 1, 10),
  BdsManyReorgs: ofNetwork('bds_reorgs_total', 2, 42, 10),
  BdsEmergencyState: ofNetwork('bds_bridge_emergency_state', 0, 1, 10),
  BdsSendersUnresolved: ofNetwork('bds_unresolved_senders', 0, 3, 40),
  BdsSendersUnknown: ofNetwork('bds_unknown_senders', 0, 1, 70),
  BdsSendersProvisional: ofNetwork('bds_provisional_senders', 0, 9, 730),
  BdsRequestsFail: {
    series: {
      bds_http_requests_total: [
        [{ ...target, route: '/bridge/v1/bridges', method: 'GET', status: '200' }, '0+1000x100'],
        counts({ ...target, route: '/bridge/v1/claims', method: 'GET', status: '503' }, 100),
      ],
    },
    firesAt: 15,
    labels: target,
  },
  BdsRequestsSlow: {
    series: {
      bds_http_request_duration_seconds_bucket: [
        [{ ...target, route: '/bridge/v1/claims', le: '1' }, '0+100x9 900x100'],
        [{ ...target, route: '/bridge/v1/claims', le: '2.5' }, '0+100x100'],
        [{ ...target, route: '/bridge/v1/claims', le: '+Inf' }, '0+100x100'],
      ],
    },
    firesAt: 20,
    labels: target,
  },
  BdsQueueFull: {
    series: { bds_pool_rejected_total: [counts({ ...target, reason: 'queue_full' }, 5)] },
    firesAt: 12,
    labels: target,
  },
  BdsQueryThreadsDie: {
    series: { bds_pool_worker_restarts_total: [turns(target, 0, 1)] },
    firesAt: 10,
    labels: target,
  },
  BdsConnectionsRefused: {
    series: { bds_http_connections_refused_total: [counts({ ...target, reason: 'max_connections' }, 5)] },
    firesAt: 15,
    labels: { ...target, reason: 'max_connections' },
  },
  BdsPipelinesCut: {
    series: { bds_http_pipelines_cut_total: [counts(target, 60)] },
    firesAt: 20,
    labels: target,
  },
  BdsSlowReaders: {
    series: { bds_http_slow_readers_cut_total: [counts({ ...target, limit: 'memory' }, 60)] },
    firesAt: 20,
    labels: target,
  },
  BdsClientsLimited: {
    series: { bds_rate_limited_total: [counts({ ...target, route: '/bridge/v1/bridges' }, 600)] },
    firesAt: 25,
    labels: target,
  },
}

/** A service on whose metrics no alert may fire, for thirteen hours. */
const well: Fault['series'] = {
  up: [[target, '1x800']],
  process_start_time_seconds: [[target, '100x800']],
  process_open_fds: [[target, '80x800']],
  process_max_fds: [[target, '65536x800']],
  nodejs_eventloop_lag_p99_seconds: [[target, '0.26x800']],
  bds_resident_bytes: [
    [{ ...target, part: 'anonymous' }, `${0.3 * GIB}x800`],
    [{ ...target, part: 'file' }, `${20 * GIB}x800`],
  ],
  // 100 MB an hour.
  bds_disk_free_bytes: [[target, `${30 * GIB}-1600000x800`]],
  bds_log_lines_dropped_total: [[target, '7x800']],
  bds_rpc_down: [[network, '0x800']],
  bds_rpc_requests_total: [[{ ...endpoint, method: 'eth_call' }, '0+600x800']],
  bds_rpc_errors_total: [
    [{ ...endpoint, method: 'eth_call', kind: 'timeout' }, '0+6x800'],
    [{ ...endpoint, method: 'eth_call', kind: 'rateLimit' }, '0+2x800'],
    // Reverts are answers.
    [{ ...endpoint, method: 'eth_call', kind: 'rpc' }, '0+300x800'],
  ],
  bds_missing_logs_recovered_total: [[endpoint, '4x800']],
  bds_root_mismatches_total: [[{ ...network, reason: 'exit_root_mismatch' }, '1x800']],
  bds_seconds_since_audit: [[network, '900x800']],
  bds_lmdb_oldest_reader_transactions: [[network, '2x800']],
  bds_lag_blocks: [[network, '2x800']],
  bds_lag_seconds: [[network, '24x800']],
  bds_seconds_since_progress: [[network, '3x800']],
  bds_chain_head_block: [[network, '1002+5x800']],
  bds_indexed_block: [
    [network, '1000+5x800'],
    [{ ...network, instance: 'second:9091' }, '998+5x800'],
  ],
  bds_caught_up: [[network, '1x800']],
  bds_head_age_seconds: [
    [network, '4000x800'],
    [{ ...network, network_id: '0' }, '20x800'],
  ],
  bds_contracts_compared: [[network, '1x800']],
  // The contract was asked some time ago.
  bds_contract_deposits: [[network, '100x800']],
  bds_deposits_indexed: [[network, '103x800']],
  bds_start_overs_total: [[network, '0x800']],
  bds_cluster_snapshot_failures_total: [[network, '2x800']],
  // Four an hour.
  bds_reorgs_total: [[network, Array.from({ length: 13 }, (_, hour) => `${4 * hour}x59`).join(' ')]],
  bds_bridge_emergency_state: [[network, '0x800']],
  bds_unresolved_senders: [[network, '0x800']],
  bds_unknown_senders: [[network, '0x800']],
  bds_provisional_senders: [[network, '0x800']],
  bds_http_requests_total: [
    [{ ...target, route: '/bridge/v1/bridges', method: 'GET', status: '200' }, '0+1000x800'],
    [{ ...target, route: '/bridge/v1/claims', method: 'GET', status: '504' }, '0+5x800'],
    // An instance that is not ready says so to every probe.
    [{ ...target, route: '/readyz', method: 'GET', status: '503' }, '0+60x800'],
  ],
  bds_http_request_duration_seconds_bucket: [
    [{ ...target, route: '/bridge/v1/claims', le: '0.01' }, '0+100x800'],
    [{ ...target, route: '/bridge/v1/claims', le: '+Inf' }, '0+100x800'],
  ],
  bds_pool_rejected_total: [[{ ...target, reason: 'draining' }, '0+1x800']],
  bds_pool_worker_restarts_total: [[target, '1x800']],
  bds_http_connections_refused_total: [[{ ...target, reason: 'max_connections' }, '9x800']],
  bds_http_pipelines_cut_total: [[target, '0+1x800']],
  bds_http_slow_readers_cut_total: [[{ ...target, limit: 'time' }, '0+1x800']],
  bds_rate_limited_total: [[{ ...target, route: '/bridge/v1/bridges' }, '0+20x800']],
}

const inputSeries = (series: Fault['series']) =>
  Object.entries(series).flatMap(([metric, list]) =>
    list.map(([labels, values]) => ({
      series: `${metric}{${Object.entries(labels)
        .map(([name, value]) => `${name}="${value}"`)
        .join(',')}}`,
      values,
    })),
  )

/** One test of promtool: the alert is silent in the minute before, and fires with these labels and this text. */
function played(alert: string, { series, firesAt, labels }: Fault) {
  const { labels: own, annotations } = alertRules().find((rule) => rule.alert === alert)!
  const rendered = annotations.summary.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name) => labels[name] ?? '')
  return {
    name: alert,
    interval: '1m',
    input_series: inputSeries(series),
    alert_rule_test: [
      { eval_time: `${firesAt - 1}m`, alertname: alert, exp_alerts: [] },
      {
        eval_time: `${firesAt}m`,
        alertname: alert,
        exp_alerts: [
          { exp_labels: { ...labels, ...own }, exp_annotations: { ...annotations, summary: rendered } },
        ],
      },
    ],
  }
}

test('each alert has a played fault', () => {
  assert.deepEqual(
    Object.keys(faults).toSorted(),
    alertRules()
      .map(({ alert }) => alert)
      .toSorted(),
  )
})

test('each alert fires in its played fault, not a minute earlier, and none on a service that is well', {
  skip: skipWithout('promtool'),
}, (t) => {
  const folder = tempFolder(t)
  copyFileSync(
    fileURLToPath(new URL('../../../deploy/prometheus/alerts.yml', import.meta.url)),
    join(folder, 'alerts.yml'),
  )
  const quiet = {
    name: 'well',
    interval: '1m',
    input_series: inputSeries(well),
    alert_rule_test: alertRules().flatMap(({ alert }) =>
      [20, 120, 780].map((minute) => ({ eval_time: `${minute}m`, alertname: alert, exp_alerts: [] })),
    ),
  }
  const tests = [quiet, ...Object.entries(faults).map(([alert, fault]) => played(alert, fault))]
  const file = join(folder, 'faults.yml')
  writeFileSync(file, stringify({ rule_files: ['alerts.yml'], evaluation_interval: '1m', tests }))
  for (const args of [
    ['check', 'rules', join(folder, 'alerts.yml')],
    ['test', 'rules', file],
  ]) {
    const { status, stdout, stderr } = spawnSync(installedProgram('promtool')!, args, { encoding: 'utf8' })
    assert.equal(status, 0, stdout + stderr)
  }
})
