import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileMerkleModule, createHasher } from '../../../src/merkle/wasm.js'
import type { BlockNumber, NetworkId } from '../../../src/protocol/units.js'
import { verifyShard } from '../../../src/shard/verify/verifyShard.js'
import { RandomChain } from '../../support/randomChain.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { batchOf, openTestShard } from '../../support/testShard.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }
const hasher = createHasher(compileMerkleModule())

test('verification finds nothing in what the writer made, with and without undo, after reorgs and cuts of the tree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(20), fc.nat(), async (chainSeed, undoFloor, depth) => {
      const folder = mkdtempSync(join(tmpdir(), 'bds-test-'))
      const chain = new RandomChain(chainSeed)
      const numbers = new TestNumbers(chainSeed + 1)
      const shard = openTestShard(folder, 1)
      const growAndFeed = (count: number): void => {
        const from = chain.blocks.length
        for (let blocks = 0; blocks < count; blocks++) chain.grow(6)
        for (let next = from; next < chain.blocks.length; ) {
          const end = Math.min(chain.blocks.length, next + 1 + numbers.below(8))
          shard.writer.applyBlocks(batchOf(chain.blocks.slice(next, end), undoFloor))
          next = end
        }
      }
      growAndFeed(25)
      const ancestor = 25 - (depth % (26 - undoFloor))
      shard.writer.revertTo(ancestor as BlockNumber)
      chain.dropAbove(ancestor)
      growAndFeed(5)
      const found = shard.read((view) => [...verifyShard(view, 1 as NetworkId, hasher, true)])
      assert.deepEqual(
        found.filter(({ isGood }) => !isGood),
        [],
      )
      assert.equal(found.length, 14)
      await shard.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }),
    { ...seed, numRuns: 15, includeErrorInReport: true },
  )
})
