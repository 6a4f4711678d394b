import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { JsonWriter } from '../../../../src/api/present/jsonWriter.js'
import { presenters } from '../../../../src/api/present/present.js'
import { InvariantError } from '../../../../src/errors/invariantError.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import type { RowTemplate } from '../../../../src/query/rowTemplate.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { getClaims } from '../../../../src/shard/queries/getClaims.js'
import { chunkKey } from '../../../../src/store/layout/keys.js'
import {
  CLAIM_HASHES_PER_CHUNK,
  CLAIMS_PER_CHUNK,
  DEPOSITS_PER_CHUNK,
  SENDERS_PER_CHUNK,
  type TableName,
} from '../../../../src/store/layout/tables.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../../src/store/shardStore.js'
import { compileMerkleModule, createRowWriter } from '../../../../src/wasm/wasmModule.js'
import { bothTexts } from '../../../support/bothTexts.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import type { FakeDeposit } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const writer = new JsonWriter(undefined, undefined, createRowWriter(compileMerkleModule()))
const page = { pageNumber: 1, pageSize: 1000, isAscending: true }

/** Twenty bridges from network 0 to network 1, all claimed there. */
function claimedWorld(context: TestContext): IndexedWorld {
  const world = createFakeWorld({ networks: [1] })
  const deposits: FakeDeposit[] = []
  world.network(0).mine((block) => {
    for (let count = 0; count < 20; count++) deposits.push(block.tx().deposit({ destinationNetwork: 1 }))
  })
  world.network(1).mine((block) => {
    for (const deposit of deposits) block.tx().claim({ deposit })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  return indexed
}

const cuts: readonly (readonly [networkId: number, table: TableName, rowsPerChunk: number, found: RegExp])[] =
  [
    [0, 'deposits', DEPOSITS_PER_CHUNK, /deposit 10 is missing/],
    [0, 'depositSenders', SENDERS_PER_CHUNK, /sender of deposit 10 is missing/],
    [1, 'claims', CLAIMS_PER_CHUNK, /row 10 of claims is missing/],
    [1, 'claimHashes', CLAIM_HASHES_PER_CHUNK, /row 10 of claimHashes is missing/],
    [1, 'claimSenders', SENDERS_PER_CHUNK, /sender of claim 10 is missing/],
  ]

for (const [networkId, table, rowsPerChunk, found] of cuts)
  test(`a chunk of ${table} that ends too early fails the page, and bytes of other rows are never shown`, async (context) => {
    const indexed = claimedWorld(context)
    const store = openShardStoreWriter(shardDirectory(indexed.config.dataDir, networkId))
    store.transact((view) => {
      const key = chunkKey(0, rowsPerChunk)
      const chunk = view.get(table, key)!
      view.put(table, key, chunk.slice(0, (chunk.length / 20) * 10))
    })
    await store.close()
    const query = { networkId: asNetworkId(networkId), ...page }
    const write = (): void =>
      indexed.readers.withSnapshots(() => {
        writer.reset()
        if (networkId === 0) {
          const answer = getBridges(indexed.readers, query)
          assert.ok(answer.ok)
          presenters.getBridges.write(writer, answer.value)
        } else {
          const answer = getClaims(indexed.readers, query)
          assert.ok(answer.ok)
          presenters.getClaims.write(writer, answer.value)
        }
      })
    assert.throws(write, (error) => error instanceof InvariantError && found.test(error.message))
  })

test('a sender that no endpoint knows is null in a page, never zeros', (context) => {
  const world = createFakeWorld({ networks: [1] })
  world.network(0).mine((block) => {
    for (let count = 0; count < 4; count++) block.tx().deposit({ destinationNetwork: 1 })
  })
  world.network(1).mine((block) => {
    for (const deposit of world.network(0).deposits()) block.tx().claim({ deposit })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders: false })
  const address = new Uint8Array(20).fill(7)
  for (const networkId of [0, 1]) {
    const open = indexed.writer(networkId).unresolvedSenders(3)
    indexed.writer(networkId).resolveSenders(
      open.map((row) => ({
        ...row,
        sender: row.ordinal === 1 ? null : { caller: address, transactionSender: address },
      })),
    )
  }
  for (const [operation, networkId] of [
    ['getBridges', asNetworkId(0)],
    ['getClaims', asNetworkId(1)],
  ] as const) {
    const [plain, packed] = bothTexts(indexed, operation, { networkId, ...page })
    assert.equal(packed, plain)
    const told = JSON.parse(packed) as Record<string, { tx_sender: string | null }[]>
    const senders = (told.bridges ?? told.claims)!.map(({ tx_sender }) => tx_sender?.slice(0, 4) ?? null)
    assert.deepEqual(senders, ['0x07', null, '0x07', null])
  }
})

test('rows are spelled as the template says that came with the query, packed ones and those written alone', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const lengths = [0, 3, 5_000, 4]
  world.network(0).mine((block) => {
    for (const length of lengths) block.tx().deposit({ metadata: `0x${'ab'.repeat(length)}`, amount: 12n })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const peer: RowTemplate = [
    { key: 'id', field: 'depositCount', encoding: 'number', isOptional: false },
    { key: 'value', field: 'amount', encoding: 'digits', isOptional: false },
    { key: 'data', field: 'metadata', encoding: 'hex', isOptional: false },
    { key: 'bytes', field: 'metadataLength', encoding: 'number', isOptional: true },
  ]
  const query = { networkId: asNetworkId(0), ...page }
  const rowsOf = (text: string) => (JSON.parse(text) as { bridges: unknown }).bridges
  const own = bothTexts(indexed, 'getBridges', query)
  const [plain, packed] = bothTexts(indexed, 'getBridges', query, peer)
  assert.equal(packed, plain)
  const expected = lengths.map((length, id) =>
    length > 4_096
      ? { id, value: '12', data: null, bytes: length }
      : { id, value: '12', data: `0x${'ab'.repeat(length)}` },
  )
  assert.equal(JSON.stringify(rowsOf(packed)), JSON.stringify(expected))
  assert.deepEqual(bothTexts(indexed, 'getBridges', query), own, 'the next page is spelled as before')
})
