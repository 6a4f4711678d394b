import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlockNumber } from '../../../../src/protocol/units.js'
import { RandomChain } from '../../../support/randomChain.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard } from '../../../support/testShard.js'

test("polled roots are injections of the checkpoint's block, and a reorg removes them with it", async (t) => {
  const shard = openTestShard(tempFolder(t), 1)
  const { writer, read } = shard
  const chain = new RandomChain(3)
  for (let count = 0; count < 4; count++) chain.grow(4)
  try {
    writer.applyBlocks(batchOf(chain.blocks.slice(0, 3)))
    const before = read((view) => dumpTables(view))
    const injections = writer.counts().gerInjections
    writer.applyBlocks(batchOf(chain.blocks.slice(3)))
    const atFour = writer.counts().gerInjections
    assert.equal(writer.polledLeaves(), undefined)

    const roots = [Buffer.alloc(32, 0xa1), Buffer.alloc(32, 0xa2)]
    writer.addPolledGers(roots, 7)
    writer.addPolledGers(roots, 9)
    assert.deepEqual([writer.counts().gerInjections, writer.polledLeaves()], [atFour + 2, 9])

    writer.revertTo(3 as BlockNumber)
    assert.deepEqual([writer.counts().gerInjections, writer.polledLeaves()], [injections, undefined])
    assert.deepEqual(
      read((view) => dumpTables(view)),
      before,
    )
  } finally {
    await shard.close()
  }
})
