import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { warmUp } from '../../../../src/shard/queries/warmUp.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../../src/store/shardStore.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import type { FakeDeposit } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

/** Three bridges from network 0 to network 1, the first two claimed. */
function claimedWorld(context: TestContext): IndexedWorld {
  const world = createFakeWorld({ networks: [1] })
  const deposits: FakeDeposit[] = []
  world.network(0).mine((block) => {
    for (let count = 0; count < 3; count++) deposits.push(block.tx().deposit({ destinationNetwork: 1 }))
  })
  world.network(1).mine((block) => {
    for (const deposit of deposits.slice(0, 2)) block.tx().claim({ deposit })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  return indexed
}

const countClaimed = (indexed: IndexedWorld): number => {
  const page = { networkId: asNetworkId(0), pageNumber: 1, pageSize: 10 }
  const answer = indexed.ask((shards) => getBridges(shards, { ...page, claimed: true }))
  assert.ok(answer.ok)
  return answer.value.total
}

/** How many claims the sets of network 0 have read so far. */
const claimsMet = (indexed: IndexedWorld): number =>
  indexed.ask((shards) => shards.depositSets(shards.find(asNetworkId(0))!).flips.end)

test('after the warm-up the derived sets exist, and answers are the same as without it', (context) => {
  const [cold, warm] = [claimedWorld(context), claimedWorld(context)]
  assert.equal(claimsMet(cold), 0)
  assert.equal(warmUp(warm.readers, Number.POSITIVE_INFINITY), true)
  const met = claimsMet(warm)
  assert.ok(met >= 2)
  assert.equal(countClaimed(warm), 2)
  assert.equal(claimsMet(warm), met)
  assert.equal(countClaimed(cold), 2)
})

test('a warm-up without time makes no sets, and reports that', (context) => {
  const indexed = claimedWorld(context)
  assert.equal(warmUp(indexed.readers, -1), false)
  assert.equal(claimsMet(indexed), 0)
  assert.equal(countClaimed(indexed), 2)
})

test('a warm-up reads the L1 info leaves even when it has no time for sets, so no answer reads them', (context) => {
  const indexed = claimedWorld(context)
  assert.equal(warmUp(indexed.readers, -1), false)
  indexed.ask((shards) => {
    const l1 = shards.find(asNetworkId(0))!
    l1.l1Info.getLeafNumbers = () => assert.fail('a leaf was read')
    const answer = getBridges(shards, { networkId: asNetworkId(0), pageNumber: 1, pageSize: 10 })
    assert.ok(answer.ok)
    // The row gets its leaf index from the sets of the warm-up.
    assert.deepEqual(
      answer.value.rows.map((row) => row.claimTransactionHash === null),
      [true, false, false],
    )
  })
})

test('a shard that contradicts itself keeps no worker from starting', async (context) => {
  const indexed = claimedWorld(context)
  const store = openShardStoreWriter(shardDirectory(indexed.config.dataDir, 0))
  store.transact((view) => {
    for (const { key } of view.list('l1InfoLeaves', { start: Uint8Array.of(0), end: Uint8Array.of(255) }))
      view.remove('l1InfoLeaves', key)
  })
  await store.close()
  assert.equal(warmUp(indexed.readers, Number.POSITIVE_INFINITY), false)
})
