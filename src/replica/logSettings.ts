import type { Config, NetworkConfig } from '../config/config.types.js'
import { decodeHex, encodeHex } from '../protocol/hex.js'
import { asBlockNumber, asNetworkId } from '../protocol/units.js'
import type { LogSettings } from '../shard/shardLog.types.js'

/** What the first command of a log says when an instance with this configuration begins it. @param logId 16 bytes that no other log has. */
export function logSettingsOf(
  network: NetworkConfig,
  { keepEvents }: Pick<Config['feed'], 'keepEvents'>,
  logId: Uint8Array,
): LogSettings {
  const { rollupManager, finality } = network
  return {
    logId,
    networkId: asNetworkId(network.networkId),
    chainId: network.chainId,
    bridge: decodeHex(network.bridge)!,
    globalExitRootManager: decodeHex(network.globalExitRootManager)!,
    rollupManager: rollupManager === undefined ? undefined : decodeHex(rollupManager)!,
    startBlock: asBlockNumber(network.startBlock),
    rollbackBlocks: network.rollbackBlocks,
    finalityTag: finality.tag,
    finalityDepth: finality.depth,
    gerInjection: network.gerInjection,
    feedKeepEvents: keepEvents,
  }
}

/** Names of the settings as the configuration spells them. */
const names: { readonly [Name in Exclude<keyof LogSettings, 'logId'>]: string } = {
  networkId: 'network_id',
  chainId: 'chain_id',
  bridge: 'bridge',
  globalExitRootManager: 'global_exit_root_manager',
  rollupManager: 'rollup_manager',
  startBlock: 'start_block',
  rollbackBlocks: 'rollback_blocks',
  finalityTag: 'finality',
  finalityDepth: 'blocks below finality',
  gerInjection: 'ger_injection',
  feedKeepEvents: 'feed.keep_events',
}

/** What of an instance's settings differs from those of its log, whichever log it is: one text each, with both values. */
export function settingsDifferences(own: LogSettings, ofLog: LogSettings): string[] {
  return Object.entries(names)
    .map(([field, name]) => [name, ...[own, ofLog].map((from) => textOf(from[field as keyof typeof names]))])
    .filter(([, here, there]) => here !== there)
    .map(([name, here, there]) => `${name} ${here} (in the log: ${there})`)
}

function textOf(value: LogSettings[keyof typeof names]): string {
  if (value === undefined) return 'none'
  return typeof value === 'object' ? encodeHex(value) : value.toString()
}
