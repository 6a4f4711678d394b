import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import {
  createBloomProbe,
  decodeBloom,
  falseHitOdds,
  isZeroBloom,
  showsMoreThan,
} from '../../../../src/chain/logs/bloom.js'
import type { RpcLog } from '../../../../src/chain/rpc/rpcLogs.js'
import { eventTopics } from '../../../../src/events/eventTopics.js'
import { decodeHex } from '../../../../src/protocol/hex.js'
import { contracts, l2Filter } from '../../../support/encodedLogs.js'

const probe = createBloomProbe(l2Filter)
const { bridge, globalExitRootManager } = contracts

/** The yellow paper's M3:2048, spelled out: each byte pair, modulo 2,048, counts bits from the end. */
function bloomOf(items: readonly string[]): Uint8Array {
  const bits = Array.from({ length: 2048 }, () => false)
  for (const item of items) {
    const hash = keccak_256(decodeHex(item)!)
    for (const pair of [0, 2, 4]) bits[(hash[pair]! * 256 + hash[pair + 1]!) % 2048] = true
  }
  const text = [...bits]
    .reverse()
    .map((bit) => (bit ? '1' : '0'))
    .join('')
  return Uint8Array.from({ length: 256 }, (_, byte) => Number.parseInt(text.slice(byte * 8, byte * 8 + 8), 2))
}

const log = (address: string, topic: string) => ({ address, topics: [topic] }) as unknown as RpcLog

test('a bloom with an event of the bridge shows more than a list without such a log', () => {
  const bloom = bloomOf([bridge, eventTopics.BridgeEvent])
  assert.equal(showsMoreThan(bloom, [], probe), true)
  assert.equal(showsMoreThan(bloom, [log(bridge, eventTopics.BridgeEvent)], probe), false)
  assert.equal(showsMoreThan(bloom, [log(bridge, eventTopics.ClaimEvent)], probe), true)
  assert.equal(showsMoreThan(bloom, [log(globalExitRootManager, eventTopics.BridgeEvent)], probe), true)
})

test('a bloom shows more when one of two events is missing from the list', () => {
  const bloom = bloomOf([bridge, eventTopics.BridgeEvent, eventTopics.ClaimEvent])
  assert.equal(showsMoreThan(bloom, [log(bridge, eventTopics.BridgeEvent)], probe), true)
})

test('a bloom with only the address, only the topic, or the topic at another contract shows no event', () => {
  for (const items of [[bridge], [eventTopics.BridgeEvent], [bridge, eventTopics.UpdateHashChainValue], []])
    assert.equal(showsMoreThan(bloomOf(items), [], probe), false)
})

test('each event that is listened for is found in a bloom that contains it', () => {
  let checked = 0
  for (const [address, events] of l2Filter)
    for (const topic of events.keys()) {
      assert.equal(showsMoreThan(bloomOf([address, topic]), [], probe), true, topic)
      checked++
    }
  assert.equal(checked, 20)
})

test('the odds of a false hit follow the fill of the bloom: none when it is empty, certain when it is full', () => {
  assert.equal(falseHitOdds(new Uint8Array(256), probe), 0)
  assert.equal(falseHitOdds(new Uint8Array(256).fill(0xff), probe), 1)
  const half = falseHitOdds(new Uint8Array(256).fill(0x0f), probe)
  // Two contracts with 16 and 4 topics, each bit set with probability one half.
  const expected = 1 - (1 - 0.125 * (1 - 0.875 ** 16)) * (1 - 0.125 * (1 - 0.875 ** 4))
  assert.ok(Math.abs(half - expected) < 1e-12)
  assert.ok(falseHitOdds(bloomOf([bridge, eventTopics.BridgeEvent]), probe) < 1e-9)
})

test('a malformed bloom is distinguished from an empty one', () => {
  assert.equal(decodeBloom(undefined), undefined)
  assert.equal(decodeBloom('0x'), undefined)
  assert.equal(decodeBloom(`0x${'zz'.repeat(256)}`), undefined)
  assert.equal(isZeroBloom(decodeBloom(`0x${'00'.repeat(256)}`)!), true)
  assert.equal(isZeroBloom(decodeBloom(`0x${'00'.repeat(255)}01`)!), false)
})
