import { InvariantError } from '../errors/invariantError.js'
import { HASH_BYTES } from './branch.js'
import {
  getTile,
  LEAVES_PER_NODE,
  TILE_BYTES,
  TILE_GROUPS,
  TILE_LEVELS,
  TILE_WIDTH,
  type TreeSink,
} from './treeTiles.js'

/** The most leaves that a tree can have: the contract keeps the last position free. */
const MAX_LEAF_COUNT = 2 ** 32 - 1

/**
 * Appends leaves to a lineage: about one hash per leaf, and one write for each tile that gets nodes. The tree has no state
 * beside the stored tiles, so a failed transaction leaves nothing behind.
 * @param leafCount number of leaves before the call. @param leaves 32·N bytes.
 * @returns number of leaves after the call.
 * @throws InvariantError if the stored tiles lack nodes that `leafCount` promises.
 */
export function appendLeaves(tree: TreeSink, lineage: number, leafCount: number, leaves: Uint8Array): number {
  const newLeafCount = leafCount + leaves.length / HASH_BYTES
  if (newLeafCount > MAX_LEAF_COUNT)
    throw new RangeError(`leaf count ${newLeafCount} exceeds ${MAX_LEAF_COUNT}`)
  let nodes = leaves
  for (let group = 0; nodes.length > 0; group++) {
    const position = Math.floor(leafCount / LEAVES_PER_NODE[group]!)
    nodes = appendToGroup(tree, lineage, group, position, nodes)
  }
  return newLeafCount
}

/**
 * Appends nodes to the lowest level of a group, from `position` on, and completes the levels above it.
 * @returns the top node of each tile that became full: the nodes to append to the next group.
 */
function appendToGroup(
  tree: TreeSink,
  lineage: number,
  group: number,
  position: number,
  nodes: Uint8Array,
): Uint8Array {
  const { tile, completeTile } = tree.hasher.kernels
  const stored = tile.subarray(0, TILE_BYTES)
  const above = tile.subarray(TILE_BYTES)
  const count = nodes.length / HASH_BYTES
  const full = Math.floor((position + count) / TILE_WIDTH) - Math.floor(position / TILE_WIDTH)
  const parents = new Uint8Array(full * HASH_BYTES)
  for (let done = 0, filled = 0; done < count; ) {
    const index = Math.floor((position + done) / TILE_WIDTH)
    const from = (position + done) % TILE_WIDTH
    const to = Math.min(TILE_WIDTH, from + count - done)
    if (from === 0) stored.fill(0)
    else stored.set(getOwnTile(tree, lineage, group, index))
    stored.set(nodes.subarray(HASH_BYTES * done, HASH_BYTES * (done + to - from)), HASH_BYTES * from)
    completeTile(from, to)
    tree.tiles.putTile(lineage, group, index, stored)
    if (to === TILE_WIDTH) parents.set(above, HASH_BYTES * filled++)
    done += to - from
  }
  return parents
}

function getOwnTile(tree: TreeSink, lineage: number, group: number, index: number): Uint8Array {
  const tile = tree.tiles.getTile(lineage, group, index)
  if (tile === undefined)
    throw new InvariantError(
      `tree tile to extend is missing: lineage ${lineage}, group ${group}, index ${index}`,
    )
  return tile
}

/**
 * BackwardLET: starts the lineage after `parent`. The two share the first `cut` leaves. Tiles wholly below the cut are read from
 * the parent. A tile that the cut runs through (one per group at most) is copied without the nodes behind the cut: the new
 * lineage changes the copy, and the old lineage stays provable.
 * @param cut leaves that stay; at most the parent's leaf count.
 */
export function startLineage(tree: TreeSink, parent: number, cut: number): void {
  for (let group = 0; group < TILE_GROUPS; group++) {
    const position = Math.floor(cut / LEAVES_PER_NODE[group]!)
    const kept = position % TILE_WIDTH
    if (kept === 0) continue
    const index = Math.floor(position / TILE_WIDTH)
    const tile = getTile(tree, parent, group, index).slice()
    for (let level = 0, begin = 0; level < TILE_LEVELS; level++) {
      const width = TILE_WIDTH >> level
      tile.fill(0, HASH_BYTES * (begin + (kept >> level)), HASH_BYTES * (begin + width))
      begin += width
    }
    tree.tiles.putTile(parent + 1, group, index, tile)
  }
}
