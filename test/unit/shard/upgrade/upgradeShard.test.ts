import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readUint32BigEndian } from '../../../../src/protocol/abiBytes.js'
import { asNetworkId, type NetworkId } from '../../../../src/protocol/units.js'
import {
  readCatchingUp,
  readCheckpoint,
  readCounters,
  readHeaderAtOrBelow,
} from '../../../../src/shard/position/chainPosition.js'
import {
  isClaimableTold,
  putClaimableTold,
  putFeedPlace,
  readFeedPlace,
} from '../../../../src/shard/position/feedPosition.js'
import { upgradeShard } from '../../../../src/shard/upgrade/upgradeShard.js'
import { verifyShard } from '../../../../src/shard/verify/verifyShard.js'
import { revertTo } from '../../../../src/shard/write/revertTo.js'
import { beginFeed } from '../../../../src/store/ensureFeed.js'
import { feedKey, type MetaName, metaKey, uint32PairKey } from '../../../../src/store/layout/keys.js'
import { decodeGerRemovalEntry } from '../../../../src/store/places/gerRemovalEntry.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreReader, openShardStoreWriter } from '../../../../src/store/shardStore.js'
import type { ReadView } from '../../../../src/store/shardStore.types.js'
import { readIdentity } from '../../../../src/store/storeIdentity.js'
import { compileMerkleModule, createHasher } from '../../../../src/wasm/wasmModule.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'
import { buildOlderWorld, olderSchemas, unpackOlderStores } from '../../../support/olderStores.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { dumpTables } from '../../../support/testShard.js'

const hasher = createHasher(compileMerkleModule())

function damageOf(view: ReadView, networkId: NetworkId): string[] {
  return [...verifyShard(view, networkId, hasher, true)]
    .filter(({ isGood }) => !isGood)
    .map(({ name, detail }) => `${name}: ${detail}`)
}

function upgraded(context: TestContext, folder: string, networkId: number) {
  const store = openShardStoreWriter(shardDirectory(folder, networkId))
  context.after(() => store.close())
  return { store, result: upgradeShard(store, hasher, () => undefined) }
}

test('what later schemas derive from the rows is missing in schema 4, and is there after the upgrade', (context) => {
  const world = buildOlderWorld()
  const folder = tempFolder(context)
  unpackOlderStores(4, folder, world.networkIds)
  const before = openShardStoreWriter(shardDirectory(folder, 1))
  assert.deepEqual(
    damageOf(before, asNetworkId(1)).map((text) => text.split(':')[0]),
    ['regrown deposits', 'dictionaries', 'hashes'],
  )
  void before.close()
  const notes = { 0: 0, 1: 0, 2: 2 }
  for (const networkId of world.networkIds) {
    const { store, result } = upgraded(context, folder, networkId)
    assert.equal(readIdentity(store)?.schema, 8)
    // Until the next run has compared claims with the contracts, nothing is ready.
    assert.equal(readCatchingUp(store), true)
    assert.deepEqual(damageOf(store, asNetworkId(networkId)), [], `network ${networkId}`)
    // Claims that an administrator set had no sender: those two are all.
    assert.equal(result.unknownSenders, notes[networkId as keyof typeof notes])
  }
})

for (const schema of olderSchemas) {
  test(`a store of schema ${schema} that was upgraded has the entries of one that was indexed by this build`, async (context) => {
    const world = buildOlderWorld(schema)
    const indexed = new IndexedWorld(context, world)
    indexed.syncAll()
    const folder = tempFolder(context)
    unpackOlderStores(schema, folder, world.networkIds)
    // What events say that older builds did not keep is not there. Undo and headers depend on the batches; senders of cut deposits and of claims that an administrator set are asked for later.
    const unknown = ['eventPlaces', 'gerRemovals', 'unsetClaims', 'claimsOutOfForce'] as const
    const left = [...unknown, 'headers', 'undo', 'archivedDeposits', 'claimSenders', 'senderNotes'] as const
    const nameOf = (name: MetaName) => `meta/${Buffer.from(metaKey(name)).toString('hex')}`
    const dump = (view: ReadView) =>
      Object.entries(dumpTables(view, left))
        .filter(([key]) => key !== nameOf('catchingUp') && !/^listHeads\/05/.test(key))
        // But for the number of unset claims of which there are rows.
        .map(([key, value]) => (key === nameOf('counters') ? [key, value.slice(0, 8 * 13)] : [key, value]))
    for (const networkId of world.networkIds) {
      const { store } = upgraded(context, folder, networkId)
      const fresh = openShardStoreReader(shardDirectory(indexed.config.dataDir, networkId))
      context.after(() => fresh.close())
      fresh.refresh()
      const expected = dump(fresh)
      fresh.release()
      assert.deepEqual(dump(store).sort(), expected.sort(), `network ${networkId}`)
    }
  })

  test(`every block of a store of schema ${schema} that was upgraded can still be undone, and leaves no damage`, (context) => {
    const world = buildOlderWorld(schema)
    const folder = tempFolder(context)
    unpackOlderStores(schema, folder, world.networkIds)
    for (const networkId of world.networkIds) {
      const { store } = upgraded(context, folder, networkId)
      const { startBlock } = world.network(networkId).config([])
      for (let undone = 0; ; undone++) {
        const checkpoint = readCheckpoint(store)
        if (checkpoint === undefined) {
          assert.ok(undone > 5, `network ${networkId}: only ${undone} blocks`)
          break
        }
        const ancestor = readHeaderAtOrBelow(store, checkpoint.number - 1)?.number ?? startBlock - 1
        store.transact((view) => revertTo(view, ancestor, startBlock))
        assert.deepEqual(
          damageOf(store, asNetworkId(networkId)),
          [],
          `network ${networkId} at block ${ancestor}`,
        )
      }
    }
  })
}

