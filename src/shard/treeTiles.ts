import type { TileReader, TileWriter } from '../merkle/nodeStore.js'
import { type Tree, tileKey } from '../store/codecs/keys.js'
import type { ReadView, WriteView } from '../store/shardStore.types.js'

/** Tiles of one tree of a shard, as one snapshot or one transaction sees them. */
export function tileReader(view: ReadView, tree: Tree): TileReader {
  return { getTile: (lineage, group, index) => view.get('treeTiles', tileKey(tree, lineage, group, index)) }
}

/** Tiles of one tree inside the writer's transaction. */
export function tileWriter(view: WriteView, tree: Tree): TileWriter {
  return {
    ...tileReader(view, tree),
    putTile: (lineage, group, index, tile) =>
      view.put('treeTiles', tileKey(tree, lineage, group, index), tile),
  }
}
