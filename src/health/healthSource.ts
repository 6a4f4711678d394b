import { isPutBack, type StatusBoardHandle, statusRow } from '../board/statusBoard.js'
import type { Config } from '../config/config.types.js'
import { monotonicMs, unixMs as wallMs } from '../telemetry/clocks.js'
import { IndexerCountsReader } from '../telemetry/counts/indexerCounts.js'
import { healthOf, readinessOf, type ServiceView, syncStatusOf } from './health.js'
import type { HealthBoard } from './healthBoard.js'
import type { HealthSource } from './healthSource.types.js'

export interface HealthSourceOptions {
  readonly config: Config
  readonly status: StatusBoardHandle
  readonly board: HealthBoard
  /** Monotonic milliseconds, the same in all threads. Tests pass their own clocks. */
  readonly now?: () => number
  /** As `now`, but without time in which the whole process was stopped, so that a pause makes no thread look silent. */
  readonly awakeNow?: () => number
  /** Milliseconds since 1970. */
  readonly unixMs?: () => number
}

/** The health of this process, in any thread: what the status board says now, and what main's samples of the last seconds say. */
export function createHealthSource(options: HealthSourceOptions): HealthSource {
  const { config, status, board, now = monotonicMs, awakeNow = now, unixMs = wallMs } = options
  const rows = config.networks.map(({ networkId, stalledAfterMs }) => {
    const counts = new IndexerCountsReader(status.counts, networkId)
    return {
      networkId,
      stalledAfterMs,
      row: statusRow(status, networkId),
      endpoints: () => counts.endpointStates(now()),
    }
  })

  /**
   * Stays true once it is, in all threads: from then on a new root is found within milliseconds. Networks that are halted, put back
   * or without an endpoint are not waited for.
   */
  const areRootsPolled = (): boolean => {
    if (board.get('areRootsPolled') === 1) return true
    const l1 = rows.find(({ networkId }) => networkId === 0)?.row
    const arePolled =
      l1?.get('caughtUp') === 1 &&
      rows.every(
        ({ row }) =>
          (['polledL1Commits', 'searchedL1Commits'] as const).every(
            (field) => (row.get(field) ?? Number.POSITIVE_INFINITY) >= l1.get('commits'),
          ) ||
          row.get('rpcDown') === 1 ||
          isPutBack(row) ||
          row.haltReason() !== 'none',
      )
    if (arePolled) board.set('areRootsPolled', 1)
    return arePolled
  }

  const view = (): ServiceView => ({
    phase: board.phase(),
    poolAlive: board.arePoolsAlive(),
    networks: rows.map((network) => ({ ...network, sample: board.sample(network.networkId) })),
    areRootsPolled: areRootsPolled(),
    primaryNetwork: config.primaryNetwork,
    settings: config.health,
    cluster: config.cluster,
    monotonicMs: now(),
    uptimeMs: now() - board.get('startedAtMs'),
    startedAtUnixMs: board.get('startedAtUnixMs'),
    nowMs: awakeNow(),
    unixMs: unixMs(),
  })

  return {
    health: () => healthOf(view()),
    syncStatus: () => syncStatusOf(view()),
    readiness: () => readinessOf(view()),
  }
}
