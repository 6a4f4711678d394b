import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hexToBytes } from 'viem/utils'
import { readUint32BigEndian } from '../../../../src/protocol/abiBytes.js'
import type { BlockNumber } from '../../../../src/protocol/units.js'
import { readLastReorg } from '../../../../src/shard/position/chainPosition.js'
import { verifyShard } from '../../../../src/shard/verify/verifyShard.js'
import { type EventPlace, eventPlaceKey, readEventPlace } from '../../../../src/store/places/eventPlace.js'
import { decodeGerRemovalEntry } from '../../../../src/store/places/gerRemovalEntry.js'
import { decodeTokenMigrationRow } from '../../../../src/store/places/tokenMigrationRow.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../../../src/store/shardStore.js'
import type { ReadView } from '../../../../src/store/shardStore.types.js'
import { compileMerkleModule, createHasher } from '../../../../src/wasm/wasmModule.js'
import { createFakeWorld, type FakeBlock } from '../../../support/fakeChain.js'
import { account, tokenAddress } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const ALL = { start: Uint8Array.of(0), end: new Uint8Array(9).fill(0xff) }
const hasher = createHasher(compileMerkleModule())

/** As the chain itself has it: the transaction `at` of a block, and its last log. */
function placeIn({ number, timestampSec, transactions }: FakeBlock, logIndex: number, at = 0) {
  return {
    ...{ blockNumber: number, timestampSec, logIndex },
    transactionHash: hexToBytes(transactions[at]!.hash),
  }
}

function read<T>(indexed: IndexedWorld, networkId: number, body: (view: ReadView) => T): T {
  const store = openShardStoreReader(shardDirectory(indexed.config.dataDir, networkId))
  store.refresh()
  try {
    return body(store)
  } finally {
    store.release()
    void store.close()
  }
}

const placeOf = (
  view: ReadView,
  ...[kind, number]: Parameters<typeof eventPlaceKey>
): EventPlace | undefined => {
  const stored = view.get('eventPlaces', eventPlaceKey(kind, number))
  return stored && readEventPlace(stored, 0)
}

test('leaves, settlements, injections and removals are stored with block, time, log and transaction, and go with their block', (context) => {
  const world = createFakeWorld({ networks: [1, 2] })
  const [l1, l2] = [world.network(0), world.network(1)]
  l1.mine((block) => {
    for (const networkId of [1, 2]) block.tx().createRollup(networkId, 1000 + networkId)
  })
  l2.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  const settled = l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  const root = l1.globalExitRoot()
  const injected = l2.mine((block) => block.tx().injectGer(root))
  const removed = l2.mine((block) => {
    block.tx().noise()
    block.tx().removeGer(root)
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ batchBlocks: 1 })
  const [leaf, settlement] = read(indexed, 0, (view) => [
    placeOf(view, 'l1InfoLeaf', 0),
    placeOf(view, 'rollupExitVersion', 1),
  ])
  assert.deepEqual(leaf, placeIn(settled, 0))
  // UpdateL1InfoTree, UpdateL1InfoTreeV2, and then VerifyBatchesTrustedAggregator.
  assert.deepEqual(settlement, placeIn(settled, 2))
  const onL2 = () =>
    read(indexed, 1, (view) => ({
      injection: placeOf(view, 'injection', 0),
      removals: view.list('gerRemovals', ALL).map(({ key, value }) => {
        const { globalExitRoot, ...entry } = decodeGerRemovalEntry(value)
        return [readUint32BigEndian(key, 0), Buffer.from(globalExitRoot).toString('hex'), entry]
      }),
    }))
  const injection = placeIn(injected, 0)
  const removal = { injectionOrdinal: 0, place: placeIn(removed, 1, 1) }
  assert.deepEqual(onL2(), { injection, removals: [[0, root.slice(2), removal]] })
  indexed.writer(1).revertTo(injected.number as BlockNumber)
  assert.deepEqual(onL2(), { injection, removals: [] })
  indexed.writer(1).revertTo((injected.number - 1) as BlockNumber)
  assert.deepEqual(onL2(), { injection: undefined, removals: [] })
  indexed.writer(0).revertTo((settled.number - 1) as BlockNumber)
  assert.deepEqual(
    read(indexed, 0, (view) => view.list('eventPlaces', ALL)),
    [],
  )
})

test('a token migration is stored as the event says it, and told as removed once the legacy token is', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const l2 = world.network(1)
  const [legacy, updated] = [tokenAddress(5), tokenAddress(6)]
  const migrated = l2.mine((block) => block.tx({ from: account(3) }).migrateLegacyToken(legacy, updated, 77n))
  l2.mine((block) => block.tx({ from: account(4) }).migrateLegacyToken(updated, legacy, 1n))
  const removal = l2.mine((block) => block.tx().removeLegacyToken(legacy))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ batchBlocks: 1 })
  const rows = () =>
    read(indexed, 1, (view) =>
      view.list('tokenMigrations', ALL).map(({ value }) => decodeTokenMigrationRow(value)),
    )
  const [first, second, ...others] = rows()
  assert.deepEqual(others, [])
  const { account: by, legacyTokenAddress, updatedTokenAddress, amount, isRemoved, ...place } = first!
  assert.deepEqual(place, placeIn(migrated, 0))
  assert.deepEqual(
    [by, legacyTokenAddress, updatedTokenAddress].map(
      ({ bytes }) => `0x${Buffer.from(bytes).toString('hex')}`,
    ),
    [account(3), legacy, updated],
  )
  assert.deepEqual([amount, isRemoved, second!.isRemoved], [77n, true, false])
  const damage = read(indexed, 1, (view) =>
    [...verifyShard(view, 1 as never, hasher, true)].filter(({ isGood }) => !isGood),
  )
  assert.deepEqual(damage, [])
  indexed.writer(1).revertTo((removal.number - 1) as BlockNumber)
  assert.deepEqual(
    rows().map((row) => row.isRemoved),
    [false, false],
  )
})

test('a reorg of the chain is remembered, over a start over too, and blocks that are only read again are none', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const l2 = world.network(1)
  for (let index = 0; index < 5; index++) l2.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ batchBlocks: 1 })
  const last = () => read(indexed, 1, readLastReorg)
  const head = l2.head.number
  const writer = indexed.writer(1)
  writer.revertTo((head - 1) as BlockNumber)
  assert.equal(last(), undefined)
  const reorg = { ancestor: head - 3, lastBlock: head - 1, detectedAtSec: 1_700_000_000 }
  const ancestor = reorg.ancestor as BlockNumber
  assert.deepEqual(writer.apply({ type: 'revertTo', ancestor, reorgSeenAtSec: reorg.detectedAtSec }), {
    type: 'applied',
  })
  assert.deepEqual(last(), reorg)
  writer.revertTo((head - 4) as BlockNumber)
  writer.startOver({ count: 1, notBeforeMs: undefined })
  assert.deepEqual(last(), reorg)
})
