import { TILE_BYTES, type TileReader } from '../../merkle/treeTiles.js'

/**
 * Number of tiles kept. They take 1 MB per tree, from its first proof on, and are all tiles above the leaves' tiles of a tree of
 * a million leaves.
 */
const SLOTS = 256

/**
 * Keeps the tiles above the leaves' tiles, which many proofs of a tree share, while the shard stays at the same commit. The leaves'
 * tiles are read from the store each time: there are 64 times as many.
 */
export class KeptTiles implements TileReader {
  readonly #stored: TileReader
  readonly #keys = new Float64Array(SLOTS).fill(-1)
  #tiles: Uint8Array[] | undefined

  constructor(stored: TileReader) {
    this.#stored = stored
  }

  /** Forgets all tiles, before another snapshot is read. */
  reset(): void {
    if (this.#tiles !== undefined) this.#keys.fill(-1)
  }

  getTile(lineage: number, group: number, index: number): Uint8Array | undefined {
    if (group === 0) return this.#stored.getTile(lineage, group, index)
    // Upper groups have few tiles (a tree of 2^24 leaves has 4,096, 64 and one), so each group starts 3 slots before the one below.
    const slot = (index + (group - 1) * (SLOTS - 3) + 3 * lineage) % SLOTS
    // No two tiles have the same key: there are six groups, and fewer than 2^26 tiles in each group above the leaves' tiles.
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
