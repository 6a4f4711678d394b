import type {
  BlockHeader,
  ChainEvent,
  DepositEvent,
  Hash,
  IndexedBlock,
} from '../../src/protocol/chainEvent.js'
import type { BlockNumber, DepositCount, LeafCount, NetworkId } from '../../src/protocol/units.js'
import { hashPair, NaiveTree } from './naiveTree.js'
import { plainKeccak } from './plainKeccak.js'
import { modelLeafHash } from './shardModel.js'
import { TestNumbers } from './testNumbers.js'

const NO_ROOT: Hash = new Uint8Array(32)

type Unplaced<E> = E extends ChainEvent ? Omit<E, 'blockNumber' | 'logIndex' | 'transactionHash'> : never

/** A correct L1 made by hand: each method makes the events of one action, and `block` closes a block of transactions. */
export class L1Chain {
  readonly blocks: IndexedBlock[] = []
  readonly depositLeaves: Hash[] = []
  readonly infoLeaves: Hash[] = []
  readonly localExitRoots = new Map<number, Hash>()
  mainnetExitRoot = NO_ROOT
  rollupExitRoot = NO_ROOT
  readonly #numbers = new TestNumbers(7)
  #header = this.#nextHeader()

  #nextHeader(): Required<BlockHeader> {
    const before = this.blocks.at(-1)?.header
    const number = ((before?.number ?? 0) + 1) as BlockNumber
    const parentHash = before?.hash ?? NO_ROOT
    return { number, hash: this.#numbers.freshHash(), parentHash, timestampSec: 1_700_000_000 + 12 * number }
  }

  /** Closes the current block: each argument has the events of one transaction. */
  block(...transactions: Unplaced<ChainEvent>[][]): IndexedBlock {
    const header = this.#header
    const events: ChainEvent[] = []
    for (const transaction of transactions) {
      const transactionHash = this.#numbers.freshHash()
      for (const event of transaction) {
        const place = { blockNumber: header.number, logIndex: events.length, transactionHash }
        events.push({ ...event, ...place } as ChainEvent)
      }
    }
    const block = { header, events }
    this.blocks.push(block)
    this.#header = this.#nextHeader()
    return block
  }

  get header(): Required<BlockHeader> {
    return this.#header
  }

  unforcedDeposit(): Unplaced<DepositEvent>[] {
    const depositCount = this.depositLeaves.length as DepositCount
    const address = Buffer.alloc(20, 1 + depositCount)
    const content = {
      leafType: 0,
      originNetwork: 0 as NetworkId,
      originAddress: address,
      destinationNetwork: 1 as NetworkId,
      destinationAddress: address,
      amount: BigInt(depositCount),
      metadata: new Uint8Array(0),
    }
    this.depositLeaves.push(modelLeafHash(content))
    const sender = { caller: address, transactionSender: address }
    return [{ type: 'deposit', ...content, depositCount, sender }]
  }

  deposit(): Unplaced<ChainEvent>[] {
    const events = this.unforcedDeposit()
    this.mainnetExitRoot = new NaiveTree(this.depositLeaves).root
    return [...events, ...this.leaf()]
  }

  addRollup(networkId: number, initialLocalExitRoot = NO_ROOT): Unplaced<ChainEvent>[] {
    if (initialLocalExitRoot !== NO_ROOT) this.localExitRoots.set(networkId, initialLocalExitRoot)
    const rollupAddress = Buffer.alloc(20, networkId)
    return [
      {
        type: 'rollupAdded',
        networkId: networkId as NetworkId,
        chainId: 1000n,
        rollupAddress,
        initialLocalExitRoot,
      },
    ]
  }

  /** The leaf comes before the event that names the local exit root. */
  settle(
    networkId: number,
    localExitRoot: Hash,
    certainty: 'applied' | 'pending' = 'applied',
  ): Unplaced<ChainEvent>[] {
    this.localExitRoots.set(networkId, localExitRoot)
    this.rollupExitRoot = this.rootOfRollups()
    return [...this.leaf(), this.settlement(networkId, localExitRoot, certainty)]
  }

  settlement(networkId: number, localExitRoot: Hash, certainty: 'applied' | 'pending'): Unplaced<ChainEvent> {
    return { type: 'rollupSettled', networkId: networkId as NetworkId, localExitRoot, certainty }
  }

  rootOfRollups(): Hash {
    const last = Math.max(...this.localExitRoots.keys())
    return new NaiveTree(
      Array.from({ length: last }, (_, index) => this.localExitRoots.get(index + 1) ?? NO_ROOT),
    ).root
  }

  /** UpdateL1InfoTree and its V2 for the present roots. */
  leaf(): Unplaced<ChainEvent>[] {
    const { mainnetExitRoot, rollupExitRoot } = this
    const { parentHash, timestampSec } = this.#header
    const time = Buffer.alloc(8)
    time.writeBigUInt64BE(BigInt(timestampSec))
    this.infoLeaves.push(
      plainKeccak(Buffer.concat([hashPair(mainnetExitRoot, rollupExitRoot), parentHash, time])),
    )
    const leafCount = this.infoLeaves.length as LeafCount
    const l1InfoRoot = new NaiveTree(this.infoLeaves).root
    return [
      { type: 'l1InfoLeaf', mainnetExitRoot, rollupExitRoot },
      { type: 'l1InfoRoot', l1InfoRoot, leafCount, previousBlockHash: parentHash, timestampSec },
    ]
  }
}
