import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { appendLeaves, startLineage } from '../../src/merkle/appendOnlyTree.js'
import { EdgeCache } from '../../src/merkle/edgeCache.js'
import { getRoot, getRootsAtCounts, proveLeaf } from '../../src/merkle/treeProofs.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { MemoryTiles } from '../support/memoryTiles.js'
import { ContractTree, hashPair, NaiveTree, naiveFold, testLeaf } from '../support/naiveTree.js'
import { TestNumbers } from '../support/testNumbers.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }
const hasher = createHasher(compileMerkleModule())
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

function newTree() {
  return { hasher, tiles: new MemoryTiles(), lineages: [{ cut: 0 }] }
}

test('leaves appended in batches of any size make the same tiles, byte for byte', () => {
  const leaves = Buffer.concat(Array.from({ length: 5000 }, (_, i) => testLeaf(i)))
  const whole = newTree()
  appendLeaves(whole, 0, 0, leaves)
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 40 }), (batches) => {
      const tree = newTree()
      let leafCount = 0
      for (const batch of [...batches, 5000]) {
        const end = Math.min(5000, leafCount + batch)
        assert.equal(appendLeaves(tree, 0, leafCount, leaves.subarray(32 * leafCount, 32 * end)), end)
        leafCount = end
      }
      assert.deepEqual(tree.tiles.tiles, whole.tiles.tiles)
    }),
    { ...seed, numRuns: 20 },
  )
})

test('a tree that is cut and regrown proves every leaf of every lineage at every size', () => {
  const operation = fc.oneof(
    fc.record({ type: fc.constant('append' as const), count: fc.integer({ min: 1, max: 150 }) }),
    fc.record({ type: fc.constant('append' as const), count: fc.constantFrom(1, 63, 64, 65, 4096) }),
    fc.record({ type: fc.constant('cut' as const), share: fc.integer({ min: 0, max: 1000 }) }),
  )
  const probes = fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 6, maxLength: 6 })
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 12 }), probes, (operations, picks) => {
      const tree = newTree()
      const leavesOf: Uint8Array[][] = [[]]
      let salt = 0
      for (const op of operations) {
        const lineage = leavesOf.length - 1
        const leaves = leavesOf[lineage]!
        if (op.type === 'append') {
          const added = Array.from({ length: op.count }, (_, i) => testLeaf(i, ++salt))
          appendLeaves(tree, lineage, leaves.length, Buffer.concat(added))
          leaves.push(...added)
        } else {
          const cut = Math.floor((leaves.length * op.share) / 1000)
          startLineage(tree, lineage, cut)
          tree.lineages.push({ cut })
          leavesOf.push(leaves.slice(0, cut))
        }
      }
      leavesOf.forEach((leaves, lineage) => {
        assert.equal(hex(getRoot(tree, lineage, leaves.length)), hex(new NaiveTree(leaves).root))
        if (leaves.length === 0) return
        for (const [a, b] of picks) {
          const leafCount = 1 + (a % leaves.length)
          const index = b % leafCount
          const naive = new NaiveTree(leaves.slice(0, leafCount))
          const proof = proveLeaf(tree, { lineage, leafCount, root: naive.root }, index)
          assert.equal(
            hex(proof.branch),
            hex(naive.branch(index)),
            `${lineage}: leaf ${index} of ${leafCount}`,
          )
          assert.equal(hex(proof.leaf), hex(leaves[index]!))
        }
      })
    }),
    { ...seed, numRuns: 25 },
  )
})

test("around every power of two up to 2^13 roots and proofs equal the contract's", () => {
  let contract = new ContractTree()
  const tree = newTree()
  const edges = new EdgeCache(4)
  const wanted = new Set<number>()
  for (let k = 0; k <= 13; k++) for (const d of [-1, 0, 1]) wanted.add(2 ** k + d)
  const leaves = Array.from({ length: 2 ** 13 + 1 }, (_, i) => testLeaf(i))
  appendLeaves(tree, 0, 0, Buffer.concat(leaves))
  let proofs = 0
  leaves.forEach((leaf, i) => {
    contract = contract.append(leaf)
    const leafCount = i + 1
    if (!wanted.has(leafCount)) return
    const version = { lineage: 0, leafCount, root: contract.root }
    assert.equal(hex(getRoot(tree, 0, leafCount)), hex(version.root), `root at ${leafCount}`)
    for (const index of new Set([0, i >> 1, Math.max(0, i - 64), Math.max(0, i - 1), i])) {
      const { branch } = proveLeaf(tree, version, index, edges)
      assert.equal(
        hex(naiveFold(leaves[index]!, branch, index)),
        hex(version.root),
        `${index} of ${leafCount}`,
      )
      proofs++
    }
  })
  assert.ok(proofs > 100)
})

