import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvariantError } from '../../../src/errors/invariantError.js'
import { appendLeaves, startLineage } from '../../../src/merkle/appendOnlyTree.js'
import { isBranchOf } from '../../../src/merkle/branch.js'
import { EdgeCache } from '../../../src/merkle/edgeCache.js'
import { getLeaf, getRoot, getRootsAtCounts, proveLeaf } from '../../../src/merkle/treeProofs.js'
import type { TreeState } from '../../../src/merkle/treeTiles.js'
import { compileMerkleModule, createHasher } from '../../../src/wasm/wasmModule.js'
import { MemoryTiles } from '../../support/memoryTiles.js'
import { NaiveTree, testLeaf } from '../../support/naiveTree.js'

const hasher = createHasher(compileMerkleModule())

function newTree(leafCount: number) {
  const leaves = Array.from({ length: leafCount }, (_, i) => testLeaf(i))
  const tree = { hasher, tiles: new MemoryTiles(), lineages: [{ cut: 0 }] }
  appendLeaves(tree, 0, 0, Buffer.concat(leaves))
  return { tree, leaves }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

for (const build of ['simd', 'scalar'] as const) {
  const hasher = createHasher(compileMerkleModule(build))

  test(`${build}: every leaf under every leaf count up to 130 has the branch and the root of the naive tree`, () => {
    const leaves = Array.from({ length: 130 }, (_, i) => testLeaf(i))
    const tree = { hasher, tiles: new MemoryTiles(), lineages: [{ cut: 0 }] }
    appendLeaves(tree, 0, 0, Buffer.concat(leaves))
    const edges = new EdgeCache(16)
    let proofs = 0
    for (let leafCount = 1; leafCount <= 130; leafCount++) {
      const naive = new NaiveTree(leaves.slice(0, leafCount))
      const state = { lineage: 0, leafCount, root: naive.root }
      assert.equal(hex(getRoot(tree, 0, leafCount)), hex(naive.root), `root at ${leafCount}`)
      for (let index = 0; index < leafCount; index++) {
        const branch = hex(naive.branch(index))
        const proof = proveLeaf(tree, state, index)
        assert.equal(hex(proof.branch), branch, `leaf ${index} of ${leafCount}`)
        assert.equal(hex(proof.leaf), hex(leaves[index]!))
        assert.equal(
          hex(proveLeaf(tree, state, index, edges).branch),
          branch,
          `${index} of ${leafCount}, by edge`,
        )
        assert.equal(hex(getLeaf(tree, 0, index)), hex(leaves[index]!))
        proofs++
      }
    }
    assert.equal(proofs, (130 * 131) / 2)
    const counts = Array.from({ length: 131 }, (_, i) => i)
    const roots = getRootsAtCounts(tree, 0, counts)
    for (const count of counts)
      assert.equal(
        hex(roots.subarray(32 * count, 32 * count + 32)),
        hex(new NaiveTree(leaves.slice(0, count)).root),
        `roots at ${count}`,
      )
  })
}

test('an append writes each tile that it touches once', () => {
  const { tree } = newTree(64 * 64 + 1)
  // 65 tiles of leaves, 1 of level 6 and, since that one is full, 1 of level 12.
  assert.equal(tree.tiles.writes, 65 + 1 + 1)
  appendLeaves(tree, 0, 64 * 64 + 1, testLeaf(9))
  assert.equal(tree.tiles.writes, 65 + 1 + 1 + 1)
})

test('after an append that failed midway and was rolled back, the tree continues', () => {
  const { tree, leaves } = newTree(100)
  const stored = new Map(tree.tiles.tiles)
  const more = Buffer.concat(Array.from({ length: 200 }, (_, i) => testLeaf(i, 1)))
  const failing = {
    getTile: tree.tiles.getTile.bind(tree.tiles),
    putTile(lineage: number, group: number, index: number, tile: Uint8Array) {
      if (index === 3) throw new Error('disk full')
      tree.tiles.putTile(lineage, group, index, tile)
    },
  }
  assert.throws(() => appendLeaves({ ...tree, tiles: failing }, 0, 100, more), /disk full/)
  // The store rolls back, and the tree continues from the stored state.
  tree.tiles.tiles.clear()
  for (const [key, tile] of stored) tree.tiles.tiles.set(key, tile)
  appendLeaves(tree, 0, 100, testLeaf(7))
  assert.equal(hex(getRoot(tree, 0, 101)), hex(new NaiveTree([...leaves, testLeaf(7)]).root))
})

test('after a cut the old lineage stays provable, and the new lineage grows on the shared leaves', () => {
  const { tree, leaves } = newTree(10)
  startLineage(tree, 0, 6)
  tree.lineages.push({ cut: 6 })
  const regrown = [...leaves.slice(0, 6), testLeaf(0, 2), testLeaf(1, 2)]
  assert.equal(hex(getRoot(tree, 1, 6)), hex(new NaiveTree(leaves.slice(0, 6)).root))
  appendLeaves(tree, 1, 6, Buffer.concat(regrown.slice(6)))
  const before = { lineage: 0, leafCount: 10, root: new NaiveTree(leaves).root }
  const after = { lineage: 1, leafCount: 8, root: new NaiveTree(regrown).root }
  for (let i = 0; i < 10; i++)
    assert.equal(
      hex(proveLeaf(tree, before, i).branch),
      hex(new NaiveTree(leaves).branch(i)),
      `old leaf ${i}`,
    )
  for (let i = 0; i < 8; i++)
    assert.equal(
      hex(proveLeaf(tree, after, i).branch),
      hex(new NaiveTree(regrown).branch(i)),
      `new leaf ${i}`,
    )
})

test('a new lineage begins with copies of the cut tiles, without the leaves above the cut', () => {
  const { tree } = newTree(64 * 64 + 200)
  const { tree: short } = newTree(64 * 3 + 5)
  startLineage(tree, 0, 64 * 3 + 5)
  const copied = [0, 1].map((group) => tree.tiles.getTile(1, group, group === 0 ? 3 : 0))
  const expected = [0, 1].map((group) => short.tiles.getTile(0, group, group === 0 ? 3 : 0))
  assert.deepEqual(copied, expected)
  assert.equal(tree.tiles.getTile(1, 0, 2), undefined, 'a tile below the cut is read from the parent')
})

test('a cut to no leaf and a cut to the present leaf count both start a lineage', () => {
  const { tree, leaves } = newTree(64)
  startLineage(tree, 0, 64)
  tree.lineages.push({ cut: 64 })
  startLineage(tree, 1, 0)
  tree.lineages.push({ cut: 0 })
  assert.equal(hex(getRoot(tree, 1, 64)), hex(new NaiveTree(leaves).root))
  for (const leafCount of [40, 64]) {
    const naive = new NaiveTree(leaves.slice(0, leafCount))
    const { branch } = proveLeaf(tree, { lineage: 1, leafCount, root: naive.root }, 33)
    assert.equal(hex(branch), hex(naive.branch(33)), "a tile that ends at the cut is the parent's")
  }
  assert.equal(hex(getRoot(tree, 2, 0)), hex(NaiveTree.zeroHashes[32]!))
  appendLeaves(tree, 2, 0, testLeaf(5))
  assert.equal(hex(getRoot(tree, 2, 1)), hex(new NaiveTree([testLeaf(5)]).root))
})

test('a proof that does not fold to the root of its state is never returned', () => {
  const { tree, leaves } = newTree(100)
  const state = { lineage: 0, leafCount: 77, root: new NaiveTree(leaves.slice(0, 77)).root }
  assert.throws(() => proveLeaf(tree, { ...state, leafCount: 78 }, 40), InvariantError)
  const edges = new EdgeCache(1)
  const { branch } = proveLeaf(tree, state, 40, edges)
  let flipped = 0
  for (const tile of tree.tiles.tiles.values())
    for (let node = 0; node < 126; node++) {
      const bytes = tile.subarray(32 * node, 32 * node + 32)
      const isUsed = hex(branch).includes(hex(bytes)) || hex(bytes) === hex(leaves[40]!)
      if (!isUsed || bytes.every((byte) => byte === 0)) continue
      bytes[node % 32]! ^= 1
      for (const cache of [undefined, edges])
        assert.throws(
          () => proveLeaf(tree, state, 40, cache),
          /leaf 40 of 77 in lineage 0 folds to 0x.*expected root 0x/,
        )
      bytes[node % 32]! ^= 1
      flipped++
    }
  // The leaf and its siblings of levels 0–5; the sibling of level 6 is incomplete at 77.
  assert.equal(flipped, 7)
  for (const cache of [undefined, edges])
    assert.equal(hex(proveLeaf(tree, state, 40, cache).branch), hex(branch))
})

test('damage above the cached edge of a state enters no proof of it, and proofs of other states detect it', () => {
  const { tree, leaves } = newTree(64 * 64 + 3)
  const [before, after] = [64 * 64 + 2, 64 * 64 + 3].map((leafCount) => ({
    lineage: 0,
    leafCount,
    root: new NaiveTree(leaves.slice(0, leafCount)).root,
  })) as [TreeState, TreeState]
  const edges = new EdgeCache(4)
  const { branch } = proveLeaf(tree, before, 64 * 64, edges)
  // The node above the first 4,096 leaves: sibling of level 12 of the leaves behind them.
  tree.tiles.getTile(0, 2, 0)![0]! ^= 1
  assert.equal(hex(proveLeaf(tree, before, 64 * 64, edges).branch), hex(branch))
  assert.throws(() => proveLeaf(tree, after, 64 * 64, edges), InvariantError)
})

test('flipping any one bit of leaf, branch, root or index makes a proof invalid', () => {
  const { tree, leaves } = newTree(50)
  const root = new NaiveTree(leaves).root
  const { leaf, branch } = proveLeaf(tree, { lineage: 0, leafCount: 50, root }, 21)
  const parts = [leaf, branch, root]
  assert.ok(isBranchOf(hasher, root, leaf, branch, 21))
  for (const part of parts)
    for (let bit = 0; bit < 8 * part.length; bit++) {
      part[bit >> 3]! ^= 1 << (bit & 7)
      assert.ok(!isBranchOf(hasher, root, leaf, branch, 21), `bit ${bit} of ${part.length} bytes`)
      part[bit >> 3]! ^= 1 << (bit & 7)
    }
  // Above level 7 both siblings are zero hashes or the whole tree, yet the index still distinguishes left
  // from right.
  for (let bit = 0; bit < 32; bit++)
    assert.ok(!isBranchOf(hasher, root, leaf, branch, (21 ^ (1 << bit)) >>> 0), `bit ${bit} of the index`)
})

test('a missing tile is an InvariantError that names it', () => {
  const { tree } = newTree(70)
  tree.tiles.tiles.delete([...tree.tiles.tiles.keys()][1]!)
  assert.throws(() => getRoot(tree, 0, 70), /tree tile is missing: lineage 0, group 0, index 1/)
  assert.throws(
    () => appendLeaves(tree, 0, 70, testLeaf(0)),
    /tree tile to extend is missing: lineage 0, group 0, index 1/,
  )
})

test('a leaf at or above the leaf count is refused', () => {
  const { tree, leaves } = newTree(5)
  const state = { lineage: 0, leafCount: 5, root: new NaiveTree(leaves).root }
  assert.throws(() => proveLeaf(tree, state, 5), /leaf index 5 is not below leaf count 5/)
})
