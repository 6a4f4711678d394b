import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendLeaves } from '../../../src/merkle/appendOnlyTree.js'
import { EdgeCache } from '../../../src/merkle/edgeCache.js'
import { getLeaf, getRoot, getRootsAtCounts, proveLeaf } from '../../../src/merkle/treeProofs.js'
import { compileMerkleModule, createHasher } from '../../../src/merkle/wasm.js'
import { MemoryTiles } from '../../support/memoryTiles.js'
import { NaiveTree, testLeaf } from '../../support/naiveTree.js'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

for (const build of ['simd', 'scalar'] as const) {
  const hasher = createHasher(compileMerkleModule(build))

  test(`${build}: every leaf under every leaf count up to 130 has the naive tree's branch and root`, () => {
    const leaves = Array.from({ length: 130 }, (_, i) => testLeaf(i))
    const tree = { hasher, tiles: new MemoryTiles(), lineages: [{ cut: 0 }] }
    appendLeaves(tree, 0, 0, Buffer.concat(leaves))
    const edges = new EdgeCache(16)
    let proofs = 0
    for (let leafCount = 1; leafCount <= 130; leafCount++) {
      const naive = new NaiveTree(leaves.slice(0, leafCount))
      const version = { lineage: 0, leafCount, root: naive.root }
      assert.equal(hex(getRoot(tree, 0, leafCount)), hex(naive.root), `root at ${leafCount}`)
      for (let index = 0; index < leafCount; index++) {
        const branch = hex(naive.branch(index))
        const proof = proveLeaf(tree, version, index)
        assert.equal(hex(proof.branch), branch, `leaf ${index} of ${leafCount}`)
        assert.equal(hex(proof.leaf), hex(leaves[index]!))
        assert.equal(
          hex(proveLeaf(tree, version, index, edges).branch),
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
