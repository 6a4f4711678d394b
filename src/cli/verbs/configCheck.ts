import type { Config } from '../../config/config.types.js'
import { ConfigError } from '../../config/configError.js'
import type { LoadedConfig } from '../../config/load.js'
import type { ConfigFile } from '../../config/schema.js'
import { checksumText } from '../../protocol/checksumAddress.js'
import { compileMerkleModule, createHasher } from '../../wasm/wasmModule.js'

/** Host names that RFC 2606 reserves for examples. The default file has them, and no node answers there. */
const EXAMPLE_HOST = /(^|\.)(example(\.(com|net|org))?|invalid)\.?$/i

const CONTRACTS = ['bridge', 'global_exit_root_manager', 'rollup_manager'] as const

/**
 * Finds mistakes that do not keep a service from starting: `bds config check` looks for them, `bds run` does not.
 * @throws ConfigError with all that was found.
 */
export function assertPlausible({ config, table }: LoadedConfig): void {
  const mistakes = [...exampleEndpoints(config), ...misspeltAddresses(table)]
  if (mistakes.length > 0) throw new ConfigError(mistakes)
}

function exampleEndpoints({ networks }: Config): string[] {
  return networks.flatMap(({ networkId, rpc }) =>
    rpc.flatMap(({ url, wsUrl }, position) =>
      [url, wsUrl].some((address) => address !== undefined && EXAMPLE_HOST.test(new URL(address).hostname))
        ? [`network ${networkId}: rpc endpoint ${position} is an example: replace it by your own address`]
        : [],
    ),
  )
}

/** Addresses in mixed case whose EIP-55 checksum is wrong. Only reported here: the service itself asks the chain for the contract. */
function misspeltAddresses({ networks }: ConfigFile): string[] {
  // 7 ms of CPU; viem takes 130.
  const hasher = createHasher(compileMerkleModule())
  const spell = (address: string): string => checksumText(address, (bytes) => hasher.hash(bytes))
  return networks.flatMap((network) =>
    CONTRACTS.flatMap((key) => {
      const address = network[key]
      if (address === undefined || !hasBothCases(address) || address === spell(address)) return []
      return [
        `network ${network.network_id}: ${key} ${address} has a wrong EIP-55 checksum: a digit is wrong, or it should be ${spell(address)}`,
      ]
    }),
  )
}

function hasBothCases(address: string): boolean {
  const digits = address.slice(2)
  return /[a-f]/.test(digits) && /[A-F]/.test(digits)
}