test('a store of schema 5 stays ready when it is upgraded, and what was told in a feed of an older build is gone', (context) => {
  const folder = tempFolder(context)
  unpackOlderStores(5, folder, [1])
  const before = openShardStoreWriter(shardDirectory(folder, 1))
  beginFeed(before, 7, (view) => view.putUnseen('meta', metaKey('feedFile'), Uint8Array.of(1)))
  before.transact((view) => {
    putFeedPlace(view, { feedId: 7, oldest: 1, newest: 1 })
    view.putUnseen('feed', feedKey(1), Uint8Array.of(1))
    view.putUnseen('claimable', uint32PairKey(0, 1), Uint8Array.of(1))
    putClaimableTold(view, true)
  })
  const wasCatchingUp = readCatchingUp(before)
  void before.close()
  const { store, result } = upgraded(context, folder, 1)
  assert.deepEqual(result, { unknownSenders: 0, longMetadata: 0 })
  assert.equal(readIdentity(store)?.schema, 8)
  assert.equal(readCatchingUp(store), wasCatchingUp)
  const all = { start: Uint8Array.of(0), end: new Uint8Array(64).fill(0xff) }
  assert.deepEqual([...store.list('feed', all), ...store.list('claimable', all)], [])
  assert.deepEqual([readFeedPlace(store), isClaimableTold(store)], [undefined, false])
  assert.equal(store.get('meta', metaKey('feedFile')), undefined)
  assert.deepEqual(damageOf(store, asNetworkId(1)), [])
})

/** Removals as table `gerRemovals` has them: ordinal, injection, place. */
function removalsOf(view: ReadView) {
  const all = { start: Uint8Array.of(0), end: new Uint8Array(64).fill(0xff) }
  return view.list('gerRemovals', all).map(({ key, value }) => {
    const { injectionOrdinal, place } = decodeGerRemovalEntry(value)
    return [readUint32BigEndian(key, 0), injectionOrdinal, place]
  })
}

test('of a store of schema 7 the roots that are out of the manager are told, until the block that removed them is undone', (context) => {
  const folder = tempFolder(context)
  unpackOlderStores(7, folder, [2])
  const { store } = upgraded(context, folder, 2)
  const { gerInjections, gerRemovals } = readCounters(store)
  assert.equal(gerRemovals, 2)
  // The first of the two that were removed was injected again: the newest injection. The second is the one before.
  assert.deepEqual(removalsOf(store), [[1, gerInjections - 2, undefined]])
  const { startBlock } = buildOlderWorld(7).network(2).config([])
  for (;;) {
    const { number } = readCheckpoint(store)!
    const ancestor = readHeaderAtOrBelow(store, number - 1)!.number
    store.transact((view) => revertTo(view, ancestor, startBlock))
    const { gerRemovals: left } = readCounters(store)
    assert.equal(removalsOf(store).length, left === 2 ? 1 : 0, `${left} removals are left`)
    if (left === 0) break
  }
})

test('a store of schema 7 keeps its feed', (context) => {
  const folder = tempFolder(context)
  unpackOlderStores(7, folder, [1])
  const before = openShardStoreWriter(shardDirectory(folder, 1))
  const place = readFeedPlace(before)
  void before.close()
  assert.notEqual(place, undefined)
  assert.deepEqual(readFeedPlace(upgraded(context, folder, 1).store), place)
})

test('an upgrade that fails leaves a store of schema 4 as it was', (context) => {
  const folder = tempFolder(context)
  unpackOlderStores(4, folder, [1])
  const store = openShardStoreWriter(shardDirectory(folder, 1))
  context.after(() => store.close())
  const before = dumpTables(store)
  const stop = (share: number): void => {
    if (share === 1) throw new Error('stopped at the end')
  }
  assert.throws(() => upgradeShard(store, hasher, stop), /stopped at the end/)
  assert.deepEqual(dumpTables(store), before)
})
