import type { Config } from './config.types.js'
import { ConfigError } from './configError.js'
import { configKeys, rootSchema } from './configKeys.js'
import { crossCheck } from './crossChecks.js'
import { expandVariables } from './expand.js'
import { hideAddresses } from './hideAddresses.js'
import {
  applyEnvironment,
  applyFlags,
  applyPreset,
  isTable,
  type RawTable,
  type ValueSources,
} from './layers.js'
import { readTable } from './readTable.js'
import type { ConfigFile } from './schema.js'
import { readSecret } from './secretFile.js'
import { toConfig } from './toConfig.js'
import { validateTable } from './validate.js'

export interface ConfigInputs {
  /** Path of the file: TOML, or YAML or JSON by its extension. Default: `BDS_CONFIG`; without both, everything comes from environment and flags. */
  readonly file?: string | undefined
  /** Flag name without dashes → text, for instance `http-port`. */
  readonly flags?: Readonly<Record<string, string | undefined>>
  /** Default: the environment of the process. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Finds further mistakes, to be reported with all others. The table may have values of a wrong type. */
  readonly alsoCheck?: (table: RawTable) => readonly string[]
}

export interface LoadedConfig {
  readonly config: Config
  /** The checked file with defaults, as tables. `config print` shows it without secrets. */
  readonly table: ConfigFile
  /** Key → `file`, `env BDS_…`, `flag --…` or `preset …`; keys with their default are not in it. */
  readonly sources: ReadonlyMap<string, string>
}

/** Whether networks are configured: a file is named, or the environment sets them. */
export function isConfigured(
  file: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (file !== undefined || environment.BDS_CONFIG) return true
  return Object.keys(environment).some((name) => name.startsWith('BDS_NETWORKS__'))
}

/**
 * Loads the configuration. Flags override the environment, which overrides the file, which overrides the preset. Nothing else reads the environment.
 * @throws ConfigError with every mistake that was found.
 */
export function loadConfig(inputs: ConfigInputs = {}): LoadedConfig {
  const environment = inputs.environment ?? process.env
  const file = inputs.file ?? (environment.BDS_CONFIG || undefined)
  const raw = file === undefined ? {} : readTable(file)
  try {
    return assemble(raw, environment, inputs)
  } catch (error) {
    if (file !== undefined || !(error instanceof ConfigError)) throw error
    // Without a file there are no networks: that is not another mistake.
    const others = error.mistakes.filter((mistake) => mistake !== 'networks is missing')
    throw new ConfigError(['no file was named: use --config FILE or BDS_CONFIG', ...others])
  }
}

function assemble(
  raw: RawTable,
  environment: Readonly<Record<string, string | undefined>>,
  { flags = {}, alsoCheck = () => [] }: ConfigInputs,
): LoadedConfig {
  const mistakes: string[] = []
  const sources: ValueSources = new Map(pathsOf(raw).map((path) => [path, 'file']))
  const table = expandVariables(raw, rootSchema, environment, mistakes)
  applyEnvironment(table, environment, sources, mistakes)
  applyFlags(table, flags, sources)
  applyPreset(table, sources)
  normaliseEndpoints(table)
  mistakes.push(...validateTable(table, sources), ...crossCheck(table), ...alsoCheck(table))
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  // `validateTable` has found no mistake, so the table has the schema's shape.
  const checked = table as ConfigFile
  const config = toConfig(checked, environment)
  hideAddresses(config)
  return { config, table: checked, sources }
}

/** `rpc` may list addresses; from here on every endpoint is a table. */
function normaliseEndpoints(table: RawTable): void {
  for (const network of Array.isArray(table.networks) ? table.networks.filter(isTable) : []) {
    if (typeof network.rpc === 'string') network.rpc = [network.rpc]
    if (!Array.isArray(network.rpc)) continue
    network.rpc = network.rpc.map((endpoint: unknown) =>
      typeof endpoint === 'string' ? { url: endpoint } : endpoint,
    )
  }
}

/** Every address of an endpoint's table, those that stand in files of their own included. They are secret. */
export function endpointAddresses(endpoint: RawTable): string[] {
  const files = [endpoint.url_file, endpoint.ws_url_file]
  const read = files.map((file) => (typeof file === 'string' ? readSecret(file) : undefined))
  return [endpoint.url, endpoint.ws_url, ...read].filter((address) => typeof address === 'string')
}

/** Paths of the keys that the file sets. */
function pathsOf(raw: RawTable): string[] {
  const networks = Array.isArray(raw.networks) ? raw.networks.filter(isTable) : []
  return configKeys.flatMap((key) => {
    if (key.isNetworkKey)
      return networks.flatMap((network, i) =>
        key.path[0]! in network ? [`networks[${i}].${key.path[0]}`] : [],
      )
    const value = key.path.reduce<unknown>((table, name) => (isTable(table) ? table[name] : undefined), raw)
    return value === undefined ? [] : [key.path.join('.')]
  })
}
