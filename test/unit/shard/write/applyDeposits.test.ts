import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HaltReason } from '../../../../src/board/haltReason.js'
import type { ChainEvent, IndexedBlock } from '../../../../src/protocol/chainEvent.js'
import type { DepositCount } from '../../../../src/protocol/units.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { RandomChain } from '../../../support/randomChain.js'
import { readDeposits, readLists } from '../../../support/shardContents.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard, type TestShard } from '../../../support/testShard.js'

type Deposit = Extract<ChainEvent, { type: 'deposit' }>

async function withShard(context: TestContext, body: (shard: TestShard) => void): Promise<void> {
  const shard = openTestShard(tempFolder(context), 1)
  try {
    body(shard)
  } finally {
    await shard.close()
  }
}

/** Blocks of deposits alone, `perBlock` in each. */
function depositBlocks(count: number, perBlock: number): IndexedBlock[] {
  const template = new RandomChain(3)
  let depositCount = 0
  return Array.from({ length: count }, () => {
    const { header } = template.grow(1)
    const events = Array.from({ length: perBlock }, (_, logIndex): Deposit => {
      const sender = template.sender()
      return {
        type: 'deposit',
        blockNumber: header.number,
        logIndex,
        transactionHash: header.hash,
        leafType: 0,
        originNetwork: 0 as Deposit['originNetwork'],
        originAddress: sender.caller,
        destinationNetwork: 2 as Deposit['destinationNetwork'],
        destinationAddress: Buffer.alloc(20, 5),
        amount: BigInt(depositCount),
        metadata: new Uint8Array(0),
        depositCount: depositCount++ as DepositCount,
        sender,
      }
    })
    return { header, events }
  })
}

function assertRefused(shard: TestShard, blocks: IndexedBlock[], reason: HaltReason, message: string): void {
  const before = shard.read(dumpTables)
  assert.throws(() => shard.writer.applyBlocks(batchOf(blocks)), { name: 'ChainDataError', reason, message })
  assert.deepEqual(shard.read(dumpTables), before)
}

const without = (block: IndexedBlock, index: number): IndexedBlock => ({
  header: block.header,
  events: block.events.filter((_, position) => position !== index),
})

test('a gap in the deposit counts refuses the whole batch, and the right batch is accepted afterwards', (context) =>
  withShard(context, (shard) => {
    const [first, second, third] = depositBlocks(3, 3)
    shard.writer.applyBlocks(batchOf([first!]))
    assertRefused(
      shard,
      [second!, without(third!, 1)],
      'deposit_count_gap',
      'deposit count 8 in block 3, expected 7',
    )
    shard.writer.applyBlocks(batchOf([second!, third!]))
    assert.equal(readCount(shard), 9)
  }))

test('a deposit that comes twice is refused', (context) =>
  withShard(context, (shard) => {
    const [first, second] = depositBlocks(2, 2)
    shard.writer.applyBlocks(batchOf([first!]))
    const repeated = { header: second!.header, events: [second!.events[0]!, ...second!.events] }
    assertRefused(shard, [repeated], 'deposit_count_gap', 'deposit count 2 in block 2, expected 3')
  }))

test('a first deposit count above 0 is refused with the advice that start_block is too late', (context) =>
  withShard(context, (shard) => {
    const [first] = depositBlocks(1, 3)
    const message = 'first deposit count 1 in block 1, expected 0: start_block is after the first deposit'
    assertRefused(shard, [without(first!, 0)], 'start_block_too_late', message)
  }))

test('after a refused batch the dictionaries give the same ids again', (context) =>
  withShard(context, (shard) => {
    const [first, second] = depositBlocks(2, 2)
    assert.throws(() => shard.writer.applyBlocks(batchOf([first!, without(second!, 0)])))
    shard.writer.applyBlocks(batchOf([first!, second!]))
    const tokens = shard.read((view) => readDeposits(view).map(({ originAddress }) => originAddress))
    const events = [...first!.events, ...second!.events] as Deposit[]
    assert.deepEqual(
      tokens,
      events.map((event) => toHex(event.originAddress)),
    )
  }))

for (const undoFloor of [0, 40])
  test(`a list of 1,200 ordinals keeps all of them in order, undo floor ${undoFloor}`, (context) =>
    withShard(context, (shard) => {
      const blocks = depositBlocks(40, 30)
      for (let from = 0; from < 40; from += 8)
        shard.writer.applyBlocks(batchOf(blocks.slice(from, from + 8), undoFloor))
      const list = shard.read((view) => readLists(view)['depositsByDestinationNetwork:00000002'])
      assert.deepEqual(
        list,
        Array.from({ length: 1200 }, (_, ordinal) => ordinal),
      )
    }))

test('metadata of any size is stored once per content', (context) =>
  withShard(context, (shard) => {
    const [block] = depositBlocks(1, 4)
    const sizes = [0, 1, 100_000, 100_000]
    const events = block!.events.map((event, index) => ({
      ...event,
      metadata: Buffer.alloc(sizes[index]!, 7),
    }))
    shard.writer.applyBlocks(batchOf([{ header: block!.header, events: events as ChainEvent[] }]))
    const lengths = shard.read((view) => readDeposits(view).map(({ metadata }) => metadata.length / 2 - 1))
    assert.deepEqual(lengths, sizes)
    const all = { start: Uint8Array.of(0), end: Buffer.alloc(8, 0xff) }
    assert.equal(
      shard.read((view) => view.list('metadata', all).length),
      3,
    )
  }))

function readCount(shard: TestShard): number {
  return shard.writer.counts().deposits
}
