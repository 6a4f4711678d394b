import assert from 'node:assert/strict'
import test from 'node:test'
import { hexToBytes } from 'viem/utils'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { getClaims } from '../../../../src/shard/queries/getClaims.js'
import { THRESHOLDS } from '../../../../src/shard/queries/shardReaders.js'
import { CountedBits } from '../../../../src/shard/sets/countedBits.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { account, type FakeDeposit } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'
import type { Cleaner } from '../../../support/tempFolder.js'

const FIRST_MADE_UP = 1_000
const PAGE = { pageNumber: 1, pageSize: 100 }

/** Lists that name network 1 or 0, and three networks each that nobody has used. */
function listsWith(networkId: number): number[][] {
  return Array.from({ length: 10 }, (_, at) => {
    const first = FIRST_MADE_UP + 3 * at
    return [networkId, first, first + 1, first + 2]
  })
}

function setUp(context: Cleaner): { world: FakeWorld; indexed: IndexedWorld } {
  const world = createFakeWorld({ networks: [1, 2] })
  const deposits: FakeDeposit[] = []
  world.network(0).mine((block) => {
    for (let made = 0; made < 8; made++)
      deposits.push(
        block
          .tx({ from: account(1) })
          .deposit({ destinationNetwork: 1 + (made % 2), leafType: made < 4 ? 1 : 0 }),
      )
  })
  world.network(1).mine((block) => {
    for (const deposit of deposits.filter(({ destinationNetwork }) => destinationNetwork === 1).slice(0, 3))
      block.tx({ from: account(4) }).claim({ deposit })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  indexed.readers.thresholds = { ...THRESHOLDS, rowsWorthReading: 0, worthKeeping: 0 }
  return { world, indexed }
}

/** Totals of lists with a filter by leaf type, claim and readiness, by their networks. */
function bridgesTo(indexed: IndexedWorld, networkIds: readonly number[], leafType = 1): number {
  const answer = indexed.ask((shards) =>
    getBridges(shards, {
      ...PAGE,
      networkId: asNetworkId(0),
      networkIds: networkIds.map(asNetworkId),
      leafType,
      readyForClaim: false,
    }),
  )
  assert.ok(answer.ok)
  return answer.value.total
}

test('networks without deposits, however many a client makes up, have no set made for them', (context) => {
  const { indexed } = setUp(context)
  const find = context.mock.method(indexed.readers.filteredSets, 'find')
  for (const networkIds of listsWith(1)) assert.equal(bridgesTo(indexed, networkIds), 2)
  const keys = find.mock.calls.map((call) => call.arguments[0])
  assert.equal(keys.length, 10)
  assert.equal(new Set(keys).size, 1)
  indexed.ask((shards) => {
    const source = shards.get(asNetworkId(0))
    const sets = shards.depositSets(source)
    const [one, other] = [1, 2].map((id) => sets.sentTo(source, asNetworkId(FIRST_MADE_UP + id)))
    assert.equal(one, other)
  })
})

test('networks without claims, however many a client makes up, have no set made for them', (context) => {
  const { indexed } = setUp(context)
  const find = context.mock.method(indexed.readers.filteredSets, 'find')
  const fromAddress = hexToBytes(account(4))
  for (const networkIds of listsWith(0)) {
    const answer = indexed.ask((shards) =>
      getClaims(shards, {
        ...PAGE,
        networkId: asNetworkId(1),
        networkIds: networkIds.map(asNetworkId),
        fromAddress,
      }),
    )
    assert.ok(answer.ok)
    assert.equal(answer.value.total, 3)
  }
  const keys = find.mock.calls.map((call) => call.arguments[0])
  assert.equal(keys.length, 10)
  assert.equal(new Set(keys).size, 1)
})

test('a network that had no deposits is listed from its first one on, and no more once that was taken back', (context) => {
  const { world, indexed } = setUp(context)
  const networkIds = [1, FIRST_MADE_UP]
  assert.equal(bridgesTo(indexed, networkIds), 2)
  const send = (destinationNetwork: number): void => {
    world
      .network(0)
      .mine((block) => block.tx({ from: account(1) }).deposit({ destinationNetwork, leafType: 1 }))
    indexed.sync(0)
  }
  send(FIRST_MADE_UP)
  assert.deepEqual([bridgesTo(indexed, networkIds), bridgesTo(indexed, [1])], [3, 2])
  world.network(0).reorg({ depth: 1 })
  send(1)
  assert.deepEqual([bridgesTo(indexed, networkIds), bridgesTo(indexed, [1])], [3, 3])
  send(FIRST_MADE_UP)
  assert.deepEqual([bridgesTo(indexed, networkIds), bridgesTo(indexed, [1])], [4, 3])
})

test('a list of nothing but networks without rows is empty, also right after the same list without networks', (context) => {
  const { indexed } = setUp(context)
  const fromAddress = hexToBytes(account(1))
  const made = { ...PAGE, networkId: asNetworkId(0), leafType: 1, fromAddress }
  const networkIds = [asNetworkId(FIRST_MADE_UP)]
  const bridges = indexed.ask((shards) => [
    getBridges(shards, made),
    getBridges(shards, { ...made, networkIds }),
  ])
  const claimed = { ...PAGE, networkId: asNetworkId(1), fromAddress: hexToBytes(account(4)) }
  const claims = indexed.ask((shards) => [
    getClaims(shards, claimed),
    getClaims(shards, { ...claimed, networkIds: [asNetworkId(0)] }),
    getClaims(shards, { ...claimed, networkIds }),
  ])
  const totals = [...bridges, ...claims].map((answer) => answer.ok && answer.value.total)
  assert.deepEqual(totals, [4, 0, 3, 3, 0])
})

test('however many networks a client makes up, a list that has deposits is read once', (context) => {
  const { indexed } = setUp(context)
  const add = context.mock.method(CountedBits.prototype, 'add')
  assert.equal(bridgesTo(indexed, [1]), 2)
  const read = add.mock.callCount()
  assert.ok(read >= 4)
  const ask = (at: number) =>
    bridgesTo(indexed, [1, ...Array.from({ length: 99 }, (_, made) => FIRST_MADE_UP + 99 * at + made)])
  for (let at = 0; at < 10; at++) assert.equal(ask(at), 2)
  assert.equal(add.mock.callCount(), read)
})
