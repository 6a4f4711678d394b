import { isPutBack, type StatusBoardHandle, statusRow } from '../board/statusBoard.js'
import type { Config } from '../config/config.types.js'
import { monotonicMs, epochMs as wallMs } from '../telemetry/clocks.js'
import { healthOf, readinessOf, type ServiceView, syncStatusOf } from './health.js'
import type { HealthSource } from './healthRecord.js'
import { FIRST_SAMPLE, type NetworkSample, sampleNetwork } from './healthSample.js'

/** The health of this process: what the status board says now, joined with what has held for some seconds. */
export interface HealthMonitor extends HealthSource {
  setPhase(phase: ServiceView['phase']): void
  /** Takes one sample of every network; `service/main` calls it once a second. */
  sample(): void
  /** Networks whose indexer thread has sent heartbeats, but none for `heartbeatTimeoutMs` by the samples. */
  silentNetworks(): number[]
}

export interface HealthMonitorOptions {
  readonly config: Config
  readonly status: StatusBoardHandle
  readonly isPoolAlive: () => boolean
  /** Monotonic milliseconds. Like the other clocks, passed in so that tests own the time. */
  readonly now?: () => number
  /** The same without the time in which the whole process stood still, so that a pause makes nothing look late. */
  readonly awakeNow?: () => number
  /** Milliseconds since 1970. */
  readonly epochMs?: () => number
}

export function createHealthMonitor(options: HealthMonitorOptions): HealthMonitor {
  const { config, status, isPoolAlive, now = monotonicMs, awakeNow = now, epochMs = wallMs } = options
  const [startedAtMs, startedAtEpochMs] = [now(), epochMs()]
  const rows = config.networks.map(({ networkId, stalledAfterMs }) => ({
    networkId,
    stalledAfterMs,
    row: statusRow(status, networkId),
  }))
  const samples = new Map<number, NetworkSample>()
  let phase: ServiceView['phase'] = 'starting'

  let areRootsPolled = false
  /** Stays true: later on a new root is a matter of milliseconds. A network in trouble is not waited for. */
  const lookForPolledRoots = (): boolean => {
    const l1 = rows.find(({ networkId }) => networkId === 0)?.row
    areRootsPolled ||=
      l1?.get('caughtUp') === 1 &&
      rows.every(
        ({ row }) =>
          (['polledL1Tip', 'searchedL1Tip'] as const).every(
            (field) => row.get(field) < 0 || row.get(field) >= l1.get('tip'),
          ) ||
          row.get('rpcDown') === 1 ||
          isPutBack(row) ||
          row.haltReason() !== 'none',
      )
    return areRootsPolled
  }

  const view = (): ServiceView => ({
    phase,
    poolAlive: isPoolAlive(),
    networks: rows.map((network) => ({
      ...network,
      sample: samples.get(network.networkId) ?? FIRST_SAMPLE,
    })),
    areRootsPolled: lookForPolledRoots(),
    primaryNetwork: config.primaryNetwork,
    settings: config.health,
    uptimeMs: now() - startedAtMs,
    startedAtEpochMs,
    nowMs: awakeNow(),
    epochMs: epochMs(),
  })

  return {
    health: () => healthOf(view()),
    syncStatus: () => syncStatusOf(view()),
    readiness: () => readinessOf(view()),
    setPhase: (next) => {
      phase = next
    },
    sample: () => {
      for (const { networkId, row } of rows) {
        const previous = samples.get(networkId) ?? FIRST_SAMPLE
        samples.set(networkId, sampleNetwork(previous, row, config.health, awakeNow()))
      }
    },
    silentNetworks: () =>
      [...samples]
        .filter(
          ([, { life }]) => life.beats > 0 && awakeNow() - life.sinceMs > config.health.heartbeatTimeoutMs,
        )
        .map(([networkId]) => networkId),
  }
}
