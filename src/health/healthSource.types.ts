import type { HealthReason } from '../query/healthReasons.js'
import type { HealthRecord, SyncStatusRecord } from '../query/healthRecords.js'

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
