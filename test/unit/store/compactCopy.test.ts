import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { uint32Key } from '../../../src/store/layout/keys.js'
import { openShardStoreReader, openShardStoreWriter } from '../../../src/store/shardStore.js'
import { pageUseOf } from '../../support/lmdbPages.js'
import { tempFolder } from '../../support/tempFolder.js'
import { digestTables } from '../../support/testShard.js'

async function copyOf(context: TestContext, directory: string): Promise<string> {
  const folder = join(tempFolder(context), '1')
  mkdirSync(folder)
  const reader = openShardStoreReader(directory)
  await reader.copyTo(folder)
  await reader.close()
  return folder
}

/** A store with a table of so many pages, each with one row. */
async function withFullTable(context: TestContext, pages: number): Promise<string> {
  const directory = join(tempFolder(context), '1')
  const store = openShardStoreWriter(directory)
  store.transact((view) => {
    view.put('meta', uint32Key(1), Uint8Array.of(1))
    for (let key = 0; key < pages; key++) view.put('feed', uint32Key(key), Buffer.alloc(1_900, key))
  })
  await store.close()
  return directory
}

for (const pages of [100, 600, 5_000])
  test(`the first transaction on a copy may clear a table of ${pages} rows`, async (context) => {
    const copy = await copyOf(context, await withFullTable(context, pages))
    assert.equal(pageUseOf(join(copy, 'data.mdb')).free, 0, 'a copy has no free pages')
    const store = openShardStoreWriter(copy)
    store.transact((view) => view.clear('feed'))
    store.transact((view) => view.put('deposits', uint32Key(1), Uint8Array.of(1)))
    assert.deepEqual(store.get('meta', uint32Key(1)), Uint8Array.of(1))
    await store.close()
    const { free, faults } = pageUseOf(join(copy, 'data.mdb'))
    assert.deepEqual(faults, [])
    assert.ok(free >= pages / 2, `${free} free pages`)
  })

test('what a first transaction on a copy finds is what was copied', async (context) => {
  const directory = await withFullTable(context, 600)
  const source = openShardStoreWriter(directory)
  const copy = openShardStoreWriter(await copyOf(context, directory))
  copy.transact(() => undefined)
  assert.equal(digestTables(copy), digestTables(source))
  await source.close()
  await copy.close()
})
