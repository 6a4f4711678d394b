import type {
  Address,
  BlockHeader,
  ChainEvent,
  ForwardLeaf,
  IndexedBlock,
  Sender,
} from '../../src/protocol/chainEvent.js'
import { encodeGlobalIndex } from '../../src/protocol/globalIndex.js'
import type { BlockNumber, DepositCount, LeafCount, NetworkId } from '../../src/protocol/units.js'
import { NaiveTree } from './naiveTree.js'
import { modelLeafHash, ShardModel } from './shardModel.js'
import { TestNumbers } from './testNumbers.js'

type OfType<Type extends ChainEvent['type']> = Extract<ChainEvent, { type: Type }>
type Place = 'blockNumber' | 'logIndex' | 'transactionHash'

/** A random chain of one L2 with valid events. Blocks may be dropped from its end and new ones added. */
export class RandomChain {
  readonly blocks: IndexedBlock[] = []
  readonly #numbers: TestNumbers
  readonly #networkId: NetworkId
  readonly #addresses: readonly Address[]
  #model: ShardModel

  constructor(seed: number, networkId = 1) {
    this.#numbers = new TestNumbers(seed)
    this.#networkId = networkId as NetworkId
    this.#addresses = Array.from({ length: 12 }, () => this.#numbers.freshHash().subarray(0, 20))
    this.#model = new ShardModel(networkId)
  }

  get model(): ShardModel {
    return this.#model
  }

  /** Adds a block with 1 … `maxEvents` events. */
  grow(maxEvents: number): IndexedBlock {
    const before = this.blocks.at(-1)?.header
    const number = ((before?.number ?? 0) + 1) as BlockNumber
    const header: BlockHeader = {
      number,
      hash: this.#numbers.freshHash(),
      parentHash: before?.hash ?? new Uint8Array(32),
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
      const placed = { ...event, blockNumber: number, logIndex: events.length, transactionHash } as ChainEvent
      events.push(placed)
      draft.apply({ header, events: [placed] })
    }
    this.blocks.push(block)
    this.#model.apply(block)
    return block
  }

  /** Drops all blocks above `number`. */
  dropAbove(number: number): void {
    while ((this.blocks.at(-1)?.header.number ?? 0) > number) this.blocks.pop()
    this.#model = new ShardModel(this.#networkId, this.blocks)
  }

  sender(): Sender {
    return { caller: this.#address(), transactionSender: this.#address() }
  }

  #address(): Address {
    return this.#numbers.pick(this.#addresses)
  }

  #leaf(): ForwardLeaf {
    const { below, pick } = {
      below: (n: number) => this.#numbers.below(n),
      pick: this.#numbers.pick.bind(this.#numbers),
    }
    return {
      leafType: below(2),
      originNetwork: below(3) as NetworkId,
      originAddress: this.#address(),
      destinationNetwork: pick([0, 2, 7]) as NetworkId,
      destinationAddress: this.#address(),
      amount: pick([0n, 1n, 2n ** 256n - 1n, BigInt(below(2 ** 31))]),
      metadata: pick([new Uint8Array(0), Buffer.alloc(96, 1), this.#blob()]),
    }
  }

  /** One of four metadata, of which the last is too long for a list. */
  #blob(): Uint8Array {
    const fill = this.#numbers.below(4)
    return Buffer.alloc(fill === 3 ? 5_000 : 300, fill)
  }

