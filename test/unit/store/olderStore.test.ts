import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metaKey } from '../../../src/store/layout/keys.js'
import { decodeCheckpoint } from '../../../src/store/layout/metaValues.js'
import { prepareStores } from '../../../src/store/openStores.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { toHex } from '../../support/indexedBlocks.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { buildOlderWorld, olderSchemas, unpackOlderStores } from '../../support/olderStores.js'
import { tempFolder } from '../../support/tempFolder.js'

for (const schema of olderSchemas)
  test(`a store of schema ${schema} is refused by its version and left unchanged`, async (context) => {
    const world = buildOlderWorld(schema)
    const networks = world.networkIds.map((networkId) =>
      world.network(networkId).config(['http://127.0.0.1:1']),
    )
    const config = { ...loadedConfig(tempFolder(context)), networks }
    unpackOlderStores(schema, config.dataDir, world.networkIds)
    const file = join(shardDirectory(config.dataDir, 0), 'data.mdb')
    const before = readFileSync(file)
    assert.throws(() => prepareStores(config), {
      name: 'FatalError',
      message: `${shardDirectory(config.dataDir, 0)} has schema version ${schema}, this build reads 8: bring it up to date with \`bds upgrade\`, or index again with \`bds reindex --network 0\``,
    })
    assert.deepEqual(readFileSync(file), before)
  })

test('the older stores and the world that they were made from still have the same block hashes', async (context) => {
  for (const schema of olderSchemas) {
    const world = buildOlderWorld(schema)
    const folder = tempFolder(context)
    unpackOlderStores(schema, folder, world.networkIds)
    for (const networkId of world.networkIds) {
      const store = openShardStoreWriter(shardDirectory(folder, networkId))
      context.after(() => store.close())
      const { number, hash } = decodeCheckpoint(store.get('meta', metaKey('checkpoint'))!)
      assert.equal(
        toHex(hash),
        world.network(networkId).blocks[number]!.hash,
        `schema ${schema}, network ${networkId}`,
      )
    }
  }
})
