import type { Config, NetworkConfig } from '../../config/config.types.js'
import { readNumber } from '../input/readNumber.js'
import { UsageError } from '../input/verb.js'

const MAX_NETWORK_ID = 2 ** 32 - 1

/** The network that `--network` names. @throws UsageError when it is missing or not configured. */
export function oneNetwork(
  config: Config,
  values: Readonly<Record<string, string | undefined>>,
): NetworkConfig {
  const networkId = readNumber(values, 'network', undefined, MAX_NETWORK_ID)
  const network = config.networks.find((candidate) => candidate.networkId === networkId)
  if (network === undefined) {
    const known = config.networks.map((candidate) => candidate.networkId).join(', ')
    throw new UsageError(`--network ${networkId} is not configured; configured are ${known}`)
  }
  return network
}

/** The network that `--network` names; without this flag all networks. */
export function chosenNetworks(
  config: Config,
  values: Readonly<Record<string, string | undefined>>,
): readonly NetworkConfig[] {
  return values.network === undefined ? config.networks : [oneNetwork(config, values)]
}
