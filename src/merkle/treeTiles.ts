import { InvariantError } from '../errors/invariantError.js'
import type { TreeHasher } from './hasher.js'
import { type LineageLink, TILE_LEVELS, type TileReader, type TileWriter } from './nodeStore.js'

/** A tree as it was when it had `leafCount` leaves: every root that the chain publishes names one. */
export interface TreeVersion {
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

/** One append-only tree of a shard, to read from. */
export interface TreeSource {
  readonly hasher: TreeHasher
  readonly tiles: TileReader
  /** Every lineage of the tree, by its number; a tree that was never cut has `[{ cut: 0 }]`. */
  readonly lineages: readonly LineageLink[]
}

/** One append-only tree of a shard, inside the writer's transaction. */
export interface TreeSink extends TreeSource {
  readonly tiles: TileWriter
}

/** Index of the tile of `group` that holds the path of position `index` (uint32). */
export function tileIndexOf(group: number, index: number): number {
  return Math.floor(index / LEAVES_PER_NODE[group + 1]!)
}

/**
 * A tile as `lineage` sees it: a tile that lies wholly below a lineage's cut is the parent's. A tile that the cut runs
 * through was copied when the lineage began (`startLineage`).
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
 * Copies the tiles on the path of position `index` into a lane of the kernels: those that hold a complete node of the
 * tree of the first `leafCount` leaves.
 * @param groups number of groups to load, from the leaves up.
 * @param loaded tile index per group that the lane holds already (−1: none), brought up to date. Only for calls between
 * which nothing is written.
 */
export function loadPath(
  tree: TreeSource,
  lane: readonly Uint8Array[],
  lineage: number,
  index: number,
  leafCount: number,
  groups: number,
  loaded?: number[],
): void {
  for (let group = 0; group < groups; group++) {
    const tile = tileIndexOf(group, index)
    if ((tile * TILE_WIDTH + 1) * LEAVES_PER_NODE[group]! > leafCount || loaded?.[group] === tile) continue
    lane[group]!.set(getTile(tree, lineage, group, tile))
    if (loaded !== undefined) loaded[group] = tile
  }
}
