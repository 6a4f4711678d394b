import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { uint32Key } from '../../src/store/layout/keys.js'
import { decodeUint32 } from '../../src/store/layout/smallRows.js'
import { openShardStoreWriter } from '../../src/store/shardStore.js'
import { RandomChain } from '../support/randomChain.js'
import { tempFolder } from '../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard } from '../support/testShard.js'

const BLOCKS = 14
const SEED = 21
const endlessWriter = fileURLToPath(new URL('./processes/endlessWriter.js', import.meta.url))
const startOverKiller = fileURLToPath(new URL('./processes/startOverKiller.js', import.meta.url))
const endlessShardWriter = fileURLToPath(new URL('./processes/endlessShardWriter.js', import.meta.url))

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

test('kill -9 of a writing process leaves whole transactions, and the next writer continues', async (context) => {
  const directory = `${tempFolder(context)}/7`
  let total = 0
  for (let round = 0; round < 6; round++) {
    const child = fork(endlessWriter, [directory], { stdio: 'ignore' })
    let acknowledged = 0
    for await (const [message] of onMessages(child)) {
      acknowledged = message as number
      if (acknowledged >= total + 20 + round) break
    }
    child.kill('SIGKILL')
    await once(child, 'exit')
    const writer = openShardStoreWriter(directory)
    const all = { start: uint32Key(0), end: uint32Key(100) }
    const values = writer.list('claims', all).map(({ value }) => decodeUint32(value))
    assert.equal(values.length, 20)
    assert.equal(new Set(values).size, 1, `round ${round}: ${values}`)
    assert.ok(values[0]! >= acknowledged, `${values[0]} stored, ${acknowledged} acknowledged`)
    total = values[0]!
    await writer.close()
  }
})

async function* onMessages(child: ReturnType<typeof fork>): AsyncGenerator<unknown[]> {
  for (;;) yield (await once(child, 'message')) as unknown[]
}
