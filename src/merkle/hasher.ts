/**
 * Keccak over the exit trees' shapes. One instance per thread; not re-entrant.
 * Results are fresh memory unless a method says otherwise.
 */
export interface Hasher {
  /** `wasm-simd` or `wasm-scalar`: named in logs, metrics and benches. */
  readonly name: string
  /** keccak-256 of any bytes. @returns 32 bytes, fresh. */
  hash(bytes: Uint8Array): Uint8Array
  /** keccak-256(left ‖ right), 32 bytes each. @returns 32 bytes, fresh. */
  hashPair(left: Uint8Array, right: Uint8Array): Uint8Array
  /**
   * Hash `count` pairs: `pairs` holds 64·count bytes, `out` takes 32·count bytes. `out` may be `pairs` itself
   * (a level hashed in place). Any count: the implementation works in pieces of its fixed buffer.
   */
  hashPairs(pairs: Uint8Array, count: number, out: Uint8Array): void
  /**
   * Root of a leaf under its branch.
   * @param branch 32 × 32 bytes, leaf level first. @param index position of the leaf, uint32.
   * @returns 32 bytes, fresh.
   */
  foldBranch(leaf: Uint8Array, branch: Uint8Array, index: number): Uint8Array
}
