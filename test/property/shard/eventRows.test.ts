import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { withoutSenders } from '../../support/indexedBlocks.js'
import { packedBlocks } from '../../support/packedBlocks.js'
import { RandomChain } from '../../support/randomChain.js'
import { tempFolder } from '../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard } from '../../support/testShard.js'

test('deposits and claims that come as rows are stored, byte by byte, as the same events one by one', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(12), async (seed, undoFloor) => {
      const chain = new RandomChain(seed)
      for (let block = 0; block < 12; block++) chain.grow(8)
      const blocks = chain.blocks.map(withoutSenders)
      const [plain, rows] = [openTestShard(tempFolder(context), 1), openTestShard(tempFolder(context), 1)]
      try {
        for (const [from, to] of [
          [0, 5],
          [5, 6],
          [6, 12],
        ] as const) {
          const some = blocks.slice(from, to)
          plain.writer.applyBlocks(batchOf(some, undoFloor))
          rows.writer.applyBlocks({ ...batchOf(some, undoFloor), blocks: packedBlocks(some) })
        }
        assert.deepEqual(rows.read(dumpTables), plain.read(dumpTables))
      } finally {
        await plain.close()
        await rows.close()
      }
    }),
    { numRuns: 25 },
  )
})
