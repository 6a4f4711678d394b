import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { createStatusBoard, type StatusField, statusRow } from '../../../../src/board/statusBoard.js'
import { createVersionReader } from '../../../../src/board/version.js'
import type { BlockBatch } from '../../../../src/protocol/chainEvent.js'
import type { BlockNumber } from '../../../../src/protocol/units.js'
import { readCheckpoint } from '../../../../src/shard/position/chainPosition.js'
import { atEachWrite } from '../../../support/boardWrites.js'
import { RandomChain } from '../../../support/randomChain.js'
import { readClaims, readDeposits } from '../../../support/shardContents.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard, type TestShard } from '../../../support/testShard.js'

const block = (number: number) => number as BlockNumber

async function withChain(
  context: TestContext,
  blocks: number,
  body: (shard: TestShard, chain: RandomChain) => void,
  seed = 5,
): Promise<void> {
  const shard = openTestShard(tempFolder(context), 1)
  const chain = new RandomChain(seed)
  for (let count = 0; count < blocks; count++) chain.grow(5)
  try {
    body(shard, chain)
  } finally {
    await shard.close()
  }
}

/** Blocks without events up to `number`, after the chain's own. */
function emptyBatch(chain: RandomChain, number: number, undoFloor = 0): BlockBatch {
  const last = chain.blocks.at(-1)!.header
  const head = {
    number: block(number),
    hash: Buffer.alloc(32, 99),
    parentHash: Buffer.alloc(32, 98),
    timestampSec: 9,
  }
  return {
    fromBlock: block(last.number + 1),
    head,
    blocks: [],
    finalizedBlock: block(0),
    undoFloor: block(undoFloor),
  }
}

for (const seed of [1, 2, 3, 4, 5])
  test(`the status board has the stored counts, and moves commits with each commit and epoch with each reorg and cut of the tree (seed ${seed})`, (context) => {
    const look = ({ writer, status, read }: TestShard, chain: RandomChain): void => {
      const cuts = chain.state.treeMoves.filter(({ isCut }) => isCut).length
      writer.applyBlocks(batchOf(chain.blocks.slice(0, 4)))
      writer.applyBlocks({ ...batchOf(chain.blocks.slice(4)), finalizedBlock: block(3) })
      const claims = read((view) => readClaims(view).filter((row) => row.isInForce).length)
      const fields = [
        'commits',
        'epoch',
        'syncedBlock',
        'finalizedBlock',
        'depositCount',
        'claimCount',
      ] as const
      const told = () => fields.map((field) => status.get(field))
      assert.deepEqual(told(), [2, cuts, 8, 3, chain.state.deposits.length, claims])
      assert.equal(status.get('syncedTimestampSec'), chain.blocks[7]!.header.timestampSec)
      assert.equal(status.get('emergencyState'), chain.state.emergency ? 1 : 0)
      assert.ok(status.get('lastCommitMs')! > 0 && status.get('storeBytes') > 0)
      writer.revertTo(block(2))
      chain.dropAbove(2)
      assert.deepEqual(told().slice(0, 5), [3, cuts + 1, 2, 2, chain.state.deposits.length])
    }
    return withChain(context, 8, look, seed)
  })

test('a reader of a commit never sees the version that answers were kept under before it', async (context) => {
  const board = createStatusBoard([1])
  const shard = openTestShard(tempFolder(context), 1, board)
  const chain = new RandomChain(5)
  for (let count = 0; count < 8; count++) chain.grow(5)
  const readVersion = createVersionReader(board)
  const storedBlock = () => shard.read((view) => readCheckpoint(view)?.number)
  let before = { commits: readVersion().commits, block: storedBlock() }
  let looks = 0
  const look = (value: bigint | number): void => {
    // Inside the transaction this thread would read data that no other thread can.
    if (value === 1n && shard.status.get('committing') === 0) return
    const { commits, isChanging } = readVersion()
    if (storedBlock() === before.block) return
    looks += 1
    assert.ok(isChanging || commits !== before.commits, `the version stands at ${commits}`)
  }
  atEachWrite(context, { before: look })
  for (const block of chain.blocks) {
    shard.writer.applyBlocks(batchOf([block]))
    before = { commits: readVersion().commits, block: storedBlock() }
    assert.equal(readVersion().isChanging, false)
  }
  context.mock.restoreAll()
  assert.ok(looks > 5 * chain.blocks.length, `${looks} looks`)
  await shard.close()
})

