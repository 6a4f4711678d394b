import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSchema } from '../../../src/api/parse/parseQuery.js'
import { HealthResponse, SyncStatusResponse } from '../../../src/api/schemas.js'
import {
  createStatusBoard,
  headPlaces,
  type StatusBoardHandle,
  type StatusField,
  statusRow,
} from '../../../src/board/statusBoard.js'
import type { Config } from '../../../src/config/config.types.js'
import { formatUptime } from '../../../src/health/health.js'
import { createHealthBoard, HealthBoard } from '../../../src/health/healthBoard.js'
import { createHealthMonitor } from '../../../src/health/healthMonitor.js'
import { createHealthSource } from '../../../src/health/healthSource.js'
import type { HealthSource } from '../../../src/health/healthSource.types.js'
import { healthDefinition, syncStatusDefinition } from '../../../src/query/healthRecords.js'
import { IndexerCounts } from '../../../src/telemetry/counts/indexerCounts.js'

const START_MS = 1_700_000_000_000

/** A service with an L1 and two L2s, its clock, and every network in sync at block 100. */
function world(change: Partial<Config['health']> = {}, cluster?: { maxLagMs: number; maxStaleMs: number }) {
  const config = {
    primaryNetwork: 1,
    networks: [
      { networkId: 0, stalledAfterMs: 1_800_000 },
      { networkId: 1, stalledAfterMs: 21_600_000 },
      { networkId: 2, stalledAfterMs: 0 },
    ],
    health: {
      syncedLagBlocks: 10,
      maxLagBlocks: 50,
      readyWhileSyncing: false,
      maxRpcDownMs: 60_000,
      heartbeatTimeoutMs: 30_000,
      ...change,
    },
    ...(cluster === undefined ? {} : { cluster }),
  } as unknown as Config
  const status: StatusBoardHandle = createStatusBoard([0, 1, 2])
  const state = { nowMs: START_MS, unixMs: START_MS }
  const handle = createHealthBoard([0, 1, 2], 2)
  const board = new HealthBoard(handle)
  for (const front of [0, 1]) board.setPoolAlive(front, true)
  const monitor = createHealthMonitor({
    config,
    status,
    board,
    now: () => state.nowMs,
    unixMs: () => state.unixMs,
  })
  const front = createHealthSource({
    config,
    status,
    board: new HealthBoard(structuredClone(handle)),
    now: () => state.nowMs,
    awakeNow: () => board.awakeNow(state.nowMs),
    unixMs: () => state.unixMs,
  })
  const set = (networkId: number, fields: Partial<Record<StatusField, number | undefined>>) => {
    for (const [field, value] of Object.entries(fields))
      statusRow(status, networkId).set(field as StatusField, value)
  }
  const samples = (count: number) => {
    for (let i = 0; i < count; i++) {
      state.nowMs += 1000
      state.unixMs += 1000
      monitor.sample()
    }
  }
  const inSync = () => {
    for (const networkId of [0, 1, 2]) set(networkId, { headBlock: 100, syncedBlock: 100, caughtUp: 1 })
  }
  const brief = () => {
    const { httpStatus, record } = monitor.health()
    const { ready, reason } = monitor.readiness()
    return [httpStatus, record.status, record.reasons ?? [], ready ? 'ready' : reason]
  }
  monitor.setPhase('running')
  return {
    monitor,
    front,
    state,
    board,
    set,
    samples,
    inSync,
    brief,
    row: (id: number) => statusRow(status, id),
    counts: (id: number) => new IndexerCounts(status.counts, id, () => state.nowMs),
  }
}

const CLUSTER = { maxLagMs: 5_000, maxStaleMs: 8_000 }

