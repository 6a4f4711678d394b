import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { RandomChain } from '../../support/randomChain.js'
import { tempFolder } from '../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard } from '../../support/testShard.js'

const BLOCKS = 14
const SEED = 21
const endlessShardWriter = fileURLToPath(new URL('../../support/endlessShardWriter.js', import.meta.url))

test('a shard whose writer is killed at any moment is whole: every table is that of its checkpoint', async (context) => {
  const folder = tempFolder(context)
  const chain = new RandomChain(SEED)
  for (let count = 0; count < BLOCKS; count++) chain.grow(6)
  for (let round = 0; round < 5; round++) {
    const args = [folder, String(SEED), String(BLOCKS)]
    const child = fork(endlessShardWriter, args, { stdio: 'ignore' })
    // The kill comes while the child works on what follows the last message.
    for (let messages = 0; messages < 9 + 4 * round; messages++) await once(child, 'message')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const shard = openTestShard(folder, 1)
    const checkpoint = shard.writer.checkpoint()!.number
    const clean = openTestShard(tempFolder(context), 1)
    clean.writer.applyBlocks(batchOf(chain.blocks.slice(0, checkpoint)))
    assert.deepEqual(shard.read(dumpTables), clean.read(dumpTables), `round ${round}, block ${checkpoint}`)
    await shard.close()
    await clean.close()
  }
})
