import { type ConfigKey, configKeys } from './configKeys.js'
import type { ImportedConfig } from './importConfig.js'
import { isTable, type RawTable } from './layers.js'
import type { LoadedConfig } from './load.js'

/** Renders a file for operators to start from: every key with its default, unit and meaning. */
export function renderDefault(): string {
  const lines = ['# Configuration of the bridge data service. Keys that are commented out have this default.']
  for (const [section, keys] of sections()) {
    if (section === 'networks') continue
    if (section !== '') lines.push('', `[${section}]`)
    for (const key of keys) lines.push(...explain(key), assignment(key, key.schema.default, '# '))
  }
  for (const example of EXAMPLES) {
    lines.push('', '[[networks]]')
    for (const key of configKeys.filter((candidate) => candidate.isNetworkKey)) {
      const value = example[key.path[0]!]
      if (value === undefined && !example.explained) continue
      if (example.explained) lines.push(...explain(key))
      lines.push(assignment(key, value ?? key.schema.default, value === undefined ? '# ' : ''))
    }
  }
  return `${lines.join('\n')}\n`
}

const EXAMPLES: readonly RawTable[] = [
  {
    explained: true,
    network_id: 0,
    chain_id: 1,
    rpc: ['https://layer1.example.org'],
    bridge: '0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe',
    global_exit_root_manager: '0x580bda1e7A0CFAe92Fa7F6c20A3794F169CE3CFb',
    rollup_manager: '0x5132A183E9F3CB7C848b0AAC5Ae0c4f0491B7aB2',
  },
  {
    network_id: 1,
    chain_id: 1101,
    rpc: ['https://layer2.example.org'],
    bridge: '0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe',
    global_exit_root_manager: '0xa40D5f56745a118D0906a34E69aeC8C0Db1cB8fA',
  },
]

/** Renders the configuration in force, without secrets, with the source of each value. */
export function renderLoaded({ table, sources }: LoadedConfig): string {
  const lines: string[] = []
  const from = (path: string): string => `  # ${sources.get(path) ?? 'default'}`
  for (const [section, keys] of sections()) {
    if (section === 'networks') continue
    if (section !== '') lines.push('', `[${section}]`)
    for (const key of keys) {
      const value = valueAt(table as unknown as RawTable, key.path)
      if (value !== undefined) lines.push(assignment(key, value, '') + from(key.path.join('.')))
    }
  }
  table.networks.forEach((network, position) => {
    lines.push('', '[[networks]]')
    for (const key of configKeys.filter((candidate) => candidate.isNetworkKey)) {
      const value = (network as RawTable)[key.path[0]!]
      if (value === undefined) continue
      lines.push(
        assignment(key, publicValue(key.path[0]!, value), '') + from(`networks[${position}].${key.path[0]}`),
      )
    }
  })
  return `${lines.join('\n').trimStart()}\n`
}

/** A value in force, and where it comes from. */
interface ShownValue {
  readonly value: unknown
  readonly source: string
}

/** The same for programs: values by key, and those of each network by its keys. */
export function describeLoaded({ table, sources }: LoadedConfig): Readonly<Record<string, unknown>> {
  const shown = (value: unknown, path: string): ShownValue => ({
    value,
    source: sources.get(path) ?? 'default',
  })
  const values: Record<string, ShownValue> = {}
  for (const { isNetworkKey, path, name } of configKeys) {
    const value = isNetworkKey ? undefined : valueAt(table as unknown as RawTable, path)
    if (value !== undefined) values[name] = shown(value, path.join('.'))
  }
  const networks = table.networks.map((network, position) =>
    Object.fromEntries(
      Object.entries(network).map(([key, value]) => [
        key,
        shown(publicValue(key, value), `networks[${position}].${key}`),
      ]),
    ),
  )
  return { values, networks }
}

/** Of a network's key: without the addresses of endpoints. */
function publicValue(key: string, value: unknown): unknown {
  return key === 'rpc' ? (value as RawTable[]).map(withoutSecretValues) : value
}

/**
 * Renders a configuration that was read from another service's file. The addresses of endpoints are secrets.
 * @param withAddresses false: a variable of the environment stands in their place.
 */
export function renderImported({ table, notes }: ImportedConfig, withAddresses: boolean): string {
  const lines = notes.map((note) => `# ${note}`)
  for (const [section, keys] of sections()) {
    if (section === 'networks') continue
    const set = keys.filter((key) => valueAt(table, key.path) !== undefined)
    if (section !== '' && set.length > 0) lines.push('', `[${section}]`)
    for (const key of set) lines.push(assignment(key, valueAt(table, key.path), ''))
  }
  table.networks.forEach((network, position) => {
    lines.push('', '[[networks]]')
    for (const key of configKeys.filter((candidate) => candidate.isNetworkKey)) {
      const value = network[key.path[0]!]
      if (value === undefined) continue
      const isHidden = key.path[0] === 'rpc' && !withAddresses
      lines.push(assignment(key, isHidden ? [`\${${endpointVariable(position)}}`] : value, ''))
    }
  })
  return `${lines.join('\n').trimStart()}\n`
}

/** The variable of the environment that holds the endpoint of an imported network. */
export function endpointVariable(position: number): string {
  return position === 0 ? 'RPC_L1' : `RPC_L2_${position}`
}

/** Keys by section, in the order of the schema; the section '' holds keys outside of any. */
function sections(): Map<string, ConfigKey[]> {
  const found = new Map<string, ConfigKey[]>()
  for (const key of configKeys) {
    const section = key.isNetworkKey ? 'networks' : key.path.slice(0, -1).join('.')
    found.set(section, [...(found.get(section) ?? []), key])
  }
  return found
}

function explain({ schema }: ConfigKey): string[] {
  const unit = schema.unit === undefined ? '' : ` (${schema.unit})`
  const values = schema.enum === undefined ? '' : ` One of ${schema.enum.join(', ')}.`
  return [`# ${schema.description}${unit}${values}`]
}

function assignment(key: ConfigKey, value: unknown, prefix: string): string {
  return `${prefix}${key.path.at(-1)} = ${value === undefined ? '…' : toToml(value)}`
}

/** A value in TOML. */
export function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`
  if (isTable(value))
    return `{ ${Object.entries(value)
      .map(([key, child]) => `${key} = ${toToml(child)}`)
      .join(', ')} }`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

const SECRET_KEYS: ReadonlySet<string> = new Set(['url', 'ws_url'])

function withoutSecretValues(endpoint: RawTable): RawTable {
  return Object.fromEntries(
    Object.entries(endpoint).map(([key, value]) => [key, SECRET_KEYS.has(key) ? '[redacted]' : value]),
  )
}

function valueAt(table: RawTable, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (isTable(value) ? value[key] : undefined), table)
}
