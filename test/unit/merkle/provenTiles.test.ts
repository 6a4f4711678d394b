import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvariantError } from '../../../src/errors/invariantError.js'
import { appendLeaves } from '../../../src/merkle/appendOnlyTree.js'
import { EdgeCache } from '../../../src/merkle/edgeCache.js'
import { ProvenTiles } from '../../../src/merkle/provenTiles.js'
import { proveLeaf } from '../../../src/merkle/treeProofs.js'
import type { TreeState } from '../../../src/merkle/treeTiles.js'
import { compileMerkleModule, createHasher } from '../../../src/wasm/wasmModule.js'
import { MemoryTiles } from '../../support/memoryTiles.js'
import { NaiveTree, testLeaf } from '../../support/naiveTree.js'

/** Leaves of two tiles of leaf tiles, and some more. */
const LEAF_COUNT = 2 * 4096 + 70
const leaves = Array.from({ length: LEAF_COUNT }, (_, i) => testLeaf(i))
const whole = new NaiveTree(leaves)

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function newTree(build: 'simd' | 'scalar' = 'simd', holding = leaves) {
  const tree = {
    hasher: createHasher(compileMerkleModule(build)),
    tiles: new MemoryTiles(),
    lineages: [{ cut: 0 }],
  }
  appendLeaves(tree, 0, 0, Buffer.concat(holding))
  return tree
}

function versionOf(leafCount: number): TreeState {
  return { lineage: 0, leafCount, root: new NaiveTree(leaves.slice(0, leafCount)).root }
}

for (const build of ['simd', 'scalar'] as const)
  test(`${build}: leaves proved with a kept tile have the branches of the naive tree`, () => {
    const tree = newTree(build)
    let byTile = 0
    for (const leafCount of [4096, 4097, 8191, LEAF_COUNT]) {
      const naive = leafCount === LEAF_COUNT ? whole : new NaiveTree(leaves.slice(0, leafCount))
      const state = { lineage: 0, leafCount, root: naive.root }
      const [edges, proven] = [new EdgeCache(4), new ProvenTiles(3)]
      for (let index = 0; index < leafCount; index += index < 130 ? 1 : 61) {
        if (proven.find(state, index) !== undefined) byTile++
        const proof = proveLeaf(tree, state, index, edges, proven)
        assert.equal(hex(proof.branch), hex(naive.branch(index)), `leaf ${index} of ${leafCount}`)
        assert.equal(hex(proof.leaf), hex(leaves[index]!), `leaf ${index} of ${leafCount}`)
      }
    }
    // 196 leaves of the first tile, and 67 of the second: all except the first two of each complete tile.
    assert.equal(byTile, 3 * 194 + 194 + 65)
  })

test('a tile is kept when it is asked for a second time under one state and is complete under it', () => {
  const tree = newTree()
  const state = versionOf(8191)
  const proven = new ProvenTiles(3)
  const isKeptAfter = (index: number, state: TreeState): boolean => {
    proveLeaf(tree, state, index, undefined, proven)
    return proven.find(state, index) !== undefined
  }
  assert.deepEqual([isKeptAfter(5, state), isKeptAfter(4095, state)], [false, true])
  assert.deepEqual(
    [4096, 5000, 8190].map((index) => isKeptAfter(index, state)),
    [false, false, false],
  )
  assert.equal(proven.find({ ...state }, 5), undefined)
  assert.equal(proven.find(state, 4096), undefined)
})

test('a damaged tile of leaves proves nothing, whatever tile is kept above it', () => {
  const tree = newTree()
  const state = versionOf(LEAF_COUNT)
  const proven = new ProvenTiles(3)
  for (const index of [1, 2]) proveLeaf(tree, state, index, undefined, proven)
  const tile = tree.tiles.getTile(0, 0, 7)!
  const index = 7 * 64 + 21
  const used = [index, ...Array.from({ length: 6 }, (_, h) => (index >> h) ^ 1)].map((position, at) => {
    const level = Math.max(0, at - 1)
    return 128 - (128 >> level) + (position & ((64 >> level) - 1))
  })
  for (const node of used) {
    tile[32 * node + 9]! ^= 4
    assert.ok(proven.find(state, index))
    assert.throws(
      () => proveLeaf(tree, state, index, undefined, proven),
      (error) => error instanceof InvariantError && /^leaf 469 of 8262/.test(error.message),
      `node ${node}`,
    )
    tile[32 * node + 9]! ^= 4
  }
  const proof = proveLeaf(tree, state, index, undefined, proven)
  assert.equal(hex(proof.branch), hex(whole.branch(index)))
})

test('damage in the tile above is not kept, and later damage does not enter the proofs of a kept tile', () => {
  const tree = newTree()
  const state = versionOf(LEAF_COUNT)
  const proven = new ProvenTiles(3)
  const above = tree.tiles.getTile(0, 1, 0)!
  // The node over leaves 64 to 127, which no proof of leaves 4,000 and 4,001 needs.
  above[32]! ^= 1
  for (const index of [4000, 4001, 4000]) proveLeaf(tree, state, index, undefined, proven)
  assert.equal(proven.find(state, 4000), undefined)
  assert.throws(() => proveLeaf(tree, state, 3, undefined, proven), InvariantError)
  above[32]! ^= 1
  for (const index of [4000, 4001]) proveLeaf(tree, state, index, undefined, proven)
  above.fill(0xee)
  for (const index of [3, 64, 127, 4000])
    assert.equal(
      hex(proveLeaf(tree, state, index, undefined, proven).branch),
      hex(whole.branch(index)),
      `leaf ${index}`,
    )
  assert.throws(() => proveLeaf(tree, { ...state }, 4000, undefined, proven), InvariantError)
})

test('a kept tile is never used for another tile of its cache slot, even with equal leaves', () => {
  const same = Array.from({ length: LEAF_COUNT }, () => testLeaf(0))
  const naive = new NaiveTree(same)
  const tree = newTree('simd', same)
  const state = { lineage: 0, leafCount: LEAF_COUNT, root: naive.root }
  const proven = new ProvenTiles(1)
  const prove = (index: number) => {
    const { branch } = proveLeaf(tree, state, index, undefined, proven)
    assert.equal(hex(branch), hex(naive.branch(index)), `leaf ${index}`)
  }
  for (const index of [5, 4096 + 5, 6, 4096 + 6]) prove(index)
  // Asked twice, but never in a row.
  assert.deepEqual([proven.find(state, 5), proven.find(state, 4096 + 5)], [undefined, undefined])
  for (const index of [5, 6, 4096 + 5, 4096 + 6, 5]) prove(index)
  assert.equal(proven.find(state, 5), undefined)
  assert.ok(proven.find(state, 4096 + 5))
})

test('a branch that was returned does not change when further branches are made', () => {
  const tree = newTree()
  const state = versionOf(LEAF_COUNT)
  const asked = Array.from({ length: 200 }, (_, at) => 41 * at)
  const branches = asked.map((index) => proveLeaf(tree, state, index).branch)
  assert.deepEqual(
    branches.map(hex),
    asked.map((index) => hex(whole.branch(index))),
  )
})
