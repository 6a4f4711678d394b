import type { Hex } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import type { NetworkConfig } from '../../config/config.types.js'
import { bridgeFunctionsAbi, globalExitRootManagerFunctionsAbi } from '../../protocol/abis.js'
import { addressWord, uint32Word, uint256Word } from '../../protocol/abiWords.js'
import type { Address, Hash } from '../../protocol/chainEvent.js'
import { type ClaimedWord, claimedWordPosition } from '../../protocol/claimedBitMap.js'
import { decodeHexAt, encodeHex } from '../../protocol/hex.js'
import type { BlockNumber } from '../../protocol/units.js'
import type { GerHashChains, MappedToken } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import { quantity } from '../rpc/rpcBlocks.js'
import { isHistoryGone, isRevert, isUnknownBlock } from '../rpc/rpcFailure.js'
import type { RpcCall } from '../rpc/rpcTransport.js'
import { claimedWordsOf, claimedWordsProgram, PROGRAM_WORDS } from './claimedWordsProgram.js'
import { contractAnswer, contractCall, readContract } from './contractCall.js'

/** More words than this are read by `claimedWordsProgram`, where that works. It is as many as one comparison at the tip reads. */
const FEW_WORDS = 14
/** The same for an endpoint on which the program was not tried yet. So many calls need a second batch: a failed try costs no more. */
const MANY_WORDS = 50

const getter = (
  functionName: 'depositCount' | 'getRoot' | 'getDepositRoot' | 'networkID' | 'isEmergencyState',
): Hex => encodeFunctionData({ abi: bridgeFunctionsAbi, functionName })
const managerGetter = (functionName: 'insertedGERHashChain' | 'removedGERHashChain'): Hex =>
  encodeFunctionData({ abi: globalExitRootManagerFunctionsAbi, functionName })

const calldata = {
  depositCount: getter('depositCount'),
  getRoot: getter('getRoot'),
  getDepositRoot: getter('getDepositRoot'),
  networkId: getter('networkID'),
  isEmergencyState: getter('isEmergencyState'),
  insertedGerHashChain: managerGetter('insertedGERHashChain'),
  removedGerHashChain: managerGetter('removedGERHashChain'),
}

/** The getters of a bridge's exit root: since etrog, and before. */
export const rootGetters: readonly Hex[] = [calldata.getRoot, calldata.getDepositRoot]