test('a reader that sees a new block on the status board also sees every count of that block', async (context) => {
  const shard = openTestShard(tempFolder(context), 1)
  const chain = new RandomChain(5)
  for (let count = 0; count < 8; count++) chain.grow(5)
  const fields = ['syncedBlock', 'depositCount', 'claimCount', 'unresolvedSenders', 'finalizedBlock'] as const
  const told = () => fields.map((field) => shard.status.get(field))
  let seen: (number | undefined)[][] = []
  atEachWrite(context, { before: () => seen.push(told()) })
  for (const block of chain.blocks) {
    seen = []
    shard.writer.applyBlocks(batchOf([block]))
    const { number } = block.header
    for (const each of seen) if (each[0] === number) assert.deepEqual(each, told(), `block ${number}`)
    assert.ok(seen.length > fields.length, `${seen.length} looks`)
  }
  context.mock.restoreAll()
  await shard.close()
})

test('a failed commit leaves no mark of a commit under way', (context) =>
  withChain(context, 3, ({ writer, status }, chain) => {
    writer.applyBlocks(batchOf(chain.blocks.slice(0, 2)))
    assert.throws(() => writer.applyBlocks(batchOf(chain.blocks.slice(0, 1))))
    assert.equal(status.get('committing'), 0)
  }))

test('the mark of a thread that died in a commit is removed by the next writer, and voids kept answers', async (context) => {
  const board = createStatusBoard([1])
  const row = statusRow(board, 1)
  row.set('commits', 7)
  row.set('committing', 1)
  const shard = openTestShard(tempFolder(context), 1, board)
  assert.deepEqual([row.get('commits'), row.get('committing')], [8, 0])
  await shard.close()
})

test('a writer that opens an existing shard continues with its checkpoint, counts and epoch', async (context) => {
  const folder = tempFolder(context)
  const chain = new RandomChain(5)
  for (let count = 0; count < 6; count++) chain.grow(5)
  const first = openTestShard(folder, 1)
  first.writer.applyBlocks(batchOf(chain.blocks))
  first.writer.revertTo(block(5))
  const counts = first.writer.counts()
  const epoch = first.status.get('epoch')
  assert.ok(epoch > 0)
  await first.close()
  const { writer: again, status: row, close } = openTestShard(folder, 1)
  assert.deepEqual(again.counts(), counts)
  assert.deepEqual(Buffer.from(again.checkpoint()!.hash), Buffer.from(chain.blocks[4]!.header.hash))
  assert.deepEqual(
    [row.get('epoch'), row.get('syncedBlock'), row.get('depositCount')],
    [epoch, 5, counts.deposits],
  )
  again.applyBlocks(batchOf([chain.blocks[5]!]))
  await close()
})

test('a batch that does not follow the checkpoint is refused', (context) =>
  withChain(context, 6, ({ writer, read }, chain) => {
    writer.applyBlocks(batchOf(chain.blocks.slice(0, 3)))
    const before = read(dumpTables)
    const next = chain.blocks[3]!
    const orphan = { ...next, header: { ...next.header, parentHash: Buffer.alloc(32, 1) } }
    const cases: [BlockBatch, RegExp][] = [
      [batchOf([chain.blocks[4]!]), /begins at block 5, the checkpoint is block 3/],
      [batchOf([chain.blocks[2]!]), /begins at block 3, the checkpoint is block 3/],
      [batchOf([orphan]), /block 4 names parent 0x0101.*, block 3 is 0x/],
      [{ ...batchOf([next]), blocks: [chain.blocks[5]!] }, /block 6 lies outside of its batch/],
      [
        { ...batchOf(chain.blocks.slice(3, 5)), blocks: [chain.blocks[4]!, next] },
        /block 4 does not follow block 5/,
      ],
    ]
    for (const [batch, message] of cases)
      assert.throws(() => writer.applyBlocks(batch), { name: 'InvariantError', message })
    assert.deepEqual(read(dumpTables), before)
  }))

test('neighbouring blocks of far history follow each other without parent hashes', (context) =>
  withChain(context, 4, ({ writer, read }, chain) => {
    const untold = chain.blocks.map(({ header: { parentHash: _, ...header }, events }) => ({
      header,
      events,
    }))
    writer.applyBlocks(batchOf(untold.slice(0, 2)))
    writer.applyBlocks(batchOf(untold.slice(2)))
    assert.equal(writer.checkpoint()?.number, 4)
    assert.equal(read(readDeposits).length, chain.state.deposits.length)
  }))

test('a reorg goes down to the undo floor and not below it, and only to a block with a stored header', (context) =>
  withChain(context, 10, ({ writer }, chain) => {
    writer.applyBlocks(batchOf(chain.blocks.slice(0, 9), 4))
    writer.applyBlocks(batchOf(chain.blocks.slice(9), 6))
    assert.throws(() => writer.revertTo(block(5)), {
      name: 'FatalError',
      reason: 'reorg_too_deep',
      message: 'ancestor 5 of the reorg is below 6, where undo ends',
    })
    assert.throws(() => writer.revertTo(block(11)), {
      name: 'InvariantError',
      message: /above the checkpoint 10/,
    })
    assert.equal(writer.headerAtOrBelow(block(6))?.number, 6)
    assert.equal(writer.headerAtOrBelow(block(5)), undefined)
    writer.revertTo(block(6))
    assert.equal(writer.checkpoint()?.number, 6)
    assert.equal(writer.headerAtOrBelow(block(100))?.number, 6)
  }))

