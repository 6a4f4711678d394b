import { hashNode } from './hashNode'
import { hashTwoNodes } from './hashTwoNodes'
import {
  BRANCH_A,
  BRANCH_B,
  DEPTH,
  DIGEST,
  DIGEST_B,
  EDGE,
  PATH_A,
  PATH_B,
  TILE_BYTES,
  TILE_LEVELS,
  ZERO_HASHES,
} from './layout'
import { tileLevel } from './level'

/**
 * Two lanes, A and B: each has the tiles on one path of the tree (`PATH`) and the siblings of that path (`BRANCH`), so
 * that two chains of hashes can run beside each other in one SIMD register.
 */

const NO_GAP: i32 = -1

/** 32 bytes; four moves are cheaper than `memory.copy`, which leaves the instance. */
function copyHash(to: usize, from: usize): void {
  store<u64>(to, load<u64>(from))
  store<u64>(to, load<u64>(from, 8), 8)
  store<u64>(to, load<u64>(from, 16), 16)
  store<u64>(to, load<u64>(from, 24), 24)
}

/** The node at `node`, `h` levels above leaf `index`, becomes its parent, at `parent`. */
function stepUp(node: usize, sibling: usize, index: u32, h: i32, parent: usize): void {
  const isRight = (index >> h) & 1
  hashNode(select(sibling, node, isRight), select(node, sibling, isRight), parent)
}

/** `stepUp` in both lanes. */
function stepUpTwo(
  nodeA: usize,
  indexA: u32,
  parentA: usize,
  nodeB: usize,
  indexB: u32,
  parentB: usize,
  h: i32,
): void {
  if (!ASC_FEATURE_SIMD) {
    stepUp(nodeA, BRANCH_A + 32 * h, indexA, h, parentA)
    stepUp(nodeB, BRANCH_B + 32 * h, indexB, h, parentB)
    return
  }
  const siblingA = BRANCH_A + 32 * h
  const siblingB = BRANCH_B + 32 * h
  const isRightA = (indexA >> h) & 1
  const isRightB = (indexB >> h) & 1
  hashTwoNodes(
    select(siblingA, nodeA, isRightA),
    select(nodeA, siblingA, isRightA),
    select(siblingB, nodeB, isRightB),
    select(nodeB, siblingB, isRightB),
    parentA,
    parentB,
  )
}

/** Root of the leaf at `DIGEST` under the branch at `BRANCH_A`, at `DIGEST`. */
export function foldBranch(index: u32): void {
  for (let h = 0; h < DEPTH; h++) stepUp(DIGEST, BRANCH_A + 32 * h, index, h, DIGEST)
}

/** Node `index` of `level` in the tiles of a path. */
function pathNode(path: usize, level: i32, index: u32): usize {
  const d = level % TILE_LEVELS
  return path + TILE_BYTES * (level / TILE_LEVELS) + tileLevel(d) + 32 * (index & ((64 >> d) - 1))
}

/**
 * The lowest `levels` siblings of position `index` in the tree of the first `leafCount` leaves. `index` may be
 * `leafCount` itself: the path of the next free position.
 * @returns the level whose sibling is incomplete and is left to the caller, or NO_GAP. There is at most one: siblings
 * below it lie left of `leafCount`; those above hold the path of `leafCount` themselves, or nothing.
 */
function collectSiblings(path: usize, index: u32, leafCount: u32, branch: usize, levels: i32): i32 {
  let gap = NO_GAP
  for (let h = 0; h < levels; h++) {
    const sibling = (index >> h) ^ 1
    const begin = (<u64>sibling) << h
    if (begin >= leafCount) copyHash(branch + 32 * h, ZERO_HASHES + 32 * h)
    else if (begin + ((<u64>1) << h) <= leafCount) copyHash(branch + 32 * h, pathNode(path, h, sibling))
    else gap = h
  }
  return gap
}

