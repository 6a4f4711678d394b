import type { Config } from '../config/config.types.js'
import type { HealthSource } from '../health/healthSource.types.js'
import type { RenewalMessage } from '../member/instanceThread.js'
import type { Logger } from '../telemetry/logger.js'
import type { Reloadable } from './reload.js'

/** What a process runs until a signal or a fault, and then closes in order. */
export interface Job {
  /** Resolves with the fault if the job can't go on; never rejects. */
  readonly failed: Promise<Error>
  stop(drainDelayMs: number): Promise<void>
  /** The room that is closing now. */
  closingRoom(): string | undefined
}

/** A running service. `bds run` runs one per process; `bds start` runs one beside its devnet. */
export interface RunningService extends Reloadable {
  /** `http://127.0.0.1:5577`, with the port that is really open. */
  readonly url: string
  readonly opsUrl: string
  readonly health: HealthSource
  /** Resolves when every network has caught up with its head once. */
  readonly caughtUp: Promise<void>
  /** Resolves with the fault if the service can't go on and the process should end; never rejects. */
  readonly failed: Promise<Error>
  /** Resolves when stores of this instance of a cluster are to be replaced while it is stopped, and it is to be started again. */
  readonly renewal: Promise<RenewalMessage>
  /** Message of each network's log up to which it is stored here. */
  logSequence(networkId: number): number
  /**
   * Lets readiness fail at once, closes the port after `drainDelayMs`, then the rooms one after the other.
   * A second call returns the first one's promise.
   */
  stop(drainDelayMs: number): Promise<void>
  /** The room that is closing now, for the message of a shutdown that hangs. */
  closingRoom(): string | undefined
}

export interface ServiceOptions {
  readonly config: Config
  readonly logger: Logger
  /** Takes lines for people: where the service listens, and each network that has caught up. */
  readonly announce: (line: string) => void
}

/** Rejects when the service can't start; what was started is closed again. */
export type StartService = (options: ServiceOptions) => Promise<RunningService>
