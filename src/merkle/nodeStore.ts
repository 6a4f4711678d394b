/** Levels of one tile: 64 nodes of its lowest level up to the 2 nodes below its top: 126 nodes. */
export const TILE_LEVELS = 6
/** Bytes of one tile: one page of the store. */
export const TILE_BYTES = 126 * 32

/**
 * Where an append-only tree keeps the nodes of its complete subtrees, by position.
 * Tile (group g, index t) holds, for each level 6g + d (0 ≤ d < 6), the nodes (t << (6 − d)) … of that level;
 * the level d part starts at byte 32·(128 − 2^(7−d)). Nodes not complete yet are 32 zero bytes.
 */
export interface TileReader {
  /**
   * @returns TILE_BYTES bytes, or undefined if no node of it is complete. Valid until the next call of any reader
   * of the same store: copy what must live longer. Do not write into it.
   */
  getTile(lineage: number, group: number, index: number): Uint8Array | undefined
}

export interface TileWriter extends TileReader {
  /** Stores a copy of `tile` (TILE_BYTES bytes). */
  putTile(lineage: number, group: number, index: number, tile: Uint8Array): void
}

/** A lineage of an append-only tree: BackwardLET starts a new one that shares the leaves below `cut` with its parent. */
export interface LineageLink {
  /** Number of leaves shared with lineage − 1; lineage 0 has cut 0. */
  readonly cut: number
}
