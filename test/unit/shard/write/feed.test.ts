import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { headPlaces } from '../../../../src/board/statusBoard.js'
import type { ChainEvent, IndexedBlock } from '../../../../src/protocol/chainEvent.js'
import { encodeGlobalIndex } from '../../../../src/protocol/globalIndex.js'
import type { BlockNumber, DepositCount, LeafCount, NetworkId } from '../../../../src/protocol/units.js'
import { readFeedPlace } from '../../../../src/shard/position/feedPosition.js'
import { readFeed } from '../../../../src/shard/snapshot/feedReads.js'
import type { FeedEvent } from '../../../../src/store/feed/feedEvent.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, openTestShard, type TestShard } from '../../../support/testShard.js'
import { sampleCommands } from '../../log/commandSamples.js'

const ADDRESS = Buffer.alloc(20, 0x0a)
const SENDER = { caller: Buffer.alloc(20, 0xca), transactionSender: Buffer.alloc(20, 0x5e) }

/** What an event of the chain says beside its place. */
type Said = Record<string, unknown>

const deposit = (depositCount: number): Said => ({
  type: 'deposit',
  ...{ leafType: 0, originNetwork: 1, originAddress: Buffer.alloc(20, 0xde), destinationNetwork: 2 },
  ...{ destinationAddress: ADDRESS, amount: 5n, metadata: Buffer.alloc(0), depositCount, sender: SENDER },
})

const claim = (depositCount: number): Said => ({
  type: 'claim',
  ...{ generation: 'v2', globalIndex: encodeGlobalIndex(2 as NetworkId, depositCount as DepositCount) },
  ...{ originNetwork: 0, originAddress: ADDRESS, destinationAddress: ADDRESS, amount: 5n, sender: SENDER },
})

const unset = (depositCount: number): Said => ({ type: 'claimUnset', sourceNetwork: 2, depositCount })
const emergency = (active: boolean): Said => ({ type: 'emergencyState', active })

/** Block `number` of a chain that has one branch. */
function blockOf(number: number, events: readonly Said[] = []): IndexedBlock {
  const placed = events.map((event, logIndex) => {
    const transactionHash = Buffer.alloc(32, 16 * number + logIndex)
    return { ...event, blockNumber: number, logIndex, transactionHash } as unknown as ChainEvent
  })
  const header = {
    number: number as BlockNumber,
    hash: Buffer.alloc(32, number),
    parentHash: Buffer.alloc(32, number - 1),
    timestampSec: 100 + number,
  }
  return { header, events: placed }
}

/** A shard of network 1 with a feed. */
function openShard(context: TestContext, keepEvents?: number): TestShard {
  const shard = openTestShard(tempFolder(context), 1, undefined, keepEvents)
  context.after(() => shard.close())
  return shard
}

const eventsOf = (shard: TestShard): FeedEvent[] =>
  shard.read((view) => readFeed(view, 0, 1_000).map(({ event }) => event))

/** Each event in one line: what it is about. */
function textsOf(shard: TestShard): string[] {
  return eventsOf(shard).map((event) => {
    switch (event.type) {
      case 'bridge':
        return `bridge ${event.depositCount} in ${event.blockNumber}`
      case 'claim':
        return `${event.isInForce ? 'claim' : 'unset'} ${event.sourceNetwork}:${event.depositCount} in ${event.blockNumber}`
      case 'token_mapping':
        return `mapping ${event.isCurrent ? 'current' : 'former'}${event.isRemoved ? ' removed' : ''}`
      case 'sync':
        return `sync ${event.blockNumber} final ${event.finalBlock}${event.isHistory ? ' history' : ''}`
      case 'reorg':
        return `${event.isCut ? 'cut' : 'reorg'} to ${event.ancestor}, deposits from ${event.depositCount}`
      case 'halted':
      case 'resumed':
        return `${event.type} ${event.reason}`
      default:
        return event.type
    }
  })
}

test('a block is told in the order of its logs, and how far the network is behind it', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(
    batchOf([blockOf(1, [claim(7), deposit(0)]), blockOf(2), blockOf(3, [unset(7), unset(7)])]),
  )
  assert.deepEqual(textsOf(shard), [
    ...['claim 2:7 in 1', 'bridge 0 in 1', 'unset 2:7 in 3', 'sync 3 final 0'],
  ])
})

