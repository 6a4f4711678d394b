import { operationIds, probeRoutes, socketRoutes, streamRoutes } from '../api/routes.js'
import type { Config } from '../config/config.types.js'
import { spellFinality } from '../config/finalitySetting.js'
import { checksumText } from '../protocol/checksumAddress.js'
import type { NetworksRecord } from '../query/healthRecords.js'

/**
 * What `/bridge/v1/networks` answers: the part of the configuration that is public anyway, and which operations there are.
 * @param hasher keccak-256, for the spelling of addresses.
 */
export function servedNetworks(
  { networks, primaryNetwork }: Pick<Config, 'networks' | 'primaryNetwork'>,
  hasher: { hash(bytes: Uint8Array): Uint8Array },
): NetworksRecord {
  const spell = (address: string): string => checksumText(address, (bytes) => hasher.hash(bytes))
  return {
    primary_network: primaryNetwork,
    networks: networks.map((network) => ({
      network_id: network.networkId,
      chain_id: network.chainId,
      bridge: spell(network.bridge),
      global_exit_root_manager: spell(network.globalExitRootManager),
      rollup_manager: network.rollupManager === undefined ? null : spell(network.rollupManager),
      start_block: network.startBlock,
      finality: spellFinality(network.finality),
    })),
    capabilities: [...operationIds, ...Object.keys({ ...streamRoutes, ...socketRoutes, ...probeRoutes })],
  }
}
