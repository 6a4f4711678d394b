import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Config, NetworkConfig } from '../../../src/config/config.types.js'
import { metaKey } from '../../../src/store/layout/keys.js'
import { encodeUint32 } from '../../../src/store/layout/smallRows.js'
import { prepareStores } from '../../../src/store/openStores.js'
import { restoreDirectory, restoreMarker, shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { tempFolder } from '../../support/tempFolder.js'

const bridge = `0x${'2a'.repeat(20)}`

function configOf(dataDir: string, change: Partial<NetworkConfig> = {}): Config {
  const network = {
    networkId: 1,
    chainId: 1001,
    bridge,
    globalExitRootManager: `0x${'a4'.repeat(20)}`,
    startBlock: 3,
    ...change,
  }
  return { dataDir, networks: [{ ...network, networkId: 0 }, network] } as unknown as Config
}

test('a store opens again for the configuration that it was made for', async (context) => {
  const folder = join(tempFolder(context), 'made', 'on', 'demand')
  await prepareStores(configOf(folder)).close()
  await prepareStores(configOf(folder)).close()
  assert.ok(existsSync(join(shardDirectory(folder, 1), 'data.mdb')))
})

test('a store made for another chain or other contracts is refused in one line that names each difference', async (context) => {
  const folder = tempFolder(context)
  await prepareStores(configOf(folder)).close()
  const changes: [Partial<NetworkConfig>, string][] = [
    [{ chainId: 7 }, 'chain_id 1001 (configured: 7)'],
    [{ bridge: '0xbb', startBlock: 0 }, `bridge ${bridge} (configured: 0xbb), start_block 3 (configured: 0)`],
  ]
  for (const [change, naming] of changes)
    assert.throws(() => prepareStores(configOf(folder, change)), {
      name: 'FatalError',
      message: `${shardDirectory(folder, 0)} was made for ${naming}: choose another data_dir, or index again with \`bds reindex --network 0\``,
    })
  await prepareStores(configOf(folder)).close()
})

test('a store that follows a log opens in a cluster only, and one that was indexed alone does not open there', async (context) => {
  const folder = tempFolder(context)
  const alone = configOf(folder)
  const inCluster = { ...alone, cluster: {} } as unknown as Config
  // Nothing is stored yet: it may become either.
  await prepareStores(alone).close()
  await prepareStores(inCluster).close()
  const put = async (name: 'log' | 'checkpoint', value: Uint8Array) => {
    const store = openShardStoreWriter(shardDirectory(folder, 1))
    store.transact((view) => view.put('meta', metaKey(name), value))
    await store.close()
  }
  await put('checkpoint', new Uint8Array(48))
  await prepareStores(alone).close()
  assert.throws(() => prepareStores(inCluster), {
    name: 'FatalError',
    message: /^\S+ was indexed without a cluster, .*`bds reindex --network 1`/,
  })
  await put('log', Buffer.from('{}'))
  await prepareStores(inCluster).close()
  assert.throws(() => prepareStores(alone), {
    name: 'FatalError',
    message: /^\S+ follows the log of a cluster, and cluster\.servers is empty: .*`bds reindex --network 1`$/,
  })
})

test('a store of another schema version is refused', async (context) => {
  const folder = tempFolder(context)
  await prepareStores(configOf(folder)).close()
  const store = openShardStoreWriter(shardDirectory(folder, 1))
  store.transact((view) => view.put('meta', metaKey('schema'), encodeUint32(99)))
  await store.close()
  assert.throws(() => prepareStores(configOf(folder)), {
    name: 'FatalError',
    message: `${shardDirectory(folder, 1)} has schema version 99, this build reads 8: index again with \`bds reindex --network 1\``,
  })
})

test('while a restore that replaces stores is not finished, no store is opened or made', async (context) => {
  const folder = tempFolder(context)
  await prepareStores(configOf(folder)).close()
  mkdirSync(restoreDirectory(folder))
  await prepareStores(configOf(folder)).close()
  writeFileSync(restoreMarker(folder), '')
  rmSync(shardDirectory(folder, 1), { recursive: true })
  assert.throws(() => prepareStores(configOf(folder)), {
    name: 'FatalError',
    message: `a restore into ${folder} was not finished: run \`bds restore\` again`,
  })
  assert.equal(existsSync(shardDirectory(folder, 1)), false)
  rmSync(restoreDirectory(folder), { recursive: true })
  await prepareStores(configOf(folder)).close()
})