test('a bridge and a claim have all that their logs say', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(batchOf([blockOf(1, [deposit(0), claim(7)])]))
  const [bridge, claimed] = eventsOf(shard)
  const bytes = (value: { bytes: Uint8Array } | undefined) => Buffer.from(value?.bytes ?? [])
  assert.ok(bridge?.type === 'bridge' && claimed?.type === 'claim')
  assert.deepEqual(
    [bridge.logIndex, bridge.timestampSec, bridge.leafType, bridge.destinationNetwork, bridge.tokenNetwork],
    [0, 101, 0, 2, 1],
  )
  assert.deepEqual(Buffer.from(bridge.transactionHash), Buffer.alloc(32, 16))
  assert.deepEqual(bytes(bridge.tokenAddress), Buffer.alloc(20, 0xde))
  assert.deepEqual(bytes(bridge.destinationAddress), ADDRESS)
  assert.deepEqual(bytes(bridge.sender?.caller), SENDER.caller)
  assert.deepEqual(bytes(bridge.sender?.transactionSender), SENDER.transactionSender)
  assert.equal(Buffer.from(bridge.amount).toString('hex'), '5'.padStart(64, '0'))
  assert.deepEqual(Buffer.from(claimed.transactionHash), Buffer.alloc(32, 17))
  assert.equal(Buffer.from(claimed.globalIndex).toString('hex'), '100000007'.padStart(64, '0'))
  assert.equal(claimed.content?.tokenNetwork, 0)
  assert.deepEqual(bytes(claimed.sender?.caller), SENDER.caller)
})

test('a claim that an administrator set is told without content, and one that was in force already is not told again', (context) => {
  const shard = openShard(context)
  const set = (depositCount: number): Said => ({
    ...{ type: 'claimSet', sourceNetwork: 2, depositCount, sender: SENDER },
  })
  shard.writer.applyBlocks(batchOf([blockOf(1, [set(3), set(3)])]))
  const [told, sync] = eventsOf(shard)
  assert.ok(told?.type === 'claim' && told.isInForce && told.content === null)
  assert.equal(sync?.type, 'sync')
})

test('a reorg is told with what comes back: claims that were replaced or unset above it', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(batchOf([blockOf(1, [deposit(0), claim(7), claim(8), claim(9)])]))
  shard.writer.applyBlocks(batchOf([blockOf(2, [deposit(1), unset(7), claim(8)])]))
  shard.writer.revertTo(1 as BlockNumber)
  assert.deepEqual(textsOf(shard).slice(-4), [
    ...['reorg to 1, deposits from 1', 'claim 2:7 in 1', 'claim 2:8 in 1', 'sync 1 final 0'],
  ])
})

test('deposits that BackwardLET cuts off are told as gone, and a reorg of that block tells them again', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(batchOf([blockOf(1, [deposit(0), deposit(1), deposit(2)])]))
  const previousRoot = shard.writer.localExitRoot()
  // The root of the first deposit alone, from a shard that has no other.
  const other = openTestShard(tempFolder(context), 1)
  context.after(() => other.close())
  other.writer.applyBlocks(batchOf([blockOf(1, [deposit(0)])]))
  const backwardLet: Said = {
    ...{ type: 'backwardLet', previousLeafCount: 3 as LeafCount, previousRoot, newLeafCount: 1 as LeafCount },
    newRoot: other.writer.localExitRoot(),
  }
  shard.writer.applyBlocks(batchOf([blockOf(2, [backwardLet, deposit(1)])]))
  assert.deepEqual(textsOf(shard).slice(-3), ['cut to 2, deposits from 1', 'bridge 1 in 2', 'sync 2 final 0'])
  shard.writer.revertTo(1 as BlockNumber)
  assert.deepEqual(textsOf(shard).slice(-4), [
    ...['reorg to 1, deposits from 1', 'bridge 1 in 1', 'bridge 2 in 1', 'sync 1 final 0'],
  ])
})

test('a mapping is told when it is added, replaced and removed, and when a reorg makes it the current one again', (context) => {
  const shard = openShard(context)
  const sovereign = (byte: number): Said => ({
    ...{ type: 'sovereignToken', originNetwork: 0, originTokenAddress: ADDRESS },
    ...{ sovereignTokenAddress: Buffer.alloc(20, byte), isNotMintable: false },
  })
  const removed: Said = { type: 'legacyTokenRemoved', sovereignTokenAddress: Buffer.alloc(20, 1) }
  shard.writer.applyBlocks(batchOf([blockOf(1, [sovereign(1)])]))
  shard.writer.applyBlocks(batchOf([blockOf(2, [sovereign(2), removed])]))
  shard.writer.revertTo(1 as BlockNumber)
  assert.deepEqual(
    textsOf(shard).filter((text) => /mapping|reorg/.test(text)),
    [
      ...['mapping current', 'mapping former', 'mapping current', 'mapping former removed'],
      ...['reorg to 1, deposits from 0', 'mapping current'],
    ],
  )
})

test('nothing of a history is told while the network catches up, but one sync at its end', (context) => {
  const shard = openShard(context)
  shard.writer.noteCatchingUp(true)
  shard.writer.applyBlocks(batchOf([blockOf(1, [deposit(0), claim(7)])]))
  shard.writer.setFinalized(1 as BlockNumber)
  shard.writer.noteCatchingUp(false)
  shard.writer.applyBlocks(batchOf([blockOf(2, [deposit(1)])]))
  assert.deepEqual(textsOf(shard), [
    ...['halted catching_up', 'sync 1 final 1 history', 'resumed catching_up'],
    ...['bridge 1 in 2', 'sync 2 final 1'],
  ])
})

