import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_TREE_ROOT, isBranchOf } from '../../../src/merkle/branch.js'
import { type RollupExit, RollupExitTree } from '../../../src/merkle/rollupExitTree.js'
import { compileMerkleModule, createHasher } from '../../../src/wasm/wasmModule.js'
import { hashPair, NaiveTree, naiveFold, testLeaf } from '../../support/naiveTree.js'

const hasher = createHasher(compileMerkleModule())
const tree = new RollupExitTree(hasher)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const zero = new Uint8Array(32)

function denseTree(exits: readonly RollupExit[]): NaiveTree {
  const leaves = new Array<Uint8Array>(exits.at(-1)!.rollupIndex + 1).fill(zero)
  for (const exit of exits) leaves[exit.rollupIndex] = exit.localExitRoot
  return new NaiveTree(leaves)
}

test('without any rollup the root is 32 zero bytes, as in the manager', () => {
  assert.equal(hex(tree.root([])), '00'.repeat(32))
})

test('rollups that never settled give the root of an empty tree', () => {
  assert.equal(hex(tree.root([{ rollupIndex: 0, localExitRoot: zero }])), hex(EMPTY_TREE_ROOT))
  assert.equal(hex(EMPTY_TREE_ROOT), hex(NaiveTree.zeroHashes[32]!))
})

test("1 to 40 rollups in a row have the naive tree's root, and each rollup its branch", () => {
  for (let count = 1; count <= 40; count++) {
    const exits = Array.from({ length: count }, (_, rollupIndex) => ({
      rollupIndex,
      localExitRoot: rollupIndex % 5 === 3 ? zero : testLeaf(rollupIndex, count),
    }))
    const naive = denseTree(exits)
    assert.equal(hex(tree.root(exits)), hex(naive.root), `${count} rollups`)
    for (const { rollupIndex, localExitRoot } of exits) {
      const proof = tree.prove(exits, rollupIndex, naive.root)
      assert.equal(hex(proof.branch), hex(naive.branch(rollupIndex)), `rollup ${rollupIndex} of ${count}`)
      assert.equal(hex(proof.leaf), hex(localExitRoot))
    }
  }
})

test('missing rollup indexes count as empty leaves', () => {
  const indexes = [2, 3, 17, 64, 65, 200, 511, 512, 900]
  const exits = indexes.map((rollupIndex) => ({ rollupIndex, localExitRoot: testLeaf(rollupIndex) }))
  const naive = denseTree(exits)
  assert.equal(hex(tree.root(exits)), hex(naive.root))
  for (const rollupIndex of [...indexes, 0, 1, 4, 66, 513, 899])
    assert.equal(
      hex(tree.prove(exits, rollupIndex, naive.root).branch),
      hex(naive.branch(rollupIndex)),
      `rollup index ${rollupIndex}`,
    )
})

test('rollups at both ends of the index range share one root', () => {
  const exits = [
    { rollupIndex: 0, localExitRoot: testLeaf(1) },
    { rollupIndex: 0xffff_ffff, localExitRoot: testLeaf(2) },
  ]
  let left = testLeaf(1)
  let right = testLeaf(2)
  for (let h = 0; h < 31; h++) {
    left = hashPair(left, NaiveTree.zeroHashes[h]!)
    right = hashPair(NaiveTree.zeroHashes[h]!, right)
  }
  const root = hashPair(left, right)
  assert.equal(hex(tree.root(exits)), hex(root))
  for (const { rollupIndex, localExitRoot } of exits) {
    const { branch } = tree.prove(exits, rollupIndex, root)
    assert.equal(hex(naiveFold(localExitRoot, branch, rollupIndex)), hex(root), `rollup index ${rollupIndex}`)
  }
})

test('a proof under a root that the rollups do not make is refused', () => {
  const exits = [{ rollupIndex: 0, localExitRoot: testLeaf(1) }]
  assert.throws(() => tree.prove(exits, 0, testLeaf(2)), /does not fold to the rollup exit root/)
})

test('rollups out of index order are refused', () => {
  const exits = [1, 0].map((rollupIndex) => ({ rollupIndex, localExitRoot: zero }))
  assert.throws(() => tree.root(exits), /rollup index 0 does not ascend/)
})

test('flipping any one bit of a branch makes it invalid', () => {
  const exits = [0, 1, 2].map((rollupIndex) => ({ rollupIndex, localExitRoot: testLeaf(rollupIndex) }))
  const root = tree.root(exits)
  const { leaf, branch } = tree.prove(exits, 1, root)
  assert.ok(isBranchOf(hasher, root, leaf, branch, 1))
  for (let bit = 0; bit < 8 * branch.length; bit++) {
    branch[bit >> 3]! ^= 1 << (bit & 7)
    assert.ok(!isBranchOf(hasher, root, leaf, branch, 1), `bit ${bit}`)
    branch[bit >> 3]! ^= 1 << (bit & 7)
  }
})