test('an instance of a cluster is not ready while its servers are silent for too long, or while it lags behind a log', () => {
  const { state, inSync, set, brief } = world({}, CLUSTER)
  const apart = [200, 'degraded', ['cluster'], 'cluster']
  inSync()
  assert.deepEqual(brief(), apart)
  const heard = (lagMs: number) => {
    for (const networkId of [0, 1, 2]) set(networkId, { logHeardMs: state.nowMs, logLagMs: 0 })
    set(2, { logLagMs: lagMs })
  }
  heard(5_000)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
  heard(5_001)
  assert.deepEqual(brief(), apart)
  heard(0)
  state.nowMs += 8_000
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
  state.nowMs += 1
  assert.deepEqual(brief(), apart)
})

test('the sync status of an instance of a cluster tells who leads, and its place in each log; of another one it does not', () => {
  const { monitor, state, set } = world({}, CLUSTER)
  set(1, { leads: 1, logSequence: 40, logEnd: 43, logLagMs: 900, logHeardMs: state.nowMs - 250 })
  set(1, { snapshotSequence: 30, snapshotMadeMs: START_MS - 60_000 })
  const standing = (network: object) =>
    Object.entries(network).filter(([name]) => name === 'role' || /^(log|snapshot)_/.test(name))
  const { networks } = monitor.syncStatus()
  assert.deepEqual(standing(networks[1]!), [
    ['role', 'leads'],
    ['log_sequence', 40],
    ['log_lag', 3],
    ['log_lag_ms', 900],
    ['log_age_ms', 250],
    ['snapshot_sequence', 30],
    ['snapshot_age_ms', 60_000],
  ])
  assert.deepEqual(standing(networks[2]!), [
    ['role', 'follows'],
    ['log_sequence', 0],
    ['log_lag', 0],
    ['log_lag_ms', 0],
  ])
  const alone = world()
  alone.set(1, { leads: 1, logSequence: 40, snapshotSequence: 30 })
  assert.deepEqual(standing(alone.monitor.syncStatus().networks[1]!), [])
})

test('an instance is starting, then syncing, then healthy, then draining', () => {
  const { monitor, inSync, brief } = world()
  monitor.setPhase('starting')
  assert.deepEqual(brief(), [503, 'starting', ['starting'], 'starting'])
  monitor.setPhase('running')
  assert.deepEqual(brief(), [200, 'syncing', ['syncing'], 'syncing'])
  inSync()
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
  monitor.setPhase('draining')
  assert.deepEqual(brief(), [503, 'draining', ['draining'], 'draining'])
})

test('the sync status tells endpoints by network and place, whatever they are called, in the order of the configuration', () => {
  const { monitor, front, counts, state } = world()
  assert.deepEqual(monitor.syncStatus().networks[1]!.endpoints, [])
  counts(1).endpoints(['https-of-provider-a', 'gone'])
  // The second start of its thread, after a reload: another order, and one that is new.
  const indexer = counts(1)
  const [, first] = indexer.endpoints(['provider b', 'https-of-provider-a'])
  first!.rests('rateLimit', 5_000)
  indexer.served('provider b')
  const endpoints = [
    { endpoint: '1-a', in_use: true, resting: null },
    { endpoint: '1-b', in_use: false, resting: 'rateLimit' },
  ]
  assert.deepEqual(front.syncStatus().networks[1]!.endpoints, endpoints)
  assert.ok(!JSON.stringify(front.syncStatus()).includes('provider'))
  state.nowMs += 5_000
  assert.equal(front.syncStatus().networks[1]!.endpoints[1]!.resting, null)
  assert.deepEqual(front.syncStatus().networks[0]!.endpoints, [])
})

test('the health record has the primary network, its block, all networks and the uptime', () => {
  const { monitor, state, inSync, set } = world()
  inSync()
  set(1, { syncedBlock: 99 })
  state.nowMs += 8_130_000
  const { build, ...record } = monitor.health().record
  assert.deepEqual(record, {
    status: 'healthy',
    version: '1.0.0',
    network_id: 1,
    uptime: '2h15m30s',
    last_processed_block: 99,
    supported_networks: [0, 1, 2],
  })
  assert.match(build, /^\d+\.\d+\.\d+/)
})