/** Checks random (leaf, leaf count) pairs of a large tree against roots of the contract's algorithm. */
function checkLargeTree(size: number, pairs: number): void {
  const numbers = new TestNumbers(size)
  const counts = Array.from({ length: pairs }, () => 1 + numbers.below(size)).sort((a, b) => a - b)
  counts[pairs - 1] = size
  const leaves = new Uint8Array(32 * size)
  new Uint32Array(leaves.buffer).forEach((_, i, words) => {
    words[i] = numbers.below(2 ** 32)
  })
  const leafAt = (i: number) => leaves.subarray(32 * i, 32 * i + 32)
  let contract = new ContractTree()
  const roots: Uint8Array[] = []
  for (let i = 0; i < size; i++) {
    contract = contract.append(leafAt(i))
    while (roots.length < pairs && counts[roots.length] === i + 1) roots.push(contract.root)
  }
  const tree = newTree()
  appendLeaves(tree, 0, 0, leaves)
  assert.equal(hex(getRootsAtCounts(tree, 0, counts)), hex(Buffer.concat(roots)))
  counts.forEach((leafCount, i) => {
    const index = numbers.below(leafCount)
    const { leaf, branch } = proveLeaf(tree, { lineage: 0, leafCount, root: roots[i]! }, index)
    assert.equal(hex(leaf), hex(leafAt(index)))
    assert.equal(hex(naiveFold(leaf, branch, index)), hex(roots[i]!), `leaf ${index} of ${leafCount}`)
  })
}

test('random leaves of a tree of 100,000 have valid proofs under random leaf counts', () => {
  checkLargeTree(100_000, 500)
})

test('random leaves of a tree of 1,000,000 have valid proofs under random leaf counts (slow: seconds)', () => {
  checkLargeTree(1_000_000, 1000)
})

test('a tree accepts appends and gives valid proofs up to its last leaf, 2^32 − 1', () => {
  // A tree of equal leaves: each level has one complete node, so its tiles need no memory.
  const complete = [testLeaf(0)]
  for (let h = 0; h < 32; h++) complete.push(hashPair(complete[h]!, complete[h]!))
  const nodeAt = (h: number, begin: number, leafCount: number): Uint8Array => {
    if (begin >= leafCount) return NaiveTree.zeroHashes[h]!
    if (begin + 2 ** h <= leafCount) return complete[h]!
    return hashPair(nodeAt(h - 1, begin, leafCount), nodeAt(h - 1, begin + 2 ** (h - 1), leafCount))
  }
  const tileOf = (group: number): Uint8Array => {
    const nodes = [64, 32, 16, 8, 4, 2].flatMap((width, d) =>
      Array.from({ length: width }, () => complete[6 * group + d] ?? new Uint8Array(32)),
    )
    return Buffer.concat(nodes)
  }
  const tileOfGroup = [0, 1, 2, 3, 4, 5].map(tileOf)
  const tiles = { getTile: (_lineage: number, group: number) => tileOfGroup[group], putTile: () => {} }
  const tree = { hasher, tiles, lineages: [{ cut: 0 }] }
  const edges = new EdgeCache(2)
  const position = fc.oneof(
    fc.integer({ min: 0, max: 2 ** 32 - 2 }),
    fc
      .tuple(fc.integer({ min: 1, max: 31 }), fc.integer({ min: -2, max: 2 }))
      .map(([k, d]) => Math.max(0, 2 ** k + d)),
    fc.integer({ min: 2 ** 32 - 100, max: 2 ** 32 - 2 }),
  )
  fc.assert(
    fc.property(position, position, (a, b) => {
      const leafCount = 1 + Math.max(a, b)
      const index = Math.min(a, b)
      const root = nodeAt(32, 0, leafCount)
      assert.equal(hex(getRoot(tree, 0, leafCount)), hex(root))
      for (const cache of [undefined, edges, edges]) {
        const { branch } = proveLeaf(tree, { lineage: 0, leafCount, root }, index, cache)
        for (let h = 0; h < 32; h++) {
          const sibling = Math.floor(index / 2 ** h) % 2 === 0 ? 1 : -1
          const begin = (Math.floor(index / 2 ** h) + sibling) * 2 ** h
          assert.equal(
            hex(branch.subarray(32 * h, 32 * h + 32)),
            hex(nodeAt(h, begin, leafCount)),
            `level ${h}`,
          )
        }
      }
    }),
    { ...seed, numRuns: 60 },
  )
  assert.equal(appendLeaves(tree, 0, 2 ** 32 - 3, Buffer.concat([complete[0]!, complete[0]!])), 2 ** 32 - 1)
  assert.throws(
    () => appendLeaves(tree, 0, 2 ** 32 - 1, complete[0]!),
    /leaf count 4294967296 exceeds 4294967295/,
  )
})
