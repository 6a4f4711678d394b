import { equalBytes } from '../protocol/abiBytes.js'
import { HASH_BYTES, TREE_DEPTH } from './branch.js'
import type { TreeState } from './treeTiles.js'

/** Bytes of a right edge with its siblings, laid out as the kernels do: 33 nodes of levels 0 … 32, then 32 siblings. */
export const EDGE_BYTES = HASH_BYTES * (2 * TREE_DEPTH + 1)
/** Offset of the edge's last node: the root. */
const ROOT_AT = HASH_BYTES * TREE_DEPTH

/**
 * The right edges of the tree states that were proved last. An edge was already folded to its root, so a proof that finds its
 * edge here hashes only up to the node where the leaf's path meets the edge.
 *
 * An entry can't go stale: it serves only a state with the same root. A state that reuses the leaf count after a reorg or a
 * cut has another root.
 */
export class EdgeCache {
  /** lineage·2^32 + leaf count → slot in `edges`; least recently used first. */
  readonly #slots = new Map<number, number>()
  readonly #edges: Uint8Array
  readonly #capacity: number

  /** @param capacity number of states kept, 2,080 bytes each. */
  constructor(capacity: number) {
    this.#capacity = capacity
    this.#edges = new Uint8Array(EDGE_BYTES * capacity)
  }

  /** Copies the edge of `state` into `edge` (EDGE_BYTES). @returns false if it is not kept; `edge` is unchanged then. */
  load(state: TreeState, edge: Uint8Array): boolean {
    const key = keyOf(state)
    const slot = this.#slots.get(key)
    if (slot === undefined) return false
    const kept = this.#edges.subarray(EDGE_BYTES * slot, EDGE_BYTES * (slot + 1))
    if (!equalBytes(kept.subarray(ROOT_AT, ROOT_AT + HASH_BYTES), state.root)) return false
    edge.set(kept)
    this.#slots.delete(key)
    this.#slots.set(key, slot)
    return true
  }

  /** Keeps a copy of `edge`. The caller has checked that its root is the root of `state`. */
  store(state: TreeState, edge: Uint8Array): void {
    const key = keyOf(state)
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

function keyOf(state: TreeState): number {
  return state.lineage * 2 ** 32 + state.leafCount
}
