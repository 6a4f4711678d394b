import type { Hex } from 'viem'
import {
  bytesToHex,
  decodeFunctionData,
  encodeFunctionResult,
  parseAbi,
  slice,
  stringToHex,
} from 'viem/utils'
import { rollupManagerAbi } from '../../src/devnet/contractAbis.js'
import { bridgeFunctionsAbi, globalExitRootManagerFunctionsAbi } from '../../src/protocol/abis.js'
import type { FakeNetwork } from './fakeChain.js'
import { ContractTree, keccak, type LeafParts, ZERO_ADDRESS, ZERO_HASH } from './naiveTree.js'

/* What the contracts of the fake chain hold, and their getters. */

const addressNamed = (name: string) => slice(keccak(stringToHex(name)), 12)
/** The n-th externally owned account of every fake chain. */
export const account = (n: number): Hex => addressNamed(`account ${n}`)
/** The n-th contract of a user: not a bridge contract. */
export const userContract = (n: number): Hex => addressNamed(`contract ${n}`)
export const tokenAddress = (n: number): Hex => addressNamed(`token ${n}`)

export interface FakeContracts {
  readonly bridge: Hex
  readonly globalExitRootManager: Hex
  readonly rollupManager: Hex
}

/** Block, transaction and log of something on the fake chain. */
export interface FakePosition {
  readonly networkId: number
  readonly blockNumber: number
  readonly timestampSec: number
  readonly transactionHash: Hex
  readonly logIndex: number
}

/** One leaf of a local exit tree, with all that the service should report of it. */
export interface FakeDeposit extends FakePosition, LeafParts {
  readonly depositCount: number
  readonly leaf: Hex
  readonly globalIndex: bigint
  readonly caller: Hex
  readonly transactionSender: Hex
  /** Made by ForwardLET. */
  readonly isForwardLeaf: boolean
}

/** `globalIndex` is as emitted. The content of a claim that an administrator set is in no event. */
export interface FakeClaim extends FakePosition {
  readonly sourceNetwork: number
  readonly depositCount: number
  readonly globalIndex: bigint
  readonly originNetwork: number
  readonly originAddress: Hex
  readonly destinationAddress: Hex
  readonly amount: bigint
  readonly caller: Hex
  readonly transactionSender: Hex
  readonly isSetByAdministrator: boolean
}

export interface FakeL1InfoLeaf extends FakePosition {
  readonly index: number
  readonly mainnetExitRoot: Hex
  readonly rollupExitRoot: Hex
  readonly globalExitRoot: Hex
  readonly previousBlockHash: Hex
  readonly leaf: Hex
}

export interface FakeTokenMapping extends FakePosition {
  readonly originNetwork: number
  readonly originTokenAddress: Hex
  readonly wrappedTokenAddress: Hex
  readonly isRemoved: boolean
}

/** BackwardLET or ForwardLET, with the leaves before and after it. */
interface FakeTreeMove {
  readonly isCut: boolean
  readonly before: readonly FakeDeposit[]
  readonly after: readonly FakeDeposit[]
}

/** What the contracts of one network hold after a block. It is not changed once the block is mined: reorgs go back to it. */
export class FakeState {
  /** Leaves in force, by deposit count. */
  deposits: readonly FakeDeposit[] = []
  treeMoves: readonly FakeTreeMove[] = []
  localExitTree = new ContractTree()
  /** Every local exit root ever → the leaf hashes under it. */
  localExitRoots: ReadonlyMap<Hex, readonly Hex[]> = new Map()
  /** Claims in force by `source:depositCount`. */
  claims: ReadonlyMap<string, FakeClaim> = new Map()
  /** All claims, in force or not, oldest first. */
  claimHistory: readonly FakeClaim[] = []
  tokenMappings: readonly FakeTokenMapping[] = []
  emergency = false
  /** Known global exit roots (L1: all, L2: the injected ones) → value of the map. */
  globalExitRoots: ReadonlyMap<Hex, bigint> = new Map()
  /** Every injection, oldest first: a root that was removed can be injected again. */
  injections: readonly Hex[] = []
  injectionHashChain = ZERO_HASH
  removalHashChain = ZERO_HASH
  // The following fields are of the L1 only.
  mainnetExitRoot = ZERO_HASH
  lastUpdatedDepositCount = 0
  rollupExitRoot = ZERO_HASH
  /** Local exit root of each rollup. */
  rollups: ReadonlyMap<number, Hex> = new Map()
  l1InfoTree = new ContractTree()
  l1InfoLeaves: readonly FakeL1InfoLeaf[] = []
  /** Rollup exit root → local exit root per network at that time. */
  rollupExitRoots: ReadonlyMap<Hex, ReadonlyMap<number, Hex>> = new Map()
}

