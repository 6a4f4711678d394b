import { InvariantError } from '../../errors/invariantError.js'
import { BRANCH_BYTES } from '../../merkle/branch.js'
import { EdgeCache } from '../../merkle/edgeCache.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { hashDepositLeaf } from '../../merkle/leafHashes.js'
import { ProvenTiles } from '../../merkle/provenTiles.js'
import { RollupExitTree } from '../../merkle/rollupExitTree.js'
import { proveLeaf } from '../../merkle/treeProofs.js'
import type { TreeState } from '../../merkle/treeTiles.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { encodeGlobalIndexBytes } from '../../protocol/globalIndex.js'
import { isL1, L1_NETWORK_ID, rollupIndexOf } from '../../protocol/networks.js'
import type { DepositCount, L1InfoTreeIndex, NetworkId } from '../../protocol/units.js'
import { type Answer, success } from '../../query/answers.js'
import type { ClaimProofRecord, L1InfoLeafRecord } from '../../query/proofRecords.js'
import {
  leafIndexBeyondTip,
  leafIndexTooSmall,
  localExitRootNotIndexed,
  notFinalYet,
  otherLineage,
  rollupExitRootUnresolvable,
} from '../../query/refusals.js'
import type { DepositRow } from '../../store/layout/depositRow.js'
import { latin1 } from '../../store/layout/keys.js'
import type { L1InfoLeafRow } from '../../store/layout/l1InfoLeafRow.js'
import { UNRESOLVABLE_VERSION } from '../../store/layout/tables.js'
import { BoundedCache } from '../sets/boundedCache.js'
import { CountRanges } from '../sets/countRanges.js'
import { SlotCache } from '../sets/slotCache.js'
import type { ShardView } from '../snapshot/shardView.js'

/** Right edges kept per source network: 2,080 bytes each. */
const KEPT_EDGES = 256
/** Proven tiles kept per source network: as many as a tree of a million deposits has above its leaves' tiles. 1.2 MB at most. */
const KEPT_TILES = 256
/** Rollup halves kept, about 1,100 bytes each: wallets mostly ask for proofs under the newest roots. */
const KEPT_ROLLUP_HALVES = 1024
/** Proof targets kept per source network, about 600 bytes each. */
const KEPT_TARGETS = 1024

/** Rollup branch of proofs of network 0, whose roots are in no rollup exit tree. All proofs share it: never write to it. */
const NO_BRANCH = new Uint8Array(BRANCH_BYTES)

/**
 * Makes claim proofs. A proof has two halves: deposit to local exit root, and local exit root to rollup exit root. Each half is
 * checked against its root before it is returned; the rollup half once for each rollup and root.
 */
export class ProofMaker {
  readonly #hasher: TreeHasher
  readonly #rollupExitTree: RollupExitTree
  // The next three are by source network.
  readonly #edges = new Map<NetworkId, EdgeCache>()
  readonly #provenTiles = new Map<NetworkId, ProvenTiles>()
  readonly #targets = new Map<NetworkId, KeptTargets>()
  /** By network and rollup exit root. The root commits to the half, so no reorg can make an entry wrong. */
  readonly #rollupHalves = new BoundedCache<string, RollupHalf>(KEPT_ROLLUP_HALVES)

  constructor(hasher: TreeHasher) {
    this.#hasher = hasher
    this.#rollupExitTree = new RollupExitTree(hasher)
  }

