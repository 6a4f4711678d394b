/*
 * Health and sync status as the wire shows them. `health.ts` makes them, and the service passes their source to `http` and `ops`.
 */

export type ServiceStatus = 'healthy' | 'syncing' | 'degraded' | 'unhealthy' | 'starting' | 'draining'

/** Stable codes. The sync status says which networks they concern. */
export type HealthReason =
  | 'draining'
  | 'starting'
  | 'syncing'
  | 'pool'
  | 'halted'
  | 'lag'
  | 'rpc'
  | 'behind'
  | 'stalled'
  | 'disk'
  | 'emergency_state'

export interface HealthRecord {
  readonly status: ServiceStatus
  /** Version of the API. */
  readonly version: string
  readonly network_id: number
  /** Like `2h15m30s`. */
  readonly uptime: string
  /** Last block of `network_id` that is stored; 0 before the first. */
  readonly last_processed_block: number
  readonly supported_networks: readonly number[]
  /** Absent when there are none. */
  readonly reasons?: readonly HealthReason[]
  /** Version of this software. */
  readonly build: string
}

export interface ChainSyncRecord {
  readonly current_block: number
  readonly synced_block: number
  readonly is_synced: boolean
}

export interface NetworkSyncRecord extends ChainSyncRecord {
  readonly network_id: number
  readonly finalized_block: number | null
  readonly lag_seconds: number | null
  /** Now minus the timestamp of the newest block. */
  readonly head_age_seconds: number | null
  readonly halted: string | null
  readonly contract_deposit_count: number | null
  /** False while no endpoint answers contract calls, or its answers are disputed; null before the first comparison. */
  readonly contracts_compared: boolean | null
  readonly indexed_deposit_count: number
  readonly indexed_claim_count: number
  /** Deposits and claims whose sender is not known yet. */
  readonly unresolved_senders: number
  /** The health record's reasons that hold for this network; absent when there are none. */
  readonly reasons?: readonly HealthReason[]
}

export interface SyncStatusRecord {
  readonly l1_sync: ChainSyncRecord
  readonly l2_sync: ChainSyncRecord
  readonly bridge_sync: {
    readonly l1_bridges_indexed: number
    readonly l2_bridges_indexed: number
    /** ISO 8601, UTC. */
    readonly last_update: string
  }
  readonly networks: readonly NetworkSyncRecord[]
}

export interface HealthAnswer {
  readonly httpStatus: 200 | 503
  readonly record: HealthRecord
}

export interface Readiness {
  readonly ready: boolean
  /** Why not; undefined when ready. */
  readonly reason?: HealthReason
  /** Of the network that is furthest behind; for the header `X-Data-Lag-Blocks`. */
  readonly lagBlocks: number
}

/** Answers from memory, within microseconds: the front calls it directly, and no query goes to the pool. */
export interface HealthSource {
  health(): HealthAnswer
  syncStatus(): SyncStatusRecord
  readiness(): Readiness
}