/** Deposits that BackwardLET cut off, oldest first. */
export function archivedIn({ treeMoves }: FakeState): FakeDeposit[] {
  return treeMoves.flatMap(({ isCut, before, after }) => (isCut ? before.slice(after.length) : []))
}

export function localExitRootOf(state: FakeState): Hex {
  return bytesToHex(state.localExitTree.root)
}

export function claimKey(sourceNetwork: number, depositCount: number): string {
  return `${sourceNetwork}:${depositCount}`
}

export function having<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return new Map([...map, [key, value]])
}

export function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  return new Map([...map].filter(([each]) => each !== key))
}

type Getter = (network: FakeNetwork, state: FakeState, args: readonly unknown[]) => unknown

const gettersAbi = [
  ...bridgeFunctionsAbi,
  ...globalExitRootManagerFunctionsAbi,
  ...rollupManagerAbi,
  ...parseAbi([
    'function globalExitRootManager() view returns (address)',
    'function rollupManager() view returns (address)',
    'function bridgeAddress() view returns (address)',
  ]),
]
const ownManager: Getter = ({ contracts }) => contracts.globalExitRootManager
const ownBridge: Getter = ({ contracts }) => contracts.bridge
const getters: Record<keyof FakeContracts, Record<string, Getter>> = {
  bridge: {
    globalExitRootManager: ownManager,
    networkID: ({ networkId }) => networkId,
    depositCount: (_, state) => BigInt(state.deposits.length),
    getRoot: (_, state) => localExitRootOf(state),
    isEmergencyState: (_, state) => state.emergency,
    getTokenWrappedAddress: (_, state, [network, token]) =>
      wrappedToken(state, Number(network), (token as Hex).toLowerCase() as Hex),
    claimedBitMap: ({ networkId }, state, [position]) => claimedBitMap(networkId, state, position as bigint),
  },
  globalExitRootManager: {
    bridgeAddress: ownBridge,
    rollupManager: ({ contracts }) => contracts.rollupManager,
    insertedGERHashChain: (_, state) => state.injectionHashChain,
    removedGERHashChain: (_, state) => state.removalHashChain,
    globalExitRootMap: (_, state, [ger]) => state.globalExitRoots.get(ger as Hex) ?? 0n,
    depositCount: (_, state) => BigInt(state.l1InfoLeaves.length),
  },
  rollupManager: {
    globalExitRootManager: ownManager,
    bridgeAddress: ownBridge,
    rollupIDToRollupDataV2: (_, state, [networkId]) => {
      const local = state.rollups.get(Number(networkId)) ?? ZERO_HASH
      const rest = [0n, 0n, 0n, 1n, 1, ZERO_HASH, ZERO_HASH]
      return [account(1000 + Number(networkId)), 0n, ZERO_ADDRESS, 0n, local, ...rest]
    },
  },
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

/** Which of the network's contracts has this address, if any. */
export function contractAt(
  { contracts, networkId }: FakeNetwork,
  address: Hex,
): keyof FakeContracts | undefined {
  const names = ['bridge', 'globalExitRootManager', 'rollupManager'] as const
  return names.slice(0, networkId === 0 ? 3 : 2).find((name) => contracts[name] === address.toLowerCase())
}

/**
 * `eth_call` of a bridge contract.
 * @returns the answer; `0x` where there is no code; undefined when the call reverts.
 */
export function callGetter(network: FakeNetwork, state: FakeState, to: Hex, data: Hex): Hex | undefined {
  const contract = contractAt(network, to)
  if (contract === undefined) return '0x'
  try {
    const { functionName, args } = decodeFunctionData({ abi: gettersAbi, data })
    const result = getters[contract][functionName]?.(network, state, args ?? [])
    // `as`: viem would take the result's type from the function's name.
    return encodeFunctionResult({ abi: gettersAbi, functionName, result } as never)
  } catch {
    return undefined
  }
}
