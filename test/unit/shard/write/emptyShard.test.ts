import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusRow } from '../../../../src/board/statusBoard.js'
import { asNetworkId, type NetworkId } from '../../../../src/protocol/units.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { getClaims } from '../../../../src/shard/queries/getClaims.js'
import { THRESHOLDS } from '../../../../src/shard/queries/shardReaders.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../../../src/store/shardStore.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'
import { RandomChain } from '../../../support/randomChain.js'
import { RandomWorld } from '../../../support/randomWorld.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard } from '../../../support/testShard.js'

const FIRST = { count: 1, notBeforeMs: undefined }

/** All lists of a network, readiness and proof indexes included, from the given readers. */
function answers(indexed: IndexedWorld, networkId: NetworkId) {
  const page = { networkId, pageNumber: 1, pageSize: 100 }
  return indexed.ask((shards) => {
    const told = [
      getBridges(shards, page),
      getBridges(shards, { ...page, readyForClaim: true }),
      getBridges(shards, { ...page, claimed: true }),
      getClaims(shards, page),
    ]
    return told.map((answer) => {
      assert.ok(answer.ok)
      const { rows, total } = answer.value
      return { total, rows: [...rows] }
    })
  })
}

test('readers that were open before the shard was emptied answer like new readers, at every step of the second reading', (context) => {
  const source = new RandomWorld(7)
  for (let steps = 0; steps < 150; steps++) source.step()
  const { world } = source
  const moved = new IndexedWorld(context, world)
  moved.readers.thresholds = { ...THRESHOLDS, rowsWorthReading: 0, worthKeeping: 0 }
  const networks = world.networkIds.map(asNetworkId)
  moved.syncAll()
  for (const networkId of networks) answers(moved, networkId)
  for (const emptied of networks) {
    const { head } = world.network(emptied)
    const before = statusRow(moved.status, emptied).get('epoch')
    moved.writer(emptied).startOver(FIRST)
    assert.ok(statusRow(moved.status, emptied).get('epoch') > before, 'answers of before are void')
    for (const to of [undefined, 1, Math.floor(head.number / 2), head.number]) {
      const clean = new IndexedWorld(context, world)
      for (const networkId of networks) if (networkId !== emptied) clean.sync(networkId)
      if (to !== undefined) for (const each of [moved, clean]) each.sync(emptied, { to, batchBlocks: 9 })
      for (const each of [moved, clean]) each.searchRoots()
      for (const networkId of networks)
        assert.deepEqual(
          answers(moved, networkId),
          answers(clean, networkId),
          `${networkId} when ${emptied} is read up to ${to}`,
        )
    }
  }
})

test('a shard that was emptied and read again equals one that was read once', async (context) => {
  const chain = new RandomChain(11)
  for (let blocks = 0; blocks < 120; blocks++) chain.grow(8)
  const moved = openTestShard(tempFolder(context), 1)
  const clean = openTestShard(tempFolder(context), 1)
  context.after(async () => {
    await moved.close()
    await clean.close()
  })
  const fill = ({ writer }: typeof moved) => {
    for (let from = 0; from < chain.blocks.length; from += 40)
      writer.applyBlocks(batchOf(chain.blocks.slice(from, from + 40), from))
  }
  fill(moved)
  fill(clean)
  for (let count = 1; count <= 2; count++) {
    moved.writer.startOver({ count, notBeforeMs: 5 })
    assert.equal(moved.writer.checkpoint(), undefined)
    assert.equal(moved.writer.counts().deposits, 0)
    assert.deepEqual(moved.writer.startOvers(), { count, notBeforeMs: 5 })
    fill(moved)
    assert.deepEqual(moved.read(dumpTables), clean.read(dumpTables))
  }
})

test('emptying a shard keeps the identity of the store and of its chain', (context) => {
  const source = new RandomWorld(3)
  for (let steps = 0; steps < 20; steps++) source.step()
  const indexed = new IndexedWorld(context, source.world)
  indexed.syncAll()
  const reader = openShardStoreReader(shardDirectory(indexed.config.dataDir, 1))
  context.after(() => reader.close())
  const told = () => {
    reader.refresh()
    const of = (name: string) => Buffer.from(reader.get('meta', Buffer.from(name)) ?? []).toString('hex')
    return ['schema', 'identity', 'origin'].map(of)
  }
  const before = told()
  assert.ok(before.every((value) => value !== ''))
  indexed.writer(1).startOver(FIRST)
  assert.deepEqual(told(), before)
  reader.release()
})
