import assert from 'node:assert/strict'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { QueryPoolOptions } from '../../../src/pool/queryPool.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { askIndex, jsonOf, startFakePool } from '../../support/fakePool.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'
import { type SnapshotCare, VALUE_KEY } from './storeQuery.js'

async function world(context: TestContext, atomics: QueryPoolOptions['atomics'], care: SnapshotCare) {
  const config = loadedConfig(tempFolder(context))
  const directory = shardDirectory(config.dataDir, 0)
  mkdirSync(directory, { recursive: true })
  const store = openShardStoreWriter(directory)
  const workerFile = new URL('./storeQueryWorker.js', import.meta.url)
  const write = (value: number, bystanders = 0): void =>
    store.transact((view) => {
      const bytes = new Uint8Array(1_000)
      new DataView(bytes.buffer).setUint32(0, value)
      view.put('meta', VALUE_KEY, bytes)
      for (let key = 0; key < bystanders; key++) view.put('meta', Uint8Array.of(0xef, key), bytes)
    })
  write(0)
  const { pool } = await startFakePool(
    config,
    { workerFile, ...(atomics === undefined ? {} : { atomics }) },
    care,
  )
  context.after(async () => {
    await pool.close()
    await store.close()
  })
  const read = async (): Promise<number> =>
    (jsonOf(await askIndex(pool, 1)) as { timestamp: number }).timestamp
  return { write, read, sizeBytes: () => statSync(join(directory, 'data.mdb')).size }
}

async function staleReads({ write, read }: Awaited<ReturnType<typeof world>>): Promise<number> {
  let stale = 0
  for (let value = 1; value <= 200; value++) {
    write(value)
    if ((await read()) !== value) stale++
  }
  return stale
}

for (const atomics of ['sync', 'async', 'disabled'] as const)
  test(`a commit is visible to the very next request (atomics: ${atomics})`, async (context) => {
    assert.equal(await staleReads(await world(context, atomics, 'both ends')), 0)
  })

test('negative control: without the refresh the same reads are stale', async (context) => {
  assert.ok((await staleReads(await world(context, 'sync', 'none'))) > 100)
})

/** Small commits beside an idle worker that has read once. */
async function growthBytes({ write, read, sizeBytes }: Awaited<ReturnType<typeof world>>): Promise<number> {
  write(1, 50)
  await read()
  const before = sizeBytes()
  for (let value = 2; value < 300; value++) write(value, 50)
  return sizeBytes() - before
}

test('an idle worker pins no snapshot: small commits do not make the file grow', async (context) => {
  const growth = await growthBytes(await world(context, 'sync', 'both ends'))
  assert.ok(growth < 2 * 1024 * 1024, `grew by ${growth} bytes`)
})

test('negative control: without the release the file grows', async (context) => {
  const growth = await growthBytes(await world(context, 'sync', 'only at the start'))
  assert.ok(growth > 8 * 1024 * 1024, `grew by ${growth} bytes`)
})
