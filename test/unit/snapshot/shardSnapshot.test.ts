import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { encodeHex } from '../../../src/protocol/hex.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { putLogPlace, putLogSettings } from '../../../src/shard/position/logPosition.js'
import type { LogSettings } from '../../../src/shard/shardLog.types.js'
import { verifyShard } from '../../../src/shard/verify/verifyShard.js'
import { openFolderSink, openFolderSource } from '../../../src/snapshot/chunkStore.js'
import { chunkName, type ShardSnapshot } from '../../../src/snapshot/manifest.js'
import {
  assertSameFacts,
  readShardSnapshot,
  writeShardSnapshot,
} from '../../../src/snapshot/shardSnapshot.js'
import { metaKey } from '../../../src/store/layout/keys.js'
import { encodeUint32 } from '../../../src/store/layout/smallRows.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreSnapshot, openShardStoreWriter } from '../../../src/store/shardStore.js'
import { compileMerkleModule, createHasher } from '../../../src/wasm/wasmModule.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { IndexedWorld } from '../../support/indexedWorld.js'
import { tempFolder } from '../../support/tempFolder.js'
import { digestTables } from '../../support/testShard.js'

const hasher = createHasher(compileMerkleModule())

function digestOf(directory: string): string {
  const store = openShardStoreSnapshot(directory)
  store.refresh()
  const digest = digestTables(store)
  store.release()
  void store.close()
  return digest
}

async function snapshotOf(context: TestContext, networkId: number) {
  const { world } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const folder = tempFolder(context)
  const directory = shardDirectory(indexed.config.dataDir, networkId)
  const to = join(folder, 'backup')
  const take = async (copyTimeoutMs = 60_000): Promise<ShardSnapshot> =>
    writeShardSnapshot({
      ...{ networkId, directory, hasher, copyTimeoutMs },
      workFolder: join(to, 'copy'),
      sink: await openFolderSink(to),
      onProgress: () => undefined,
    })
  return { world, indexed, directory, folder, to, take }
}

for (const networkId of [0, 1])
  test(`the store made of a snapshot has every entry that network ${networkId} had, and no later one`, async (context) => {
    const { world, indexed, directory, folder, to, take } = await snapshotOf(context, networkId)
    const before = digestOf(directory)
    const snapshot = await take()
    const network = world.network(networkId)
    assert.deepEqual(snapshot.block, {
      number: network.head.number,
      hash: network.head.hash,
      timestamp: network.head.timestampSec,
    })
    assert.equal(snapshot.deposits, network.deposits().length)
    assert.equal(snapshot.local_exit_root, network.localExitRoot())
    network.mine((block) => block.tx().deposit({ destinationNetwork: 1 - networkId }))
    indexed.syncAll()
    assert.notEqual(digestOf(directory), before)

    const made = join(folder, 'made')
    await readShardSnapshot(snapshot, openFolderSource(to), made, () => undefined)
    await assertSameFacts(snapshot, made, hasher)
    assert.equal(digestOf(made), before)
    assert.deepEqual(
      readdirSync(to).sort(),
      snapshot.chunks.map((chunk) => chunkName(chunk)).sort(),
      'nothing but pieces is left',
    )
    // As a service opens it, after a restart of the machine too.
    const store = openShardStoreWriter(made)
    context.after(() => store.close())
    for (const { isGood, name } of verifyShard(store, asNetworkId(networkId), hasher, true))
      assert.ok(isGood, name)
  })

test('a missing piece and a piece with a flipped bit are refused in one line', async (context) => {
  const { folder, to, take } = await snapshotOf(context, 1)
  const snapshot = await take()
  const path = join(to, chunkName(snapshot.chunks[0]!))
  const read = () => readShardSnapshot(snapshot, openFolderSource(to), join(folder, 'made'), () => undefined)
  const bytes = readFileSync(path)
  const flipped = Buffer.from(bytes)
  flipped[flipped.length >> 1]! ^= 4
  writeFileSync(path, flipped)
  await assert.rejects(read(), {
    name: 'FatalError',
    message: 'the backup is damaged: piece 1 of 1 of network 1 does not have its SHA-256',
  })
  rmSync(path)
  await assert.rejects(read(), {
    name: 'FatalError',
    message: 'the backup is damaged: piece 1 of 1 of network 1 is missing',
  })
})

test('a store that is not the one its manifest tells of is refused, naming the difference', async (context) => {
  const { folder, to, take } = await snapshotOf(context, 1)
  const snapshot = await take()
  const made = join(folder, 'made')
  await readShardSnapshot(snapshot, openFolderSource(to), made, () => undefined)
  const other = { ...snapshot, local_exit_root: encodeHex(new Uint8Array(32)) }
  await assert.rejects(assertSameFacts(other, made, hasher), {
    name: 'FatalError',
    message: `the backup of network 1 has local_exit_root "${snapshot.local_exit_root}", its manifest says "${other.local_exit_root}"`,
  })
  const store = openShardStoreWriter(made)
  store.transact((view) => view.put('meta', metaKey('polledLeaves'), encodeUint32(77)))
  await store.close()
  await assert.rejects(assertSameFacts(snapshot, made, hasher), {
    message: /^the backup of network 1 has polled_leaves 77, its manifest says null$/,
  })
})

test('the snapshot of a shard that follows a log tells the place of its newest command', async (context) => {
  const { directory, take } = await snapshotOf(context, 1)
  const store = openShardStoreWriter(directory)
  const own = { logId: new Uint8Array(16).fill(0xab), commandId: new Uint8Array(16).fill(0xcd) }
  store.transact((view) => {
    putLogSettings(view, {
      ...own,
      bridge: new Uint8Array(20),
      globalExitRootManager: new Uint8Array(20),
    } as unknown as LogSettings)
    putLogPlace(view, { sequence: 70_000, commandId: own.commandId })
  })
  await store.close()
  const { log } = await take()
  assert.deepEqual(log, { id: `0x${'ab'.repeat(16)}`, sequence: 70_000, command: `0x${'cd'.repeat(16)}` })
})

test('a copy that takes longer than its time is ended, and nothing of it is left', async (context) => {
  const { to, take } = await snapshotOf(context, 1)
  await assert.rejects(take(1), {
    name: 'OperatorError',
    message: 'network 1 could not be copied within 0.001 s: nothing was kept',
  })
  assert.equal(existsSync(join(to, 'copy')), false)
  assert.deepEqual(readdirSync(to), [])
})
