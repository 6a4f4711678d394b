import { awaitsHead, headPlaces, isPutBack, type StatusRow } from '../board/statusBoard.js'
import type { ClusterConfig, HealthConfig } from '../config/config.types.js'
import { endpointName } from '../config/endpointName.js'
import { wordsOf } from '../protocol/claimedBitMap.js'
import type { HealthReason, ServiceStatus } from '../query/healthReasons.js'
import type { ChainSyncRecord, NetworkSyncRecord, SyncStatusRecord } from '../query/healthRecords.js'
import { API_VERSION, buildInfo } from '../telemetry/buildInfo.js'
import type { EndpointState } from '../telemetry/counts/indexerCounts.js'
import type { Phase } from './healthBoard.js'
import {
  headAgeSeconds,
  isStalled,
  lagBlocks,
  lagSeconds,
  logAgeMs,
  type NetworkSample,
  snapshotAgeMs,
} from './healthSample.js'
import type { HealthAnswer, Readiness } from './healthSource.types.js'

export interface NetworkView {
  readonly networkId: number
  readonly row: StatusRow
  readonly sample: NetworkSample
  /** A head older than this that stands still counts as `stalled`; 0 = never. */
  readonly stalledAfterMs: number
  /** How its endpoints are doing now. */
  endpoints(): readonly EndpointState[]
}

/** Everything that health, readiness and sync status are computed from. */
export interface ServiceView {
  readonly phase: Phase
  /** False while the pool answers no query. */
  readonly poolAlive: boolean
  readonly networks: readonly NetworkView[]
  /** Whether the L1 has caught up, and networks without injection events have since been asked about its newest global exit roots. */
  readonly areRootsPolled: boolean
  readonly primaryNetwork: number
  readonly settings: HealthConfig
  /** Absent: this instance is alone. */
  readonly cluster: Pick<ClusterConfig, 'maxLagMs' | 'maxStaleMs'> | undefined
  /** Now, on the clock of `logHeardMs`. */
  readonly monotonicMs: number
  readonly uptimeMs: number
  readonly startedAtUnixMs: number
  /** Now, on the clock of the samples. */
  readonly nowMs: number
  /** Now, in milliseconds since 1970, to compare with block timestamps. */
  readonly unixMs: number
}

/** Longest time that the service counts as `starting` because a network has not seen its chain's head yet. */
const LONGEST_FIRST_LOOK_MS = 30_000

/**
 * The phase that is shown. It stays `starting` until every network has compared its chain's head with its stored blocks. Until
 * then none of its deposits is ready, and a balancer that looks only at the status would send requests to an instance that
 * shows fewer ready deposits than before its restart.
 */
function phaseOf(view: ServiceView): ServiceView['phase'] {
  const isLooking =
    view.phase === 'running' && view.uptimeMs < LONGEST_FIRST_LOOK_MS && view.networks.some(awaitsFirstHead)
  return isLooking ? 'starting' : view.phase
}

/** Whether a network has stored blocks and still waits for its first head. A halt that puts data in doubt ends this wait, and so do silent endpoints. */
function awaitsFirstHead({ row, sample }: NetworkView): boolean {
  return awaitsHead(row) && !sample.rpc.on
}

type Holds = (network: NetworkView, view: ServiceView) => boolean

/** The reasons that one network can have, heaviest first. */
const NETWORK_REASONS: readonly (readonly [HealthReason, Holds])[] = [
  ['halted', isHalted],
  ['disk', ({ row }) => row.haltReason() === 'disk_full'],
  ['rpc', ({ sample }) => sample.rpc.on],
  ['cluster', isApart],
  ['behind', ({ row }) => isPutBack(row)],
  ['lag', ({ sample }) => sample.lag.on],
  ['stalled', ({ row, sample, stalledAfterMs }, view) => isStalled(sample, row, stalledAfterMs, view)],
  ['emergency_state', ({ row }) => row.get('emergencyState') === 1],
  ['syncing', (network, view) => phaseOf(view) === 'running' && isSyncing(network)],
]

/** Every reason that holds now, in the order of their weight. */
function reasonsOf(view: ServiceView): HealthReason[] {
  const phase = phaseOf(view)
  const ofService: [HealthReason, boolean][] = [
    ['draining', phase === 'draining'],
    ['starting', phase === 'starting'],
    ['pool', phase === 'running' && !view.poolAlive],
  ]
  return [
    ...ofService.filter(([, holds]) => holds).map(([reason]) => reason),
    ...networkReasons(view.networks, view),
  ]
}

function networkReasons(networks: readonly NetworkView[], view: ServiceView): HealthReason[] {
  return NETWORK_REASONS.filter(([, holds]) => networks.some((network) => holds(network, view))).map(
    ([reason]) => reason,
  )
}

