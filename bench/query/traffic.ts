import { createHash } from 'node:crypto'
import type { TreeHasher } from '../../src/merkle/hasher.js'
import { hashDepositLeaves } from '../../src/merkle/leafHashes.js'
import type {
  BlockHeader,
  ChainEvent,
  ClaimEvent,
  DepositEvent,
  IndexedBlock,
} from '../../src/protocol/chainEvent.js'
import { encodeGlobalIndex } from '../../src/protocol/globalIndex.js'
import { asBlockNumber, asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import { Frontier } from '../store/frontier.js'
import { Population } from './population.js'

/** Networks that are indexed. All bridges come from network 0. */
export const SERVED = [0, 1, 2, 3] as const
export const BLOCK_DEPOSITS = 20
/** Claims come this many blocks after their deposits. */
const CLAIM_LAG = 20
/** Blocks between two injections into each layer 2. */
const INJECT_EVERY = 10
/** Shares of deposits that stay unclaimed: of the newest ones, and of all others. */
const UNCLAIMED_TAIL = 0.02
const FORGOTTEN = 0.1

type Place = 'blockNumber' | 'logIndex' | 'transactionHash'
type Unplaced = ChainEvent extends infer E ? (E extends ChainEvent ? Omit<E, Place> : never) : never

/** The blocks of one step of all chains. A layer 2 without events has none. */
export interface Step {
  readonly blocks: ReadonlyMap<number, IndexedBlock>
}

/** Makes bridges from a layer 1 to three layer 2s that are indexed and one that is not, and their claims. Every run is the same. */
export class Traffic {
  readonly population: Population
  readonly bridges: number
  private readonly hasher: TreeHasher
  private readonly tree: Frontier
  private readonly rollupExitRoot: Uint8Array
  /** The only root that a layer 2 settles, since it has no deposits. */
  private readonly localExitRoot = hashOf('local exit root')
  private readonly headers = new Map<number, BlockHeader>(SERVED.map((id) => [id, firstHeader(id)]))
  private readonly waiting: DepositEvent[][] = []
  private deposits = 0
  private step = 0

  constructor(hasher: TreeHasher, bridges: number) {
    this.hasher = hasher
    this.bridges = bridges
    this.population = new Population(bridges)
    this.tree = new Frontier(hasher)
    const rollups = new Frontier(hasher)
    rollups.append(this.localExitRoot)
    this.rollupExitRoot = rollups.root()
  }

  /** Deposits so far. */
  get depositCount(): number {
    return this.deposits
  }

  get isDone(): boolean {
    return this.deposits >= this.bridges
  }

  next(): Step {
    this.step++
    const blocks = new Map<number, IndexedBlock>()
    const deposits = this.makeDeposits()
    const mainnetExitRoot = this.tree.root()
    const isFirst = this.step === 1
    const leaf: Unplaced[] = [
      { type: 'l1InfoLeaf', mainnetExitRoot, rollupExitRoot: this.rollupExitRoot },
      ...(isFirst ? [settled(this.localExitRoot)] : []),
    ]
    const transactions: Unplaced[][] = deposits.map((deposit) => [deposit])
    const added = isFirst ? [1, 2, 3].map((id) => [rollupAdded(id)]) : []
    const layer1 = this.close(0, [...added, ...transactions, leaf])
    blocks.set(0, layer1)
    this.waiting.push(layer1.events.filter((event): event is DepositEvent => event.type === 'deposit'))
    const claimed = this.waiting.length > CLAIM_LAG ? this.waiting.shift()! : []
    const injected: Unplaced[] =
      this.step % INJECT_EVERY === 0 || isFirst
        ? [
            {
              type: 'gerInjected',
              globalExitRoot: this.hasher.hashPair(mainnetExitRoot, this.rollupExitRoot),
            },
          ]
        : []
    for (const networkId of [1, 2, 3]) {
      const claims = claimed
        .filter((deposit) => deposit.destinationNetwork === networkId && this.isClaimed(deposit))
        .map((deposit) => [this.claim(deposit)])
      const mappings = isFirst ? this.population.mappings() : []
      const transactions = [...injected, ...mappings].map((event) => [event]).concat(claims)
      if (transactions.length > 0) blocks.set(networkId, this.close(networkId, transactions))
    }
    return { blocks }
  }

  private makeDeposits(): Unplaced[] {
    const count = Math.min(BLOCK_DEPOSITS, this.bridges - this.deposits)
    const made = Array.from(
      { length: count },
      (_, at): Omit<DepositEvent, Place> => ({
        type: 'deposit',
        depositCount: asDepositCount(this.deposits + at),
        ...this.population.transfer(),
      }),
    )
    const leaves = hashDepositLeaves(this.hasher, made as DepositEvent[])
    for (let at = 0; at < count; at++) this.tree.append(leaves.slice(32 * at, 32 * at + 32))
    this.deposits += count
    return made
  }

  private isClaimed({ depositCount }: DepositEvent): boolean {
    return depositCount < this.bridges * (1 - UNCLAIMED_TAIL) && this.population.chance() >= FORGOTTEN
  }

  private claim(deposit: DepositEvent): Omit<ClaimEvent, Place> {
    return {
      type: 'claim',
      generation: 'v2',
      globalIndex: encodeGlobalIndex(asNetworkId(0), deposit.depositCount),
      originNetwork: deposit.originNetwork,
      originAddress: deposit.originAddress,
      destinationAddress: deposit.destinationAddress,
      amount: deposit.amount,
      sender: this.population.claimer(deposit.destinationAddress),
    }
  }

  private close(networkId: number, transactions: readonly (readonly Unplaced[])[]): IndexedBlock {
    const header = this.headers.get(networkId)!
    const events: ChainEvent[] = []
    for (const [at, transaction] of transactions.entries()) {
      const transactionHash = hashOf(`${networkId}/${header.number}/${at}`)
      for (const event of transaction)
        events.push({
          ...event,
          blockNumber: header.number,
          logIndex: events.length,
          transactionHash,
        } as ChainEvent)
    }
    this.headers.set(networkId, headerAfter(networkId, header))
    return { header, events }
  }
}

function settled(localExitRoot: Uint8Array): Unplaced {
  return { type: 'rollupSettled', networkId: asNetworkId(1), localExitRoot, certainty: 'applied' }
}

function rollupAdded(id: number): Unplaced {
  return {
    type: 'rollupAdded',
    networkId: asNetworkId(id),
    chainId: BigInt(1000 + id),
    rollupAddress: hashOf(`rollup ${id}`).subarray(0, 20),
    initialLocalExitRoot: new Uint8Array(32),
  }
}

function firstHeader(networkId: number): BlockHeader {
  return {
    number: asBlockNumber(1),
    hash: hashOf(`header ${networkId}/1`),
    parentHash: new Uint8Array(32),
    timestampSec: 1_700_000_000,
  }
}

function headerAfter(networkId: number, before: BlockHeader): BlockHeader {
  const number = asBlockNumber(before.number + 1)
  return {
    number,
    hash: hashOf(`header ${networkId}/${number}`),
    parentHash: before.hash,
    timestampSec: before.timestampSec + 12,
  }
}

/** 32 bytes that differ for each input. */
function hashOf(text: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(text).digest())
}
