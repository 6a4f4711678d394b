import type { TileWriter } from '../../src/merkle/nodeStore.js'

/** Tree tiles in memory: the store's stand-in for tests and benches of the tree alone. */
export class MemoryTiles implements TileWriter {
  readonly tiles = new Map<number, Uint8Array>()
  writes = 0

  getTile(lineage: number, group: number, index: number): Uint8Array | undefined {
    return this.tiles.get(keyOf(lineage, group, index))
  }

  putTile(lineage: number, group: number, index: number, tile: Uint8Array): void {
    this.writes++
    this.tiles.set(keyOf(lineage, group, index), tile.slice())
  }
}

function keyOf(lineage: number, group: number, index: number): number {
  return (lineage * 8 + group) * 2 ** 32 + index
}
