import { InvariantError } from '../../errors/invariantError.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import type { LineageLink, TileReader, TileWriter, TreeSource } from '../../merkle/treeTiles.js'
import { lineageKey, type Tree, tileKey, trees } from '../../store/layout/keys.js'
import { decodeUint32 } from '../../store/layout/smallRows.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'

/** Reads the tiles of one of the shard's trees. */
export function tileReader(view: ReadView, tree: Tree): TileReader {
  return {
    getTile: (lineage, group, index) => view.get('treeTiles', tileKey(tree, lineage, group, index)),
  }
}

/** Reads and writes tiles inside the writer's transaction. */
export function tileWriter(view: WriteView, tree: Tree): TileWriter {
  return {
    ...tileReader(view, tree),
    putTile: (lineage, group, index, tile) =>
      view.put('treeTiles', tileKey(tree, lineage, group, index), tile),
  }
}

/** Lineages of the local exit tree, by number. @param newest number of the newest lineage. */
export function readLineages(view: ReadView, newest: number): LineageLink[] {
  const lineages: LineageLink[] = [{ cut: 0 }]
  for (let lineage = 1; lineage <= newest; lineage++) {
    const cut = view.get('lineages', lineageKey(lineage))
    if (cut === undefined) throw new InvariantError(`lineage ${lineage} of the local exit tree is missing`)
    lineages.push({ cut: decodeUint32(cut) })
  }
  return lineages
}

/** The local exit tree of a shard, for reading. */
export function localExitTreeSource(view: ReadView, hasher: TreeHasher, newestLineage: number): TreeSource {
  return {
    hasher,
    tiles: tileReader(view, trees.localExitTree),
    lineages: readLineages(view, newestLineage),
  }
}
