import type { TreeHasher } from '../../merkle/hasher.js'
import {
  getTile,
  LEAVES_PER_NODE,
  type LineageLink,
  TILE_BYTES,
  TILE_GROUPS,
  TILE_LEVELS,
  TILE_WIDTH,
  type TreeSource,
} from '../../merkle/treeTiles.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { trees } from '../../store/layout/keys.js'
import { readLineages, tileReader } from '../snapshot/tiles.js'
import {
  countEntries,
  DamageError,
  entriesOf,
  expectEqual,
  expectHash,
  lineageLeafCounts,
  type VerifyContext,
} from './check.js'

const NO_HASH = new Uint8Array(32)

interface TreeShape {
  readonly name: string
  readonly source: TreeSource
  /** Leaf count of each lineage. */
  readonly leafCounts: readonly number[]
}

/** Checks that each stored node is the hash of the two below it, that only complete subtrees are stored, and that no tile is missing. */
export function checkTreeNodes({ view, hasher, counters, networkId }: VerifyContext): string {
  const shapeOf = (tree: 0 | 1, name: string, lineages: LineageLink[], leafCounts: number[]): TreeShape => ({
    name,
    source: { hasher, tiles: tileReader(view, tree), lineages },
    leafCounts,
  })
  const shapes = new Map<number, TreeShape>([
    [
      trees.localExitTree,
      shapeOf(
        trees.localExitTree,
        'local exit tree',
        readLineages(view, counters.lineage),
        lineageLeafCounts(view, counters),
      ),
    ],
  ])
  if (networkId === 0)
    shapes.set(
      trees.l1InfoTree,
      shapeOf(trees.l1InfoTree, 'L1 info tree', [{ cut: 0 }], [counters.l1InfoLeaves]),
    )
  expectEqual('lineages', counters.lineage, countEntries(view, 'lineages'))
  let tiles = 0
  for (const { key, value } of entriesOf(view, 'treeTiles')) {
    const shape = shapes.get(key[0]!)
    const lineage = (key[1]! << 8) | key[2]!
    const group = key[3]!
    const index = readUint32BigEndian(key, 4)
    const place = `${shape?.name ?? `tree ${key[0]}`}, lineage ${lineage}, group ${group}, tile ${index}`
    if (shape === undefined || !isExpected(shape, lineage, group, index))
      throw new DamageError(`${place} is stored, but the tree has no such tile`)
    checkTile(hasher, shape, { lineage, group, index, place }, value)
    tiles++
  }
  for (const { name, source, leafCounts } of shapes.values())
    leafCounts.forEach((_, lineage) => {
      for (const [group, index] of expectedTiles(source.lineages, leafCounts, lineage))
        if (source.tiles.getTile(lineage, group, index) === undefined)
          throw new DamageError(`${name}, lineage ${lineage}, group ${group}, tile ${index} is missing`)
    })
  return `${tiles} tiles`
}

/** Number of complete nodes in a group's lowest level, in a tree of `leafCount` leaves. */
function nodeCount(leafCount: number, group: number): number {
  return Math.floor(leafCount / LEAVES_PER_NODE[group]!)
}

/** The tiles that a lineage must have: those that have a complete node and do not lie wholly below its cut. */
function* expectedTiles(
  lineages: readonly LineageLink[],
  leafCounts: readonly number[],
  lineage: number,
): Generator<[group: number, index: number]> {
  for (let group = 0; group < TILE_GROUPS; group++) {
    const nodes = nodeCount(leafCounts[lineage]!, group)
    const from = Math.floor(lineages[lineage]!.cut / LEAVES_PER_NODE[group + 1]!)
    for (let index = from; index * TILE_WIDTH < nodes; index++) yield [group, index]
  }
}

function isExpected(
  { source, leafCounts }: TreeShape,
  lineage: number,
  group: number,
  index: number,
): boolean {
  const leafCount = leafCounts[lineage]
  if (leafCount === undefined || group >= TILE_GROUPS) return false
  const from = Math.floor(source.lineages[lineage]!.cut / LEAVES_PER_NODE[group + 1]!)
  return index >= from && index * TILE_WIDTH < nodeCount(leafCount, group)
}

function checkTile(
  hasher: TreeHasher,
  { source, leafCounts }: TreeShape,
  { lineage, group, index, place }: { lineage: number; group: number; index: number; place: string },
  tile: Uint8Array,
): void {
  expectEqual(`${place}, bytes`, TILE_BYTES, tile.length)
  const filled = Math.min(TILE_WIDTH, nodeCount(leafCounts[lineage]!, group) - TILE_WIDTH * index)
  const hashes = new Uint8Array(32 * (TILE_WIDTH / 2))
  // The lowest level of a group is hashed from the tiles of the group below. Leaves are compared with their rows elsewhere.
  if (group > 0)
    for (let node = 0; node < filled; node++) {
      const below = getTile(source, lineage, group - 1, TILE_WIDTH * index + node).slice(TILE_BYTES - 64)
      hasher.hashPairs(below, 1, hashes)
      expectHash(
        `${place}, level 0, node ${node}`,
        hashes.subarray(0, 32),
        tile.subarray(32 * node, 32 * node + 32),
      )
    }
  for (let level = 0, begin = 0; level < TILE_LEVELS; level++) {
    const width = TILE_WIDTH >> level
    const complete = filled >> level
    const nodes = tile.subarray(32 * begin, 32 * (begin + width))
    for (let node = complete; node < width; node++)
      expectHash(`${place}, level ${level}, node ${node}`, NO_HASH, nodes.subarray(32 * node, 32 * node + 32))
    if (level + 1 < TILE_LEVELS) {
      const parents = complete >> 1
      hasher.hashPairs(nodes.subarray(0, 64 * parents), parents, hashes)
      for (let node = 0; node < parents; node++) {
        const at = 32 * (begin + width + node)
        expectHash(
          `${place}, level ${level + 1}, node ${node}`,
          hashes.subarray(32 * node, 32 * node + 32),
          tile.subarray(at, at + 32),
        )
      }
    }
    begin += width
  }
}
