import { InvariantError } from '../errors/invariantError.js'
import type { TreeHasher } from './hasher.js'

/** Levels of one tile: from the 64 nodes of its lowest level to the 2 nodes below its top, 126 nodes in all. */
export const TILE_LEVELS = 6
/** Bytes of one tile. It fits one page of the store. */
export const TILE_BYTES = 126 * 32

/**
 * Reads the nodes of an append-only tree's complete subtrees. Tile t of group g holds 2^(6−d) nodes of each level 6g + d
 * (0 ≤ d < 6), from node t · 2^(6−d) on; they start at byte 32·(128 − 2^(7−d)). Nodes that are not complete yet are 32 zero bytes.
 */
export interface TileReader {
  /**
   * @returns TILE_BYTES bytes, or undefined if no node of the tile is complete. Valid until this thread's next read of any shard:
   * copy what must live longer. Do not write into it.
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

/** A tree as it was when it had `leafCount` leaves. Every root that the chain publishes belongs to one state. */
export interface TreeState {
  readonly lineage: number
  readonly leafCount: number
  readonly root: Uint8Array
}

/** Groups of tiles on the way from a leaf to the root: levels 0–5, 6–11, … 30–31. */
export const TILE_GROUPS = 6
/** Nodes of a tile's lowest level. */
export const TILE_WIDTH = 1 << TILE_LEVELS
/** Leaves under one node of each group's lowest level: 64^group. */
export const LEAVES_PER_NODE: readonly number[] = Array.from(
  { length: TILE_GROUPS + 1 },
  (_, group) => TILE_WIDTH ** group,
)

/** One append-only tree of a shard, for reading. */
export interface TreeSource {
  readonly hasher: TreeHasher
  readonly tiles: TileReader
  /** Every lineage of the tree, by its number; a tree that was never cut has `[{ cut: 0 }]`. */
  readonly lineages: readonly LineageLink[]
}

/** One append-only tree of a shard, for writing inside the writer's transaction. */
export interface TreeSink extends TreeSource {
  readonly tiles: TileWriter
}

/** Index of the tile of `group` that the path of position `index` (uint32) runs through. */
export function tileIndexOf(group: number, index: number): number {
  return Math.floor(index / LEAVES_PER_NODE[group + 1]!)
}

/**
 * Reads a tile of a lineage. A tile that lies wholly below the lineage's cut is stored with its parent; a tile that the cut runs
 * through was copied when the lineage started (`startLineage`).
 * @throws InvariantError when the tile is missing: the caller asks only for tiles that hold a complete node.
 */
export function getTile(tree: TreeSource, lineage: number, group: number, index: number): Uint8Array {
  const end = (index + 1) * LEAVES_PER_NODE[group + 1]!
  let owner = lineage
  while (owner > 0 && end <= cutOf(tree, owner)) owner--
  const tile = tree.tiles.getTile(owner, group, index)
  if (tile === undefined)
    throw new InvariantError(`tree tile is missing: lineage ${owner}, group ${group}, index ${index}`)
  return tile
}

function cutOf(tree: TreeSource, lineage: number): number {
  const link = tree.lineages[lineage]
  if (link === undefined) throw new InvariantError(`tree lineage ${lineage} is unknown`)
  return link.cut
}

/**
 * Copies the tiles on the path of position `index` into one of the paths that the kernels hold. Tiles without a complete node in the tree of the
 * first `leafCount` leaves are left out.
 * @param groups number of groups to load, from the leaves up.
 * @param loaded index of the tile that `path` already holds for each group (−1: none). It is updated. Nothing may be written to
 * the tree between calls that share it.
 */
export function loadPath(
  tree: TreeSource,
  path: readonly Uint8Array[],
  lineage: number,
  index: number,
  leafCount: number,
  groups: number,
  loaded?: number[],
): void {
  for (let group = 0; group < groups; group++) {
    const tile = tileIndexOf(group, index)
    if ((tile * TILE_WIDTH + 1) * LEAVES_PER_NODE[group]! > leafCount || loaded?.[group] === tile) continue
    path[group]!.set(getTile(tree, lineage, group, tile))
    if (loaded !== undefined) loaded[group] = tile
  }
}
