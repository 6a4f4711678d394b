import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { compileMerkleModule, createHasher, type MerkleBuild } from '../../../src/wasm/wasmModule.js'
import { naiveFold } from '../../support/naiveTree.js'

const builds: readonly MerkleBuild[] = ['simd', 'scalar', 'simd-debug', 'scalar-debug']

for (const build of builds) {
  const hasher = createHasher(compileMerkleModule(build))

  test(`${build}: keccak-256 of every length 0 … 409 equals an independent keccak`, () => {
    const bytes = randomBytes(409)
    for (let length = 0; length <= 409; length++)
      assert.deepEqual(
        Buffer.from(hasher.hash(bytes.subarray(0, length))),
        Buffer.from(keccak_256(bytes.subarray(0, length))),
        `length ${length}`,
      )
  })

  test(`${build}: messages longer than the input buffer are streamed in pieces`, () => {
    for (const length of [65_535, 65_536, 65_537, 131_072, 300_001]) {
      const bytes = randomBytes(length)
      assert.deepEqual(
        Buffer.from(hasher.hash(bytes)),
        Buffer.from(keccak_256(bytes)),
        `length ${length} of ${bytes.subarray(0, 8).toString('hex')}…`,
      )
    }
  })

  test(`${build}: the empty message hashes to the published keccak-256, not to SHA3-256`, () => {
    assert.equal(
      Buffer.from(hasher.hash(new Uint8Array())).toString('hex'),
      'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
    )
  })

  test(`${build}: pairs hash the same one by one and in batches of any size, also in place`, () => {
    for (const count of [0, 1, 2, 3, 63, 64, 1023, 1024, 1025, 2500]) {
      const pairs = randomBytes(64 * count)
      const expected = Buffer.concat(
        Array.from({ length: count }, (_, i) => keccak_256(pairs.subarray(64 * i, 64 * i + 64))),
      )
      const out = Buffer.alloc(32 * count)
      hasher.hashPairs(pairs, count, out)
      assert.deepEqual(out, expected, `count ${count}`)
      if (count > 0)
        assert.deepEqual(
          Buffer.from(hasher.hashPair(pairs.subarray(0, 32), pairs.subarray(32, 64))),
          expected.subarray(0, 32),
        )
      hasher.hashPairs(pairs, count, pairs)
      assert.deepEqual(pairs.subarray(0, 32 * count), expected, `count ${count} in place`)
    }
  })

  test(`${build}: equal messages in a row hash as each alone`, () => {
    for (const [length, count] of [
      [32, 5],
      [72, 2000],
      [113, 1161],
      [135, 3],
      [136, 3],
      [137, 480],
    ] as const) {
      const messages = randomBytes(length * count)
      const expected = Array.from({ length: count }, (_, i) =>
        keccak_256(messages.subarray(length * i, length * (i + 1))),
      )
      assert.deepEqual(
        Buffer.from(hasher.hashMessages(messages, length, count)),
        Buffer.concat(expected),
        `${count} × ${length}`,
      )
    }
  })

  test(`${build}: nodes are written as JSON strings, with commas between them`, () => {
    for (const count of [0, 1, 2, 32, 64]) {
      const nodes = randomBytes(32 * count)
      const expected = Array.from(
        { length: count },
        (_, i) => `0x${nodes.subarray(32 * i, 32 * i + 32).toString('hex')}`,
      )
      const target = Buffer.alloc(8 + 69 * count)
      const length = hasher.formatNodes(nodes, target, 5)
      assert.equal(
        `[${target.toString('latin1', 5, 5 + length)}]`,
        JSON.stringify(expected),
        `${count} nodes`,
      )
      assert.equal(
        target.toString('latin1', 5 + length).replaceAll('\0', ''),
        '',
        'nothing is written behind',
      )
    }
    assert.throws(
      () => hasher.formatNodes(new Uint8Array(65 * 32), new Uint8Array(9000), 0),
      /65 nodes exceed 64/,
    )
  })

  test(`${build}: a branch folds to the root of a plain loop, for indexes of every shape`, () => {
    for (const index of [0, 1, 2, 0x5555_5555, 0xaaaa_aaaa, 0x8000_0000, 0xffff_ffff]) {
      const leaf = randomBytes(32)
      const branch = randomBytes(1024)
      assert.deepEqual(
        Buffer.from(hasher.foldBranch(leaf, branch, index)),
        Buffer.from(naiveFold(leaf, branch, index)),
        `index ${index}`,
      )
    }
  })
}

test('all builds agree on 10,000 random pairs, and with an independent keccak', () => {
  const pairs = randomBytes(64 * 10_000)
  const expected = Buffer.concat(
    Array.from({ length: 10_000 }, (_, i) => keccak_256(pairs.subarray(64 * i, 64 * i + 64))),
  )
  for (const build of builds) {
    const out = Buffer.alloc(32 * 10_000)
    createHasher(compileMerkleModule(build)).hashPairs(pairs, 10_000, out)
    assert.deepEqual(out, expected, build)
  }
})
