import type { Hex } from 'viem'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import type { NetworkConfig } from '../../config/config.types.js'
import { addressWord } from '../../protocol/abiWords.js'
import { encodeHex } from '../../protocol/hex.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { contractCall } from '../state/contractCall.js'
import { callGetters } from '../state/contractReads.js'

const abi = parseAbi([
  'function globalExitRootManager() view returns (address)',
  'function rollupManager() view returns (address)',
  'function bridgeAddress() view returns (address)',
])

type Getter = (typeof abi)[number]['name']
type Contract = 'bridge' | 'global_exit_root_manager' | 'rollup_manager'
/** Calling `getter` on contract `asked` returns the address of contract `named`, when they belong together. */
type Link = readonly [asked: Contract, getter: Getter, named: Contract]

const bridgeLink: Link = ['bridge', 'globalExitRootManager', 'global_exit_root_manager']
const layer1Links: readonly Link[] = [
  ['global_exit_root_manager', 'rollupManager', 'rollup_manager'],
  ['global_exit_root_manager', 'bridgeAddress', 'bridge'],
  ['rollup_manager', 'globalExitRootManager', 'global_exit_root_manager'],
  ['rollup_manager', 'bridgeAddress', 'bridge'],
]

export interface ContractLinks {
  /** Number of getters that were called. */
  readonly asked: number
  /** Number of them that returned an address. One that reverts or is missing proves nothing: contract versions differ. */
  readonly answered: number
  /** One sentence for each getter that returned another address than the configured one. */
  readonly wrong: readonly string[]
}

/** Checks that the configured contracts name each other. @throws RpcFailure */
export async function readContractLinks(
  network: NetworkConfig,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<ContractLinks> {
  const { bridge, globalExitRootManager, rollupManager } = network
  const addresses: Readonly<Record<Contract, string | undefined>> = {
    bridge,
    global_exit_root_manager: globalExitRootManager,
    rollup_manager: rollupManager,
  }
  const links = rollupManager === undefined ? [bridgeLink] : [bridgeLink, ...layer1Links]
  const calls = links.map(([asked, functionName]) => {
    const data: Hex = encodeFunctionData({ abi, functionName })
    return contractCall(addresses[asked]!, data, 'latest')
  })
  const answers = await callGetters(calls, endpoint, signal)
  let answered = 0
  const wrong = links.flatMap(([asked, getter, named], at) => {
    const answer = answers[at]
    const address = answer === undefined ? undefined : addressWord(answer, 0)
    if (address === undefined) return []
    answered += 1
    const text = encodeHex(address)
    if (text === addresses[named]) return []
    return [`${getter}() of ${asked} is ${text}, but ${named} is configured as ${addresses[named]}`]
  })
  return { asked: links.length, answered, wrong }
}