/** Right edge from level `h` up to the root, given its node of level `h`; the siblings are at `BRANCH_A`. */
function climbEdge(h: i32, index: u32): void {
  for (; h < DEPTH; h++) stepUp(EDGE + 32 * h, BRANCH_A + 32 * h, index, h, EDGE + 32 * (h + 1))
  copyHash(DIGEST, EDGE + 32 * DEPTH)
}

/** Right edge and root (`DIGEST`) of the first `leafCount` leaves. Lane A holds the path of `leafCount`. */
export function edge(leafCount: u32): void {
  collectSiblings(PATH_A, leafCount, leafCount, BRANCH_A, DEPTH)
  // Below the lowest set bit of the count the edge is empty.
  const empty = min(<i32>ctz(leafCount), DEPTH)
  memory.copy(EDGE, ZERO_HASHES, 32 * (empty + 1))
  climbEdge(empty, leafCount)
}

/** Roots of two leaf counts, at `DIGEST` and `DIGEST_B`. Lane A holds the path of the first count, B of the second. */
export function rootPair(leafCountA: u32, leafCountB: u32): void {
  collectSiblings(PATH_A, leafCountA, leafCountA, BRANCH_A, DEPTH)
  collectSiblings(PATH_B, leafCountB, leafCountB, BRANCH_B, DEPTH)
  const empty = min(<i32>ctz(leafCountA | leafCountB), DEPTH)
  copyHash(DIGEST, ZERO_HASHES + 32 * empty)
  copyHash(DIGEST_B, ZERO_HASHES + 32 * empty)
  for (let h = empty; h < DEPTH; h++) stepUpTwo(DIGEST, leafCountA, DIGEST, DIGEST_B, leafCountB, DIGEST_B, h)
}

/**
 * Branch of leaf `index` among the first `leafCount` leaves, at `BRANCH_A`; the root that it folds to at `DIGEST`; the
 * right edge of that tree at `EDGE`. Lane A holds the path of `index`, lane B the path of `leafCount` (its groups below
 * the level where the two part).
 *
 * A sibling that is incomplete is folded from the free position `leafCount` in lane B while the leaf is folded in lane A:
 * two chains cost little more than one. Above the level where the paths meet, the leaf's path is the right edge.
 */
export function prove(index: u32, leafCount: u32): void {
  const gap = collectSiblings(PATH_A, index, leafCount, BRANCH_A, DEPTH)
  const meet = DEPTH - <i32>clz(index ^ leafCount)
  copyHash(DIGEST, pathNode(PATH_A, 0, index))
  if (gap == NO_GAP) {
    memory.copy(EDGE, ZERO_HASHES, 32 * meet)
    for (let h = 0; h < meet; h++) stepUp(DIGEST, BRANCH_A + 32 * h, index, h, DIGEST)
  } else {
    collectSiblings(PATH_B, leafCount, leafCount, BRANCH_B, gap)
    copyHash(EDGE, ZERO_HASHES)
    for (let h = 0; h < gap; h++)
      stepUpTwo(DIGEST, index, DIGEST, EDGE + 32 * h, leafCount, EDGE + 32 * (h + 1), h)
    copyHash(BRANCH_A + 32 * gap, EDGE + 32 * gap)
    stepUp(DIGEST, BRANCH_A + 32 * gap, index, gap, DIGEST)
  }
  copyHash(EDGE + 32 * meet, DIGEST)
  climbEdge(meet, index)
}

/** `prove` when the right edge of this leaf count is at `EDGE` already: lane A alone. */
export function proveAtEdge(index: u32, leafCount: u32): void {
  const gap = collectSiblings(PATH_A, index, leafCount, BRANCH_A, DEPTH)
  if (gap != NO_GAP) copyHash(BRANCH_A + 32 * gap, EDGE + 32 * gap)
  copyHash(DIGEST, pathNode(PATH_A, 0, index))
  foldBranch(index)
}
