import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { THRESHOLDS } from '../../../../src/shard/queries/shardReaders.js'
import { bothTexts, slotCounts } from '../../../support/bothTexts.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const DEPOSITS = 150
const query = { networkId: asNetworkId(0), pageNumber: 1, pageSize: 1000 }

interface Bridge {
  readonly deposit_count: number
  readonly tx_hash: string
  readonly claim_tx_hash: string | null
  readonly destination_address: string
  readonly token_address: string
  readonly metadata: string
}

/** Network 0 sends to networks 1 and 2 in turn; every third deposit is claimed. */
function smallWorld(context: TestContext, slots: number): IndexedWorld {
  const world = createFakeWorld({ networks: [1, 2] })
  mineDeposits(world, DEPOSITS, 0)
  claim(world, (depositCount) => depositCount % 3 === 0)
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  indexed.readers.thresholds = { ...THRESHOLDS, slots: slotCounts(slots) }
  return indexed
}

function mineDeposits(world: FakeWorld, count: number, seed: number): void {
  world.network(0).mine((block) => {
    for (let at = 0; at < count; at++)
      block.tx().deposit({
        destinationNetwork: 1 + (at % 2),
        destinationAddress: `0x${(seed + at + 1).toString(16).padStart(40, '0')}`,
        originAddress: `0x${(seed + at + 1).toString(16).padStart(40, '0')}`,
        metadata: `0x${(seed + at + 1).toString(16).padStart(8, '0')}`,
      })
  })
}

function claim(world: FakeWorld, isClaimed: (depositCount: number) => boolean): void {
  for (const networkId of [1, 2])
    world.network(networkId).mine((block) => {
      for (const deposit of world.network(0).deposits())
        if (deposit.destinationNetwork === networkId && isClaimed(deposit.depositCount))
          block.tx().claim({ deposit })
    })
}

function bridges(indexed: IndexedWorld, filters: object = {}): readonly Bridge[] {
  const [plain, packed] = bothTexts(indexed, 'getBridges', { ...query, ...filters })
  assert.equal(packed, plain)
  return (JSON.parse(packed) as { bridges: readonly Bridge[] }).bridges
}

/** Deposit counts of rows in the order of the answer, each with the address of the deposit with that count. */
const told = (rows: readonly Bridge[]) =>
  rows.map(({ deposit_count: count, destination_address: address }) => [count, Number(address) - 1])

test("rows that wait in a chunk are written before the chunk's slot is reused", (context) => {
  for (const slots of [1, 2, 4]) {
    const indexed = smallWorld(context, slots)
    const newestFirst = Array.from({ length: DEPOSITS }, (_, at) => DEPOSITS - 1 - at)
    assert.deepEqual(
      told(bridges(indexed)),
      newestFirst.map((count) => [count, count]),
    )
    // Some rows of each chunk, so that several chunks are read between two writes.
    const some = newestFirst.filter((count) => count % 7 === 0)
    assert.deepEqual(
      told(bridges(indexed, { depositCounts: [...some].reverse() })),
      some.map((count) => [count, count]),
    )
  }
})

test('a kept chunk is read again once its shard has a new commit', (context) => {
  const indexed = smallWorld(context, 16)
  const { world } = indexed
  const isClaimed = () => bridges(indexed).map(({ claim_tx_hash: hash }) => hash !== null)
  assert.deepEqual(
    isClaimed(),
    Array.from({ length: DEPOSITS }, (_, at) => (DEPOSITS - 1 - at) % 3 === 0),
  )
  claim(world, (depositCount) => depositCount % 3 === 1)
  mineDeposits(world, 10, DEPOSITS)
  indexed.syncAll()
  assert.deepEqual(isClaimed(), [
    ...Array.from({ length: 10 }, () => false),
    ...Array.from({ length: DEPOSITS }, (_, at) => (DEPOSITS - 1 - at) % 3 !== 2),
  ])
})

test('tokens and metadata that were placed before a reorg are not shown for the rows that took their ids', (context) => {
  const indexed = smallWorld(context, 16)
  const { world } = indexed
  const newest = () =>
    bridges(indexed)
      .slice(0, 5)
      .map(({ metadata, token_address: token }) => [Number(metadata), Number(token)])
  const newestClaims = (networkId: number) => {
    const [plain, packed] = bothTexts(indexed, 'getClaims', { ...query, networkId: asNetworkId(networkId) })
    assert.equal(packed, plain)
    const { claims } = JSON.parse(packed) as { claims: readonly { readonly token_address: string }[] }
    return claims.slice(0, 2).map(({ token_address: token }) => Number(token))
  }
  for (const seed of [2000, 3000]) {
    mineDeposits(world, 5, seed)
    claim(world, (depositCount) => depositCount >= DEPOSITS)
    indexed.syncAll()
    assert.deepEqual(
      newest(),
      [5, 4, 3, 2, 1].map((at) => [seed + at, seed + at]),
    )
    assert.deepEqual(newestClaims(1), [seed + 5, seed + 3])
    assert.deepEqual(newestClaims(2), [seed + 4, seed + 2])
    for (const networkId of world.networkIds) world.network(networkId).reorg({ depth: 1 })
  }
})
