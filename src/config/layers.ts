import { nearestName } from '../errors/nearestName.js'
import { type ConfigKey, configKeys, type KeySchema } from './configKeys.js'
import { presetNetwork, presets } from './presets.js'

/** A table of the file that was not checked yet. */
export type RawTable = Record<string, unknown>

/** Path of a key (`http.port`, `networks[0].rpc`) → where its value comes from: `file`, `env BDS_…`, `flag --…` or `preset …`. */
export type ValueSources = Map<string, string>

const PREFIX = 'BDS_'

/** Our names that are not keys: the path of the file, and the folder that the test suite reads. */
const RESERVED_NAMES: readonly string[] = ['BDS_CONFIG', 'BDS_SHARED_DIR']

/** `BDS_HTTP__PORT`, or `BDS_NETWORKS__<id>__RPC` for a key of a network. */
function envName(key: ConfigKey, id: string | number = '<network_id>'): string {
  const path = key.isNetworkKey ? ['networks', String(id), ...key.path] : key.path
  return PREFIX + path.map((part) => (part === String(id) ? part : part.toUpperCase())).join('__')
}

/** `http-port`, for the flag `--http-port`. Every key has one, except those of networks. */
export function flagName(key: ConfigKey): string | undefined {
  return key.isNetworkKey ? undefined : key.path.join('-').replaceAll('_', '-')
}

/** Overrides values in `table` by the environment. An unknown `BDS_*` name is a mistake, because it may be a misspelt setting. */
export function applyEnvironment(
  table: RawTable,
  environment: Readonly<Record<string, string | undefined>>,
  sources: ValueSources,
  mistakes: string[],
): void {
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || value === undefined) continue
    if (RESERVED_NAMES.includes(name) || isServiceLink(name, value)) continue
    const [, id] = /^BDS_NETWORKS__(\d+)__/.exec(name) ?? []
    const key = configKeys.find((candidate) => envName(candidate, id) === name)
    if (key === undefined) {
      const nearest = nearestName(name, [...configKeys.map((known) => envName(known, id)), 'BDS_CONFIG'])
      mistakes.push(`unknown environment name ${name}${nearest ? `: did you mean ${nearest}?` : ''}`)
      continue
    }
    const target = key.isNetworkKey ? networkTable(table, Number(id)) : { table, at: '' }
    assign(target.table, key.path, textToValue(key.schema, value))
    sources.set(target.at + key.path.join('.'), `env ${name}`)
  }
}

/** Overrides values in `table` by flags (name without dashes → text). The command line has refused unknown names already. */
export function applyFlags(
  table: RawTable,
  flags: Readonly<Record<string, string | undefined>>,
  sources: ValueSources,
): void {
  for (const key of configKeys) {
    const name = flagName(key)
    const value = name === undefined ? undefined : flags[name]
    if (name === undefined || value === undefined) continue
    assign(table, key.path, textToValue(key.schema, value))
    sources.set(key.path.join('.'), `flag --${name}`)
  }
}

/** Fills in what `preset` knows of the networks in `table` and no other layer sets. An unknown name is the schema's to report. */
export function applyPreset(table: RawTable, sources: ValueSources): void {
  const name = table.preset
  if (typeof name !== 'string' || !Object.hasOwn(presets, name) || !Array.isArray(table.networks)) return
  table.networks.forEach((network: unknown, position) => {
    if (!isTable(network) || typeof network.network_id !== 'number') return
    const known = presetNetwork(presets[name as keyof typeof presets], network.network_id)
    for (const [key, value] of Object.entries(known ?? {})) {
      if (key in network) continue
      network[key] = value
      sources.set(`networks[${position}].${key}`, `preset ${name}`)
    }
  })
}

/** Turns a text from the environment, a flag or a `${NAME}` into a value of a key. A text that does not fit stays a text, which the schema refuses later. */
export function textToValue(schema: KeySchema | undefined, text: string): unknown {
  switch (schema?.anyOf?.[0]?.type ?? schema?.type) {
    case 'integer':
      return /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : text
    case 'number':
      return /^(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? Number(text) : text
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'array':
      return textToList(text)
    default:
      return text
  }
}

/** Reads `a,b`, or JSON for lists of tables. */
function textToList(text: string): unknown {
  if (!text.trimStart().startsWith('[')) return text.split(',').map((part) => part.trim())
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Finds the table of a network by id. A network that only the environment names gets a new table. */
function networkTable(table: RawTable, networkId: number): { table: RawTable; at: string } {
  table.networks ??= []
  // Not a list: `validateTable` will report it.
  if (!Array.isArray(table.networks)) return { table: {}, at: '' }
  const networks: unknown[] = table.networks
  let position = networks.findIndex((network) => isTable(network) && network.network_id === networkId)
  if (position < 0) position = networks.push({ network_id: networkId }) - 1
  return { table: networks[position] as RawTable, at: `networks[${position}].` }
}

function assign(table: RawTable, path: readonly string[], value: unknown): void {
  let target = table
  for (const section of path.slice(0, -1)) {
    target[section] ??= {}
    const inner = target[section]
    // Not a table: `validateTable` will report it.
    if (!isTable(inner)) return
    target = inner
  }
  target[path.at(-1)!] = value
}

/**
 * Whether Kubernetes has set this variable. It puts the addresses of all services of a namespace into the environment of each
 * container. Those of a service called `bds` have our prefix, and as unknown names they would keep the container from starting.
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /^BDS_(?:[A-Z0-9]+_)*SERVICE_(?:HOST|PORT)(?:_|$)/.test(name) ||
    /^BDS_(?:[A-Z0-9]+_)*PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)/.test(name) ||
    (/^BDS_(?:[A-Z0-9]+_)*PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value))
  )
}

export function isTable(value: unknown): value is RawTable {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
