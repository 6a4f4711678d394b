import { hashNode } from './hashNode'
import { hashTwoNodes } from './hashTwoNodes'
import {
  BRANCH_A,
  BRANCH_B,
  DEPTH,
  DIGEST,
  DIGEST_B,
  EDGE,
  EDGE_BRANCH,
  PATH_A,
  PATH_B,
  TILE_BYTES,
  TILE_LEVELS,
  ZERO_HASHES,
} from './layout'
import { tileLevel } from './level'

/**
 * Two paths of a tree, A and B: for each there are the tiles on it (`PATH`) and its siblings (`BRANCH`), so that
 * two chains of hashes can run beside each other in one SIMD register.
 */

const NO_GAP: i32 = -1

/** 32 bytes; four moves are cheaper than `memory.copy`, which leaves the instance. */
function copyHash(to: usize, from: usize): void {
  store<u64>(to, load<u64>(from))
  store<u64>(to, load<u64>(from, 8), 8)
  store<u64>(to, load<u64>(from, 16), 16)
  store<u64>(to, load<u64>(from, 24), 24)
}

function isSameHash(a: usize, b: usize): bool {
  return (
    ((load<u64>(a) ^ load<u64>(b)) |
      (load<u64>(a, 8) ^ load<u64>(b, 8)) |
      (load<u64>(a, 16) ^ load<u64>(b, 16)) |
      (load<u64>(a, 24) ^ load<u64>(b, 24))) ==
    0
  )
}

/** The node at `node`, `h` levels above leaf `index`, becomes its parent, at `parent`. */
function stepUp(node: usize, sibling: usize, index: u32, h: i32, parent: usize): void {
  const isRight = (index >> h) & 1
  hashNode(select(sibling, node, isRight), select(node, sibling, isRight), parent)
}

/** `stepUp` for both paths. */
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

/** Root of the first `leafCount` leaves, at `DIGEST`. Path A is that of `leafCount`. */
export function computeRoot(leafCount: u32): void {
  collectSiblings(PATH_A, leafCount, leafCount, BRANCH_A, DEPTH)
  // Below the lowest set bit of the count there is nothing.
  const empty = min(<i32>ctz(leafCount), DEPTH)
  copyHash(DIGEST, ZERO_HASHES + 32 * empty)
  for (let h = empty; h < DEPTH; h++) stepUp(DIGEST, BRANCH_A + 32 * h, leafCount, h, DIGEST)
}

/** Roots of two leaf counts, at `DIGEST` and `DIGEST_B`. Path A is that of the first count, B that of the second. */
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
 * right edge of that tree at `EDGE`, with its siblings. Path A is that of `index`, path B that of `leafCount`
 * (its groups below the level where the two part).
 *
 * A sibling that is incomplete is folded along path B from the free position `leafCount`, while the leaf is folded along path A:
 * two chains cost little more than one. Above the level where the paths meet, the leaf's path is the right edge.
 */
export function prove(index: u32, leafCount: u32): void {
  const gap = collectSiblings(PATH_A, index, leafCount, BRANCH_A, DEPTH)
  const meet = meetingLevel(index, leafCount)
  const last = meet - 1
  copyHash(DIGEST, pathNode(PATH_A, 0, index))
  if (gap == NO_GAP) {
    // The low `last` bits of `leafCount` are zero: no leaf's path meets the edge below this level, so it is left out there.
    for (let h = 0; h < last; h++) stepUp(DIGEST, BRANCH_A + 32 * h, index, h, DIGEST)
  } else {
    collectSiblings(PATH_B, leafCount, leafCount, BRANCH_B, last)
    copyHash(EDGE, ZERO_HASHES)
    for (let h = 0; h < last; h++)
      stepUpTwo(DIGEST, index, DIGEST, EDGE + 32 * h, leafCount, EDGE + 32 * (h + 1), h)
    memory.copy(EDGE_BRANCH, BRANCH_B, 32 * last)
    copyHash(BRANCH_A + 32 * last, EDGE + 32 * last)
  }
  // Here the two are each other's sibling; above they are one.
  copyHash(EDGE_BRANCH + 32 * last, DIGEST)
  memory.copy(EDGE_BRANCH + 32 * meet, BRANCH_A + 32 * meet, 32 * (DEPTH - meet))
  stepUp(DIGEST, BRANCH_A + 32 * last, index, last, EDGE + 32 * meet)
  climbEdge(meet, index)
}

/**
 * `prove` when the right edge of this leaf count is at `EDGE` already, with its siblings, from a `prove` whose root was
 * right: path A alone, and only up to the level where the leaf's path meets the edge. What lies above was folded to the
 * root then, and is taken from there.
 */
export function proveAtEdge(index: u32, leafCount: u32): void {
  const meet = meetingLevel(index, leafCount)
  const gap = collectSiblings(PATH_A, index, leafCount, BRANCH_A, meet)
  if (gap != NO_GAP) copyHash(BRANCH_A + 32 * gap, EDGE + 32 * gap)
  memory.copy(BRANCH_A + 32 * meet, EDGE_BRANCH + 32 * meet, 32 * (DEPTH - meet))
  copyHash(DIGEST, pathNode(PATH_A, 0, index))
  for (let h = 0; h < meet; h++) stepUp(DIGEST, BRANCH_A + 32 * h, index, h, DIGEST)
  if (isSameHash(DIGEST, EDGE + 32 * meet)) copyHash(DIGEST, EDGE + 32 * DEPTH)
  else for (let h = meet; h < DEPTH; h++) stepUp(DIGEST, BRANCH_A + 32 * h, index, h, DIGEST)
}

/**
 * Siblings of leaf `index` in the two lowest tiles of path A, both complete, at `BRANCH_A`; the node above the lower tile that
 * the leaf folds to at `DIGEST`.
 */
export function proveInTiles(index: u32): void {
  const levels = 2 * TILE_LEVELS
  collectSiblings(PATH_A, index, (index | ((1 << levels) - 1)) + 1, BRANCH_A, levels)
  copyHash(DIGEST, pathNode(PATH_A, 0, index))
  for (let h = 0; h < TILE_LEVELS; h++) stepUp(DIGEST, BRANCH_A + 32 * h, index, h, DIGEST)
}

/** Lowest level at which two different positions have one node. */
function meetingLevel(a: u32, b: u32): i32 {
  return DEPTH - <i32>clz(a ^ b)
}
