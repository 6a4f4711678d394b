import assert from 'node:assert/strict'
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Config, NetworkConfig } from '../../../src/config/config.types.js'
import { metaKey } from '../../../src/store/codecs/keys.js'
import { encodeUint32 } from '../../../src/store/codecs/smallRows.js'
import { prepareStores } from '../../../src/store/openStores.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { tempFolder } from '../../support/tempFolder.js'
import { until } from '../../support/until.js'

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
  assert.equal(existsSync(join(folder, 'bds.lock')), false)
})

test('a store made for another chain or other contracts is refused in one line that names each difference', async (context) => {
  const folder = tempFolder(context)
  await prepareStores(configOf(folder)).close()
  const changes: [Partial<NetworkConfig>, string][] = [
    [{ chainId: 7 }, 'chain_id 1001 (configured: 7)'],
    [{ bridge: '0xbb', startBlock: 0 }, `bridge ${bridge} (configured: 0xbb), start_block 3 (configured: 0)`],
  ]
  for (const [change, told] of changes)
    assert.throws(() => prepareStores(configOf(folder, change)), {
      name: 'FatalError',
      message: `${shardDirectory(folder, 0)} was made for ${told}: choose another data_dir, or index again with \`bds reindex --network 0\``,
    })
  await prepareStores(configOf(folder)).close()
})

test('a store of another schema version is refused', async (context) => {
  const folder = tempFolder(context)
  await prepareStores(configOf(folder)).close()
  const store = openShardStoreWriter(shardDirectory(folder, 1))
  store.transact((view) => view.put('meta', metaKey('schema'), encodeUint32(99)))
  await store.close()
  assert.throws(() => prepareStores(configOf(folder)), {
    name: 'FatalError',
    message: `${shardDirectory(folder, 1)} has schema version 99, this build reads 5: index again with \`bds reindex --network 1\``,
  })
})

test('a second process on the same folder is refused by name, and let in once the first is gone', async (context) => {
  const folder = tempFolder(context)
  const holder = fileURLToPath(new URL('../../support/storeHolder.js', import.meta.url))
  const child = fork(holder, [folder], { stdio: 'ignore' })
  await once(child, 'message')
  assert.throws(() => prepareStores(configOf(folder)), {
    name: 'FatalError',
    message: `data_dir ${folder} is in use by process ${child.pid}: stop it first, or choose another data_dir`,
  })
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.ok(existsSync(join(folder, 'bds.lock')), 'the lock of the killed process is still there')
  await prepareStores(configOf(folder)).close()
})

test('a killed process that nobody has reaped yet holds no folder', async (context) => {
  const folder = tempFolder(context)
  const holder = fileURLToPath(new URL('../../support/storeHolder.js', import.meta.url))
  // The shell becomes a program that never asks for its children: what is killed below it stays a zombie.
  const script = `'${process.execPath}' '${holder}' '${folder}' & exec sleep 60`
  const parent = spawn('sh', ['-c', script], { stdio: 'ignore', detached: true })
  context.after(() => void process.kill(-parent.pid!, 'SIGKILL'))
  const lock = join(folder, 'bds.lock')
  await until(() => existsSync(lock), Boolean, 'the lock of the other process')
  const { pid } = JSON.parse(readFileSync(lock, 'utf8')) as { pid: number }
  assert.throws(() => prepareStores(configOf(folder)), { name: 'FatalError' })
  process.kill(pid, 'SIGKILL')
  await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), isZombie, 'a zombie')
  await prepareStores(configOf(folder)).close()
})

const isZombie = (stat: string): boolean => stat.slice(stat.lastIndexOf(')')).startsWith(') Z')

test('a lock of a pid that belongs to another process now is taken over', async (context) => {
  const folder = tempFolder(context)
  const lock = join(folder, 'bds.lock')
  const guard = prepareStores(configOf(folder))
  const owner = JSON.parse(readFileSync(lock, 'utf8')) as object
  await guard.close()
  const others = [
    { startedAt: '1' },
    { pid: process.ppid, startedAt: '1' },
    { bootId: 'an earlier boot' },
    { host: 'a container of before' },
  ]
  for (const change of others) {
    writeFileSync(lock, JSON.stringify({ ...owner, ...change }))
    await prepareStores(configOf(folder)).close()
  }
  writeFileSync(lock, '{"pid":')
  await prepareStores(configOf(folder)).close()
})