/** The health record and its HTTP status: 200 for healthy, syncing and degraded, 503 otherwise. */
export function healthOf(view: ServiceView): HealthAnswer {
  const reasons = reasonsOf(view)
  const status = statusOf(view, reasons)
  const primary = view.networks.find((network) => network.networkId === view.primaryNetwork)
  return {
    httpStatus: status === 'healthy' || status === 'syncing' || status === 'degraded' ? 200 : 503,
    record: {
      status,
      version: API_VERSION,
      network_id: view.primaryNetwork,
      uptime: formatUptime(view.uptimeMs),
      last_processed_block: primary?.row.get('syncedBlock') ?? 0,
      supported_networks: view.networks.map((network) => network.networkId),
      ...(reasons.length === 0 ? {} : { reasons }),
      build: buildInfo.version,
    },
  }
}

/**
 * Whether a balancer should send requests here. A halted network or silent endpoints alone do not take the instance out:
 * its replicas see the same chain, and history is still answered, if it is there.
 */
export function readinessOf(view: ServiceView): Readiness {
  const reason = notReadyReason(view)
  const lag = Math.max(0, ...view.networks.map((network) => lagBlocks(network.row)))
  return reason === undefined ? { ready: true, lagBlocks: lag } : { ready: false, reason, lagBlocks: lag }
}

function notReadyReason(view: ServiceView): HealthReason | undefined {
  const phase = phaseOf(view)
  if (phase !== 'running') return phase
  if (!view.poolAlive) return 'pool'
  if (view.networks.every(isHalted)) return 'halted'
  if (!view.settings.readyWhileSyncing) {
    if (view.networks.some(isSyncing)) return 'syncing'
    // Lists of such a network would be incomplete, and no client could see it.
    if (view.networks.some((network) => isHalted(network) && lacksHistory(network))) return 'halted'
  }
  if (view.networks.some((network) => network.sample.maxLag.on)) return 'lag'
  if (view.networks.some((network) => isApart(network, view))) return 'cluster'
  const stale = view.networks.find(
    ({ sample }) =>
      sample.cutOffSinceMs > 0 && view.nowMs - sample.cutOffSinceMs > view.settings.maxRpcDownMs,
  )
  if (stale === undefined) return undefined
  return stale.row.get('rpcDown') === 0 && isPutBack(stale.row) ? 'behind' : 'rpc'
}

/** The sync status record; `l2_sync` is the primary layer 2, or the first one when the primary network is layer 1. */
export function syncStatusOf(view: ServiceView): SyncStatusRecord {
  const networks = view.networks.map((network) => networkSync(network, view))
  const layer2 = networks.filter((network) => network.network_id !== 0)
  const rows = view.networks.map(({ row }) => row)
  // The newest commit by monotonic time: after the clock was set back, an older commit may have a later date.
  const newest = rows.reduce((last, row) =>
    (row.get('progressMs') ?? 0) > (last.get('progressMs') ?? 0) ? row : last,
  )
  return {
    l1_sync: chainSync(networks.find((network) => network.network_id === 0)),
    l2_sync: chainSync(layer2.find((network) => network.network_id === view.primaryNetwork) ?? layer2[0]),
    bridge_sync: {
      l1_bridges_indexed: networks.find((network) => network.network_id === 0)?.indexed_deposit_count ?? 0,
      l2_bridges_indexed: layer2.reduce((sum, network) => sum + network.indexed_deposit_count, 0),
      last_update: new Date(newest.get('lastCommitMs') ?? view.startedAtUnixMs).toISOString(),
    },
    networks,
  }
}

/** `2h15m30s`: hours may exceed 24, nothing is padded. */
export function formatUptime(elapsedMs: number): string {
  const seconds = Math.max(0, Math.floor(elapsedMs / 1000))
  return `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`
}

function statusOf(view: ServiceView, reasons: readonly HealthReason[]): ServiceStatus {
  const phase = phaseOf(view)
  if (phase !== 'running') return phase
  if (!view.poolAlive || view.networks.every(isHalted)) return 'unhealthy'
  if (reasons.some((reason) => reason !== 'syncing')) return 'degraded'
  return reasons.length === 0 ? 'healthy' : 'syncing'
}

/** A full disk does not count: it stops writes but no reads, and has the reason `disk`. */
function isHalted({ row }: NetworkView): boolean {
  const reason = row.haltReason()
  return reason !== 'none' && reason !== 'disk_full'
}

function isSyncing({ row }: NetworkView): boolean {
  return row.get('caughtUp') === 0 && row.haltReason() === 'none'
}

