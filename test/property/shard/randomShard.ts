import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { BlockNumber } from '../../../src/protocol/units.js'
import { RandomChain } from '../../support/randomChain.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { batchOf, openTestShard, type TestShard } from '../../support/testShard.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }
const [FIRST_BLOCKS, LATER_BLOCKS] = [25, 5]

/**
 * Runs the body with the shard of network 1 and the random chain that it holds. The shard was written in batches
 * of any size, with undo from any block on, reverted to any block that undo reaches, and written on.
 */
export async function assertForRandomShards(
  runs: number,
  eventsPerBlock: number,
  body: (shard: TestShard, chain: RandomChain) => void,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(20), fc.nat(), async (chainSeed, undoFloor, depth) => {
      const folder = mkdtempSync(join(tmpdir(), 'bds-test-'))
      const chain = new RandomChain(chainSeed)
      const numbers = new TestNumbers(chainSeed + 1)
      const shard = openTestShard(folder, 1)
      const growAndFeed = (count: number): void => {
        const from = chain.blocks.length
        for (let blocks = 0; blocks < count; blocks++) chain.grow(eventsPerBlock)
        for (let next = from; next < chain.blocks.length; ) {
          const end = Math.min(chain.blocks.length, next + 1 + numbers.below(8))
          shard.writer.applyBlocks(batchOf(chain.blocks.slice(next, end), undoFloor))
          next = end
        }
      }
      growAndFeed(FIRST_BLOCKS)
      const ancestor = FIRST_BLOCKS - (depth % (FIRST_BLOCKS + 1 - undoFloor))
      shard.writer.revertTo(ancestor as BlockNumber)
      chain.dropAbove(ancestor)
      growAndFeed(LATER_BLOCKS)
      body(shard, chain)
      await shard.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    }),
    { ...seed, numRuns: runs, includeErrorInReport: true },
  )
}
