import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { IndexedBlock } from '../../../src/protocol/chainEvent.js'
import { asNetworkId, type BlockNumber, type LeafCount, type Lineage } from '../../../src/protocol/units.js'
import type { ShardCommand } from '../../../src/shard/shardCommand.types.js'
import { RandomChain } from '../../support/randomChain.js'
import { TestNumbers } from '../../support/testNumbers.js'
import { batchOf, digestTables, openTestShard, type TestShard } from '../../support/testShard.js'

const SEEDS = [1, 2, 3, 4]
const COMMANDS = 60

/** Proposes commands of every type for a shard, as it stands and as it stood: some of them are refused. */
class Proposer {
  readonly #shard: TestShard
  readonly #numbers: TestNumbers
  readonly #chain: RandomChain
  #floor = 0
  #before: ShardCommand | undefined

  constructor(shard: TestShard, seed: number) {
    this.#shard = shard
    this.#numbers = new TestNumbers(seed)
    this.#chain = new RandomChain(seed)
  }

  next(): ShardCommand {
    const numbers = this.#numbers
    const choice = numbers.below(100)
    if (choice < 38 || this.#before === undefined) return this.#blocks()
    if (choice < 46) return this.#before
    if (choice < 56) return this.#revert()
    if (choice < 66) return this.#senders()
    if (choice < 74) return this.#corrections()
    if (choice < 80)
      return {
        type: 'noteClaimsCompared',
        compared: [{ sourceNetwork: asNetworkId(numbers.below(3)), deposits: numbers.below(900) }],
        isWhole: numbers.chance(0.5),
      }
    if (choice < 82) return { type: 'noteCatchingUp', isCatchingUp: numbers.chance(0.5) }
    if (choice < 86) return { type: 'setFinalized', block: this.#someBlock() }
    const found = [
      { root: numbers.freshHash(), lineage: 0 as Lineage, leafCount: numbers.below(9) as LeafCount },
    ]
    if (choice < 90) return { type: 'addSettledRoots', found }
    const globalExitRoots = [numbers.freshHash(), Buffer.alloc(32, 1 + numbers.below(9))]
    if (choice < 94) return { type: 'addPolledGers', globalExitRoots, polledLeaves: numbers.below(99) }
    const startOvers = { count: numbers.below(9), notBeforeMs: numbers.chance(0.5) ? 7 : undefined }
    if (choice < 97) return { type: 'noteStartOvers', startOvers }
    this.#chain.dropAbove(0)
    this.#floor = 0
    return { type: 'startOver', startOvers }
  }

  #blocks(): ShardCommand {
    const from = this.#chain.blocks.length
    for (let count = 1 + this.#numbers.below(4); count > 0; count--) this.#chain.grow(6)
    if (this.#numbers.chance(0.3)) this.#floor = Math.max(this.#floor, from - 5)
    const blocks = this.#chain.blocks.slice(from)
    const told = this.#numbers.chance(0.5) ? blocks : blocks.map(withoutSenders)
    this.#before = { type: 'applyBlocks', batch: batchOf(told, this.#floor) }
    return this.#before
  }

  #revert(): ShardCommand {
    const ancestor = this.#someBlock()
    const checkpoint = this.#shard.writer.checkpoint()?.number ?? 0
    if (ancestor >= this.#floor && ancestor <= checkpoint) this.#chain.dropAbove(ancestor)
    return { type: 'revertTo', ancestor }
  }

  #senders(): ShardCommand {
    const open = this.#shard.writer.unresolvedSenders(20).slice(this.#numbers.chance(0.2) ? 1 : 0)
    const resolved = open.map(({ kind, ordinal }) => ({ kind, ordinal, sender: this.#sender() }))
    return { type: 'resolveSenders', resolved }
  }

  #corrections(): ShardCommand {
    const noted = this.#shard.writer.notedSenders(20)
    const corrected = noted.map((row) => ({ row, sender: this.#chain.sender() }))
    return { type: 'correctSenders', corrected }
  }

  #sender() {
    if (this.#numbers.chance(0.2)) return null
    const sender = this.#chain.sender()
    return this.#numbers.chance(0.3) ? { ...sender, isProvisional: true } : sender
  }

  #someBlock(): BlockNumber {
    return this.#numbers.below(this.#chain.blocks.length + 2) as BlockNumber
  }
}

function withoutSenders({ header, events }: IndexedBlock): IndexedBlock {
  return {
    header,
    events: events.map((event) => ('sender' in event ? { ...event, sender: null } : event)),
  }
}

test('two shards that are given the same commands hold the same bytes, whatever their writers remember', async (context) => {
  const folders = new Map([...SEEDS, 'again'].map((name) => [name, mkdtempSync(join(tmpdir(), 'bds-test-'))]))
  context.after(() => {
    for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const outcomes = new Set<string>()
  for (const seed of SEEDS) {
    const shard = openTestShard(folders.get(seed)!, 1)
    const again = mkdtempSync(join(folders.get('again')!, `${seed}-`))
    const proposer = new Proposer(shard, seed)
    for (let count = 0; count < COMMANDS; count++) {
      const command = proposer.next()
      // As another process would read it, into a writer that has only just been opened.
      const copy = structuredClone(command)
      const fresh = openTestShard(again, 1)
      const [outcome, repeated] = [shard.writer.apply(command), fresh.writer.apply(copy)]
      const name = `seed ${seed}, command ${count}: ${command.type}`
      assert.deepEqual(repeated, outcome, name)
      assert.equal(fresh.read(digestTables), shard.read(digestTables), name)
      outcomes.add(outcome.type === 'applied' ? command.type : `refused ${command.type}`)
      await fresh.close()
    }
    await shard.close()
  }
  const every = [
    ...['addPolledGers', 'addSettledRoots', 'applyBlocks', 'correctSenders', 'noteCatchingUp'],
    'noteClaimsCompared',
    ...['noteStartOvers', 'resolveSenders', 'revertTo', 'setFinalized', 'startOver'],
    ...['refused applyBlocks', 'refused resolveSenders', 'refused revertTo'],
  ]
  assert.deepEqual(
    every.filter((name) => !outcomes.has(name)),
    [],
  )
})