  /**
   * Proves a deposit under the roots that L1 info leaf `leafIndex` names. The leaf must cover the deposit and be final.
   * @param row the deposit's row in `source`.
   * @returns PROOF_NOT_AVAILABLE when the leaf does not cover the current deposit or is not final.
   * @throws InvariantError that names the network whose stored tree does not fold to its root.
   */
  prove(
    source: ShardView,
    l1: ShardView,
    depositCount: DepositCount,
    row: DepositRow,
    leafIndex: L1InfoTreeIndex,
  ): Answer<ClaimProofRecord> {
    if (leafIndex >= l1.l1Info.leafCount) return leafIndexBeyondTip(leafIndex, l1.l1Info.leafCount)
    const found = this.#targetOf(source, l1, leafIndex)
    if (!found.ok) return found
    const { leaf, state, shared, regrown, rollupExitRootBranch } = found.value
    if (depositCount >= state.leafCount) return leafIndexTooSmall(leafIndex, depositCount, state.leafCount)
    if (depositCount >= shared && !regrown.has(depositCount))
      return otherLineage(leafIndex, depositCount, shared, !regrown.isEmpty)
    const { finalizedBlock } = l1.state
    if (leaf.blockNumber > finalizedBlock) return notFinalYet(leafIndex, leaf.blockNumber, finalizedBlock)

    const leafHash = this.#leafHash(source, row)
    const proof = inShard(source.networkId, () =>
      proveLeaf(
        source.exitTree,
        state,
        depositCount,
        keptBy(this.#edges, source.networkId, () => new EdgeCache(KEPT_EDGES)),
        keptBy(this.#provenTiles, source.networkId, () => new ProvenTiles(KEPT_TILES)),
      ),
    )
    if (!equalBytes(proof.leaf, leafHash))
      throw new InvariantError(
        `network ${source.networkId}: deposit ${depositCount} hashes to ${hex(leafHash)}, its leaf is ${hex(proof.leaf)}`,
        { networkId: source.networkId },
      )
    return success({
      localExitRootBranch: proof.branch,
      rollupExitRootBranch,
      leaf,
      globalIndex: encodeGlobalIndexBytes(source.networkId, depositCount),
      leafHash,
      isFinal: leaf.blockNumber <= l1.state.undoFloor && row.blockNumber <= source.state.undoFloor,
    })
  }

  /** What all proofs of one source network under one L1 info leaf share, or why there are none. Kept while neither shard has another commit. */
  #targetOf(source: ShardView, l1: ShardView, leafIndex: L1InfoTreeIndex): Answer<ProofTarget> {
    let kept = this.#targets.get(source.networkId)
    if (kept === undefined) {
      kept = { sourceCommits: -1, l1Commits: -1, byLeaf: new SlotCache(KEPT_TARGETS) }
      this.#targets.set(source.networkId, kept)
    }
    if (kept.sourceCommits !== source.commits || kept.l1Commits !== l1.commits) {
      kept.byLeaf.clear()
      kept.sourceCommits = source.commits
      kept.l1Commits = l1.commits
    }
    let target = kept.byLeaf.get(leafIndex)
    if (target === undefined) {
      target = this.#makeTarget(source, l1, leafIndex)
      kept.byLeaf.set(leafIndex, target)
    }
    return target
  }

  #makeTarget(source: ShardView, l1: ShardView, leafIndex: L1InfoTreeIndex): Answer<ProofTarget> {
    const leaf = l1.l1Info.getLeaf(leafIndex)
    const half = isL1(source.networkId)
      ? { localExitRoot: leaf.mainnetExitRoot, branch: NO_BRANCH }
      : this.#rollupHalf(l1, source.networkId, leaf)
    if (half === undefined) return rollupExitRootUnresolvable(leafIndex)
    const entry = source.exitTree.findRoot(half.localExitRoot)
    if (entry === undefined) return localExitRootNotIndexed(source.networkId, leafIndex)
    const shared = source.exitTree.sharedLeafCount(entry)
    return success({
      leaf: leafRecord(leaf, leafIndex),
      state: { lineage: entry.lineage, leafCount: entry.leafCount, root: half.localExitRoot },
      shared,
      regrown: shared < entry.leafCount ? source.exitTree.regrown(entry.lineage) : CountRanges.none,
      rollupExitRootBranch: half.branch,
    })
  }

