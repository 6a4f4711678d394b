import assert from 'node:assert/strict'
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Config } from '../../../src/config/config.types.js'
import { readFeedPlace } from '../../../src/shard/position/feedPosition.js'
import { endFeed } from '../../../src/store/ensureFeed.js'
import { prepareStores } from '../../../src/store/openStores.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

/** Starts and ends once. @returns the feeds of networks 0 and 1. */
async function feedsAtStart(config: Config): Promise<number[]> {
  const guard = prepareStores(config)
  const feeds = [0, 1].map((networkId) => readFeedPlace(guard.stores.get(networkId)!)!.feedId)
  await guard.close()
  return feeds
}

test('each store has a feed of its own, and keeps it over restarts', async (context) => {
  const config = loadedConfig(tempFolder(context))
  const [first, second] = await feedsAtStart(config)
  assert.notEqual(first, second)
  assert.deepEqual(await feedsAtStart(config), [first, second])
  assert.deepEqual(await feedsAtStart(config), [first, second])
})

test('a store whose file was copied and put back begins another feed, and the other store keeps its own', async (context) => {
  const config = loadedConfig(tempFolder(context))
  const [first, second] = await feedsAtStart(config)
  const file = join(config.dataDir, '0', 'data.mdb')
  copyFileSync(file, `${file}.copy`)
  rmSync(file)
  renameSync(`${file}.copy`, file)
  const [firstAfter, secondAfter] = await feedsAtStart(config)
  assert.notEqual(firstAfter, first)
  assert.equal(secondAfter, second)
  assert.deepEqual(await feedsAtStart(config), [firstAfter, second])
})

test('a store whose feed was ended begins another one in the same file, and keeps that', async (context) => {
  const config = loadedConfig(tempFolder(context))
  const [first, second] = await feedsAtStart(config)
  const store = openShardStoreWriter(shardDirectory(config.dataDir, 0))
  endFeed(store)
  await store.close()
  const [firstAfter, secondAfter] = await feedsAtStart(config)
  assert.notEqual(firstAfter, first)
  assert.equal(secondAfter, second)
  assert.deepEqual(await feedsAtStart(config), [firstAfter, second])
})
