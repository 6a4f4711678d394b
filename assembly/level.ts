import { hashNode } from './hashNode'
import { hashTwoNodes } from './hashTwoNodes'
import { HASH, TILE, TILE_LEVELS } from './layout'

/**
 * Hashes a run of `count` pairs (64 bytes each) into `count` nodes. `nodes` may be `pairs`: a level hashed in place,
 * since no node is written before the pairs under it are read.
 */
export function hashLevel(pairs: usize, count: i32, nodes: usize): void {
  let left = count
  if (ASC_FEATURE_SIMD) {
    for (; left >= 2; left -= 2) {
      hashTwoNodes(pairs, pairs + 32, pairs + 64, pairs + 96, nodes, nodes + 32)
      pairs += 128
      nodes += 64
    }
  }
  for (; left > 0; left--) {
    hashNode(pairs, pairs + 32, nodes)
    pairs += 64
    nodes += 32
  }
}

/** First node of level `d` in a tile: level d has 2^(6 − d) nodes. Level 6 is the node above the tile. */
export function tileLevel(d: i32): usize {
  return HASH * (128 - (128 >> d))
}

/** Fills in the nodes of `TILE` that become complete when its lowest level grows from `from` to `to` nodes. */
export function completeTile(from: i32, to: i32): void {
  for (let d = 0; d < TILE_LEVELS; d++) {
    const first = from >> 1
    const end = to >> 1
    if (first == end) return
    hashLevel(TILE + tileLevel(d) + 64 * first, end - first, TILE + tileLevel(d + 1) + 32 * first)
    from = first
    to = end
  }
}
