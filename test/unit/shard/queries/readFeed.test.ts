import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSchema } from '../../../../src/api/parse/parseQuery.js'
import { writeFeedPage } from '../../../../src/api/present/feedPage.js'
import { JsonWriter } from '../../../../src/api/present/jsonWriter.js'
import { EventData } from '../../../../src/api/schemas.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { readFeed } from '../../../../src/shard/queries/readFeed.js'
import type { ShardReaders } from '../../../../src/shard/queries/shardReaders.js'
import { feedEventSamples } from '../../store/feed/feedEventSamples.js'

/** What the front gets of a shard of network 7 whose feed has the samples: the first line, and each event. */
function read(after: number): {
  readonly head: unknown
  readonly events: readonly Record<string, unknown>[]
} {
  const listFeed = (from: number) =>
    feedEventSamples.map((event, at) => ({ sequence: at + 1, event })).slice(from)
  const place = { feedId: 0xabc, oldest: 1, newest: feedEventSamples.length }
  const shards = { get: () => ({ feedPlace: place, listFeed }) } as unknown as ShardReaders
  const answer = readFeed(shards, { networkId: asNetworkId(7), after, limit: 100 })
  assert.ok(answer.ok)
  const writer = new JsonWriter(16)
  writeFeedPage(writer, answer.value)
  const [head, ...lines] = new TextDecoder().decode(writer.bytes.subarray(0, writer.length)).split('\n')
  return {
    head: JSON.parse(head!) as unknown,
    events: lines.map((line, at) => {
      const [, sequence, json] = /^(\d+)(\{.*)$/.exec(line)!
      assert.equal(Number(sequence), after + at + 1)
      return JSON.parse(json!) as Record<string, unknown>
    }),
  }
}

test('each event is what the OpenAPI document says of its type, under an id of its own', () => {
  const validate = compileSchema(EventData)
  const { head, events } = read(0)
  assert.deepEqual(head, { feedId: 0xabc, oldest: 1, newest: feedEventSamples.length })
  assert.deepEqual(
    events.map(({ type, id, network_id }) => [type, id, network_id]),
    feedEventSamples.map(({ type }, at) => [type, `7.000000000abc:${at + 1}`, 7]),
  )
  for (const event of events)
    assert.ok(validate(event), `${JSON.stringify(event)}: ${JSON.stringify(validate.errors)}`)
})

test('what is not known, too long, or before the first block is null', () => {
  const { events } = read(0)
  const [bridge, longBridge, , unset] = events
  const reorg = events.find(({ type }) => type === 'reorg')
  assert.deepEqual(
    [bridge?.metadata, longBridge?.metadata, longBridge?.metadata_length],
    ['0xaabb', null, 5_000],
  )
  assert.deepEqual([longBridge?.origin_address, unset?.amount, reorg?.ancestor_block], [null, null, null])
  // The deposit 9 of network 3: rollup index 2, no mainnet flag.
  const claimable = events.find(({ type }) => type === 'claimable')
  assert.equal(claimable?.global_index, `0x${'0000000200000009'.padStart(64, '0')}`)
})

test('events behind one of them begin with the next', () => {
  assert.equal(read(4).events.length, feedEventSamples.length - 4)
})