  #rollupHalf(l1: ShardView, networkId: NetworkId, leaf: L1InfoLeafRow): RollupHalf | undefined {
    if (leaf.rollupExitVersion === UNRESOLVABLE_VERSION) return undefined
    const key = `${networkId}:${latin1(leaf.rollupExitRoot)}`
    let half = this.#rollupHalves.get(key)
    if (half === undefined) {
      half = this.#makeRollupHalf(l1, networkId, leaf)
      this.#rollupHalves.set(key, half)
    }
    return half
  }

  #makeRollupHalf(l1: ShardView, networkId: NetworkId, leaf: L1InfoLeafRow): RollupHalf {
    // Before the first settlement the root is 32 zero bytes. It is the root of no tree and covers nothing.
    if (isZero(leaf.rollupExitRoot))
      return { localExitRoot: new Uint8Array(32), branch: new Uint8Array(BRANCH_BYTES) }
    const rollupIndex = rollupIndexOf(networkId)
    const exits = l1.l1Info
      .listSettledAt(leaf.rollupExitVersion)
      .map((settled) => ({ ...settled, rollupIndex: rollupIndexOf(settled.networkId) }))
    const { leaf: localExitRoot, branch } = inShard(L1_NETWORK_ID, () =>
      this.#rollupExitTree.prove(exits, rollupIndex, leaf.rollupExitRoot),
    )
    return { localExitRoot, branch }
  }

  #leafHash(source: ShardView, row: DepositRow): Hash {
    const token = source.dictionary.getToken(row.tokenId)
    return hashDepositLeaf(this.#hasher, {
      leafType: row.leafType,
      originNetwork: token.network,
      originAddress: token.address.bytes,
      destinationNetwork: row.destinationNetwork,
      destinationAddress: row.destinationAddress.bytes,
      amount: row.amount,
      metadata: source.dictionary.peekMetadata(row.metadataId),
    })
  }
}

function keptBy<Kept>(kept: Map<NetworkId, Kept>, networkId: NetworkId, make: () => Kept): Kept {
  let found = kept.get(networkId)
  if (found === undefined) {
    found = make()
    kept.set(networkId, found)
  }
  return found
}

/** What all proofs of one source network under one L1 info leaf have in common. */
interface ProofTarget {
  readonly leaf: L1InfoLeafRecord
  /** The state of the source's local exit tree whose root the leaf commits to. */
  readonly state: TreeState
  /** That root commits to all current deposits below this count. */
  readonly shared: number
  /** Regrown deposits at or above `shared`. The root commits to those below its leaf count. */
  readonly regrown: CountRanges
  readonly rollupExitRootBranch: Uint8Array
}

interface KeptTargets {
  sourceCommits: number
  l1Commits: number
  readonly byLeaf: SlotCache<Answer<ProofTarget>>
}

/** A rollup's leaf in the rollup exit tree of an L1 info leaf, and the branch that proves it. */
interface RollupHalf {
  readonly localExitRoot: Hash
  readonly branch: Uint8Array
}

/** An L1 info leaf as answers show it. */
function leafRecord(row: L1InfoLeafRow, l1InfoTreeIndex: L1InfoTreeIndex): L1InfoLeafRecord {
  const {
    mainnetExitRoot,
    rollupExitRoot,
    globalExitRoot,
    previousBlockHash,
    timestampSec,
    blockNumber,
    hash,
  } = row
  return {
    l1InfoTreeIndex,
    mainnetExitRoot,
    rollupExitRoot,
    globalExitRoot,
    previousBlockHash,
    timestampSec,
    blockNumber,
    hash,
  }
}

/** Adds the network to an InvariantError of a tree, so that the right network is halted. */
function inShard<T>(networkId: NetworkId, prove: () => T): T {
  try {
    return prove()
  } catch (error) {
    if (!(error instanceof InvariantError)) throw error
    throw new InvariantError(`network ${networkId}: ${error.message}`, { cause: error, networkId })
  }
}

const isZero = (hash: Hash): boolean => hash.every((byte) => byte === 0)

function hex(hash: Hash): string {
  return `0x${Buffer.from(hash).toString('hex')}`
}
