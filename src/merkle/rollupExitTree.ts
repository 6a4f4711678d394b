import { InvariantError } from '../errors/invariantError.js'
import { BRANCH_BYTES, createZeroHashes, HASH_BYTES, isBranchOf, TREE_DEPTH } from './branch.js'
import type { Hasher } from './hasher.js'
import type { LeafProof } from './treeProofs.js'

/** One rollup of the rollup manager and its last settled local exit root: 32 zero bytes when it has settled none. */
export interface RollupExit {
  /** Position in the tree, uint32. */
  readonly rollupIndex: number
  readonly localExitRoot: Uint8Array
}

/**
 * Computes rollup exit trees. Each call builds the tree anew from its local exit roots: about n + 32 hashes for n rollups, hardly
 * more than the 32 hashes of changing one leaf.
 */
export class RollupExitTree {
  readonly #hasher: Hasher
  readonly #zeroHashes: readonly Uint8Array[]

  constructor(hasher: Hasher) {
    this.#hasher = hasher
    this.#zeroHashes = createZeroHashes(hasher)
  }

  /**
   * @param exits every rollup of the manager, ascending by index; gaps are empty leaves.
   * @returns 32 bytes, fresh; zero bytes when there is no rollup at all, as the manager's `getRollupExitRoot` answers.
   */
  root(exits: readonly RollupExit[]): Uint8Array {
    if (exits.length === 0) return new Uint8Array(HASH_BYTES)
    return this.#fold(exits)
  }

  /**
   * Proves a rollup's leaf under a rollup exit root, and checks that the proof folds to that root. A rollup that is not among
   * `exits` has an empty leaf.
   * @throws InvariantError if `exits` do not make this root.
   */
  prove(exits: readonly RollupExit[], rollupIndex: number, rollupExitRoot: Uint8Array): LeafProof {
    const leaf = new Uint8Array(HASH_BYTES)
    const branch = new Uint8Array(BRANCH_BYTES)
    for (let h = 0; h < TREE_DEPTH; h++) branch.set(this.#zeroHashes[h]!, HASH_BYTES * h)
    this.#fold(exits, (h, index, node) => {
      if (h === 0 && index === rollupIndex) leaf.set(node)
      if (index === ((rollupIndex >>> h) ^ 1) >>> 0) branch.set(node, HASH_BYTES * h)
    })
    if (!isBranchOf(this.#hasher, rollupExitRoot, leaf, branch, rollupIndex))
      throw new InvariantError(
        `leaf of rollup index ${rollupIndex} does not fold to the rollup exit root 0x${Buffer.from(rollupExitRoot).toString('hex')}`,
      )
    return { leaf, branch }
  }

  /**
   * Hashes level by level in the same memory: each settlement of a backfill computes a root, and two new arrays per level made
   * much garbage.
   * @param visit called with each node below the root that is not an empty subtree; the node is valid during the call.
   */
  #fold(
    exits: readonly RollupExit[],
    visit?: (level: number, index: number, node: Uint8Array) => void,
  ): Uint8Array {
    let count = exits.length
    const indexes = exits.map((exit) => exit.rollupIndex)
    const nodes = new Uint8Array(HASH_BYTES * count)
    const pairs = new Uint8Array(2 * HASH_BYTES * count)
    exits.forEach((exit, i) => {
      if (i > 0 && exit.rollupIndex <= exits[i - 1]!.rollupIndex)
        throw new RangeError(`rollup index ${exit.rollupIndex} does not ascend`)
      nodes.set(exit.localExitRoot, HASH_BYTES * i)
    })
    for (let h = 0; h < TREE_DEPTH; h++) {
      const zero = this.#zeroHashes[h]!
      let parents = 0
      for (let i = 0; i < count; i++) {
        const index = indexes[i]!
        const node = nodes.subarray(HASH_BYTES * i, HASH_BYTES * (i + 1))
        visit?.(h, index, node)
        const parent = index >>> 1
        // Parents overwrite the indexes of children that were already read.
        if (parents === 0 || indexes[parents - 1] !== parent) {
          pairs.set(zero, 2 * HASH_BYTES * parents + HASH_BYTES * (1 - (index & 1)))
          indexes[parents++] = parent
        }
        pairs.set(node, 2 * HASH_BYTES * (parents - 1) + HASH_BYTES * (index & 1))
      }
      this.#hasher.hashPairs(pairs, parents, nodes)
      count = parents
    }
    return nodes.slice(0, HASH_BYTES)
  }
}
