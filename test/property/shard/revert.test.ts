import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import type { IndexedBlock, Sender } from '../../../src/protocol/chainEvent.js'
import type { BlockNumber } from '../../../src/protocol/units.js'
import { withoutSenders } from '../../support/indexedBlocks.js'
import { RandomChain } from '../../support/randomChain.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { batchOf, dumpTables, openTestShard, type TestShard } from '../../support/testShard.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }

async function inFolders(count: number, body: (folders: string[]) => Promise<void>): Promise<void> {
  const folders = Array.from({ length: count }, () => mkdtempSync(join(tmpdir(), 'bds-test-')))
  try {
    await body(folders)
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Feeds blocks in random batches. */
function feed(
  shard: TestShard,
  blocks: readonly IndexedBlock[],
  numbers: TestNumbers,
  undoFloor: number,
): void {
  for (let from = 0; from < blocks.length; ) {
    const to = Math.min(blocks.length, from + 1 + numbers.below(5))
    shard.writer.applyBlocks(batchOf(blocks.slice(from, to), undoFloor))
    from = to
  }
}

test('a shard that followed reorgs equals, byte for byte, a shard that never saw the dropped blocks', async () => {
  let reverts = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), (chainSeed, depths) =>
      inFolders(2, async ([movedFolder, cleanFolder]) => {
        const chain = new RandomChain(chainSeed)
        const numbers = new TestNumbers(chainSeed + 1)
        const moved = openTestShard(movedFolder!, 1)
        const clean = openTestShard(cleanFolder!, 1)
        for (const depth of depths) {
          const from = chain.blocks.length
          for (let blocks = 4 + numbers.below(12); blocks > 0; blocks--) chain.grow(6)
          feed(moved, chain.blocks.slice(from), numbers, 0)
          const ancestor = chain.blocks.length - (depth % (chain.blocks.length + 1))
          if (ancestor === chain.blocks.length) continue
          moved.writer.revertTo(ancestor as BlockNumber)
          chain.dropAbove(ancestor)
          reverts++
        }
        feed(clean, chain.blocks, numbers, 0)
        assert.deepEqual(moved.read(dumpTables), clean.read(dumpTables))
        await moved.close()
        await clean.close()
      }),
    ),
    { ...seed, numRuns: 25, includeErrorInReport: true },
  )
  assert.ok(reverts > 15, `${reverts} reverts`)
})

test('senders that are resolved late leave the same rows as senders at once, and a reorg removes them with their blocks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.nat(), (chainSeed, depth) =>
      inFolders(2, async ([lateFolder, promptFolder]) => {
        const chain = new RandomChain(chainSeed)
        const numbers = new TestNumbers(chainSeed + 1)
        const late = openTestShard(lateFolder!, 1)
        const prompt = openTestShard(promptFolder!, 1)
        for (let round = 0; round < 3; round++) {
          const from = chain.blocks.length
          for (let blocks = 3 + numbers.below(6); blocks > 0; blocks--) chain.grow(6)
          const blocks = chain.blocks.slice(from)
          // A cut of the tree drops open senders, so all must be resolved before it: the chain decides when,
          // not time.
          feedInOrder(late, blocks, numbers, chain)
          resolveSome(late, chain, numbers.below(8))
        }
        const ancestor = chain.blocks.length - (depth % chain.blocks.length)
        late.writer.revertTo(ancestor as BlockNumber)
        chain.dropAbove(ancestor)
        for (let blocks = 2; blocks > 0; blocks--) {
          const block = chain.grow(6)
          feedInOrder(late, [block], numbers, chain)
        }
        resolveSome(late, chain, Number.POSITIVE_INFINITY)
        feed(prompt, chain.blocks, numbers, 0)
        assert.equal(late.writer.counts().unresolvedSenders, 0)
        assert.deepEqual(dump(late), dump(prompt))
        await late.close()
        await prompt.close()
      }),
    ),
    { ...seed, numRuns: 25, includeErrorInReport: true },
  )
})

/** Senders that arrive later split undo into more parts. */
const dump = (shard: TestShard) => shard.read((view) => dumpTables(view, ['undo']))

/** Applies blocks one by one, some without senders. All senders are resolved before a block that cuts the tree. */
function feedInOrder(
  shard: TestShard,
  blocks: readonly IndexedBlock[],
  numbers: TestNumbers,
  chain: RandomChain,
): void {
  for (const block of blocks) {
    const cuts = block.events.some((event) => event.type === 'backwardLet')
    if (cuts) resolveSome(shard, chain, Number.POSITIVE_INFINITY)
    const isLate = !cuts && numbers.chance(0.6)
    shard.writer.applyBlocks(batchOf([isLate ? withoutSenders(block) : block]))
  }
}

/** Resolves up to `limit` senders, by transaction and log as a node would answer. */
function resolveSome(shard: TestShard, chain: RandomChain, limit: number): void {
  const places = new Map<string, Sender>()
  const place = (hash: Uint8Array, logIndex: number) => `${Buffer.from(hash).toString('hex')}:${logIndex}`
  for (const { events } of chain.blocks)
    for (const event of events)
      if ('sender' in event && event.sender !== null)
        places.set(place(event.transactionHash, event.logIndex), event.sender)
  const open = shard.writer.unresolvedSenders(Math.min(limit, 10_000))
  shard.writer.resolveSenders(
    open.map((row) => {
      const sender = places.get(place(row.transactionHash, row.logIndex))
      assert.ok(sender, `${row.kind} ${row.ordinal} is asked for by a transaction of the chain`)
      return { ...row, sender }
    }),
  )
}
