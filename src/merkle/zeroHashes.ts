import { HASH_BYTES, TREE_DEPTH } from './branch.js'
import type { Hasher } from './hasher.js'

/**
 * Z0 … Z32: the root of an empty subtree of each height. Z0 is 32 zero bytes, Z(h + 1) = keccak(Zh ‖ Zh); Z0 … Z31 stand
 * as siblings in branches, Z32 is the root of an empty tree.
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
