import type { Config } from '../config/config.types.js'
import type { HealthSource } from '../health/healthRecord.js'
import type { Logger } from '../telemetry/logger.js'

/** A service that listens. `service/main` runs one per process; `bds start` runs one beside its devnet. */
export interface RunningService {
  /** `http://127.0.0.1:5577`, with the port that was really taken. */
  readonly url: string
  readonly opsUrl: string
  readonly health: HealthSource
  /** Resolves when every network has been in step with its head once. */
  readonly caughtUp: Promise<void>
  /** Resolves with the fault when the service can't go on and the process should end; never rejects. */
  readonly failed: Promise<Error>
  /**
   * Readiness fails at once, the port closes after `drainDelayMs`, then the rooms close one after the other.
   * A second call returns the first one's promise.
   */
  stop(drainDelayMs: number): Promise<void>
  /** The room that is closing now, for the message of a shutdown that hangs. */
  closingRoom(): string | undefined
}

export interface ServiceOptions {
  readonly config: Config
  readonly logger: Logger
  /** Takes the lines meant for people: where the service listens, and each network that has caught up. */
  readonly announce: (line: string) => void
}

/** Rejects when the service can't start; whatever had been started is closed again. */
export type StartService = (options: ServiceOptions) => Promise<RunningService>
