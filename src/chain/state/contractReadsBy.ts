import type { NetworkConfig } from '../../config/config.types.js'
import type { ContractReads } from '../chainClient.types.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import {
  readClaimedWords,
  readDepositCount,
  readEmergencyState,
  readGerHashChains,
  readGlobalExitRootEntries,
  readLocalExitRoot,
  readWrappedTokens,
} from './contractReads.js'

/** One read of contract state. @returns undefined when the contract does not answer. */
export type StateTask<T> = (endpoint: Endpoint, signal: AbortSignal) => Promise<T | undefined>

/** The getters of a network's contracts. @param ask chooses the endpoint for each. */
export function contractReadsBy(
  network: NetworkConfig,
  ask: <T>(question: StateTask<T>, signal: AbortSignal) => Promise<T | undefined>,
): ContractReads {
  const { bridge, globalExitRootManager: manager } = network
  return {
    getContractDepositCount: (block, signal) =>
      ask((...on) => readDepositCount(bridge, block, ...on), signal),
    getContractLocalExitRoot: (block, signal) =>
      ask((...on) => readLocalExitRoot(bridge, block, ...on), signal),
    // The manager inherits its tree from the same contract as the bridge, and so the getter has the same name.
    getContractL1InfoLeafCount: (block, signal) =>
      ask((...on) => readDepositCount(manager, block, ...on), signal),
    getClaimedWords: async (words, block, signal) =>
      (await ask((...on) => readClaimedWords(network, words, block, ...on), signal)) ??
      words.map(() => undefined),
    getWrappedTokens: async (tokens, block, signal) =>
      (await ask((...on) => readWrappedTokens(bridge, tokens, block, ...on), signal)) ??
      tokens.map(() => undefined),
    getEmergencyState: (block, signal) => ask((...on) => readEmergencyState(bridge, block, ...on), signal),
    getGerHashChains: (block, signal) => ask((...on) => readGerHashChains(manager, block, ...on), signal),
    getKnownGers: async (roots, block, signal) =>
      (await ask((...on) => readGlobalExitRootEntries(manager, roots, block, ...on), signal)) ??
      roots.map(() => undefined),
  }
}
