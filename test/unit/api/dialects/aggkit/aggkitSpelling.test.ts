import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bridgeRows, claimRows } from '../../../../../src/api/dialects/aggkit/aggkitSpelling.js'
import { asNetworkId } from '../../../../../src/protocol/units.js'
import { bothTexts } from '../../../../support/bothTexts.js'
import { createFakeWorld, type FakeWorld } from '../../../../support/fakeChain.js'
import { IndexedWorld } from '../../../../support/indexedWorld.js'
import { globalIndexOf } from '../../../../support/naiveTree.js'

const page = { pageNumber: 1, pageSize: 200, isAscending: true }

type Row = Readonly<Record<string, unknown>>

/** The rows of a list, the same from stored bytes and from records. */
function rowsOf(
  indexed: IndexedWorld,
  operation: 'getBridges' | 'getClaims',
  networkId: number,
  template: ReturnType<typeof bridgeRows>,
): { readonly rows: readonly Row[]; readonly text: string } {
  const query = { networkId: asNetworkId(networkId), ...page }
  const [plain, packed] = bothTexts(indexed, operation, query, template)
  assert.equal(packed, plain)
  const told = JSON.parse(packed) as Record<string, readonly Row[]>
  return { rows: (told.bridges ?? told.claims)!, text: packed }
}

function indexedWorld(context: TestContext, world: FakeWorld, withSenders = true): IndexedWorld {
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders })
  return indexed
}

test('a bridge whose sender is not known lacks `from_address` and `txn_sender`, others have both', (context) => {
  const world = createFakeWorld({ networks: [1] })
  world.network(0).mine((block) => {
    for (let count = 0; count < 3; count++) block.tx().deposit({ destinationNetwork: 1 })
  })
  const indexed = indexedWorld(context, world, false)
  const address = new Uint8Array(20).fill(7)
  const open = indexed.writer(0).unresolvedSenders(2)
  indexed.writer(0).resolveSenders(
    open.map((row) => ({
      ...row,
      sender: row.ordinal === 0 ? null : { caller: address, transactionSender: address },
    })),
  )
  const { rows } = rowsOf(indexed, 'getBridges', 0, bridgeRows('latest'))
  assert.deepEqual(
    rows.map((row) => ['from_address' in row, 'txn_sender' in row]),
    [
      [false, false],
      [true, true],
      [false, false],
    ],
  )
})

test('the global index of a bridge is the whole number, as a text or bare, whatever the network', (context) => {
  const networks = [1, 2, 65_536, 65_537, 70_000]
  const world = createFakeWorld({ networks })
  for (const networkId of [0, ...networks])
    world.network(networkId).mine((block) => {
      for (let count = 0; count < 3; count++)
        block.tx().deposit({ destinationNetwork: networkId === 0 ? 1 : 0 })
    })
  const indexed = indexedWorld(context, world)
  for (const networkId of [0, ...networks]) {
    const wanted = [0, 1, 2].map((count) => String(globalIndexOf(networkId, count)))
    const { rows } = rowsOf(indexed, 'getBridges', networkId, bridgeRows('latest'))
    assert.deepEqual(
      rows.map((row) => row.global_index),
      wanted,
    )
    for (const release of ['rc5', 'rc6'] as const) {
      const { text } = rowsOf(indexed, 'getBridges', networkId, bridgeRows(release))
      assert.deepEqual(
        [...text.matchAll(/"global_index":(\d+),/g)].map(([, digits]) => digits),
        wanted,
      )
    }
    assert.doesNotMatch(rowsOf(indexed, 'getBridges', networkId, bridgeRows('0.6')).text, /global_index/)
  }
})

test('metadata is whole, however long, of a bridge and of its claim', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const lengths = [0, 3, 5_000, 4_096]
  world.network(0).mine((block) => {
    for (const length of lengths)
      block.tx().deposit({ destinationNetwork: 1, leafType: 1, metadata: `0x${'ab'.repeat(length)}` })
  })
  world.network(1).mine((block) => {
    for (const deposit of world.network(0).deposits()) block.tx().claim({ deposit })
  })
  const indexed = indexedWorld(context, world)
  const expected = lengths.map((length) => `0x${'ab'.repeat(length)}`)
  for (const { rows } of [
    rowsOf(indexed, 'getBridges', 0, bridgeRows('latest')),
    rowsOf(indexed, 'getClaims', 1, claimRows('latest')),
  ])
    assert.deepEqual(
      rows.map(({ metadata }) => metadata),
      expected,
    )
  assert.deepEqual(
    rowsOf(indexed, 'getClaims', 1, claimRows('latest')).rows.map((row) => row.is_message),
    [true, true, true, true],
  )
})

test('a claim of a bridge that is not indexed here lacks what only the bridge tells', (context) => {
  const world = createFakeWorld({ networks: [1] })
  world.network(0).mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  world.network(1).mine((block) => block.tx().claim({ deposit: world.network(0).deposits()[0]! }))
  const indexed = new IndexedWorld(context, world)
  indexed.sync(1)
  const { rows } = rowsOf(indexed, 'getClaims', 1, claimRows('latest'))
  assert.deepEqual(
    rows.map((row) => ['metadata' in row, 'is_message' in row, row.from_address]),
    [[false, false, '']],
  )
})