test('an uptime has hours, minutes and seconds without padding, and hours beyond 24', () => {
  const cases: [number, string][] = [
    [0, '0h0m0s'],
    [999, '0h0m0s'],
    [61_000, '0h1m1s'],
    [3_600_000, '1h0m0s'],
    [90_061_000, '25h1m1s'],
  ]
  for (const [elapsedMs, text] of cases) assert.equal(formatUptime(elapsedMs), text)
})

test('one halted network degrades health at once and leaves the instance ready, and all networks halted make it unhealthy', () => {
  const { inSync, row, brief, monitor } = world()
  inSync()
  row(2).setHaltReason('deposit_count_gap')
  assert.deepEqual(brief(), [200, 'degraded', ['halted'], 'ready'])
  assert.deepEqual(
    monitor.syncStatus().networks.map(({ halted, is_synced }) => [halted, is_synced]),
    [
      [null, true],
      [null, true],
      ['deposit_count_gap', false],
    ],
  )
  row(0).setHaltReason('l1_info_root_mismatch')
  row(1).setHaltReason('missing_log')
  assert.deepEqual(brief(), [503, 'unhealthy', ['halted'], 'halted'])
})

test('a network that halts before it first caught up keeps the instance unready', () => {
  const { inSync, row, set, brief } = world()
  inSync()
  for (const unread of [{ syncedBlock: undefined }, { catchingUp: 1 }]) {
    set(2, { caughtUp: 0, syncedBlock: 100, catchingUp: 0, ...unread })
    row(2).setHaltReason('wrong_chain')
    assert.deepEqual(brief(), [200, 'degraded', ['halted'], 'halted'])
  }
  // A network that was in sync once is at most behind.
  set(2, { caughtUp: 1, catchingUp: 1 })
  assert.deepEqual(brief(), [200, 'degraded', ['halted'], 'ready'])
})

test('a network that has all its history and halts after a restart does not keep the instance syncing', () => {
  const { inSync, row, set, brief } = world()
  inSync()
  set(2, { caughtUp: 0 })
  assert.deepEqual(brief(), [200, 'syncing', ['syncing'], 'syncing'])
  row(2).setHaltReason('missing_log')
  assert.deepEqual(brief(), [200, 'degraded', ['halted'], 'ready'])
})

test('a full disk degrades health and leaves the instance ready', () => {
  const { inSync, row, brief } = world()
  inSync()
  for (const networkId of [0, 1, 2]) row(networkId).setHaltReason('disk_full')
  assert.deepEqual(brief(), [200, 'degraded', ['disk'], 'ready'])
})

test('lag degrades after three samples above the limit, and ends after two below it', () => {
  const { inSync, set, samples, brief } = world()
  inSync()
  set(1, { headBlock: 111 })
  samples(2)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'], 'two samples')
  samples(1)
  assert.deepEqual(brief(), [200, 'degraded', ['lag'], 'ready'], 'three samples')
  set(1, { headBlock: 110 })
  samples(1)
  assert.deepEqual(brief(), [200, 'degraded', ['lag'], 'ready'], 'one good sample')
  samples(1)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'], 'two good samples')
})

test('a good sample between bad ones starts the count of lag anew', () => {
  const { inSync, set, samples, brief } = world()
  inSync()
  for (let round = 0; round < 5; round++) {
    set(1, { headBlock: 111 })
    samples(2)
    set(1, { headBlock: 100 })
    samples(1)
  }
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
})

test('lag above the readiness limit makes the instance unready', () => {
  const { inSync, set, samples, brief } = world()
  inSync()
  set(2, { headBlock: 151 })
  samples(3)
  assert.deepEqual(brief(), [200, 'degraded', ['lag'], 'lag'])
})

test('lag before the first catch-up is syncing, not degraded', () => {
  const { set, samples, brief } = world()
  for (const networkId of [0, 1, 2]) set(networkId, { headBlock: 10_000, syncedBlock: 5 })
  samples(5)
  assert.deepEqual(brief(), [200, 'syncing', ['syncing'], 'syncing'])
})

