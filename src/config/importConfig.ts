import { parse } from 'smol-toml'
import { ConfigError } from './configError.js'
import { parseFinality } from './finalitySetting.js'
import { isTable, type RawTable } from './layers.js'
import { type Preset, presetNetwork, presets } from './presets.js'
import { parseTable, readText } from './readTable.js'

/** Services whose configuration can be read. */
export const importers = { aggkit: importAggkit, 'zkevm-bridge': importZkevmBridge } as const

/** A configuration of ours made from that of another service. */
export interface ImportedConfig {
  /** Keys by section; a network's addresses stand in its `rpc`. */
  readonly table: RawTable & { readonly networks: readonly RawTable[] }
  /** What the operator has to know: values that are missing, and what was left out. Without secrets. */
  readonly notes: readonly string[]
}

/**
 * Reads the configuration of another service.
 * @throws ConfigError when the file can't be read or contradicts itself.
 */
export function importConfig(from: keyof typeof importers, file: string): ImportedConfig {
  // aggkit fills in its variables before it parses: `chainId = {{L1Config.chainId}}` is no TOML yet.
  const text = readText(file).replace(/=(\s*)(\{\{[^{}"]+\}\})/g, '=$1"$2"')
  return importers[from](new ForeignTable(parseTable(text, file)))
}

/** Another service's file: names are found in any case, and `{{name}}` stands for another value of it. */
class ForeignTable {
  private readonly root: RawTable

  constructor(root: RawTable) {
    this.root = root
  }

  get sections(): readonly string[] {
    return Object.keys(this.root).filter((name) => isTable(this.root[name]))
  }

  /** The first of these values that is set. The zero address, the number 0 and an empty text count as not set. */
  find(...paths: readonly string[]): unknown {
    for (const path of paths) {
      const value = this.at(path, MOST_VARIABLES)
      if (value !== undefined && value !== '' && value !== 0 && !isZeroAddress(value)) return value
    }
    return undefined
  }

  text(...paths: readonly string[]): string | undefined {
    const value = this.find(...paths)
    return typeof value === 'string' ? value : undefined
  }

  number(...paths: readonly string[]): number | undefined {
    const value = this.find(...paths)
    const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
    return typeof number === 'number' ? number : undefined
  }

  list(path: string): readonly unknown[] {
    const value = this.find(path)
    return Array.isArray(value) ? value : []
  }

  private at(path: string, variablesLeft: number): unknown {
    let value: unknown = this.root
    for (const part of path.split('.')) {
      value = this.resolve(value, variablesLeft)
      if (!isTable(value)) return undefined
      const name = Object.keys(value).find((key) => key.toLowerCase() === part.toLowerCase())
      value = name === undefined ? undefined : value[name]
    }
    return this.resolve(value, variablesLeft)
  }

  private resolve(value: unknown, variablesLeft: number): unknown {
    if (typeof value !== 'string' || variablesLeft === 0) return value
    const whole = /^\{\{\s*([\w.]+)\s*\}\}$/.exec(value)?.[1]
    if (whole !== undefined) return this.at(whole, variablesLeft - 1)
    const filled = value.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, name: string) =>
      String(this.at(name, variablesLeft - 1) ?? ''),
    )
    return /^\s*\{.*\}\s*$/s.test(filled) ? (inlineTable(filled) ?? filled) : filled
  }
}

/** Variables may stand for variables, but not for ever. */
const MOST_VARIABLES = 8

/** `{ Mode = "basic", URL = "…" }`, which aggkit keeps in a text. */
function inlineTable(text: string): RawTable | undefined {
  try {
    return parse(`table = ${text}`).table as RawTable
  } catch {
    return undefined
  }
}

function isZeroAddress(value: unknown): boolean {
  return typeof value === 'string' && /^0x0{40}$/i.test(value)
}

const AGGKIT_SECTIONS = [
  'Log',
  'Common',
  'L1Config',
  'L2Config',
  'L1NetworkConfig',
  'L1InfoTreeSync',
  'BridgeL1Sync',
  'BridgeL2Sync',
  'L2GERSync',
  'LastGERSync',
  'REST',
  'Prometheus',
]

/** An aggkit process knows layer 1 and one layer 2. What its file leaves out has aggkit's default. */
function importAggkit(file: ForeignTable): ImportedConfig {
  const notes = [...leftOut(file, AGGKIT_SECTIONS)]
  const startBlocks = [
    'BridgeL1Sync.InitialBlockNum',
    'L1InfoTreeSync.InitialBlock',
    'rollupManagerCreationBlockNumber',
    'genesisBlockNumber',
  ].flatMap((path) => file.number(path) ?? [])
  const layer1 = {
    network_id: 0,
    chain_id: file.number('L1NetworkConfig.L1ChainID', 'L1Config.chainId'),
    rpc: file.text('L1NetworkConfig.RPC.URL', 'L1NetworkConfig.URL', 'L1Config.URL', 'L1URL'),
    bridge: file.text('BridgeL1Sync.BridgeAddr', 'polygonBridgeAddr'),
    global_exit_root_manager: file.text(
      'L1NetworkConfig.GlobalExitRootManagerAddr',
      'L1InfoTreeSync.GlobalExitRootAddr',
      'L1Config.polygonZkEVMGlobalExitRootAddress',
    ),
    rollup_manager: file.text(
      'L1NetworkConfig.RollupManagerAddr',
      'L1InfoTreeSync.RollupManagerAddr',
      'L1Config.polygonRollupManagerAddress',
    ),
    start_block: startBlocks.length === 0 ? undefined : Math.min(...startBlocks),
    finality: finalityOf(file, 'L1InfoTreeSync.BlockFinality', notes),
  }
  const layer2 = {
    network_id: file.number('Common.NetworkID', 'NetworkID'),
    // aggkit asks for it to be filled in there, under the name of layer 1.
    chain_id: file.number('AggOracle.EVMSender.EthTxManager.Etherman.L1ChainID'),
    rpc: file.text('Common.L2RPC.URL', 'L2URL'),
    bridge: file.text('BridgeL2Sync.BridgeAddr', 'polygonBridgeAddr'),
    global_exit_root_manager: file.text(
      'L2GERSync.GlobalExitRootL2Addr',
      'LastGERSync.GlobalExitRootL2Addr',
      'L2Config.GlobalExitRootAddr',
    ),
    start_block: file.number('BridgeL2Sync.InitialBlockNum'),
    finality: finalityOf(file, 'BridgeL2Sync.BlockFinality', notes),
  }
  const table = {
    http: { host: file.text('REST.Host') ?? '0.0.0.0', port: file.number('REST.Port') ?? 5577 },
    ops: { host: loopbackOr(file.text('Prometheus.Host')), port: file.number('Prometheus.Port') ?? 9091 },
    log: logOf(file),
  }
  return complete(table, [layer1, layer2], notes)
}

const ZKEVM_BRIDGE_SECTIONS = ['Log', 'Etherman', 'NetworkConfig', 'BridgeServer', 'Metrics']

/** The zkEVM bridge service knows any number of layer 2s by position, and asks their contracts for ids. */
function importZkevmBridge(file: ForeignTable): ImportedConfig {
  const notes = [...leftOut(file, ZKEVM_BRIDGE_SECTIONS)]
  const urls = file.list('Etherman.L2URLs')
  const bridges = file.list('NetworkConfig.L2PolygonBridgeAddresses')
  if (urls.length !== bridges.length)
    throw new ConfigError([
      `Etherman.L2URLs has ${urls.length} entries, but NetworkConfig.L2PolygonBridgeAddresses has ${bridges.length}`,
    ])
  const layer1 = {
    network_id: 0,
    chain_id: file.number('Etherman.L1ChainId'),
    rpc: file.text('Etherman.L1URL'),
    bridge: file.text('NetworkConfig.PolygonBridgeAddress'),
    global_exit_root_manager: file.text('NetworkConfig.PolygonZkEVMGlobalExitRootAddress'),
    rollup_manager: file.text('NetworkConfig.PolygonRollupManagerAddress'),
    start_block: file.number('NetworkConfig.GenBlockNumber'),
  }
  const chainIds = file.list('Etherman.L2ChainIds')
  const managers = file.list('NetworkConfig.L2PolygonZkEVMGlobalExitRootAddresses')
  const layer2s = urls.map((url, position) => ({
    network_id: undefined,
    chain_id: chainIds[position],
    rpc: url,
    bridge: bridges[position],
    global_exit_root_manager: managers[position],
  }))
  const ops: Sections =
    file.find('Metrics.Enabled') === true
      ? { ops: { host: file.text('Metrics.Host') ?? '0.0.0.0', port: file.number('Metrics.Port') ?? 9091 } }
      : {}
  const table = {
    http: { host: '0.0.0.0', port: file.number('BridgeServer.HTTPPort') ?? 8080 },
    ...ops,
    log: logOf(file),
  }
  return complete(table, [layer1, ...layer2s], notes)
}

function leftOut(file: ForeignTable, read: readonly string[]): string[] {
  const known = read.map((name) => name.toLowerCase())
  const others = file.sections.filter((name) => !known.includes(name.toLowerCase()))
  return others.length === 0 ? [] : [`not read, because nothing here needs them: ${others.join(', ')}`]
}

function finalityOf(file: ForeignTable, path: string, notes: string[]): string | undefined {
  const finality = file.text(path)
  if (finality === undefined || parseFinality(finality) !== undefined) return finality
  notes.push(`${path} ${JSON.stringify(finality)} is none of our finalities: finalized counts`)
  return undefined
}

function loopbackOr(host = 'localhost'): string {
  return host === 'localhost' ? '127.0.0.1' : host
}

function logOf(file: ForeignTable): RawTable {
  const level = file.text('Log.Level')?.toLowerCase() ?? 'info'
  return { level: ['error', 'warn', 'info', 'debug'].includes(level) ? level : 'error' }
}

type Sections = Readonly<Record<string, RawTable>>

/** Recognizes a public deployment, drops what its preset says, and notes what is still missing. */
function complete(table: Sections, networks: readonly RawTable[], notes: string[]): ImportedConfig {
  const name = presetOf(networks[0]!)
  const preset = name === undefined ? undefined : presets[name]
  const named = networks.map((network) => withPresetId(network, preset))
  const slim = named.map((network) => withoutKnown(network, preset))
  slim.forEach((network, position) => {
    const known = knownOf(network, preset)
    for (const key of ['network_id', 'chain_id', 'rpc', 'bridge', 'global_exit_root_manager'])
      if (network[key] === undefined && known?.[key] === undefined)
        notes.push(`networks[${position}].${key} is not in that file: add it`)
  })
  if (slim[0]!.rollup_manager === undefined && preset === undefined)
    notes.push('networks[0].rollup_manager is not in that file: add it')
  return {
    table: {
      ...(name === undefined ? {} : { preset: name }),
      ...table,
      networks: slim.map(({ rpc, ...rest }) => ({ ...rest, ...(rpc === undefined ? {} : { rpc: [rpc] }) })),
    },
    notes,
  }
}

function presetOf({ bridge, rollup_manager: manager }: RawTable): keyof typeof presets | undefined {
  const names = Object.keys(presets) as (keyof typeof presets)[]
  return names.find(
    (name) =>
      isSame(presets[name].bridge, bridge) &&
      isSame(presets[name].rollupManager, manager ?? presets[name].rollupManager),
  )
}

function withPresetId(network: RawTable, preset: Preset | undefined): RawTable {
  const at = preset?.layer2ChainIds.indexOf(network.chain_id as number) ?? -1
  return network.network_id !== undefined || at < 0 ? network : { ...network, network_id: at + 1 }
}

function knownOf(network: RawTable, preset: Preset | undefined): RawTable | undefined {
  return preset === undefined || typeof network.network_id !== 'number'
    ? undefined
    : presetNetwork(preset, network.network_id)
}

function withoutKnown(network: RawTable, preset: Preset | undefined): RawTable {
  const known = knownOf(network, preset)
  return Object.fromEntries(
    Object.entries(network).filter(
      ([key, value]) => value !== undefined && !(known !== undefined && isSame(known[key], value)),
    ),
  )
}

/** Whether two values are the same; addresses in any case. */
function isSame(one: unknown, other: unknown): boolean {
  return typeof one === 'string' && typeof other === 'string'
    ? one.toLowerCase() === other.toLowerCase()
    : one === other
}
