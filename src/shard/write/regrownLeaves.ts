import { HASH_BYTES } from '../../merkle/branch.js'
import { getTile, TILE_WIDTH, type TreeSource, tileIndexOf } from '../../merkle/treeTiles.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import { lineageStretchKey } from '../../store/layout/keys.js'
import { decodeUint32, encodeUint32 } from '../../store/layout/smallRows.js'
import type { WriteView } from '../../store/shardStore.types.js'
import type { LineageSpan } from '../localExitRoots.types.js'

/**
 * Stores which of the appended leaves equal the leaf that an older lineage had at the same count: roots of that lineage cover
 * them. Only counts that the older lineage reached are compared.
 * @param former lineages older than the newest, by number. @param leaves 32·N bytes, appended from deposit count `from` on.
 */
export function noteRegrown(
  view: WriteView,
  tree: TreeSource,
  former: readonly LineageSpan[],
  from: number,
  leaves: Uint8Array,
): void {
  const end = from + leaves.length / HASH_BYTES
  for (const [lineage, { leafCount }] of former.entries()) {
    let isSame = false
    let begin = from
    const last = Math.min(end, leafCount)
    for (let depositCount = from; depositCount < last; ) {
      const tile = getTile(tree, lineage, 0, tileIndexOf(0, depositCount))
      const tileEnd = Math.min(last, depositCount - (depositCount % TILE_WIDTH) + TILE_WIDTH)
      // Compared before anything is stored: a write would overwrite the tile's memory.
      const sames = Array.from({ length: tileEnd - depositCount }, (_, index) =>
        isSameLeaf(tile, (depositCount + index) % TILE_WIDTH, leaves, depositCount + index - from),
      )
      for (const same of sames) {
        if (same && !isSame) begin = depositCount
        if (!same && isSame) putStretch(view, lineage, begin, depositCount)
        isSame = same
        depositCount++
      }
    }
    if (isSame) putStretch(view, lineage, begin, last)
  }
}

/** Removes the regrown deposits at or above a cut. @param newest number of the lineage that begins with the cut. */
export function cutRegrown(view: WriteView, newest: number, cut: number): void {
  for (let lineage = 0; lineage < newest; lineage++) {
    const range = { start: lineageStretchKey(lineage, cut), end: lineageStretchKey(lineage + 1, 0) }
    for (const { key } of view.list('regrownStretches', range)) view.remove('regrownStretches', key)
    const before = lastBefore(view, lineage, cut)
    if (before !== undefined && before.end > cut)
      view.put('regrownStretches', lineageStretchKey(lineage, before.from), encodeUint32(cut))
  }
}

function isSameLeaf(tile: Uint8Array, inTile: number, leaves: Uint8Array, inLeaves: number): boolean {
  for (let byte = 0; byte < HASH_BYTES; byte++)
    if (tile[HASH_BYTES * inTile + byte] !== leaves[HASH_BYTES * inLeaves + byte]) return false
  return true
}

/** Stores a stretch, joined with the one that ends where it begins. */
function putStretch(view: WriteView, lineage: number, from: number, end: number): void {
  const before = lastBefore(view, lineage, from)
  const begin = before?.end === from ? before.from : from
  view.put('regrownStretches', lineageStretchKey(lineage, begin), encodeUint32(end))
}

/** The last stretch that begins before a count. */
function lastBefore(
  view: WriteView,
  lineage: number,
  depositCount: number,
): { readonly from: number; readonly end: number } | undefined {
  const [entry] = view.list('regrownStretches', {
    start: lineageStretchKey(lineage, depositCount),
    end: lineageStretchKey(lineage, 0),
    limit: 1,
    reverse: true,
  })
  return entry && { from: readUint32BigEndian(entry.key, 2), end: decodeUint32(entry.value) }
}
