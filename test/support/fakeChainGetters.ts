import type { Hex } from 'viem'
import { decodeFunctionData, encodeFunctionResult, numberToHex } from 'viem/utils'
import type { FakeNetwork } from './fakeChain.js'
import { getterAbi } from './fakeChainAbi.js'
import {
  claimKey,
  currentGlobalExitRoot,
  currentRollupExitRoot,
  type FakeState,
  localExitRootOf,
} from './fakeChainState.js'
import { ZERO_ADDRESS, ZERO_HASH } from './fakeChainTrees.js'

type Getter = (network: FakeNetwork, state: FakeState, args: readonly unknown[]) => unknown

const bridgeGetters: Record<string, Getter> = {
  networkID: ({ networkId }) => networkId,
  depositCount: (_, state) => BigInt(state.deposits.length),
  getRoot: (_, state) => localExitRootOf(state),
  lastUpdatedDepositCount: (_, state) => state.lastUpdatedDepositCount,
  globalExitRootManager: ({ contracts }) => contracts.globalExitRootManager,
  polygonRollupManager: ({ contracts }) => contracts.rollupManager,
  isClaimed: (_, state, [leafIndex, source]) => state.claims.has(claimKey(Number(source), Number(leafIndex))),
  isEmergencyState: (_, state) => state.emergency,
  getTokenWrappedAddress: (_, state, [network, token]) =>
    wrappedToken(state, Number(network), (token as Hex).toLowerCase() as Hex),
  claimedBitMap: ({ networkId }, state, [position]) => claimedBitMap(networkId, state, position as bigint),
}

export function wrappedToken({ tokenMappings }: FakeState, originNetwork: number, originToken: Hex): Hex {
  const mapping = tokenMappings.findLast(
    (each) => each.originNetwork === originNetwork && each.originTokenAddress === originToken,
  )
  return mapping?.wrappedTokenAddress ?? ZERO_ADDRESS
}

/**
 * One word of the claimed bitmap: bit `key & 255` of word `key >> 8`, where the key of source 1 on layer 1 is the
 * bare deposit count.
 */
export function claimedBitMap(networkId: number, state: FakeState, position: bigint): bigint {
  let word = 0n
  for (const name of state.claims.keys()) {
    const [source, depositCount] = name.split(':').map(BigInt) as [bigint, bigint]
    const key = networkId === 0 && source === 1n ? depositCount : (source << 32n) + depositCount
    if (key >> 8n === position) word |= 1n << (key & 0xffn)
  }
  return word
}

const managerGetters: Record<string, Getter> = {
  bridgeAddress: ({ contracts }) => contracts.bridge,
  rollupManager: ({ contracts }) => contracts.rollupManager,
  insertedGERHashChain: (_, state) => state.injectionHashChain,
  removedGERHashChain: (_, state) => state.removalHashChain,
  globalExitRootMap: (_, state, [ger]) => state.globalExitRoots.get(ger as Hex) ?? 0n,
  getLastGlobalExitRoot: (_, state) => currentGlobalExitRoot(state),
  lastMainnetExitRoot: (_, state) => state.mainnetExitRoot,
  lastRollupExitRoot: (_, state) => state.rollupExitRoot,
  depositCount: (_, state) => BigInt(state.l1InfoTree.leafCount),
  l1InfoRootMap: (_, state, [leafCount]) => state.l1InfoRoots.get(Number(leafCount)) ?? ZERO_HASH,
}

const rollupManagerGetters: Record<string, Getter> = {
  globalExitRootManager: ({ contracts }) => contracts.globalExitRootManager,
  bridgeAddress: ({ contracts }) => contracts.bridge,
  rollupCount: (_, state) => state.rollups.size,
  chainIDToRollupID: (_, state, [chainId]) =>
    [...state.rollups.values()].find((rollup) => rollup.chainId === Number(chainId))?.networkId ?? 0,
  getRollupExitRoot: (_, state) => currentRollupExitRoot(state),
  rollupIDToRollupDataV2: (_, state, [networkId]) => {
    const rollup = state.rollups.get(Number(networkId))
    const local = rollup?.localExitRoot ?? ZERO_HASH
    const head = [rollup?.address ?? ZERO_ADDRESS, BigInt(rollup?.chainId ?? 0), ZERO_ADDRESS, 0n, local]
    return [...head, 0n, 0n, 0n, 1n, 1, ZERO_HASH, ZERO_HASH]
  },
}

/**
 * `eth_call` of a bridge contract.
 * @returns the answer; `0x` where there is no code; undefined when the call reverts.
 */
export function callGetter(network: FakeNetwork, state: FakeState, to: Hex, data: Hex): Hex | undefined {
  const { bridge, globalExitRootManager, rollupManager } = network.contracts
  const address = to.toLowerCase()
  const getters =
    address === bridge
      ? bridgeGetters
      : address === globalExitRootManager
        ? managerGetters
        : address === rollupManager && network.networkId === 0
          ? rollupManagerGetters
          : undefined
  if (!getters) return '0x'
  try {
    const { functionName, args } = decodeFunctionData({ abi: getterAbi, data })
    const getter = getters[functionName]
    if (!getter) return undefined
    const result = getter(network, state, args ?? [])
    return encodeFunctionResult({ abi: getterAbi, functionName, result } as unknown as Parameters<
      typeof encodeFunctionResult
    >[0])
  } catch {
    return undefined
  }
}

/** True for the network's addresses that have code. */
export function hasCode(network: FakeNetwork, address: Hex): boolean {
  const { bridge, globalExitRootManager, rollupManager } = network.contracts
  const known = [bridge, globalExitRootManager, ...(network.networkId === 0 ? [rollupManager] : [])]
  return known.includes(address.toLowerCase() as Hex)
}

export const quantity = (value: number | bigint): Hex => numberToHex(value)
