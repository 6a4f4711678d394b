import type { Hasher } from './hasher.js'

/** Depth of every exit tree and of the L1 info tree. */
export const TREE_DEPTH = 32
/** Bytes of a node, leaf or root. */
export const HASH_BYTES = 32
/** Bytes of a branch: the 32 siblings of a path, leaf level first. */
export const BRANCH_BYTES = TREE_DEPTH * HASH_BYTES

/** True when both hashes hold the same 32 bytes. */
export function isSameHash(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== HASH_BYTES || b.length !== HASH_BYTES) return false
  for (let i = 0; i < HASH_BYTES; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * True when `leaf` at position `index` and its `branch` (32 × 32 bytes, leaf level first) fold to `root`.
 * @see DepositContractBase.verifyMerkleProof (agglayer-contracts)
 */
export function isBranchOf(
  hasher: Hasher,
  root: Uint8Array,
  leaf: Uint8Array,
  branch: Uint8Array,
  index: number,
): boolean {
  return branch.length === BRANCH_BYTES && isSameHash(hasher.foldBranch(leaf, branch, index), root)
}
