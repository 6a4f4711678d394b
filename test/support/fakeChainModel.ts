import type { Hex } from 'viem'
import type { FakeWorld } from './fakeChain.js'
import { archivedIn, claimKey, type FakeClaim, type FakeDeposit, type FakeL1InfoLeaf } from './fakeState.js'
import {
  EMPTY_ROOT,
  foldNaively,
  globalExitRoot,
  l1InfoLeaf,
  naiveBranch,
  rollupLeaves,
  ZERO_HASH,
} from './naiveTree.js'

/** How far a reader of the world has read. Default: everything. */
export interface ModelOptions {
  /** Networks that the service under test indexes. Default: all. */
  readonly served?: readonly number[]
  /** Newest final L1 block. Default: the head. */
  readonly finalizedL1Block?: number
}

/** The expected answer about one deposit. */
export interface ExpectedDeposit extends FakeDeposit {
  readonly firstCoveringIndex: number | null
  /** Smallest index of a covering, final leaf that the destination accepts. */
  readonly usableIndex: number | null
  readonly claimTransactionHash: Hex | null
  /** False where its global index was claimed with the content of an archived deposit. */
  readonly claimMatches: boolean
  readonly readyForClaim: boolean
}

/**
 * Expected values by brute force, straight from what readiness means: every leaf of the L1 info tree is looked at for every
 * deposit, and a leaf covers a deposit when the list of leaves under the root that it names has this leaf at this place.
 */
export function expectedDeposits(
  world: FakeWorld,
  source: number,
  options: ModelOptions = {},
): ExpectedDeposit[] {
  return world
    .network(source)
    .deposits()
    .map((deposit) => expectedDeposit(world, deposit, options))
}

function expectedDeposit(world: FakeWorld, deposit: FakeDeposit, options: ModelOptions): ExpectedDeposit {
  const l1 = world.network(0).head
  const served = options.served ?? world.networkIds
  const finalized = options.finalizedL1Block ?? l1.number
  const { destinationNetwork } = deposit
  const destination = served.includes(destinationNetwork)
    ? world.network(destinationNetwork).head.state
    : undefined
  const covering = l1.state.l1InfoLeaves.filter((leaf) => covers(world, leaf, deposit))
  const accepted = (leaf: FakeL1InfoLeaf) =>
    destinationNetwork === 0 || !destination || destination.globalExitRoots.has(leaf.globalExitRoot)
  const usable = covering.find((leaf) => leaf.blockNumber <= finalized && accepted(leaf))
  const claim = destination?.claims.get(claimKey(deposit.networkId, deposit.depositCount))
  const open = destination !== undefined && !claim && !destination.emergency
  return {
    ...deposit,
    firstCoveringIndex: covering[0]?.index ?? null,
    usableIndex: usable?.index ?? null,
    claimTransactionHash: claim?.transactionHash ?? null,
    claimMatches: !claim || claim.isSetByAdministrator || !isReused(world, deposit) || pays(deposit, claim),
    readyForClaim: usable !== undefined && open,
  }
}

/** Whether a cut archived a deposit of this count. Otherwise a claim paid this deposit, as it was before a reorg. */
function isReused(world: FakeWorld, { networkId, depositCount }: FakeDeposit): boolean {
  return archivedIn(world.network(networkId).head.state).some((cut) => cut.depositCount === depositCount)
}

/** Whether the claim paid out this deposit's content. */
export function pays(deposit: FakeDeposit, claim: FakeClaim): boolean {
  return (
    deposit.destinationNetwork === claim.networkId &&
    deposit.amount === claim.amount &&
    deposit.destinationAddress === claim.destinationAddress &&
    deposit.originNetwork === claim.originNetwork &&
    deposit.originAddress === claim.originAddress
  )
}

function covers(world: FakeWorld, leaf: FakeL1InfoLeaf, deposit: FakeDeposit): boolean {
  return leavesUnder(world, leaf, deposit.networkId)[deposit.depositCount] === deposit.leaf
}

/** Local exit root of a network that an L1 info leaf commits to. Undefined when the leaf names none. */
export function localExitRootUnder(world: FakeWorld, leaf: FakeL1InfoLeaf, source: number): Hex | undefined {
  if (source === 0) return leaf.mainnetExitRoot
  return world.network(0).head.state.rollupExitRoots.get(leaf.rollupExitRoot)?.get(source)
}

function leavesUnder(world: FakeWorld, leaf: FakeL1InfoLeaf, source: number): readonly Hex[] {
  const root = localExitRootUnder(world, leaf, source)
  if (root === undefined || root === ZERO_HASH || root === EMPTY_ROOT) return []
  return world.network(source).head.state.localExitRoots.get(root) ?? []
}

/** Both halves of the claim proof of a deposit under an L1 info leaf, made from all leaves. */
export function expectedProof(
  world: FakeWorld,
  deposit: FakeDeposit,
  l1InfoTreeIndex: number,
): { localExitRootBranch: Hex[]; rollupExitRootBranch: Hex[] } {
  const leaf = world.network(0).head.state.l1InfoLeaves[l1InfoTreeIndex]!
  const localExitRootBranch = naiveBranch(leavesUnder(world, leaf, deposit.networkId), deposit.depositCount)
  if (deposit.networkId === 0)
    return { localExitRootBranch, rollupExitRootBranch: Array<Hex>(32).fill(ZERO_HASH) }
  const roots = world.network(0).head.state.rollupExitRoots.get(leaf.rollupExitRoot)!
  return {
    localExitRootBranch,
    rollupExitRootBranch: naiveBranch(rollupLeaves(roots), deposit.networkId - 1),
  }
}

/**
 * Verifies a proof as the contracts do: leaf → local exit root → rollup exit root → global exit root, all of one L1 info
 * leaf. @returns true when claimAsset / claimMessage would accept it against that leaf.
 */
export function verifiesOnChain(
  world: FakeWorld,
  deposit: FakeDeposit,
  l1InfoTreeIndex: number,
  proof: { localExitRootBranch: readonly Hex[]; rollupExitRootBranch: readonly Hex[] },
): boolean {
  const info = world.network(0).head.state.l1InfoLeaves[l1InfoTreeIndex]
  if (!info) return false
  const local = foldNaively(deposit.leaf, proof.localExitRootBranch, deposit.depositCount)
  const ger = globalExitRoot(info.mainnetExitRoot, info.rollupExitRoot)
  if (ger !== info.globalExitRoot) return false
  if (l1InfoLeaf(ger, info.previousBlockHash, info.timestampSec) !== info.leaf) return false
  if (deposit.networkId === 0) return local === info.mainnetExitRoot
  return foldNaively(local, proof.rollupExitRootBranch, deposit.networkId - 1) === info.rollupExitRoot
}
