import { isDeepStrictEqual } from 'node:util'
import type { Config, NetworkConfig, RateLimitConfig } from '../config/config.types.js'
import { ConfigError } from '../config/configError.js'
import { configKeys } from '../config/configKeys.js'
import type { LoadedConfig } from '../config/load.js'
import type { NetworkTable } from '../config/schema.js'
import type { Logger } from '../telemetry/logger.js'

/** What a running service can change without a restart. */
export interface Reloadable {
  /** From now on each client has the tokens of these limits; buckets are full. */
  setRateLimit(rateLimit: RateLimitConfig): void
  /** Ends the indexer thread of a network after its transaction, and starts another one with this configuration. */
  restartIndexer(config: Config, networkId: number): Promise<void>
}

/** Keys of a network that only its indexer thread reads, and that say nothing of what is stored. */
const THREAD_KEYS = {
  rpc: 'rpc',
  log_range: 'logRange',
  poll_interval_ms: 'pollIntervalMs',
  rpc_timeout_ms: 'rpcTimeoutMs',
  rpc_max_response_bytes: 'rpcMaxResponseBytes',
  call_traces: 'callTraces',
} as const satisfies Readonly<Record<string, keyof NetworkConfig>>

/** Keys of the log that all threads read anew for each line. */
const LOG_KEYS: ReadonlySet<string> = new Set(['log.level', 'log.requests'])

/** What differs between the configuration in force and one that was read again. */
export interface ReloadPlan {
  /** The configuration in force, with what is taken over. */
  readonly config: Config
  readonly isLogNew: boolean
  readonly isRateLimitNew: boolean
  /** Networks whose indexer thread has to be restarted. */
  readonly networkIds: readonly number[]
  /** Keys that are taken over, `http.port` or `network 1: rpc`. */
  readonly changed: readonly string[]
  /** Keys that differ, too, but need a restart. */
  readonly needRestart: readonly string[]
}

/** Compares the configuration in force with one that was read again. Values that files of secrets hold count, too. */
export function planReload(inForce: LoadedConfig, next: LoadedConfig): ReloadPlan {
  const ours = inForce.config.networks
  const theirs = new Map(next.config.networks.map((network) => [network.networkId, network]))
  const networks = ours.map((network) => takenOver(network, theirs.get(network.networkId)))
  const config: Config = {
    ...inForce.config,
    log: {
      ...inForce.config.log,
      level: next.config.log.level,
      requests: next.config.log.requests,
    },
    rateLimit: next.config.rateLimit,
    networks,
  }
  const differing = [...otherKeys(inForce, next), ...networkKeys(inForce, next)]
  return {
    config,
    isLogNew: !isDeepStrictEqual(config.log, inForce.config.log),
    isRateLimitNew: !isDeepStrictEqual(config.rateLimit, inForce.config.rateLimit),
    networkIds: ours.flatMap((network, at) =>
      isDeepStrictEqual(network, networks[at]) ? [] : [network.networkId],
    ),
    changed: differing.filter(({ canReload }) => canReload).map(({ name }) => name),
    needRestart: differing.filter(({ canReload }) => !canReload).map(({ name }) => name),
  }
}

function takenOver(network: NetworkConfig, next: NetworkConfig | undefined): NetworkConfig {
  if (next === undefined) return network
  const taken = Object.values(THREAD_KEYS).map((key) => [key, next[key]] as const)
  return { ...network, ...Object.fromEntries(taken) }
}

interface Difference {
  readonly name: string
  readonly canReload: boolean
}

function otherKeys({ table: ours }: LoadedConfig, { table: theirs }: LoadedConfig): Difference[] {
  const valueAt = (table: object, path: readonly string[]): unknown =>
    path.reduce<unknown>(
      (value, key) => (value as Readonly<Record<string, unknown>> | undefined)?.[key],
      table,
    )
  return configKeys
    .filter(
      ({ isNetworkKey, path }) =>
        !isNetworkKey && !isDeepStrictEqual(valueAt(ours, path), valueAt(theirs, path)),
    )
    .map(({ name }) => ({ name, canReload: LOG_KEYS.has(name) || name.startsWith('rate_limit.') }))
}

