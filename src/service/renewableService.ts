import type { Config } from '../config/config.types.js'
import { FatalError } from '../errors/chainErrors.js'
import type { RenewalMessage } from '../member/instanceThread.js'
import { finishPlacing, placeStaged } from '../snapshot/stagedSet.js'
import { lockFolder } from '../store/folder/folderLock.js'
import { removeShard } from '../store/removeShard.js'
import { fileBytesOf, shardDirectory } from '../store/shardDirectory.js'
import { unixMs } from '../telemetry/clocks.js'
import type { Logger } from '../telemetry/logger.js'
import { compileMerkleModule } from '../wasm/wasmModule.js'
import { startInstance } from './instance.js'
import type { Job, RunningService, ServiceOptions, StartService } from './service.types.js'

export interface RenewableOptions extends ServiceOptions {
  readonly startService: StartService
  /** Called with each service that was started. */
  readonly attach: (service: RunningService) => void
  /** The configuration that is in force when a service is started again. */
  readonly inForce: () => Config
}

type Renewed = NonNullable<NonNullable<Config['cluster']>['renewed']>

/**
 * The service of an instance of a cluster, as a job. Before it starts, empty stores are made of the newest snapshot. When it finds later that
 * it can't follow a log on, it goes on as it is, doubting, until a new store is ready; then it is stopped and started again with that one.
 */
export class RenewableService implements Job {
  readonly failed: Promise<Error>
  readonly #options: RenewableOptions
  readonly #fail: (error: Error) => void
  #service: RunningService | undefined
  #renewing: Promise<void> = Promise.resolve()
  #isStopped = false
  #renewed: Renewed = {}
  /** By network: the instance that made the store, where this process has taken it over. */
  readonly #makers = new Map<number, string>()

  private constructor(options: RenewableOptions) {
    this.#options = options
    let fail: (error: Error) => void = () => undefined
    this.failed = new Promise((resolve) => {
      fail = resolve
    })
    this.#fail = fail
  }

  /** @throws what `startService` throws. */
  static async start(options: RenewableOptions): Promise<RenewableService> {
    const job = new RenewableService(options)
    const found = await adopt(options)
    if (found !== undefined) job.#keepMaker(found)
    await job.#open(options.config)
    return job
  }

  async stop(drainDelayMs: number): Promise<void> {
    this.#isStopped = true
    await this.#renewing
    await this.#service?.stop(drainDelayMs)
  }

  closingRoom(): string | undefined {
    return this.#service?.closingRoom()
  }

  async #open(config: Config): Promise<void> {
    const { startService, attach, logger, announce } = this.#options
    const service = await startService({ config, logger, announce })
    this.#service = service
    attach(service)
    void service.failed.then(this.#fail)
    void service.renewal.then((message) => {
      if (this.#isStopped) return
      this.#renewing = this.#renew(service, message).catch((error: Error) => this.#fail(error))
    })
  }

  /** Whether the new store tells, where it differs at the same mark as the old one, that the mark is wrong: not if both may have one fault. */
  #canTell({ diverged, maker }: RenewalMessage, networkId: number): boolean {
    if (!diverged.includes(networkId)) return false
    // Made of the log from its beginning.
    if (maker === undefined) return true
    return maker !== this.#options.config.cluster?.instance && maker !== this.#makers.get(networkId)
  }

  #keepMaker({ networkIds, maker }: RenewalMessage): void {
    for (const networkId of networkIds)
      if (maker === undefined) this.#makers.delete(networkId)
      else this.#makers.set(networkId, maker)
  }

  async #renew(service: RunningService, message: RenewalMessage): Promise<void> {
    const { inForce, logger } = this.#options
    const { networkIds } = message
    const config = inForce()
    const { http, ops, cluster, dataDir } = config
    const stood = networkIds.map((networkId) => {
      const sequence = this.#canTell(message, networkId) ? { sequence: service.logSequence(networkId) } : {}
      return [networkId, { atUnixMs: unixMs(), ...sequence }] as const
    })
    this.#renewed = { ...this.#renewed, ...Object.fromEntries(stood) }
    this.#keepMaker(message)
    logger.warn('stores are replaced: the service is stopped for a moment', { networkIds })
    await service.stop(http.drainDelayMs)
    await place(dataDir, message)
    if (this.#isStopped) return
    await this.#open({
      ...config,
      // The ports that were chosen at the first start.
      http: { ...http, port: portOf(service.url) },
      ops: { ...ops, port: portOf(service.opsUrl) },
      cluster: { ...cluster!, renewed: this.#renewed },
    })
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}

/** Looks for a snapshot for stores that hold nothing, and finishes what a process has left that was ended while it placed stores. */
async function adopt({ config, logger }: RenewableOptions): Promise<RenewalMessage | undefined> {
  const { dataDir } = config
  const networkIds = config.networks.map(({ networkId }) => networkId)
  await inLocked(dataDir, async () => {
    if ((await finishPlacing(dataDir)) === 'unnamed')
      throw new FatalError(
        `a restore into ${dataDir} was not finished, nor can it be gone on with: run \`bds restore\` again, or remove the folder, and the stores are made of a snapshot of the cluster`,
      )
  })
  const empty = networkIds.filter((networkId) => fileBytesOf(shardDirectory(dataDir, networkId)) === 0)
  if (empty.length === 0) return undefined
  const found = await renewalFor(config, empty, logger)
  if (found !== undefined) await place(dataDir, found)
  return found
}

async function renewalFor(
  config: Config,
  empty: readonly number[],
  logger: Logger,
): Promise<RenewalMessage | undefined> {
  const lock = lockFolder(config.dataDir, 'write')
  let found: RenewalMessage | undefined
  let failure: Error | undefined
  try {
    const data = { config, compiled: compileMerkleModule(), empty }
    await startInstance(
      data,
      (message) => {
        found = message
      },
      (error) => {
        failure = error
      },
    ).ended
  } finally {
    lock.release()
  }
  if (failure !== undefined) logger.error('no snapshot was taken over', { error: failure })
  return found
}

/** The service is stopped. */
async function place(dataDir: string, { networkIds, isStaged }: RenewalMessage): Promise<void> {
  await inLocked(dataDir, async () => {
    if (isStaged) await placeStaged(dataDir, networkIds)
    else for (const networkId of networkIds) removeShard(shardDirectory(dataDir, networkId))
  })
}

async function inLocked(dataDir: string, work: () => Promise<void>): Promise<void> {
  const lock = lockFolder(dataDir, 'write')
  try {
    await work()
  } finally {
    lock.release()
  }
}
