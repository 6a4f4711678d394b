import { TILE_BYTES, type TileWriter } from '../../src/merkle/treeTiles.js'

const SLAB_TILES = 256

/** Tree tiles in memory, instead of the store, for tests and benches of the tree alone. */
export class MemoryTiles implements TileWriter {
  readonly tiles = new Map<number, Uint8Array>()
  writes = 0
  /** Memory for tiles is allocated in large pieces: a million leaves need 16,000 tiles. */
  #slab = new Uint8Array()

  getTile(lineage: number, group: number, index: number): Uint8Array | undefined {
    return this.tiles.get(keyOf(lineage, group, index))
  }

  putTile(lineage: number, group: number, index: number, tile: Uint8Array): void {
    this.writes++
    if (this.#slab.length === 0) this.#slab = new Uint8Array(SLAB_TILES * TILE_BYTES)
    const copy = this.#slab.subarray(0, TILE_BYTES)
    this.#slab = this.#slab.subarray(TILE_BYTES)
    copy.set(tile)
    this.tiles.set(keyOf(lineage, group, index), copy)
  }
}

function keyOf(lineage: number, group: number, index: number): number {
  return (lineage * 8 + group) * 2 ** 32 + index
}
