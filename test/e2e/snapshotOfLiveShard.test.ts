import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openFolderSink, openFolderSource } from '../../src/snapshot/chunkStore.js'
import { assertSameFacts, readShardSnapshot, writeShardSnapshot } from '../../src/snapshot/shardSnapshot.js'
import { metaKey } from '../../src/store/layout/keys.js'
import { encodeUint32 } from '../../src/store/layout/smallRows.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../src/store/shardStore.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { RandomChain } from '../support/randomChain.js'
import { tempFolder } from '../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard } from '../support/testShard.js'

const BLOCKS = 14
const SEED = 23
const endlessShardWriter = fileURLToPath(new URL('./processes/endlessShardWriter.js', import.meta.url))

/** What a service writes into a new store. */
async function identify(folder: string): Promise<void> {
  const store = openShardStoreWriter(shardDirectory(folder, 1))
  store.transact((view) => {
    view.put('meta', metaKey('schema'), encodeUint32(5))
    view.put('meta', metaKey('identity'), Buffer.from('{}'))
  })
  await store.close()
}

test('a snapshot of a shard that another process writes all the time, with reorgs, is the shard at its block; so is one after a kill', async (context) => {
  const folder = tempFolder(context)
  await identify(folder)
  const chain = new RandomChain(SEED)
  for (let count = 0; count < BLOCKS; count++) chain.grow(6)
  const child = fork(endlessShardWriter, [folder, String(SEED), String(BLOCKS)], { stdio: 'ignore' })
  context.after(() => child.kill('SIGKILL'))
  await once(child, 'message')
  const hasher = createHasher(compileMerkleModule())
  const seen = new Set<number>()
  for (let round = 0; round < 6; round++) {
    if (round === 5) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    } else for (let messages = 0; messages < 2 + round; messages++) await once(child, 'message')
    const own = tempFolder(context)
    const to = join(own, 'backup')
    const snapshot = await writeShardSnapshot({
      networkId: 1,
      directory: shardDirectory(folder, 1),
      workFolder: join(to, 'copy'),
      sink: await openFolderSink(to),
      hasher,
      copyTimeoutMs: 60_000,
      onProgress: () => undefined,
    })
    const made = shardDirectory(own, 1)
    await readShardSnapshot(snapshot, openFolderSource(to), made, () => undefined)
    await assertSameFacts(snapshot, made, hasher)
    const { number } = snapshot.block!
    const cleanFolder = tempFolder(context)
    await identify(cleanFolder)
    const clean = openTestShard(cleanFolder, 1)
    clean.writer.applyBlocks(batchOf(chain.blocks.slice(0, number)))
    const copy = openTestShard(own, 1)
    assert.deepEqual(copy.read(dumpTables), clean.read(dumpTables), `round ${round}, block ${number}`)
    await copy.close()
    await clean.close()
    seen.add(number)
  }
  assert.ok(seen.size > 1, 'the shard was written meanwhile')
})
