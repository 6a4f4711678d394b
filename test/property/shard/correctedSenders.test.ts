import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ChainEvent, IndexedBlock, Sender } from '../../../src/protocol/chainEvent.js'
import { asNetworkId, type BlockNumber } from '../../../src/protocol/units.js'
import { verifyShard } from '../../../src/shard/verify/verifyShard.js'
import type { TableName } from '../../../src/store/layout/tables.js'
import type { ReadView } from '../../../src/store/shardStore.types.js'
import { compileMerkleModule, createHasher } from '../../../src/wasm/wasmModule.js'
import { RandomChain } from '../../support/randomChain.js'
import { shownSenders } from '../../support/shownSenders.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { batchOf, openTestShard, type TestShard } from '../../support/testShard.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }
const hasher = createHasher(compileMerkleModule())
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const networkId = asNetworkId(1)

async function inFolders(body: (moved: TestShard, clean: TestShard) => Promise<void>): Promise<void> {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'bds-test-')))
  const [moved, clean] = folders.map((folder) => openTestShard(folder, 1)) as [TestShard, TestShard]
  try {
    await body(moved, clean)
  } finally {
    await moved.close()
    await clean.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** The block as the tip stores it: some senders are certain, some are tx.from for now, some open. */
function asToldNow({ header, events }: IndexedBlock, numbers: TestNumbers): IndexedBlock {
  const told = (event: ChainEvent): ChainEvent => {
    if (!('sender' in event) || event.sender === null || numbers.chance(0.3)) return event
    if (numbers.chance(0.3)) return { ...event, sender: null }
    const { transactionSender } = event.sender
    return { ...event, sender: { caller: transactionSender, transactionSender, isProvisional: true } }
  }
  return { header, events: events.map(told) }
}

class Answers {
  readonly #places = new Map<string, Sender>()

  constructor(chain: RandomChain) {
    for (const { events } of chain.blocks)
      for (const event of events)
        if ('sender' in event && event.sender !== null)
          this.#places.set(`${hex(event.transactionHash)}:${event.logIndex}`, event.sender)
  }

  of({ transactionHash, logIndex }: { transactionHash: Uint8Array; logIndex: number }): Sender {
    const sender = this.#places.get(`${hex(transactionHash)}:${logIndex}`)
    assert.ok(sender, 'asked for by a transaction of the chain')
    return sender
  }
}

/** Resolves open rows with the sender, with tx.from for now, or as unknown. */
function resolveAll(shard: TestShard, answers: Answers, numbers: TestNumbers): void {
  const open = shard.writer.unresolvedSenders(10_000)
  shard.writer.resolveSenders(
    open.map((row) => {
      const sender = answers.of(row)
      const { transactionSender } = sender
      const fallback = { caller: transactionSender, transactionSender, isProvisional: true }
      const told = numbers.chance(0.4) ? null : numbers.chance(0.5) ? fallback : sender
      return { ...row, sender: told }
    }),
  )
}

/** @returns how many rows were corrected. */
function correct(shard: TestShard, answers: Answers, numbers: TestNumbers, share: number): number {
  const chosen = shard.writer.notedSenders({ limit: 10_000 }).filter(() => numbers.chance(share))
  shard.writer.correctSenders(
    chosen.map((row) => {
      const sender = answers.of(row)
      const { transactionSender } = sender
      // A row that was unknown may first get tx.from alone.
      return row.isUnknown && share < 1 && numbers.chance(0.3)
        ? { row, sender: { caller: transactionSender, transactionSender, isProvisional: true } }
        : { row, sender }
    }),
  )
  return chosen.length
}

function assertWhole(shard: TestShard): void {
  const found = shard.read((view) => [...verifyShard(view, networkId, hasher, true)])
  assert.deepEqual(
    found.filter(({ isGood }) => !isGood),
    [],
  )
}

test('rows and lists whose senders were corrected, at any time and over reorgs and cuts, equal those of a shard that knew the senders at once', async () => {
  let corrections = 0
  let cuts = 0
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.array(fc.nat(), { minLength: 2, maxLength: 5 }), (chainSeed, depths) =>
      inFolders(async (moved, clean) => {
        const chain = new RandomChain(chainSeed)
        const numbers = new TestNumbers(chainSeed + 1)
        const follow = (depth: number) => {
          for (let blocks = 3 + numbers.below(9); blocks > 0; blocks--) {
            const block = chain.grow(6)
            cuts += block.events.filter(({ type }) => type === 'backwardLet').length
            moved.writer.applyBlocks(
              batchOf([asToldNow(block, numbers)], numbers.below(block.header.number) >> 3),
            )
            const answers = new Answers(chain)
            // A cut of the tree drops open senders, so all are resolved before it.
            resolveAll(moved, answers, numbers)
            if (numbers.chance(0.4)) corrections += correct(moved, answers, numbers, 0.5)
          }
          assertWhole(moved)
          const oldest = moved.writer.oldestAncestor()!.number
          const ancestor = Math.max(oldest, chain.blocks.length - (depth % chain.blocks.length))
          if (ancestor >= chain.blocks.length) return
          moved.writer.revertTo(ancestor as BlockNumber)
          chain.dropAbove(ancestor)
          assertWhole(moved)
        }
        for (const depth of depths) follow(depth)
        follow(0)
        correct(moved, new Answers(chain), numbers, 1)
        assertWhole(moved)
        assert.deepEqual(moved.writer.senderNotes(), { provisional: 0, unknown: 0 })
        assert.deepEqual([moved.status.get('provisionalSenders'), moved.status.get('unknownSenders')], [0, 0])
        for (const block of chain.blocks) clean.writer.applyBlocks(batchOf([block]))
        const [ours, theirs] = [moved, clean].map((shard) =>
          shard.read((view) => shownSenders(view, networkId)),
        )
        for (const key of Object.keys({ ...ours!, ...theirs! })) assert.equal(ours![key], theirs![key], key)
      }),
    ),
    { ...seed, numRuns: 20, includeErrorInReport: true },
  )
  assert.ok(corrections > 100 && cuts > 5, `${corrections} corrections, ${cuts} cuts`)
})

test('a reorg of all blocks leaves no sender note and no correction', async () => {
  const overlay: readonly TableName[] = ['senderNotes', 'senderCorrections', 'senderAdditions']
  const entries = (view: ReadView) =>
    overlay.map((table) => view.list(table, { start: Uint8Array.of(0), end: Uint8Array.of(0xff) }).length)
  await inFolders(async (shard) => {
    const chain = new RandomChain(5)
    const numbers = new TestNumbers(6)
    for (let blocks = 0; blocks < 40; blocks++) {
      shard.writer.applyBlocks(batchOf([asToldNow(chain.grow(6), numbers)]))
      resolveAll(shard, new Answers(chain), numbers)
      correct(shard, new Answers(chain), numbers, 0.5)
    }
    assert.ok(
      shard.read(entries).every((count) => count > 0),
      'there is something to take back',
    )
    shard.writer.revertTo(0 as BlockNumber)
    assert.deepEqual(shard.read(entries), [0, 0, 0])
    assert.deepEqual(shard.writer.senderNotes(), { provisional: 0, unknown: 0 })
  })
})
