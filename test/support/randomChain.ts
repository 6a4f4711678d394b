import type {
  Address,
  BlockHeader,
  ChainEvent,
  ForwardLeaf,
  Hash,
  IndexedBlock,
  Sender,
} from '../../src/protocol/chainEvent.js'
import { encodeGlobalIndex } from '../../src/protocol/globalIndex.js'
import type { BlockNumber, DepositCount, LeafCount, NetworkId } from '../../src/protocol/units.js'
import { modelLeafHash, NaiveTree } from './naiveTree.js'
import { ShardModel } from './shardModel.js'
import { TestNumbers } from './testNumbers.js'

/** An event before it has its place in a block. */
type Unplaced<E = ChainEvent> = E extends ChainEvent
  ? Omit<E, 'blockNumber' | 'logIndex' | 'transactionHash'>
  : never

/** A random chain of one L2 with valid events. Blocks may be dropped from its end and new ones added. */
export class RandomChain {
  readonly blocks: IndexedBlock[] = []
  model: ShardModel
  readonly #numbers: TestNumbers
  readonly #networkId: NetworkId
  readonly #addresses: readonly Address[]

  constructor(seed: number, networkId = 1) {
    this.#numbers = new TestNumbers(seed)
    this.#networkId = networkId as NetworkId
    this.#addresses = Array.from({ length: 12 }, () => this.#numbers.freshHash().subarray(0, 20))
    this.model = new ShardModel(networkId)
  }

  /** Adds a block with 1 … `maxEvents` events. */
  grow(maxEvents: number): IndexedBlock {
    const before = this.blocks.at(-1)?.header
    const number = ((before?.number ?? 0) + 1) as BlockNumber
    const header: BlockHeader = {
      ...{ number, hash: this.#numbers.freshHash(), parentHash: before?.hash ?? new Uint8Array(32) },
      timestampSec: 1_700_000_000 + 12 * number,
    }
    const events: ChainEvent[] = []
    const block = { header, events }
    // The model of the block so far: events of one block build on each other.
    const draft = new ShardModel(this.#networkId, this.blocks)
    let transactionHash = this.#numbers.freshHash()
    for (let count = 1 + this.#numbers.below(maxEvents); count > 0; count--) {
      const event = this.#event(draft)
      if (this.#numbers.chance(0.6)) transactionHash = this.#numbers.freshHash()
      const place = { blockNumber: number, logIndex: events.length, transactionHash }
      const placed = { ...event, ...place } as ChainEvent
      events.push(placed)
      draft.apply({ header, events: [placed] })
    }
    this.blocks.push(block)
    this.model.apply(block)
    return block
  }

  /** Drops all blocks above `number`. */
  dropAbove(number: number): void {
    while ((this.blocks.at(-1)?.header.number ?? 0) > number) this.blocks.pop()
    this.model = new ShardModel(this.#networkId, this.blocks)
  }

  sender(): Sender {
    return { caller: this.#address(), transactionSender: this.#address() }
  }

  #address(): Address {
    return this.#numbers.pick(this.#addresses)
  }

  #leaf(): ForwardLeaf {
    const numbers = this.#numbers
    return {
      leafType: numbers.below(2),
      originNetwork: numbers.below(3) as NetworkId,
      originAddress: this.#address(),
      destinationNetwork: numbers.pick([0, 2, 7]) as NetworkId,
      destinationAddress: this.#address(),
      amount: numbers.pick([0n, 1n, 2n ** 256n - 1n, BigInt(numbers.below(2 ** 31))]),
      metadata: numbers.pick([new Uint8Array(0), Buffer.alloc(96, 1), this.#blob()]),
    }
  }

  /** One of four metadata, of which the last is too long for a list. */
  #blob(): Uint8Array {
    const fill = this.#numbers.below(4)
    return Buffer.alloc(fill === 3 ? 5_000 : 300, fill)
  }

  #event(draft: ShardModel): Unplaced {
    const numbers = this.#numbers
    const choice = numbers.below(100)
    const leaves = draft.deposits.map((deposit) => deposit.leafHash)
    if (choice < 45) {
      const depositCount = leaves.length as DepositCount
      return { type: 'deposit', ...this.#leaf(), depositCount, sender: this.sender() }
    }
    if (choice < 66) return this.#claim()
    if (choice < 70) return { type: 'claimUnset', ...this.#claimed() }
    if (choice < 73) {
      const administrator = this.#address()
      const sender = { caller: administrator, transactionSender: administrator }
      return { type: 'claimSet', ...this.#claimed(), sender }
    }
    if (choice < 81) {
      const { originNetwork, originAddress: originTokenAddress, metadata } = this.#leaf()
      const [origin, address] = [{ originNetwork, originTokenAddress }, this.#address()]
      if (choice < 77) return { type: 'wrappedToken', ...origin, wrappedTokenAddress: address, metadata }
      const isNotMintable = numbers.chance(0.5)
      return { type: 'sovereignToken', ...origin, sovereignTokenAddress: address, isNotMintable }
    }
    if (choice < 83) return { type: 'legacyTokenRemoved', sovereignTokenAddress: this.#address() }
    if (choice < 93) {
      const globalExitRoot = Buffer.alloc(32, 1 + numbers.below(9))
      return { type: choice < 90 ? 'gerInjected' : 'gerRemoved', globalExitRoot }
    }
    if (choice < 95) return { type: 'emergencyState', active: numbers.chance(0.5) }
    if (choice < 97) {
      const kept = numbers.below(leaves.length + 1)
      return { type: 'backwardLet', ...treeMove(leaves, leaves.slice(0, kept)) }
    }
    const newLeaves = this.#regrown(draft)
    const move = treeMove(leaves, [...leaves, ...newLeaves.map(modelLeafHash)])
    return { type: 'forwardLet', ...move, newLeaves, sender: this.sender() }
  }

  #claimed() {
    return {
      sourceNetwork: this.#numbers.below(3) as NetworkId,
      depositCount: this.#numbers.below(8) as DepositCount,
    }
  }

  #claim(): Unplaced {
    const { sourceNetwork, depositCount } = this.#claimed()
    const isV1 = this.#numbers.chance(0.2)
    const dirtyBits = this.#numbers.chance(0.2) ? 1n << 200n : 0n
    return {
      type: 'claim',
      generation: isV1 ? 'v1' : 'v2',
      globalIndex: isV1 ? BigInt(depositCount) : encodeGlobalIndex(sourceNetwork, depositCount) | dirtyBits,
      originNetwork: 0 as NetworkId,
      originAddress: this.#address(),
      destinationAddress: this.#address(),
      amount: BigInt(this.#numbers.below(1000)),
      sender: this.sender(),
    }
  }

  /** Some archived leaves are appended again, some of them at the same count. */
  #regrown({ archived, deposits }: ShardModel): ForwardLeaf[] {
    return Array.from({ length: 1 + this.#numbers.below(4) }, (_, index) => {
      if (archived.length === 0 || !this.#numbers.chance(0.6)) return this.#leaf()
      const picked = this.#numbers.pick(archived)
      const isOdd = archived.indexOf(picked) % 2 === 1
      const same = archived.findLast((each) => each.depositCount === deposits.length + index)
      return (isOdd ? same : undefined)?.leaf ?? picked.leaf
    })
  }
}

function treeMove(before: readonly Hash[], after: readonly Hash[]) {
  return {
    previousLeafCount: before.length as LeafCount,
    previousRoot: new NaiveTree(before).root,
    newLeafCount: after.length as LeafCount,
    newRoot: new NaiveTree(after).root,
  }
}
