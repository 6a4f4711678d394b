import type { Hex } from 'viem'
import {
  EMPTY_FRONTIER,
  type Frontier,
  globalExitRoot,
  type LeafParts,
  rollupExitRoot,
  rootOf,
  ZERO_HASH,
} from './fakeChainTrees.js'

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
  /** Account that called the bridge; undefined for a leaf of ForwardLET. */
  readonly caller: Hex
  readonly transactionSender: Hex
}

export interface FakeClaim extends FakePosition {
  readonly sourceNetwork: number
  readonly depositCount: number
  /** As emitted. */
  readonly globalIndex: bigint
  readonly originNetwork: number
  readonly originAddress: Hex
  readonly destinationAddress: Hex
  readonly amount: bigint
  /** null: the claim was set by an administrator. */
  readonly caller: Hex | null
  readonly transactionSender: Hex
}

export interface FakeL1InfoLeaf extends FakePosition {
  readonly index: number
  readonly mainnetExitRoot: Hex
  readonly rollupExitRoot: Hex
  readonly globalExitRoot: Hex
  readonly previousBlockHash: Hex
  readonly leaf: Hex
  /** Root of the L1 info tree that ends with this leaf. */
  readonly root: Hex
}

export interface FakeRollup {
  readonly networkId: number
  readonly chainId: number
  readonly address: Hex
  readonly localExitRoot: Hex
}

export interface FakeTokenMapping extends FakePosition {
  readonly originNetwork: number
  readonly originTokenAddress: Hex
  readonly wrappedTokenAddress: Hex
  readonly metadata: Hex
  readonly isNotMintable: boolean
  readonly tokenType: number
}

/**
 * What the contracts of one network hold after a block. A block's state is never changed once the block is mined, so that
 * a reorg takes up the ancestor's state again.
 */
export interface FakeState {
  /** Leaves in force, by deposit count. */
  deposits: FakeDeposit[]
  /** Archived deposits that BackwardLET cut off, oldest first. */
  archived: readonly FakeDeposit[]
  localExitTree: Frontier
  /** Every local exit root ever → the leaf hashes under it. */
  localExitRoots: Map<Hex, readonly Hex[]>
  /** Claims in force by `source:depositCount`. */
  claims: Map<string, FakeClaim>
  tokenMappings: FakeTokenMapping[]
  emergency: boolean
  /** Known global exit roots (L1: all, L2: the injected ones) → value of the map. */
  globalExitRoots: Map<Hex, bigint>
  injectionHashChain: Hex
  removalHashChain: Hex
  // The following fields are of the L1 only.
  mainnetExitRoot: Hex
  lastUpdatedDepositCount: number
  rollupExitRoot: Hex
  rollups: Map<number, FakeRollup>
  l1InfoTree: Frontier
  l1InfoLeaves: FakeL1InfoLeaf[]
  l1InfoRoots: Map<number, Hex>
  /** Rollup exit root → local exit root per network at that time. */
  rollupExitRoots: Map<Hex, ReadonlyMap<number, Hex>>
}

export function genesisState(): FakeState {
  return {
    deposits: [],
    archived: [],
    localExitTree: EMPTY_FRONTIER,
    localExitRoots: new Map(),
    claims: new Map(),
    tokenMappings: [],
    emergency: false,
    globalExitRoots: new Map(),
    injectionHashChain: ZERO_HASH,
    removalHashChain: ZERO_HASH,
    mainnetExitRoot: ZERO_HASH,
    lastUpdatedDepositCount: 0,
    rollupExitRoot: ZERO_HASH,
    rollups: new Map(),
    l1InfoTree: EMPTY_FRONTIER,
    l1InfoLeaves: [],
    l1InfoRoots: new Map(),
    rollupExitRoots: new Map(),
  }
}

/** A copy that can be changed without touching `state`. */
export function forkState(state: FakeState): FakeState {
  return {
    ...state,
    deposits: [...state.deposits],
    localExitRoots: new Map(state.localExitRoots),
    claims: new Map(state.claims),
    tokenMappings: [...state.tokenMappings],
    globalExitRoots: new Map(state.globalExitRoots),
    rollups: new Map(state.rollups),
    l1InfoLeaves: [...state.l1InfoLeaves],
    l1InfoRoots: new Map(state.l1InfoRoots),
    rollupExitRoots: new Map(state.rollupExitRoots),
  }
}

export function localExitRootOf(state: FakeState): Hex {
  return rootOf(state.localExitTree)
}

export function currentRollupExitRoot(state: FakeState): Hex {
  return rollupExitRoot(rollupLocalExitRoots(state))
}

export function rollupLocalExitRoots(state: FakeState): Map<number, Hex> {
  return new Map([...state.rollups].map(([networkId, rollup]) => [networkId, rollup.localExitRoot]))
}

export function currentGlobalExitRoot(state: FakeState): Hex {
  return globalExitRoot(state.mainnetExitRoot, state.rollupExitRoot)
}

export function claimKey(sourceNetwork: number, depositCount: number): string {
  return `${sourceNetwork}:${depositCount}`
}
