import { asNetworkId, type BlockNumber, type LeafCount, type Lineage } from '../../src/protocol/units.js'
import type { ShardCommand } from '../../src/shard/shardCommand.types.js'
import { withoutSenders } from './indexedBlocks.js'
import { RandomChain } from './randomChain.js'
import { TestNumbers } from './testNumbers.js'
import { batchOf, type TestShard } from './testShard.js'

/** Proposes commands of every type for a shard, as it stands and as it stood: some of them are refused. */
export class CommandProposer {
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
    const resolved = open.map((row) => ({ ...row, sender: this.#sender() }))
    return { type: 'resolveSenders', resolved }
  }

  #corrections(): ShardCommand {
    const noted = this.#shard.writer.notedSenders({ limit: 20 })
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