/** Whether this instance may show what the others of its cluster have left behind: it does not reach the servers, lags behind its log, or can't follow it. */
function isApart({ row }: NetworkView, view: ServiceView): boolean {
  const { cluster } = view
  if (cluster === undefined || phaseOf(view) !== 'running') return false
  const halt = row.haltReason()
  return (
    halt === 'diverged' ||
    halt === 'behind_log' ||
    (logAgeMs(row, view.monotonicMs) ?? Number.POSITIVE_INFINITY) > cluster.maxStaleMs ||
    row.get('logLagMs') > cluster.maxLagMs
  )
}

/** What `/sync-status` tells besides of a network in a cluster. */
function standingOf(
  row: StatusRow,
  view: ServiceView,
): Pick<
  NetworkSyncRecord,
  'role' | 'log_sequence' | 'log_lag' | 'log_lag_ms' | 'log_age_ms' | 'snapshot_sequence' | 'snapshot_age_ms'
> {
  if (view.cluster === undefined) return {}
  const sequence = row.get('logSequence') ?? 0
  const ageMs = logAgeMs(row, view.monotonicMs)
  const snapshotSequence = row.get('snapshotSequence')
  const snapshotMs = snapshotAgeMs(row, view.unixMs)
  return {
    role: row.get('leads') === 1 ? 'leads' : 'follows',
    log_sequence: sequence,
    log_lag: Math.max(0, (row.get('logEnd') ?? 0) - sequence),
    log_lag_ms: row.get('logLagMs'),
    ...(ageMs === undefined ? {} : { log_age_ms: ageMs }),
    ...(snapshotSequence === undefined ? {} : { snapshot_sequence: snapshotSequence }),
    ...(snapshotMs === undefined ? {} : { snapshot_age_ms: snapshotMs }),
  }
}

/** Whether history is incomplete: the network has not caught up since the start, and what was stored before was incomplete. */
function lacksHistory({ row }: NetworkView): boolean {
  return row.get('caughtUp') === 0 && (row.get('syncedBlock') === undefined || row.get('catchingUp') === 1)
}

function networkSync(network: NetworkView, view: ServiceView): NetworkSyncRecord {
  const { networkId, row, sample } = network
  const reasons = networkReasons([network], view)
  const head = row.get('headBlock')
  const synced = row.get('syncedBlock')
  const halted = row.haltReason()
  const areContractsCompared = row.get('contractsCompared')
  return {
    network_id: networkId,
    // Usually the head is known first, but after a restart the checkpoint is known before any head.
    current_block: Math.max(head ?? 0, isPutBack(row) ? 0 : (synced ?? 0)),
    synced_block: synced ?? 0,
    is_synced:
      head !== undefined &&
      synced !== undefined &&
      head - synced <= view.settings.syncedLagBlocks &&
      row.get('caughtUp') === 1 &&
      row.get('catchingUp') === 0 &&
      row.get('unresolvedSenders') === 0 &&
      row.get('awaitedSenders') === 0 &&
      halted === 'none' &&
      row.headPlace() === headPlaces.inStep &&
      !sample.rpc.on &&
      // Before the roots are polled, it is not known which deposits of the L1 are ready.
      (networkId !== 0 || view.areRootsPolled) &&
      areClaimsCompared(network, view),
    finalized_block: row.get('finalizedBlock') ?? null,
    lag_seconds: lagSeconds(row) ?? null,
    head_age_seconds: headAgeSeconds(row, view.unixMs) ?? null,
    halted: halted === 'none' ? null : halted,
    contract_deposit_count: row.get('contractDepositCount') ?? null,
    contracts_compared: areContractsCompared === undefined ? null : areContractsCompared === 1,
    indexed_deposit_count: row.get('depositCount'),
    indexed_claim_count: row.get('claimCount'),
    unresolved_senders: row.get('unresolvedSenders'),
    // By position, never by alias: operators name aliases after their providers.
    endpoints: network.endpoints().map(({ position, isInUse, rests }) => ({
      endpoint: endpointName(networkId, position),
      in_use: isInUse,
      resting: rests ?? null,
    })),
    ...standingOf(row, view),
    ...(reasons.length === 0 ? {} : { reasons }),
  }
}

/** False while another network has indexed deposits whose claims this network has not compared with its contract: they are not ready yet. */
function areClaimsCompared({ networkId, row }: NetworkView, { networks }: ServiceView): boolean {
  const compared = row.get('comparedClaimWords')
  if (compared === undefined) return true
  const others = networks.filter((other) => other.networkId !== networkId)
  return others.reduce((words, other) => words + wordsOf(other.row.get('depositCount')), 0) <= compared
}

function chainSync(network: NetworkSyncRecord | undefined): ChainSyncRecord {
  if (network === undefined) return { current_block: 0, synced_block: 0, is_synced: false }
  const { current_block, synced_block, is_synced } = network
  return { current_block, synced_block, is_synced }
}
