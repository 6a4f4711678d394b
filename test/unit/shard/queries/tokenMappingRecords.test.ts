import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hexToBytes } from 'viem/utils'
import { JsonWriter } from '../../../../src/api/present/jsonWriter.js'
import { presenters } from '../../../../src/api/present/present.js'
import { asBlockNumber, asNetworkId } from '../../../../src/protocol/units.js'
import { getTokenMappings } from '../../../../src/shard/queries/getTokenMappings.js'
import { TokenMappingRecords } from '../../../../src/shard/queries/tokenMappingRecords.js'
import type { ShardView } from '../../../../src/shard/snapshot/shardView.js'
import { encodeTokenMappingRow } from '../../../../src/store/layout/tokenMappingRow.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { tokenMetadata } from '../../../support/fakeChainScenario.js'
import { tokenAddress } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const HOME = tokenAddress(1)

/** One shard with two mappings. Each read overwrites the one before, as in the store. */
class FakeView {
  readonly networkId = asNetworkId(7)
  commits = 1
  reads = 0
  readonly state = { epoch: 0 }
  metadata = Uint8Array.of(1)
  isCurrent = true
  private readonly memory = new Uint8Array(200)
  readonly dictionary = { getListed: () => new Uint8Array(this.metadata) }

  peekTokenMapping(ordinal: number): Uint8Array {
    this.reads++
    const address = { bytes: new Uint8Array(20).fill(ordinal), checksumMask: new Uint8Array(5) }
    const row = encodeTokenMappingRow({
      transactionHash: new Uint8Array(32).fill(ordinal),
      blockNumber: asBlockNumber(5),
      timestampSec: 6,
      logIndex: 7,
      originNetwork: asNetworkId(0),
      originTokenAddress: address,
      wrappedTokenAddress: address,
      metadataId: 3,
      tokenType: 0,
      isNotMintable: false,
      isCurrent: this.isCurrent,
      isRemoved: false,
    })
    this.memory.set(row)
    return this.memory.subarray(0, row.length)
  }
}

test('a kept token mapping record is made again only when its row or its dictionary changed', () => {
  const view = new FakeView()
  const records = new TokenMappingRecords()
  const get = (ordinal: number) => records.get(view as unknown as ShardView, ordinal)
  const first = get(1)
  assert.equal(get(2).transactionHash[0], 2)
  assert.deepEqual([first.transactionHash[0], first.isCurrent, first.metadata], [1, true, Uint8Array.of(1)])
  assert.equal(get(1), first)
  assert.equal(view.reads, 2, 'without another commit nothing is read again')
  view.commits++
  assert.equal(get(1), first, 'the row is the same after another commit')
  view.commits++
  view.isCurrent = false
  assert.equal(get(1).isCurrent, false)
  view.commits++
  view.state.epoch++
  view.metadata = Uint8Array.of(2)
  assert.deepEqual(get(1).metadata, Uint8Array.of(2))
})

test('token mapping records with long metadata are not kept', () => {
  const view = new FakeView()
  view.metadata = new Uint8Array(1025)
  const records = new TokenMappingRecords()
  const get = () => records.get(view as unknown as ShardView, 1)
  assert.notEqual(get(), get())
})

test('pages from before a token was replaced, after it and after a reorg each say which mapping is current', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, l2] = [world.network(0), world.network(1)]
  l1.mine((block) =>
    block.tx().deposit({
      originNetwork: 0,
      originAddress: HOME,
      destinationNetwork: 1,
      metadata: tokenMetadata('Fake "one"', 'F1', 18),
    }),
  )
  const deposit = l1.deposits()[0]!
  l2.mine((block) => block.tx().claim({ deposit, newWrappedToken: tokenAddress(101) }))
  const indexed = new IndexedWorld(context, world)
  const writer = new JsonWriter()
  const inUse = (): unknown[] => {
    indexed.syncAll()
    const text = indexed.ask((shards) => {
      const answer = getTokenMappings(shards, { pageNumber: 1, pageSize: 10, isAscending: true })
      assert.ok(answer.ok)
      writer.reset()
      presenters.getTokenMappings.write(writer, answer.value)
      return Buffer.from(writer.bytes.subarray(0, writer.length)).toString()
    })
    const { token_mappings: rows } = JSON.parse(text) as {
      token_mappings: { wrapped_token_address: string; name: string | null; is_current: boolean }[]
    }
    return rows.map((row) => [
      hexToBytes(row.wrapped_token_address as `0x${string}`)[19],
      row.name,
      row.is_current,
    ])
  }
  const wrapped = hexToBytes(tokenAddress(101))[19]
  const sovereign = hexToBytes(tokenAddress(102))[19]
  const before = [[wrapped, 'Fake "one"', true]]
  assert.deepEqual(inUse(), before)
  assert.deepEqual(inUse(), before)
  l2.mine((block) => block.tx().setSovereignToken(0, HOME, tokenAddress(102)))
  const after = [
    [wrapped, 'Fake "one"', false],
    [sovereign, null, true],
  ]
  assert.deepEqual(inUse(), after)
  assert.deepEqual(inUse(), after)
  l2.reorg({ depth: 1 })
  assert.deepEqual(inUse(), before)
})
