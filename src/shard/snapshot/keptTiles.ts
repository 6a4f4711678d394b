import { TILE_BYTES, type TileReader } from '../../merkle/treeTiles.js'

/** 1 MB per tree that proofs are asked of: every tile above the leaves of a million. */
const SLOTS = 256

/**
 * Tiles above the leaves, which the proofs of a tree share, kept while its shard stands at the same commit. Those of the leaves
 * are read: there are 64 times as many.
 */
export class KeptTiles implements TileReader {
  readonly #stored: TileReader
  readonly #keys = new Float64Array(SLOTS).fill(-1)
  #tiles: Uint8Array[] | undefined

  constructor(stored: TileReader) {
    this.#stored = stored
  }

  /** Forgets all: another snapshot follows. */
  reset(): void {
    if (this.#tiles !== undefined) this.#keys.fill(-1)
  }

  getTile(lineage: number, group: number, index: number): Uint8Array | undefined {
    if (group === 0) return this.#stored.getTile(lineage, group, index)
    // The few tiles of the upper groups stand behind each other's ends: a tree of 2^24 leaves has 4,096, 64 and one.
    const slot = (index + (group - 1) * (SLOTS - 3) + 3 * lineage) % SLOTS
    // Six groups of levels; above the leaves fewer than 2^26 tiles in each.
    const key = (lineage * 8 + group) * 2 ** 26 + index
    this.#tiles ??= Array.from({ length: SLOTS }, () => new Uint8Array(0))
    if (this.#keys[slot] === key) return this.#tiles[slot]
    const tile = this.#stored.getTile(lineage, group, index)
    if (tile === undefined) return undefined
    if (this.#tiles[slot]!.length === 0) this.#tiles[slot] = new Uint8Array(TILE_BYTES)
    this.#tiles[slot]!.set(tile)
    this.#keys[slot] = key
    return this.#tiles[slot]
  }
}