/** @returns undefined when the bridge does not answer. @throws RpcFailure */
export async function readDepositCount(
  bridge: string,
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<number | undefined> {
  const answer = await readContract(bridge, calldata.depositCount, block, endpoint, signal)
  const count = answer === undefined ? -1 : uint32Word(answer, 0)
  return count < 0 ? undefined : count
}

/** Reads the local exit root. @returns undefined when the bridge does not answer. @throws RpcFailure */
export async function readLocalExitRoot(
  bridge: string,
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Hash | undefined> {
  for (const data of rootGetters) {
    const answer = await readContract(bridge, data, block, endpoint, signal)
    if (answer !== undefined) return decodeHexAt(answer, 2, 32)
  }
  return undefined
}

/** @returns the network id that the bridge itself names, undefined when it names none. @throws RpcFailure */
export async function readNetworkId(
  bridge: string,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<number | undefined> {
  const answer = await readContract(bridge, calldata.networkId, 'latest', endpoint, signal)
  const networkId = answer === undefined ? -1 : uint32Word(answer, 0)
  return networkId < 0 ? undefined : networkId
}

/**
 * Which global exit roots a manager knows: those whose map entry is not zero. A manager that does not exist yet knows none.
 * @throws RpcFailure
 */
export async function readKnownGlobalExitRoots(
  manager: string,
  globalExitRoots: readonly Hash[],
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean[]> {
  const outcomes = await endpoint.callAll(mapCalls(manager, globalExitRoots, block), signal)
  return outcomes.map((outcome) => {
    const answer = contractAnswer(outcome)
    return answer !== undefined && (uint256Word(answer, 0) ?? 0n) !== 0n
  })
}

/**
 * As `readKnownGlobalExitRoots`, but @returns undefined for a root whose call reverts or is refused.
 * @throws RpcFailure
 */
export async function readGlobalExitRootEntries(
  manager: string,
  globalExitRoots: readonly Hash[],
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<(boolean | undefined)[]> {
  const answers = await callGetters(mapCalls(manager, globalExitRoots, block), endpoint, signal)
  return answers.map((answer) => {
    const word = answer === undefined ? undefined : uint256Word(answer, 0)
    return word === undefined ? undefined : word !== 0n
  })
}

function mapCalls(manager: string, globalExitRoots: readonly Hash[], block: BlockNumber): RpcCall[] {
  return globalExitRoots.map((globalExitRoot) => {
    const args = [encodeHex(globalExitRoot)] as const
    const abi = globalExitRootManagerFunctionsAbi
    return contractCall(manager, encodeFunctionData({ abi, functionName: 'globalExitRootMap', args }), block)
  })
}

/**
 * Words of the bridge's `claimedBitMap`, in the order asked for.
 * @returns undefined for a word whose call reverts or is refused. @throws RpcFailure
 */
export async function readClaimedWords(
  { bridge, networkId }: Pick<NetworkConfig, 'bridge' | 'networkId'>,
  words: readonly ClaimedWord[],
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<(bigint | undefined)[]> {
  const positions = words.map((word) => BigInt(claimedWordPosition(networkId, word)))
  const { takesPrograms } = endpoint.state
  if (takesPrograms !== false && words.length > (takesPrograms ? FEW_WORDS : MANY_WORDS)) {
    const read = await runProgram(bridge, positions, block, endpoint, signal)
    endpoint.state.takesPrograms = read !== undefined
    if (read !== undefined) return read
  }
  const calls = positions.map((position) => {
    const data = encodeFunctionData({
      abi: bridgeFunctionsAbi,
      functionName: 'claimedBitMap',
      args: [position],
    })
    return contractCall(bridge, data, block)
  })
  const answers = await callGetters(calls, endpoint, signal)
  return answers.map((answer) => (answer === undefined ? undefined : uint256Word(answer, 0)))
}

/** @returns undefined when the endpoint does not run programs. @throws RpcFailure */
async function runProgram(
  bridge: string,
  positions: readonly bigint[],
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<bigint[] | undefined> {
  const words: bigint[] = []
  for (let start = 0; start < positions.length; start += PROGRAM_WORDS) {
    const some = positions.slice(start, start + PROGRAM_WORDS)
    const params = [{ data: claimedWordsProgram(bridge, some) }, quantity(block)]
    const [outcome] = await endpoint.callAll([{ method: 'eth_call', params }], signal)
    if (!outcome!.ok) {
      const { failure } = outcome!
      const isOfBlock = isHistoryGone(failure) || isUnknownBlock(failure)
      if (failure.kind !== 'rpc' || isOfBlock) throw failure
      return undefined
    }
    const read = claimedWordsOf(outcome!.result, some.length)
    if (read === undefined) return undefined
    for (const word of read) words.push(word)
  }
  return words
}

/**
 * The wrapped token of each token, in order; the zero address where the bridge has no mapping.
 * @returns undefined for a token whose call reverts or is refused. @throws RpcFailure
 */
export async function readWrappedTokens(
  bridge: string,
  tokens: readonly MappedToken[],
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<(Address | undefined)[]> {
  const calls = tokens.map(({ originNetwork, originTokenAddress }) => {
    const args = [originNetwork, encodeHex(originTokenAddress)] as const
    const functionName = 'getTokenWrappedAddress'
    return contractCall(bridge, encodeFunctionData({ abi: bridgeFunctionsAbi, functionName, args }), block)
  })
  const answers = await callGetters(calls, endpoint, signal)
  return answers.map((answer) => (answer === undefined ? undefined : addressWord(answer, 0)))
}

/** @returns undefined when the bridge does not answer. @throws RpcFailure */
export async function readEmergencyState(
  bridge: string,
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const answer = await readContract(bridge, calldata.isEmergencyState, block, endpoint, signal)
  const word = answer === undefined ? undefined : uint256Word(answer, 0)
  return word === undefined || word > 1n ? undefined : word === 1n
}

/** @returns undefined when the manager keeps no hash chains. @throws RpcFailure */
export async function readGerHashChains(
  manager: string,
  block: BlockNumber,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<GerHashChains | undefined> {
  const calls = [calldata.insertedGerHashChain, calldata.removedGerHashChain]
  const [inserted, removed] = await callGetters(
    calls.map((data) => contractCall(manager, data, block)),
    endpoint,
    signal,
  )
  if (inserted === undefined || removed === undefined) return undefined
  const chains = { inserted: decodeHexAt(inserted, 2, 32), removed: decodeHexAt(removed, 2, 32) }
  return chains.inserted && chains.removed
    ? { inserted: chains.inserted, removed: chains.removed }
    : undefined
}

/**
 * @returns the answers in order; undefined for a call that reverts, or that is refused while others are answered.
 * @throws RpcFailure, also when all calls are refused.
 */
export async function callGetters(
  calls: readonly RpcCall[],
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<(string | undefined)[]> {
  const outcomes = await endpoint.callAll(calls, signal)
  const isSilent = outcomes.every((outcome) => !outcome.ok && !isRevert(outcome.failure))
  return outcomes.map((outcome) => {
    const isRefused = !outcome.ok && outcome.failure.kind === 'rpc' && !isUnknownBlock(outcome.failure)
    return isRefused && !isSilent ? undefined : contractAnswer(outcome)
  })
}

/** Configured contracts that have no code: name and address. @throws RpcFailure */
export async function findMissingContracts(
  network: NetworkConfig,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<string[]> {
  const contracts: [string, string][] = [
    ['bridge', network.bridge],
    ['global_exit_root_manager', network.globalExitRootManager],
  ]
  if (network.rollupManager !== undefined) contracts.push(['rollup_manager', network.rollupManager])
  const outcomes = await endpoint.callAll(
    contracts.map(([, address]) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
    signal,
  )
  return contracts
    .filter((_, index) => {
      const outcome = outcomes[index]!
      if (!outcome.ok) throw outcome.failure
      return outcome.result === '0x' || outcome.result === ''
    })
    .map(([name, address]) => `${name} ${address}`)
}