test('an instance can be configured to be ready while it syncs', () => {
  const { brief } = world({ readyWhileSyncing: true })
  assert.deepEqual(brief(), [200, 'syncing', ['syncing'], 'ready'])
})

test('silent endpoints degrade health after three samples, and make the instance unready when they stay silent', () => {
  const { inSync, set, samples, brief, monitor } = world()
  inSync()
  set(0, { rpcDown: 1 })
  samples(1)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'], 'one failure')
  samples(2)
  assert.deepEqual(brief(), [200, 'degraded', ['rpc'], 'ready'])
  assert.equal(monitor.syncStatus().l1_sync.is_synced, false)
  samples(60)
  assert.deepEqual(brief(), [200, 'degraded', ['rpc'], 'rpc'])
  set(0, { rpcDown: 0 })
  samples(1)
  assert.deepEqual(brief(), [200, 'degraded', ['rpc'], 'ready'])
  samples(1)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
})

test('a head that stays below the stored blocks degrades health at once, and makes the instance unready when it stays there', () => {
  const { inSync, set, samples, brief, monitor, row } = world()
  inSync()
  row(1).setHeadPlace(headPlaces.below)
  set(1, { headBlock: 93 })
  samples(1)
  assert.deepEqual(brief(), [200, 'degraded', ['behind'], 'ready'])
  const { current_block, synced_block, is_synced } = monitor.syncStatus().l2_sync
  assert.deepEqual(
    { current_block, synced_block, is_synced },
    { current_block: 93, synced_block: 100, is_synced: false },
  )
  assert.equal(monitor.syncStatus().l1_sync.is_synced, true)
  assert.equal(monitor.readiness().lagBlocks, 0)
  samples(30)
  // Endpoints that fail meanwhile do not restart the count.
  set(1, { rpcDown: 1 })
  samples(10)
  set(1, { rpcDown: 0 })
  samples(2)
  row(1).setHeadPlace(headPlaces.belowFinal)
  samples(17)
  assert.deepEqual(brief(), [200, 'degraded', ['behind'], 'ready'])
  samples(2)
  assert.deepEqual(brief(), [200, 'degraded', ['behind'], 'behind'])
  row(1).setHeadPlace(headPlaces.inStep)
  set(1, { headBlock: 100 })
  samples(1)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
})

test('the sync status lists for each network its own reasons', () => {
  const { monitor, inSync, set, samples, row } = world()
  const reasons = () => monitor.syncStatus().networks.map((network) => network.reasons)
  inSync()
  assert.deepEqual(reasons(), [undefined, undefined, undefined])
  set(0, { rpcDown: 1 })
  set(1, { syncedBlock: 80 })
  row(2).setHaltReason('missing_log')
  samples(3)
  assert.deepEqual(reasons(), [['rpc'], ['lag'], ['halted']])
  assert.deepEqual(monitor.health().record.reasons, ['halted', 'rpc', 'lag'])
})

test('the service is starting until every head was compared with the stored blocks, for half a minute at most', () => {
  const { inSync, brief, monitor, row, samples } = world()
  inSync()
  row(1).setHeadPlace(headPlaces.unseen)
  samples(29)
  assert.deepEqual(brief(), [503, 'starting', ['starting'], 'starting'])
  samples(1)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
  assert.equal(monitor.syncStatus().l2_sync.is_synced, false)
})

test('a network with a seen head, a halt that puts its data in doubt or silent endpoints no longer keeps the service starting', () => {
  const ends: ((of: ReturnType<typeof world>) => void)[] = [
    ({ row }) => row(1).setHeadPlace(headPlaces.inStep),
    ({ row }) => row(1).setHeadPlace(headPlaces.below),
    ({ row }) => row(1).setHaltReason('wrong_chain'),
    ({ set, samples }) => {
      set(1, { rpcDown: 1 })
      samples(3)
    },
  ]
  for (const end of ends) {
    const each = world()
    each.inSync()
    each.row(1).setHeadPlace(headPlaces.unseen)
    // From before the start: it does not keep the head from being seen.
    each.row(1).setHaltReason('disk_full')
    assert.equal(each.brief()[1], 'starting')
    each.row(1).setHaltReason('none')
    end(each)
    assert.notEqual(each.brief()[1], 'starting', end.toString())
  }
})

