import { encodeFunctionData, type Hex } from 'viem'
import type { NetworkConfig } from '../config/config.types.js'
import { bridgeFunctionsAbi, globalExitRootManagerFunctionsAbi } from '../protocol/abis.js'
import { uint32Word, uint256Word } from '../protocol/abiWords.js'
import type { Hash } from '../protocol/chainEvent.js'
import { decodeHexAt, encodeHex } from '../protocol/hex.js'
import { contractAnswer, contractCall, readContract } from './contractCall.js'
import type { Endpoint } from './endpoint.js'
import { isHistoryGone, RpcFailure } from './rpcFailure.js'

const getter = (functionName: 'depositCount' | 'getRoot' | 'getDepositRoot' | 'networkID'): Hex =>
  encodeFunctionData({ abi: bridgeFunctionsAbi, functionName })

const calldata = {
  depositCount: getter('depositCount'),
  getRoot: getter('getRoot'),
  /** The root's getter before etrog. */
  getDepositRoot: getter('getDepositRoot'),
  networkId: getter('networkID'),
}

/** @returns undefined when the bridge does not answer, or the state of that block is gone. @throws RpcFailure */
export async function readDepositCount(
  bridge: string,
  block: number,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<number | undefined> {
  const answer = await orGone(readContract(bridge, calldata.depositCount, block, endpoint, signal))
  const count = answer === undefined ? -1 : uint32Word(answer, 0)
  return count < 0 ? undefined : count
}

/** Root of the bridge's local exit tree. @returns undefined as for readDepositCount. @throws RpcFailure */
export async function readLocalExitRoot(
  bridge: string,
  block: number,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Hash | undefined> {
  for (const data of [calldata.getRoot, calldata.getDepositRoot]) {
    const answer = await orGone(readContract(bridge, data, block, endpoint, signal))
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
 * Which global exit roots a manager knows: those with a map entry that is not zero. A manager that is not there yet
 * knows none.
 * @throws RpcFailure
 */
export async function readKnownGlobalExitRoots(
  manager: string,
  globalExitRoots: readonly Hash[],
  block: number,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<boolean[]> {
  const calls = globalExitRoots.map((globalExitRoot) =>
    contractCall(
      manager,
      encodeFunctionData({
        abi: globalExitRootManagerFunctionsAbi,
        functionName: 'globalExitRootMap',
        args: [encodeHex(globalExitRoot)],
      }),
      block,
    ),
  )
  const outcomes = await endpoint.callAll(calls, signal)
  return outcomes.map((outcome) => {
    const answer = contractAnswer(outcome)
    return answer !== undefined && (uint256Word(answer, 0) ?? 0n) !== 0n
  })
}

/** Contracts of the configuration that have no code, by their name there. @throws RpcFailure */
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

async function orGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof RpcFailure && isHistoryGone(error)) return undefined
    throw error
  }
}
