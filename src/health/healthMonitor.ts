import { isPutBack, type StatusBoardHandle, statusRow } from '../board/statusBoard.js'
import type { Config } from '../config/config.types.js'
import { monotonicMs, epochMs as wallMs } from '../telemetry/clocks.js'
import { healthOf, readinessOf, type ServiceView, syncStatusOf } from './health.js'
import type { HealthSource } from './healthRecord.js'
import { FIRST_SAMPLE, type NetworkSample, sampleNetwork } from './healthSample.js'

/** The health of this process: what the status board says now, and what samples of the last seconds say. */
export interface HealthMonitor extends HealthSource {
  setPhase(phase: ServiceView['phase']): void
  /** Takes one sample of every network. The service calls it once a second. */
  sample(): void
  /** Networks whose indexer thread has sent heartbeats, but none for `heartbeatTimeoutMs` as far as the samples show. */
  silentNetworks(): number[]
}

export interface HealthMonitorOptions {
  readonly config: Config
  readonly status: StatusBoardHandle
  readonly isPoolAlive: () => boolean
  /** Monotonic milliseconds. Tests pass their own clocks. */
  readonly now?: () => number
  /** As `now`, but without time in which the whole process was stopped, so that a pause makes no thread look silent. */
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
  /**
   * Stays true once it is: from then on a new root is found within milliseconds. Networks that are halted, put back or without an
   * endpoint are not waited for.
   */
  const checkPolledRoots = (): boolean => {
    const l1 = rows.find(({ networkId }) => networkId === 0)?.row
    areRootsPolled ||=
      l1?.get('caughtUp') === 1 &&
      rows.every(
        ({ row }) =>
          (['polledL1Commits', 'searchedL1Commits'] as const).every(
            (field) => row.get(field) < 0 || row.get(field) >= l1.get('commits'),
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
    areRootsPolled: checkPolledRoots(),
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
