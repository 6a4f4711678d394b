import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createStatusBoard, statusRow } from '../../../src/board/statusBoard.js'
import type { Config } from '../../../src/config/config.types.js'
import { createHealthBoard, HealthBoard } from '../../../src/health/healthBoard.js'
import { createHealthMonitor } from '../../../src/health/healthMonitor.js'
import { registerNetworkMetrics } from '../../../src/health/networkMetrics.js'
import { AwakeClock, SECOND_MS } from '../../../src/telemetry/clocks.js'

const HOUR_MS = 3_600_000
const START_UNIX_MS = Date.UTC(2026, 0, 1)
const HEARTBEAT_TIMEOUT_MS = 5_000

/** A service that is in sync, on a machine whose wall clock the test sets and which it suspends. */
function machine() {
  const config = {
    primaryNetwork: 1,
    networks: [0, 1].map((networkId) => ({ networkId, stalledAfterMs: 600_000 })),
    health: {
      syncedLagBlocks: 2,
      maxLagBlocks: 50,
      maxRpcDownMs: 60_000,
      readyWhileSyncing: false,
      heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
    },
  } as unknown as Config
  const status = createStatusBoard([0, 1])
  const rows = [0, 1].map((networkId) => statusRow(status, networkId))
  const time = { nowMs: 1_000, unixMs: START_UNIX_MS }
  const awake = new AwakeClock(SECOND_MS, () => time.nowMs)
  const board = new HealthBoard(createHealthBoard([0, 1], 1))
  board.setPoolAlive(0, true)
  const monitor = createHealthMonitor({
    config,
    status,
    board,
    now: () => time.nowMs,
    awakeNow: () => awake.now(),
    unixMs: () => time.unixMs,
  })
  const registry = new Registry()
  registerNetworkMetrics(registry, status, false, () => time.nowMs)
  for (const row of rows) {
    for (const [field, value] of Object.entries({ headBlock: 9, syncedBlock: 9, caughtUp: 1 }))
      row.set(field as 'headBlock', value)
    row.set('headTimestampSec', START_UNIX_MS / 1000)
    row.set('progressMs', time.nowMs)
    row.set('lastCommitMs', time.unixMs)
  }
  monitor.setPhase('running')

  let silent: readonly number[] = []
  const tick = (): void => {
    awake.tick()
    monitor.sample()
    silent = [...silent, ...monitor.silentNetworks()]
  }
  /** The process runs: its threads send heartbeats, and its networks get blocks. */
  const run = (seconds: number, beating: readonly number[] = [0, 1]): void => {
    for (let second = 0; second < seconds; second++) {
      time.nowMs += SECOND_MS
      time.unixMs += SECOND_MS
      for (const networkId of beating) rows[networkId]!.add('heartbeats', 1)
      tick()
    }
  }
  /** Suspends the whole process. Then either the monitor or the threads run first. */
  const stop = (ms: number): void => {
    time.nowMs += ms
    time.unixMs += ms
    tick()
  }
  const step = (ms: number): void => {
    time.unixMs += ms
  }
  const sinceProgress = async (): Promise<number> =>
    Number((await registry.metrics()).match(/^bds_seconds_since_progress\{network_id="1"\} (\S+)$/m)?.[1])
  return { monitor, run, stop, step, sinceProgress, rows, silent: () => silent }
}

for (const ms of [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, -24 * HOUR_MS])
  test(`a wall clock that is set by ${ms / HOUR_MS} h ends nothing and changes no duration`, async () => {
    const { monitor, run, step, sinceProgress, silent } = machine()
    run(10)
    step(ms)
    run(10)
    assert.deepEqual(silent(), [])
    assert.equal(await sinceProgress(), 20)
    const { status, uptime, reasons } = monitor.health().record
    assert.deepEqual([status, uptime, reasons], ['healthy', '0h0m20s', undefined])
    assert.equal(monitor.readiness().ready, true)
    // A date is shown as it was when it was recorded.
    assert.equal(monitor.syncStatus().bridge_sync.last_update, '2026-01-01T00:00:00.000Z')
  })

for (const ms of [HEARTBEAT_TIMEOUT_MS + 1, HOUR_MS, 24 * HOUR_MS])
  test(`a process that was suspended for ${ms} ms finds no thread silent`, () => {
    const { monitor, run, stop, silent } = machine()
    run(1)
    for (let round = 0; round < 5; round++) {
      stop(ms)
      run(1)
    }
    assert.deepEqual(silent(), [])
    assert.equal(monitor.health().record.status, 'healthy')
  })

test("the last update is the newest commit's, whatever the clock showed at earlier commits", () => {
  const { monitor, rows } = machine()
  rows[0]!.set('lastCommitMs', START_UNIX_MS + 24 * HOUR_MS)
  rows[1]!.set('progressMs', 2_000)
  assert.equal(monitor.syncStatus().bridge_sync.last_update, '2026-01-01T00:00:00.000Z')
})

test('before the first commit the last update is the start', () => {
  const { monitor, rows, run } = machine()
  for (const row of rows)
    for (const field of ['lastCommitMs', 'progressMs'] as const) row.set(field, undefined)
  run(5)
  assert.equal(monitor.syncStatus().bridge_sync.last_update, '2026-01-01T00:00:00.000Z')
})

test('endpoints that were silent before a suspension do not count as silent for its duration', () => {
  const { monitor, run, stop, rows } = machine()
  rows[1]!.set('rpcDown', 1)
  run(5)
  stop(HOUR_MS)
  assert.equal(monitor.readiness().ready, true)
  run(60)
  assert.equal(monitor.readiness().reason, 'rpc')
})

test('a thread that is silent while the monitor runs is found, with suspensions or without', () => {
  const { run, stop, silent } = machine()
  run(1)
  run(3, [0])
  stop(HOUR_MS)
  run(1, [0])
  assert.deepEqual(silent(), [])
  run(2, [0])
  assert.ok(silent().includes(1))
  assert.ok(!silent().includes(0))
})
