import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlockNumber, DepositCount } from '../../../../src/protocol/units.js'
import {
  decodeFeedEvent,
  encodeFeedEvent,
  type FeedEvent,
  feedEventTypes,
} from '../../../../src/store/feed/feedEvent.js'
import { address, deposit, feedEventSamples } from './feedEventSamples.js'

const plain = (bytes: Uint8Array) => new Uint8Array(bytes)

test('an event of each type is read as it was written, also by a buffer in the middle of another one', () => {
  assert.deepEqual(new Set(feedEventSamples.map(({ type }) => type)), new Set(feedEventTypes))
  for (const sample of feedEventSamples) {
    const bytes = encodeFeedEvent(sample)
    const around = new Uint8Array(bytes.length + 20).fill(0xee)
    around.set(bytes, 11)
    assert.deepEqual(decodeFeedEvent(around.subarray(11, 11 + bytes.length)), sample, sample.type)
  }
})

test('events are written as these bytes', () => {
  const texts: readonly [FeedEvent, string][] = [
    [
      { type: 'sync', blockNumber: 8 as BlockNumber, timestampSec: 1, finalBlock: null, isHistory: true },
      '05 080000000000 010000000000 00 01',
    ],
    [
      { type: 'reorg', ancestor: -1, depositCount: 4 as DepositCount, isCut: false },
      '06 000000000000 04000000 00',
    ],
    [{ type: 'start_over' }, '07'],
    [{ type: 'halted', reason: 'behind' }, '08 06000000 626568696e64'],
    [
      { type: 'unclaimable', ...deposit, destinationAddress: address(4) },
      `03 03000000 09000000 ${'04'.repeat(20)} 0102030404`,
    ],
  ]
  for (const [event, text] of texts)
    assert.equal(Buffer.from(encodeFeedEvent(event)).toString('hex'), text.replaceAll(' ', ''), event.type)
})

test('bytes that are no event, or not all of one, are refused', () => {
  for (const sample of feedEventSamples) {
    const bytes = encodeFeedEvent(sample)
    for (let length = 0; length < bytes.length; length++)
      assert.throws(() => decodeFeedEvent(bytes.subarray(0, length)), RangeError, `${sample.type} ${length}`)
    const longer = plain(Buffer.concat([bytes, Uint8Array.of(0)]))
    assert.throws(() => decodeFeedEvent(longer), /has bytes behind its end/)
  }
  assert.throws(() => decodeFeedEvent(Uint8Array.of(feedEventTypes.length)), /10 is no type of an event/)
})

test('an event owns its bytes: the next one that is written does not change them', () => {
  const first = encodeFeedEvent({ type: 'halted', reason: 'first' })
  encodeFeedEvent({ type: 'halted', reason: 'other' })
  assert.deepEqual(decodeFeedEvent(first), { type: 'halted', reason: 'first' })
})