test('a batch across the undo floor can be reverted to the floor, and everything up to the floor stays', (context) =>
  withChain(context, 10, ({ writer, read }, chain) => {
    writer.applyBlocks(batchOf(chain.blocks, 4))
    writer.revertTo(block(4))
    chain.dropAbove(4)
    const kept = read((view) => readDeposits(view).length)
    assert.equal(kept, chain.state.deposits.length)
    assert.ok(kept > 0)
  }))

test('a block without events can be reverted to only when it ended a batch', (context) =>
  withChain(context, 2, ({ writer }, chain) => {
    writer.applyBlocks(batchOf(chain.blocks))
    writer.applyBlocks(emptyBatch(chain, 5))
    assert.throws(() => writer.revertTo(block(4)), {
      name: 'InvariantError',
      message: 'block 4 has no stored header',
    })
    writer.revertTo(block(2))
    assert.equal(writer.checkpoint()?.number, 2)
  }))

test('a young chain can be reverted to nothing, although block 0 is its undo floor', (context) =>
  withChain(context, 5, ({ writer, read, status }, chain) => {
    const empty = read(dumpTables)
    writer.applyBlocks(batchOf(chain.blocks, 0))
    writer.revertTo(block(0))
    assert.equal(writer.checkpoint(), undefined)
    assert.equal(status.get('syncedBlock'), undefined)
    assert.deepEqual(read(dumpTables), empty)
    writer.applyBlocks(batchOf(chain.blocks, 0))
  }))

test('undo and headers below the floor are removed', (context) =>
  withChain(context, 12, ({ writer, read }, chain) => {
    writer.applyBlocks(batchOf(chain.blocks, 3))
    writer.applyBlocks(emptyBatch(chain, 20, 10))
    const keys = (table: 'undo' | 'headers') =>
      read((view) => view.list(table, { start: Uint8Array.of(0), end: Buffer.alloc(9, 0xff) })).map(
        ({ key }) => key[5],
      )
    assert.deepEqual([...new Set(keys('undo'))], [11, 12])
    assert.deepEqual(keys('headers'), [10, 11, 12, 20])
  }))

test('finality only grows, and never passes the checkpoint', (context) =>
  withChain(context, 6, ({ writer, status }, chain) => {
    writer.setFinalized(block(3))
    assert.equal(status.get('finalizedBlock'), undefined)
    writer.applyBlocks({ ...batchOf(chain.blocks), finalizedBlock: block(2) })
    for (const [asked, told] of [
      [4, 4],
      [3, 4],
      [100, 6],
    ] as const) {
      writer.setFinalized(block(asked))
      assert.equal(status.get('finalizedBlock'), told)
    }
  }))

test('senders are stored only from their watermark on', (context) =>
  withChain(context, 12, ({ writer }, chain) => {
    const late = chain.blocks.map(({ header, events }) => ({
      header,
      events: events.filter((event) => event.type === 'claim').map((event) => ({ ...event, sender: null })),
    }))
    writer.applyBlocks(batchOf(late))
    const [first, second] = writer.unresolvedSenders(2)
    const sender = chain.sender()
    const answer = (open: typeof first) => ({ ...open!, sender })
    assert.throws(() => writer.resolveSenders([answer(second)]), {
      name: 'InvariantError',
      message: 'sender 1 for claimSenders, expected 0',
    })
    const open = writer.counts().unresolvedSenders
    writer.resolveSenders([answer(first), answer(second)])
    assert.equal(writer.counts().unresolvedSenders, open - 2)
  }))

test('a commit is published in the order of docs/version.md', async (context) => {
  const page = readFileSync(new URL('../../../../../docs/version.md', import.meta.url), 'utf8')
  const order = [...page.matchAll(/^\| \d \| `(\w+)` \|/gm)].map(([, field]) => field as StatusField)
  const fields = [...new Set(order)]
  const shard = openTestShard(tempFolder(context), 1)
  const chain = new RandomChain(5)
  for (let count = 0; count < 8; count++) chain.grow(5)
  shard.writer.applyBlocks(batchOf(chain.blocks))
  shard.status.set('lastCommitMs', undefined)
  const told = () => new Map(fields.map((field) => [field, shard.status.get(field)]))
  let before = told()
  const changes: StatusField[] = []
  const look = () => {
    const after = told()
    changes.push(...fields.filter((field) => after.get(field) !== before.get(field)))
    before = after
  }
  atEachWrite(context, { after: look })
  // A reorg: it moves the epoch as well.
  shard.writer.revertTo(block(3))
  context.mock.restoreAll()
  assert.deepEqual(changes, order)
  await shard.close()
})
