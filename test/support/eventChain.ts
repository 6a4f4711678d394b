import type { BlockHeader, ChainEvent, Hash, IndexedBlock } from '../../src/protocol/chainEvent.js'
import type { BlockNumber } from '../../src/protocol/units.js'
import { TestNumbers } from './testNumbers.js'

/** An event before it has its place in a block. */
export type Unplaced<E = ChainEvent> = E extends ChainEvent
  ? Omit<E, 'blockNumber' | 'logIndex' | 'transactionHash'>
  : never

const NO_HASH: Hash = new Uint8Array(32)

/** Blocks of decoded events, for tests of what a shard stores of them. */
export class EventChain {
  readonly blocks: IndexedBlock[] = []
  protected readonly numbers: TestNumbers
  #next: Required<BlockHeader> | undefined

  constructor(seed: number) {
    this.numbers = new TestNumbers(seed)
  }

  /** Of the block that comes next. */
  get header(): Required<BlockHeader> {
    const before = this.blocks.at(-1)?.header
    const number = ((before?.number ?? 0) + 1) as BlockNumber
    const parentHash = before?.hash ?? NO_HASH
    if (this.#next?.number !== number || this.#next.parentHash !== parentHash) {
      const hash = this.numbers.freshHash()
      this.#next = { number, hash, parentHash, timestampSec: 1_700_000_000 + 12 * number }
    }
    return this.#next
  }

  /** Closes the next block: each argument has the events of one transaction. */
  block(...transactions: Unplaced[][]): IndexedBlock {
    const events: ChainEvent[] = []
    for (const transaction of transactions) {
      const transactionHash = this.numbers.freshHash()
      for (const event of transaction) events.push(this.placed(event, events.length, transactionHash))
    }
    const block = { header: this.header, events }
    this.blocks.push(block)
    return block
  }

  protected placed(event: Unplaced, logIndex: number, transactionHash: Hash): ChainEvent {
    return { ...event, blockNumber: this.header.number, logIndex, transactionHash } as ChainEvent
  }
}
