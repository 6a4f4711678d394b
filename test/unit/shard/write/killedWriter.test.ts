import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { RandomChain } from '../../../support/randomChain.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard } from '../../../support/testShard.js'

const BLOCKS = 14
const SEED = 21
const startOverKiller = fileURLToPath(new URL('../../../support/startOverKiller.js', import.meta.url))
const endlessShardWriter = fileURLToPath(new URL('../../../support/endlessShardWriter.js', import.meta.url))

test('a shard whose writer is killed at any moment is whole: every table is that of its checkpoint', async (context) => {
  const folder = tempFolder(context)
  const chain = new RandomChain(SEED)
  for (let count = 0; count < BLOCKS; count++) chain.grow(6)
  for (let round = 0; round < 5; round++) {
    const args = [folder, String(SEED), String(BLOCKS)]
    const child = fork(endlessShardWriter, args, { stdio: 'ignore' })
    // The kill comes while the child works on the transaction after its last message.
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

test('a process killed while it empties its shard leaves the whole shard or an empty one, and the next writer continues', async (context) => {
  const chain = new RandomChain(SEED)
  for (let count = 0; count < BLOCKS; count++) chain.grow(6)
  const folder = tempFolder(context)
  const read = async () => {
    const shard = openTestShard(folder, 1)
    const tables = shard.read(dumpTables)
    const startOvers = shard.writer.startOvers()
    await shard.close()
    return { tables, startOvers }
  }
  const filled = openTestShard(folder, 1)
  filled.writer.applyBlocks(batchOf(chain.blocks))
  await filled.close()
  const full = await read()
  assert.ok(Object.keys(full.tables).length > 50)

  /** @returns the number of changes, when the transaction completed. */
  const emptyUntil = async (changes: number): Promise<number | undefined> => {
    const child = fork(startOverKiller, [folder, String(changes)], { stdio: 'ignore' })
    let told: number | undefined
    child.on('message', (message) => {
      told = message as number
    })
    const [, signal] = await once(child, 'exit')
    assert.equal(signal, 'SIGKILL')
    return told
  }
  // Before the first table, between tables, and among the meta entries.
  const moments = [0, 1, 7, 20, 24, 26]
  for (const changes of moments) {
    assert.equal(await emptyUntil(changes), undefined, `${changes} is before the end`)
    assert.deepEqual(await read(), full, `killed before change ${changes}`)
  }
  const changes = await emptyUntil(1_000)
  assert.ok(changes !== undefined && changes > moments.at(-1)!, `${changes} changes`)
  const empty = await read()
  assert.deepEqual(empty.startOvers, { count: 1, notBeforeMs: undefined })
  const shard = openTestShard(folder, 1)
  assert.equal(shard.writer.checkpoint(), undefined)
  shard.writer.applyBlocks(batchOf(chain.blocks))
  assert.deepEqual(shard.read(dumpTables), full.tables)
  await shard.close()
})