const HOUR_MS = 3_600_000

test('a head that is old and has not moved for a minute is reported as stalled, and nothing else changes', () => {
  const { state, set, samples, inSync, brief, monitor } = world()
  inSync()
  const now = () => Math.floor(state.unixMs / 1000)
  const healthy = [200, 'healthy', [], 'ready']
  const stalled = [200, 'degraded', ['stalled'], 'ready']
  set(0, { headTimestampSec: now() - 1_801 })
  samples(60)
  assert.deepEqual(brief(), healthy, 'seen for less than a minute')
  samples(1)
  assert.deepEqual(brief(), stalled)
  const { l1_sync, networks } = monitor.syncStatus()
  assert.equal(l1_sync.is_synced, true)
  assert.equal(networks[0]!.head_age_seconds, 1_862)
  set(0, { headBlock: 101 })
  assert.deepEqual(brief(), healthy, 'it moves, however old its times are')
  samples(62)
  assert.deepEqual(brief(), stalled)
  set(0, { headBlock: 102, headTimestampSec: now() })
  samples(62)
  assert.deepEqual(brief(), healthy)
  // A layer 2 has a limit of its own, and a network without a limit none.
  for (const [network, ageMs, expected] of [
    [1, 2 * HOUR_MS, healthy],
    [1, 14 * HOUR_MS, stalled],
    [2, 1_000 * HOUR_MS, healthy],
  ] as const) {
    set(network, { headTimestampSec: Math.floor(now() - ageMs / 1000) })
    samples(62)
    assert.deepEqual(brief(), expected, `network ${network}, ${ageMs} ms`)
    set(network, { headTimestampSec: now() })
  }
})

test('a jump of the clock makes no chain stalled, and a block time in the future counts as no age', () => {
  const { state, set, samples, inSync, brief, monitor } = world()
  inSync()
  set(0, { headTimestampSec: Math.floor(state.unixMs / 1000) })
  samples(10)
  state.unixMs += 24 * HOUR_MS
  samples(10)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'], 'seen for seconds only')
  state.unixMs -= 48 * HOUR_MS
  samples(100)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
  assert.equal(monitor.syncStatus().networks[0]!.head_age_seconds, 0)
})

test('a pool that answers nothing, of any front thread, makes the instance unhealthy', () => {
  const { inSync, board, brief } = world()
  inSync()
  board.setPoolAlive(1, false)
  assert.deepEqual(brief(), [503, 'unhealthy', ['pool'], 'pool'])
  board.setPoolAlive(1, true)
  assert.deepEqual(brief(), [200, 'healthy', [], 'ready'])
})

test('a front thread, which has only the shared memory, tells the same health as main at any moment', () => {
  const { inSync, set, samples, state, monitor, front } = world({ maxRpcDownMs: 4_000 })
  const told = (source: HealthSource) => [source.health(), source.readiness(), source.syncStatus()]
  const agree = () => assert.deepEqual(told(front), told(monitor))
  agree()
  inSync()
  agree()
  set(1, { headBlock: 500 })
  set(2, { rpcDown: 1 })
  set(0, { headTimestampSec: Math.floor(START_MS / 1000) - 7_200, syncedTimestampSec: 1_600_000_000 })
  for (let second = 0; second < 90; second++) {
    samples(1)
    agree()
    state.nowMs += 300
    agree()
  }
  assert.deepEqual(front.health().record.reasons, ['rpc', 'lag', 'stalled'])
  assert.equal(front.readiness().reason, 'lag')
  monitor.setPhase('draining')
  agree()
})

test('the emergency state of a bridge is reported', () => {
  const { inSync, set, brief } = world()
  inSync()
  set(2, { emergencyState: 1 })
  assert.deepEqual(brief(), [200, 'degraded', ['emergency_state'], 'ready'])
})