  #event(draft: ShardModel): Omit<ChainEvent, Place> {
    const numbers = this.#numbers
    const choice = numbers.below(100)
    if (choice < 45) return this.#deposit(draft)
    if (choice < 66) return this.#claim()
    if (choice < 70) return { type: 'claimUnset', ...this.#claimed() } as Omit<OfType<'claimUnset'>, Place>
    if (choice < 73) return this.#claimSet()
    if (choice < 77) return this.#wrappedToken()
    if (choice < 81) return this.#sovereignToken()
    if (choice < 83)
      return {
        type: 'legacyTokenRemoved',
        sovereignTokenAddress: this.#address(),
      } as Omit<OfType<'legacyTokenRemoved'>, Place>
    if (choice < 90) return { type: 'gerInjected', ...this.#ger() } as Omit<OfType<'gerInjected'>, Place>
    if (choice < 93) return { type: 'gerRemoved', ...this.#ger() } as Omit<OfType<'gerRemoved'>, Place>
    if (choice < 95)
      return { type: 'emergencyState', active: numbers.chance(0.5) } as Omit<OfType<'emergencyState'>, Place>
    return choice < 97 ? this.#backwardLet(draft) : this.#forwardLet(draft)
  }

  #deposit(draft: ShardModel): Omit<OfType<'deposit'>, Place> {
    const depositCount = draft.deposits.length as DepositCount
    return { type: 'deposit', ...this.#leaf(), depositCount, sender: this.sender() }
  }

  #claimed() {
    return {
      sourceNetwork: this.#numbers.below(3) as NetworkId,
      depositCount: this.#numbers.below(8) as DepositCount,
    }
  }

  #claim(): Omit<OfType<'claim'>, Place> {
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

  #claimSet(): Omit<OfType<'claimSet'>, Place> {
    const administrator = this.#address()
    const sender = { caller: administrator, transactionSender: administrator }
    return { type: 'claimSet', ...this.#claimed(), sender }
  }

  #wrappedToken(): Omit<OfType<'wrappedToken'>, Place> {
    const { originNetwork, originAddress, metadata } = this.#leaf()
    return {
      type: 'wrappedToken',
      originNetwork,
      originTokenAddress: originAddress,
      wrappedTokenAddress: this.#address(),
      metadata,
    }
  }

  #sovereignToken(): Omit<OfType<'sovereignToken'>, Place> {
    const { originNetwork, originAddress } = this.#leaf()
    return {
      type: 'sovereignToken',
      originNetwork,
      originTokenAddress: originAddress,
      sovereignTokenAddress: this.#address(),
      isNotMintable: this.#numbers.chance(0.5),
    }
  }

  #ger() {
    return { globalExitRoot: Buffer.alloc(32, 1 + this.#numbers.below(9)) }
  }

  #backwardLet(draft: ShardModel): Omit<OfType<'backwardLet'>, Place> {
    const leaves = draft.deposits.map((deposit) => deposit.leafHash)
    const newLeafCount = this.#numbers.below(leaves.length + 1)
    return {
      type: 'backwardLet',
      previousLeafCount: leaves.length as LeafCount,
      previousRoot: new NaiveTree(leaves).root,
      newLeafCount: newLeafCount as LeafCount,
      newRoot: new NaiveTree(leaves.slice(0, newLeafCount)).root,
    }
  }

  #forwardLet(draft: ShardModel): Omit<OfType<'forwardLet'>, Place> {
    const leaves = draft.deposits.map((deposit) => deposit.leafHash)
    const newLeaves = Array.from({ length: 1 + this.#numbers.below(4) }, (_, index) => {
      if (draft.archived.length === 0 || !this.#numbers.chance(0.6)) return this.#leaf()
      // Some archived leaves are appended again, some of them at the same count.
      const picked = this.#numbers.pick(draft.archived)
      const isOdd = draft.archived.indexOf(picked) % 2 === 1
      const same = draft.archived.findLast((each) => each.depositCount === leaves.length + index)
      return (isOdd ? same : undefined)?.leaf ?? picked.leaf
    })
    const after = [...leaves, ...newLeaves.map(modelLeafHash)]
    return {
      type: 'forwardLet',
      previousLeafCount: leaves.length as LeafCount,
      previousRoot: new NaiveTree(leaves).root,
      newLeafCount: after.length as LeafCount,
      newRoot: new NaiveTree(after).root,
      newLeaves,
      sender: this.sender(),
    }
  }
}
