import assert from 'node:assert/strict'
import test from 'node:test'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

test('reorgs and cuts of the exit tree record the first row whose number may mean another deposit', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const l2 = world.network(1)
  const deposit = (count: number) =>
    l2.mine((block) => {
      for (let made = 0; made < count; made++) block.tx().deposit({ destinationNetwork: 0 })
    })
  const indexed = new IndexedWorld(context, world)
  const untouched = (since: number) =>
    indexed.ask((shards) => {
      const { state } = shards.find(asNetworkId(1))!
      return { rewinds: state.epoch, deposits: state.untouchedSince(since).deposits }
    })
  deposit(5)
  deposit(3)
  indexed.syncAll()
  assert.deepEqual(untouched(0), { rewinds: 0, deposits: Number.POSITIVE_INFINITY })
  l2.mine((block) => block.tx().backwardLet(6))
  deposit(4)
  indexed.syncAll()
  assert.deepEqual(untouched(0), { rewinds: 1, deposits: 6 })
  // The cut is undone: the deposits from 6 on are those of before the cut, though there are 8 afterwards.
  l2.reorg({ depth: 2, blocks: 'empty' })
  indexed.syncAll()
  assert.deepEqual(untouched(1), { rewinds: 2, deposits: 6 })
  l2.reorg({ depth: 4, blocks: 'empty' })
  indexed.syncAll()
  assert.deepEqual(untouched(2), { rewinds: 3, deposits: 5 })
  assert.deepEqual(untouched(0), { rewinds: 3, deposits: 5 })
  assert.deepEqual(untouched(3), { rewinds: 3, deposits: Number.POSITIVE_INFINITY })
})
