/**
 * Keccak over the exit trees' shapes. One instance per thread; not re-entrant.
 * Results are fresh memory unless a method says otherwise.
 */
export interface Hasher {
  /** `wasm-simd` or `wasm-scalar`: named in logs, metrics and benches. */
  readonly name: string
  /** keccak-256 of any bytes. @returns 32 bytes, fresh. */
  hash(bytes: Uint8Array): Uint8Array
  /**
   * keccak-256 of `count` messages of `length` bytes each, one after another in `messages`.
   * @returns 32·count bytes, fresh.
   */
  hashMessages(messages: Uint8Array, length: number, count: number): Uint8Array
  /** keccak-256(left ‖ right), 32 bytes each. @returns 32 bytes, fresh. */
  hashPair(left: Uint8Array, right: Uint8Array): Uint8Array
  /**
   * Hashes `count` pairs, any number: `pairs` holds 64·count bytes, `out` takes 32·count bytes. `out` may be `pairs` itself: a
   * level is then hashed in place.
   */
  hashPairs(pairs: Uint8Array, count: number, out: Uint8Array): void
  /**
   * Root of a leaf under its branch.
   * @param branch 32 × 32 bytes, leaf level first. @param index position of the leaf, uint32.
   * @returns 32 bytes, fresh.
   */
  foldBranch(leaf: Uint8Array, branch: Uint8Array, index: number): Uint8Array
}

/**
 * What the append-only tree needs beside plain hashing: kernels that work on fixed buffers of the instance. A tree function fills
 * the buffers, runs a kernel and copies the results out. The next call overwrites the buffers.
 */
export interface TreeHasher extends Hasher {
  readonly kernels: TreeKernels
  /**
   * Writes nodes as JSON strings with commas between them: `"0x…","0x…"`, lower case, 69·N − 1 characters for N nodes.
   * @param nodes 32·N bytes, at most 64 nodes. @param target takes the text from `at` on; it must have room.
   * @returns characters written. A branch takes 0.3 µs where a loop in JavaScript takes 2.3 µs (Node 20).
   */
  formatNodes(nodes: Uint8Array, target: Uint8Array, at: number): number
}

interface TreeKernels {
  /** One tile of 126 nodes that is being built, then the node above it: 127 × 32 bytes. */
  readonly tile: Uint8Array
  /** Hashes the nodes of `tile` that become complete when its lowest level grows from `from` to `to` ≤ 64 nodes. */
  completeTile(from: number, to: number): void

  /** Path A: per group, the tile on the way from a leaf to the root. The caller fills it before each call below. */
  readonly pathA: readonly Uint8Array[]
  /** Path B: a second path, for the calls that need two. */
  readonly pathB: readonly Uint8Array[]
  /**
   * EDGE_BYTES: for each level 0 … 32 the incomplete node above the next free position (the last one is the root), then the
   * siblings of levels 0 … 31. Levels below the lowest set bit of the leaf count stay unset: no leaf's path needs them.
   */
  readonly edge: Uint8Array
  /** 32 × 32 bytes: the branch that the last call filled in or folded. */
  readonly branch: Uint8Array
  /** 32 bytes: root of the last call. */
  readonly root: Uint8Array
  /** 32 bytes: root for path B, filled by `rootPair`. */
  readonly rootB: Uint8Array
  /** Path A is that of `leafCount`: fills `root`. */
  computeRoot(leafCount: number): void
  /** Paths A and B are those of two leaf counts: fills `root` and `rootB`. */
  rootPair(leafCountA: number, leafCountB: number): void
  /**
   * Path A is that of leaf `index`. Path B is that of position `leafCount`, up to the tile where the two meet.
   * Fills `branch`, the `root` it folds to, and `edge`.
   */
  prove(index: number, leafCount: number): void
  /**
   * As `prove`, with the `edge` that an earlier `prove` of the same state filled. Path A is that of leaf `index`, up to the
   * tile where it meets the path of `leafCount`; path B is not used.
   */
  proveAtEdge(index: number, leafCount: number): void
  /**
   * Path A has the two lowest tiles on the path of leaf `index`, both complete. Fills levels 0 … 11 of `branch`, and fills `root`
   * with the node of level 6 that the leaf folds to.
   */
  proveInTiles(index: number): void
}