test('a reorg and a start over are told while the network catches up, too', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(batchOf([blockOf(1, [deposit(0)])]))
  shard.writer.noteCatchingUp(true)
  shard.writer.revertTo(0 as BlockNumber)
  shard.writer.startOver({ count: 1, notBeforeMs: undefined })
  assert.deepEqual(textsOf(shard), [
    ...['bridge 0 in 1', 'sync 1 final 0', 'halted catching_up', 'reorg to 0, deposits from 0'],
    ...['start_over', 'resumed catching_up'],
  ])
})

test('a start over keeps the feed and its id, and goes on counting', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(batchOf([blockOf(1, [deposit(0)])]))
  const before = shard.read(readFeedPlace)
  shard.writer.startOver({ count: 1, notBeforeMs: undefined })
  shard.writer.applyBlocks(batchOf([blockOf(1)]))
  assert.deepEqual(textsOf(shard), ['bridge 0 in 1', 'sync 1 final 0', 'start_over', 'sync 1 final 0'])
  assert.deepEqual(shard.read(readFeedPlace), { feedId: before?.feedId, oldest: 1, newest: 4 })
})

test('finality that rises without blocks is told', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(batchOf([blockOf(1)]))
  shard.writer.setFinalized(1 as BlockNumber)
  shard.writer.setFinalized(1 as BlockNumber)
  assert.deepEqual(textsOf(shard), ['sync 1 final 0', 'sync 1 final 1'])
})

test('what stands in the way of readiness is told when it comes and when it goes, also by a reorg', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(batchOf([blockOf(1)]))
  shard.writer.applyBlocks(batchOf([blockOf(2, [emergency(true)])]))
  shard.writer.revertTo(1 as BlockNumber)
  const give = (command: Parameters<TestShard['writer']['apply']>[0]) =>
    assert.deepEqual(shard.writer.apply(command), { type: 'applied' })
  give({ type: 'noteHalt', reason: 'missing_log' })
  give({ type: 'noteHeadPlace', place: headPlaces.below })
  give({ type: 'noteHeadPlace', place: headPlaces.belowFinal })
  give({ type: 'noteHalt', reason: 'wrong_chain' })
  give({ type: 'noteHeadPlace', place: headPlaces.inStep })
  assert.deepEqual(
    textsOf(shard).filter((text) => /halted|resumed/.test(text)),
    [
      ...['halted emergency_state', 'resumed emergency_state', 'halted missing_log', 'halted behind'],
      ...['halted wrong_chain', 'resumed missing_log', 'resumed behind'],
    ],
  )
})

test('only the newest events are kept, and the place says which', (context) => {
  const shard = openShard(context, 3)
  for (let number = 1; number <= 9; number++) shard.writer.applyBlocks(batchOf([blockOf(number)]))
  assert.deepEqual(textsOf(shard), ['sync 7 final 0', 'sync 8 final 0', 'sync 9 final 0'])
  assert.deepEqual(
    shard.read((view) => readFeed(view, 0, 1_000).map(({ sequence }) => sequence)),
    [7, 8, 9],
  )
  const { oldest, newest } = shard.read(readFeedPlace)!
  assert.deepEqual([oldest, newest], [7, 9])
  shard.writer.applyBlocks(batchOf([blockOf(10, [deposit(0), deposit(1), deposit(2), deposit(3)])]))
  assert.deepEqual(textsOf(shard), ['bridge 2 in 10', 'bridge 3 in 10', 'sync 10 final 0'])
})

test('a refused command tells nothing', (context) => {
  const shard = openShard(context)
  shard.writer.applyBlocks(batchOf([blockOf(1, [deposit(0)])]))
  const before = textsOf(shard)
  const outcome = shard.writer.apply({
    type: 'applyBlocks',
    batch: batchOf([blockOf(2, [claim(7), deposit(5)])]),
  })
  assert.equal(outcome.type, 'refused')
  assert.deepEqual(textsOf(shard), before)
})

test('the feed of a log is named after it, and keeps as many events as its first command says', (context) => {
  const shard = openShard(context)
  const place = (sequence: number) => ({ sequence, commandId: new Uint8Array(16).fill(sequence) })
  const logId = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
  const settings = { ...sampleCommands.begin.settings, logId, feedKeepEvents: 2 }
  shard.writer.apply({ type: 'begin', settings }, place(1))
  assert.equal(shard.read(readFeedPlace)?.feedId, 0x0605_0403_0201)
  for (let number = 1; number <= 4; number++)
    shard.writer.apply({ type: 'applyBlocks', batch: batchOf([blockOf(number)]) }, place(1 + number))
  assert.deepEqual(textsOf(shard), ['sync 3 final 0', 'sync 4 final 0'])
})
