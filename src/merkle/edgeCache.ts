import { HASH_BYTES, isSameHash, TREE_DEPTH } from './branch.js'
import type { TreeVersion } from './treeProofs.js'

const EDGE_BYTES = HASH_BYTES * (TREE_DEPTH + 1)

/**
 * The right edges of the tree versions proved last: with one, a proof under a historical root costs the fold alone.
 *
 * An entry can't go stale: its last hash is the root it belongs to, and it is used only for a version with that very
 * root. A reorg or a cut that reuses the leaf count has another root.
 */
export class EdgeCache {
  /** lineage·2^32 + leaf count → slot in `edges`; least recently used first. */
  readonly #slots = new Map<number, number>()
  readonly #edges: Uint8Array
  readonly #capacity: number

  /** @param capacity number of versions kept, 1,056 bytes each. */
  constructor(capacity: number) {
    this.#capacity = capacity
    this.#edges = new Uint8Array(EDGE_BYTES * capacity)
  }

  /** Copies the edge of `version` into `edge` (33 × 32 bytes). @returns false, and leaves it alone, if it is not kept. */
  load(version: TreeVersion, edge: Uint8Array): boolean {
    const key = keyOf(version)
    const slot = this.#slots.get(key)
    if (slot === undefined) return false
    const kept = this.#edges.subarray(EDGE_BYTES * slot, EDGE_BYTES * (slot + 1))
    if (!isSameHash(kept.subarray(HASH_BYTES * TREE_DEPTH), version.root)) return false
    edge.set(kept)
    this.#slots.delete(key)
    this.#slots.set(key, slot)
    return true
  }

  /** Keeps a copy of `edge`, whose root must have been checked against `version`. */
  store(version: TreeVersion, edge: Uint8Array): void {
    const key = keyOf(version)
    let slot = this.#slots.get(key)
    if (slot === undefined && this.#slots.size < this.#capacity) slot = this.#slots.size
    if (slot === undefined) {
      const [oldest, freed] = this.#slots.entries().next().value!
      this.#slots.delete(oldest)
      slot = freed
    }
    this.#edges.set(edge, EDGE_BYTES * slot)
    this.#slots.delete(key)
    this.#slots.set(key, slot)
  }
}

function keyOf(version: TreeVersion): number {
  return version.lineage * 2 ** 32 + version.leafCount
}
