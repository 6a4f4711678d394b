import { isTable, type RawTable } from '../../config/layers.js'
import { endpointAddresses } from '../../config/load.js'
import { checksumText } from '../../protocol/checksumAddress.js'
import { compileMerkleModule, createHasher } from '../../wasm/wasmModule.js'

/** Host names that RFC 2606 reserves for examples. The default file has them, and no node answers there. */
const EXAMPLE_HOST = /(^|\.)(example(\.(com|net|org))?|invalid)\.?$/i

const CONTRACTS = ['bridge', 'global_exit_root_manager', 'rollup_manager'] as const

/**
 * Finds mistakes that do not keep a service from starting: `bds config check` and `bds doctor` look for them, `bds run` does not.
 * @param table may have other mistakes, which are reported beside these.
 */
export function implausible(table: RawTable): string[] {
  const networks = Array.isArray(table.networks) ? table.networks.filter(isTable) : []
  return [...exampleEndpoints(networks), ...misspeltAddresses(networks)]
}

function exampleEndpoints(networks: readonly RawTable[]): string[] {
  return networks.flatMap(({ network_id: networkId, rpc }) =>
    (Array.isArray(rpc) ? rpc : []).flatMap((endpoint: unknown, position) =>
      isTable(endpoint) && endpointAddresses(endpoint).some(isExample)
        ? [`network ${networkId}: rpc endpoint ${position} is an example: replace it by your own address`]
        : [],
    ),
  )
}

function isExample(address: string): boolean {
  return URL.canParse(address) && EXAMPLE_HOST.test(new URL(address).hostname)
}

/** Addresses in mixed case whose EIP-55 checksum is wrong. Only reported here: the service itself asks the chain for the contract. */
function misspeltAddresses(networks: readonly RawTable[]): string[] {
  // 7 ms of CPU; viem takes 130.
  const hasher = createHasher(compileMerkleModule())
  const spell = (address: string): string => checksumText(address, (bytes) => hasher.hash(bytes))
  return networks.flatMap((network) =>
    CONTRACTS.flatMap((key) => {
      const address = network[key]
      if (typeof address !== 'string' || !/^0x[0-9a-f]{40}$/i.test(address)) return []
      if (!hasBothCases(address) || address === spell(address)) return []
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