function networkKeys(inForce: LoadedConfig, next: LoadedConfig): Difference[] {
  const ids = (loaded: LoadedConfig): number[] => loaded.config.networks.map(({ networkId }) => networkId)
  const hasOthers = !isDeepStrictEqual(ids(inForce).toSorted(), ids(next).toSorted())
  const differing = inForce.table.networks.flatMap((network, at) => {
    const other = next.table.networks.findIndex(({ network_id: id }) => id === network.network_id)
    if (other < 0) return []
    const ours = { table: network, config: inForce.config.networks[at]! }
    const theirs = { table: next.table.networks[other]!, config: next.config.networks[other]! }
    return configKeys.flatMap(({ isNetworkKey, path }) => {
      const key = path[0]!
      if (!isNetworkKey || isDeepStrictEqual(settingOf(ours, key), settingOf(theirs, key))) return []
      return [{ name: `network ${network.network_id}: ${key}`, canReload: isThreadKey(key) }]
    })
  })
  return [...differing, ...(hasOthers ? [{ name: 'networks', canReload: false }] : [])]
}

function isThreadKey(key: string): key is keyof typeof THREAD_KEYS {
  return Object.hasOwn(THREAD_KEYS, key)
}

/** Of a key that a thread reads as the thread has it: with what files of secrets hold. */
function settingOf(
  network: { readonly table: NetworkTable; readonly config: NetworkConfig },
  key: string,
): unknown {
  return isThreadKey(key) ? network.config[THREAD_KEYS[key]] : network.table[key as keyof NetworkTable]
}

export interface ReloaderOptions {
  /** The configuration in force at the start. */
  readonly loaded: LoadedConfig
  /** Reads it again. @throws ConfigError. */
  readonly reread: () => LoadedConfig
  readonly setLog: (log: Config['log']) => void
  readonly logger: Logger
}

/** Takes over what can be taken over of a configuration that was changed while the service runs, one time after the other. */
export class Reloader {
  private readonly options: ReloaderOptions
  private inForce: LoadedConfig
  private service: Reloadable | undefined
  private isAsked = false
  private running: Promise<void> | undefined

  constructor(options: ReloaderOptions) {
    this.options = options
    this.inForce = options.loaded
  }

  /** The configuration in force. */
  get config(): Config {
    return this.inForce.config
  }

  /** From now on the service can change. What was asked for before is done now. */
  attach(service: Reloadable): void {
    this.service = service
    this.run()
  }

  /** Asks for a reload. While one runs or the service starts, one more follows. */
  ask(): void {
    this.isAsked = true
    this.run()
  }

  /** Resolves when nothing that was asked for is left. */
  async done(): Promise<void> {
    while (this.running !== undefined) await this.running
  }

  private run(): void {
    const { service } = this
    if (service === undefined || this.running !== undefined || !this.isAsked) return
    this.isAsked = false
    this.running = this.reload(service)
      .catch((error: unknown) =>
        this.options.logger.error('the configuration could not be reloaded', { error }),
      )
      .finally(() => {
        this.running = undefined
        this.run()
      })
  }

  private async reload(service: Reloadable): Promise<void> {
    const { reread, setLog, logger } = this.options
    let next: LoadedConfig
    try {
      next = reread()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      logger.error('the configuration has mistakes and is not reloaded', { mistakes: error.mistakes })
      return
    }
    const { config, isLogNew, isRateLimitNew, networkIds, changed, needRestart } = planReload(
      this.inForce,
      next,
    )
    if (isLogNew) setLog(config.log)
    if (isRateLimitNew) service.setRateLimit(config.rateLimit)
    for (const networkId of networkIds) await service.restartIndexer(config, networkId)
    this.inForce = { ...next, config, table: tableInForce(this.inForce.table, next.table) }
    if (needRestart.length > 0)
      logger.warn('some changes of the configuration need a restart', { needRestart })
    logger.info('configuration reloaded', { changed })
  }
}

type Table = LoadedConfig['table']

/** What needs a restart stays as it was, so that the next reload names it again. */
function tableInForce(ours: Table, theirs: Table): Table {
  return {
    ...ours,
    log: { ...ours.log, level: theirs.log.level, requests: theirs.log.requests },
    rate_limit: theirs.rate_limit,
  }
}
