import { equalBytes } from '../protocol/abiBytes.js'
import type { Hasher } from './hasher.js'

/** Depth of every exit tree and of the L1 info tree. */
export const TREE_DEPTH = 32
/** Bytes of a node, leaf or root. */
export const HASH_BYTES = 32
/** Bytes of a branch: the 32 siblings of a path, leaf level first. */
export const BRANCH_BYTES = TREE_DEPTH * HASH_BYTES

/**
 * Whether `leaf` at position `index` and its `branch` (32 × 32 bytes, leaf level first) fold to `root`.
 * @see DepositContractBase.verifyMerkleProof (agglayer-contracts)
 */
export function isBranchOf(
  hasher: Hasher,
  root: Uint8Array,
  leaf: Uint8Array,
  branch: Uint8Array,
  index: number,
): boolean {
  return branch.length === BRANCH_BYTES && equalBytes(hasher.foldBranch(leaf, branch, index), root)
}

/**
 * Z0 … Z32: the root of an empty subtree of each height. Z0 is 32 zero bytes, Z(h + 1) = keccak(Zh ‖ Zh). Z0 … Z31 are
 * siblings in branches, Z32 is the root of an empty tree.
 */
export function createZeroHashes(hasher: Hasher): readonly Uint8Array[] {
  const hashes: Uint8Array[] = [new Uint8Array(HASH_BYTES)]
  for (let h = 0; h < TREE_DEPTH; h++) hashes.push(hasher.hashPair(hashes[h]!, hashes[h]!))
  return hashes
}

/** Z32, root of a tree without leaves. */
export const EMPTY_TREE_ROOT: Uint8Array = Buffer.from(
  '27ae5ba08d7291c96c8cbddcc148bf48a6d68c7974b94356f53754ef6171d757',
  'hex',
)
