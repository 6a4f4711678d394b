import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChecksumAddress } from '../../../../src/protocol/checksumAddress.js'
import type { BlockNumber, DepositCount, L1InfoTreeIndex, NetworkId } from '../../../../src/protocol/units.js'
import {
  decodeFeedEvent,
  encodeFeedEvent,
  type FeedEvent,
  feedEventTypes,
} from '../../../../src/store/feed/feedEvent.js'

const plain = (bytes: Uint8Array) => new Uint8Array(bytes)
const hash = (byte: number) => new Uint8Array(32).fill(byte)
const address = (byte: number): ChecksumAddress => ({
  bytes: new Uint8Array(20).fill(byte),
  checksumMask: Uint8Array.of(1, 2, 3, 4, byte),
})
const sender = { caller: address(0xca), transactionSender: address(0x5e) }
const place = {
  blockNumber: 0x0102_0304_0506 as BlockNumber,
  timestampSec: 0x0a0b_0c0d,
  logIndex: 7,
  transactionHash: hash(0x7a),
}
const content = {
  tokenNetwork: 0xffff_ffff as NetworkId,
  tokenAddress: address(0xde),
  destinationAddress: address(0xda),
  amount: hash(0xff),
}
const deposit = { sourceNetwork: 3 as NetworkId, depositCount: 9 as DepositCount }

/** With and without each thing that may be absent. */
const samples: readonly FeedEvent[] = [
  {
    type: 'bridge',
    ...place,
    ...content,
    ...{ depositCount: 5 as DepositCount, leafType: 1, destinationNetwork: 2 as NetworkId },
    ...{ metadata: Uint8Array.of(0xaa, 0xbb), sender },
  },
  {
    type: 'bridge',
    ...place,
    ...content,
    ...{ depositCount: 5 as DepositCount, leafType: 0, destinationNetwork: 2 as NetworkId },
    ...{ metadata: { length: 5_000, hash: hash(3) }, sender: null },
  },
  { type: 'claim', ...place, ...deposit, isInForce: true, globalIndex: hash(1), content, sender },
  {
    type: 'claim',
    ...place,
    ...deposit,
    ...{ isInForce: false, globalIndex: hash(1), content: null, sender: null },
  },
  {
    type: 'claimable',
    ...deposit,
    ...{ transactionHash: hash(8), destinationAddress: address(4), leafType: 1 },
    l1InfoTreeIndex: 0xffff_fffe as L1InfoTreeIndex,
  },
  { type: 'unclaimable', ...deposit, destinationAddress: address(4) },
  {
    type: 'token_mapping',
    ...place,
    ...{ originNetwork: 1 as NetworkId, originTokenAddress: address(1), wrappedTokenAddress: address(2) },
    ...{ metadata: new Uint8Array(0), tokenType: 1, isNotMintable: true, isCurrent: false, isRemoved: true },
  },
  { type: 'sync', blockNumber: 0 as BlockNumber, timestampSec: 0, finalBlock: null, isHistory: true },
  {
    type: 'sync',
    ...{ blockNumber: 8 as BlockNumber, timestampSec: 1, finalBlock: 7 as BlockNumber, isHistory: false },
  },
  { type: 'reorg', ancestor: -1, depositCount: 0 as DepositCount, isCut: false },
  { type: 'reorg', ancestor: 2 ** 48 - 2, depositCount: 4 as DepositCount, isCut: true },
  { type: 'start_over' },
  { type: 'halted', reason: 'catching_up' },
  { type: 'resumed', reason: 'missing_log' },
]

test('an event of each type is read as it was written, also by a buffer in the middle of another one', () => {
  assert.deepEqual(new Set(samples.map(({ type }) => type)), new Set(feedEventTypes))
  for (const sample of samples) {
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
  for (const sample of samples) {
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