test('the health record and the sync status are what their schemas say, before the first block, in sync and halted', () => {
  const { monitor, set, inSync } = world()
  const assertDocumented = () => {
    for (const [schema, answer] of [
      [HealthResponse, monitor.health().record],
      [SyncStatusResponse, monitor.syncStatus()],
    ] as const) {
      const validate = compileSchema(schema)
      // As on the wire, where an absent field and `undefined` are the same.
      const isValid = validate(JSON.parse(JSON.stringify(answer)))
      assert.ok(isValid, JSON.stringify(validate.errors))
    }
  }
  assertDocumented()
  inSync()
  assertDocumented()
  set(1, { haltReason: 1, headTimestampSec: START_MS / 1000, finalizedBlock: 90, contractDepositCount: 4 })
  assertDocumented()
})

test('the health record and the sync status have their fields in the order of their definitions', () => {
  const { monitor, set } = world({}, CLUSTER)
  set(1, { haltReason: 1, logHeardMs: START_MS, snapshotSequence: 1, snapshotMadeMs: START_MS })
  const { record } = monitor.health()
  const status = monitor.syncStatus()
  assert.deepEqual(Object.keys(record), Object.keys(healthDefinition.fields))
  const { l1_sync, bridge_sync, networks } = syncStatusDefinition.fields
  assert.deepEqual(Object.keys(status), Object.keys(syncStatusDefinition.fields))
  for (const chain of [status.l1_sync, status.l2_sync])
    assert.deepEqual(Object.keys(chain), Object.keys(l1_sync.record.fields))
  assert.deepEqual(Object.keys(status.bridge_sync), Object.keys(bridge_sync.record.fields))
  const halted = status.networks.find(({ network_id }) => network_id === 1)
  assert.deepEqual(Object.keys(halted!), Object.keys(networks.record.fields))
})

test('the sync status has the sums of layer 2 and each network', () => {
  const { monitor, set } = world()
  set(0, { headBlock: 50, syncedBlock: 50, caughtUp: 1, depositCount: 7, contractDepositCount: 8 })
  set(0, { contractsCompared: 1 })
  set(1, { headBlock: 30, syncedBlock: 25, caughtUp: 1, depositCount: 4, claimCount: 5, finalizedBlock: 20 })
  set(2, { unresolvedSenders: 6 })
  const headTimestampSec = START_MS / 1000 - 75
  set(1, {
    headTimestampSec,
    syncedTimestampSec: headTimestampSec - 60,
    lastCommitMs: START_MS + 5,
    progressMs: 9,
  })
  set(2, {
    headBlock: 90,
    syncedBlock: 60,
    caughtUp: 1,
    depositCount: 3,
    lastCommitMs: START_MS + 40,
    progressMs: 8,
  })
  const chain = (current_block: number, synced_block: number, is_synced: boolean) => ({
    current_block,
    synced_block,
    is_synced,
  })
  const unknown = {
    finalized_block: null,
    lag_seconds: null,
    head_age_seconds: null,
    halted: null,
    contract_deposit_count: null,
    contracts_compared: null,
  }
  assert.deepEqual(monitor.syncStatus(), {
    l1_sync: chain(50, 50, true),
    l2_sync: chain(30, 25, true),
    bridge_sync: {
      l1_bridges_indexed: 7,
      l2_bridges_indexed: 7,
      last_update: '2023-11-14T22:13:20.005Z',
    },
    networks: [
      {
        network_id: 0,
        ...chain(50, 50, true),
        ...unknown,
        contract_deposit_count: 8,
        contracts_compared: true,
        indexed_deposit_count: 7,
        indexed_claim_count: 0,
        unresolved_senders: 0,
        endpoints: [],
      },
      {
        network_id: 1,
        ...chain(30, 25, true),
        ...unknown,
        finalized_block: 20,
        lag_seconds: 60,
        head_age_seconds: 75,
        indexed_deposit_count: 4,
        indexed_claim_count: 5,
        unresolved_senders: 0,
        endpoints: [],
      },
      {
        network_id: 2,
        ...chain(90, 60, false),
        ...unknown,
        indexed_deposit_count: 3,
        indexed_claim_count: 0,
        unresolved_senders: 6,
        endpoints: [],
      },
    ],
  })
})

