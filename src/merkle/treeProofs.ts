import { InvariantError } from '../errors/invariantError.js'
import { equalBytes } from '../protocol/abiBytes.js'
import { BRANCH_BYTES, HASH_BYTES } from './branch.js'
import type { EdgeCache } from './edgeCache.js'
import type { ProvenTile, ProvenTiles } from './provenTiles.js'
import {
  getTile,
  loadPath,
  TILE_GROUPS,
  TILE_LEVELS,
  TILE_WIDTH,
  type TreeSource,
  type TreeState,
  tileIndexOf,
} from './treeTiles.js'

/** A leaf and the branch (32 × 32 bytes, leaf level first) that proves it. Later calls do not overwrite them. */
export interface LeafProof {
  readonly leaf: Uint8Array
  /** A view into a 64 KiB buffer with other branches: copy it to keep it for long or to transfer it. */
  readonly branch: Uint8Array
}

/**
 * Proves leaf `index` under a state of the tree, and checks that the proof folds to the state's root.
 * @param index 0-based, below `state.leafCount`: else RangeError.
 * @param edges cache of right edges: makes repeated proofs under one root cheaper.
 * @param proven cache of tiles: makes many proofs under one root cheaper.
 * @throws InvariantError if the stored nodes do not fold to the root: the store is corrupt.
 */
export function proveLeaf(
  tree: TreeSource,
  state: TreeState,
  index: number,
  edges?: EdgeCache,
  proven?: ProvenTiles,
): LeafProof {
  const { lineage, leafCount, root } = state
  if (index >= leafCount) throw new RangeError(`leaf index ${index} is not below leaf count ${leafCount}`)
  const { kernels } = tree.hasher
  const tile = proven?.find(state, index)
  if (tile !== undefined && isProvenBy(tree, tile, index)) return takeProof(tree, index)
  // From this group up, the paths of the leaf and of the free position `leafCount` run through the same tiles.
  const shared = Math.floor((31 - Math.clz32(index ^ leafCount)) / TILE_LEVELS)
  const isEdgeKnown = edges?.load(state, kernels.edge) === true
  if (isEdgeKnown) {
    loadPath(tree, kernels.pathA, lineage, index, leafCount, shared + 1)
    kernels.proveAtEdge(index, leafCount)
  } else {
    loadPath(tree, kernels.pathA, lineage, index, leafCount, TILE_GROUPS)
    loadPath(tree, kernels.pathB, lineage, leafCount, leafCount, shared)
    kernels.pathB[shared]!.set(kernels.pathA[shared]!)
    kernels.prove(index, leafCount)
  }
  if (!equalBytes(kernels.root, root))
    throw new InvariantError(
      `leaf ${index} of ${leafCount} in lineage ${lineage} folds to ${hex(kernels.root)}, expected root ${hex(root)}`,
    )
  if (!isEdgeKnown) edges?.store(state, kernels.edge)
  const proof = takeProof(tree, index)
  // With a known edge the paths may meet below this tile. Path A lacks it then; `learn` skips it, as it is not complete.
  proven?.learn(tree.hasher, state, index, kernels.pathA[1]!, proof.branch)
  return proof
}

/** Whether the stored tile of leaf `index` folds to its node in the proven tile. If so, the kernels hold leaf and branch. */
function isProvenBy(tree: TreeSource, { state, nodes, above }: ProvenTile, index: number): boolean {
  const { kernels } = tree.hasher
  const leafTile = tileIndexOf(0, index)
  kernels.pathA[0]!.set(getTile(tree, state.lineage, 0, leafTile))
  kernels.pathA[1]!.set(nodes)
  kernels.branch.set(above, kernels.branch.length - above.length)
  kernels.proveInTiles(index)
  const at = HASH_BYTES * (leafTile % TILE_WIDTH)
  return equalBytes(kernels.root, nodes.subarray(at, at + HASH_BYTES))
}

function takeProof({ hasher: { kernels } }: TreeSource, index: number): LeafProof {
  const at = HASH_BYTES * (index % TILE_WIDTH)
  return { leaf: kernels.pathA[0]!.slice(at, at + HASH_BYTES), branch: copyOfBranch(kernels.branch) }
}

let slab = new Uint8Array(0)
let slabUsed = 0

/**
 * Copies a branch into memory that is allocated for 64 branches at once. A buffer for each branch cost 0.6 µs of a proof's 9.1 µs,
 * half of it to free the buffer (November 2026, Node 20).
 */
function copyOfBranch(branch: Uint8Array): Uint8Array {
  if (slabUsed === slab.length) {
    slab = new Uint8Array(64 * BRANCH_BYTES)
    slabUsed = 0
  }
  const copy = slab.subarray(slabUsed, slabUsed + BRANCH_BYTES)
  copy.set(branch)
  slabUsed += BRANCH_BYTES
  return copy
}

/** Hash of leaf `index`, which must be below the lineage's leaf count. @returns 32 bytes, fresh. */
export function getLeaf(tree: TreeSource, lineage: number, index: number): Uint8Array {
  const at = HASH_BYTES * (index % TILE_WIDTH)
  return getTile(tree, lineage, 0, tileIndexOf(0, index)).slice(at, at + HASH_BYTES)
}

/** Root of the first `leafCount` leaves; Z32 for none. @returns 32 bytes, fresh. */
export function getRoot(tree: TreeSource, lineage: number, leafCount: number): Uint8Array {
  const { kernels } = tree.hasher
  loadPath(tree, kernels.pathA, lineage, leafCount, leafCount, TILE_GROUPS)
  kernels.computeRoot(leafCount)
  return kernels.root.slice()
}

/**
 * Computes the roots at many leaf counts, two at a time in the SIMD build. Ascending counts read each tile once.
 * @returns 32 bytes per leaf count, fresh.
 */
export function getRootsAtCounts(
  tree: TreeSource,
  lineage: number,
  leafCounts: ArrayLike<number>,
): Uint8Array {
  const { kernels } = tree.hasher
  const roots = new Uint8Array(HASH_BYTES * leafCounts.length)
  const loadedA = new Array<number>(TILE_GROUPS).fill(-1)
  const loadedB = new Array<number>(TILE_GROUPS).fill(-1)
  let i = 0
  for (; i + 1 < leafCounts.length; i += 2) {
    const a = leafCounts[i]!
    const b = leafCounts[i + 1]!
    loadPath(tree, kernels.pathA, lineage, a, a, TILE_GROUPS, loadedA)
    loadPath(tree, kernels.pathB, lineage, b, b, TILE_GROUPS, loadedB)
    kernels.rootPair(a, b)
    roots.set(kernels.root, HASH_BYTES * i)
    roots.set(kernels.rootB, HASH_BYTES * (i + 1))
  }
  if (i < leafCounts.length) roots.set(getRoot(tree, lineage, leafCounts[i]!), HASH_BYTES * i)
  return roots
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}