test('a network is not synced while its head is unknown, senders are open, claims may be missing, or before it first caught up', () => {
  const { monitor, inSync, set } = world()
  const isSynced = () => monitor.syncStatus().l2_sync.is_synced
  assert.equal(isSynced(), false, 'no answer of any endpoint yet: 0 = 0 proves nothing')
  inSync()
  assert.equal(isSynced(), true)
  set(1, { unresolvedSenders: 1 })
  assert.equal(isSynced(), false)
  set(1, { unresolvedSenders: 0, catchingUp: 1 })
  assert.equal(isSynced(), false)
  set(1, { catchingUp: 0, caughtUp: 0 })
  assert.equal(isSynced(), false)
  set(1, { caughtUp: 1, headBlock: undefined })
  assert.deepEqual(monitor.syncStatus().l2_sync, { current_block: 100, synced_block: 100, is_synced: false })
})

test('a network is not synced while another one has indexed deposits whose claims it has not compared with its contract', () => {
  const { monitor, set, inSync } = world()
  inSync()
  const synced = () => monitor.syncStatus().networks.map(({ is_synced }) => is_synced)
  // Networks 0 and 2 have noted nothing: a store of an older build, or one that is still catching up.
  set(1, { comparedClaimWords: 0 })
  assert.deepEqual(synced(), [true, true, true])
  set(0, { depositCount: 1 })
  assert.deepEqual(synced(), [true, false, true])
  set(1, { comparedClaimWords: 1 })
  set(0, { depositCount: 256 })
  assert.deepEqual(synced(), [true, true, true])
  set(2, { depositCount: 1 })
  assert.deepEqual(synced(), [true, false, true])
  // Its own deposits are claimed elsewhere.
  set(1, { comparedClaimWords: 2, depositCount: 1_000 })
  assert.deepEqual(synced(), [true, true, true])
})

test('the L1 is not synced until polled networks were asked for its newest leaves, and stays synced afterwards', () => {
  const { monitor, inSync, set } = world()
  const isSynced = () => monitor.syncStatus().l1_sync.is_synced
  inSync()
  set(0, { commits: 7 })
  set(2, { polledL1Commits: 6 })
  assert.equal(isSynced(), false)
  set(2, { rpcDown: 1 })
  assert.equal(isSynced(), true, 'a network without endpoints is not waited for')
  const other = world()
  other.inSync()
  other.set(0, { commits: 7 })
  other.set(2, { polledL1Commits: 7 })
  assert.equal(other.monitor.syncStatus().l1_sync.is_synced, true)
  other.set(0, { commits: 8 })
  assert.equal(other.monitor.syncStatus().l1_sync.is_synced, true)
})

test('the L1 is not synced until its settled roots were searched in the trees of their networks', () => {
  const { monitor, inSync, set } = world()
  inSync()
  set(0, { commits: 7 })
  set(1, { searchedL1Commits: 6 })
  assert.equal(monitor.syncStatus().l1_sync.is_synced, false)
  set(1, { searchedL1Commits: 7 })
  assert.equal(monitor.syncStatus().l1_sync.is_synced, true)
})

test('a thread counts as silent only after its first heartbeat', () => {
  const { monitor, set, samples } = world()
  samples(100)
  assert.deepEqual(monitor.silentNetworks(), [])
  set(2, { heartbeats: 1 })
  samples(31)
  assert.deepEqual(monitor.silentNetworks(), [])
  samples(1)
  assert.deepEqual(monitor.silentNetworks(), [2])
  set(2, { heartbeats: 2 })
  samples(1)
  assert.deepEqual(monitor.silentNetworks(), [])
})
