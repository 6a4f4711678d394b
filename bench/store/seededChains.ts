import { createHash } from 'node:crypto'
import { hashDepositLeaves } from '../../src/merkle/leafHashes.js'
import type { CompiledMerkle } from '../../src/merkle/wasm.js'
import { createHasher } from '../../src/merkle/wasm.js'
import type {
  BlockHeader,
  ChainEvent,
  ClaimEvent,
  DepositEvent,
  IndexedBlock,
} from '../../src/protocol/chainEvent.js'
import { encodeGlobalIndex } from '../../src/protocol/globalIndex.js'
import { asBlockNumber, asDepositCount, asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import { Frontier } from './frontier.js'

type Place = 'blockNumber' | 'logIndex' | 'transactionHash'
type Unplaced = ChainEvent extends infer E ? (E extends ChainEvent ? Omit<E, Place> : never) : never

/** Deposits per block of each network. */
export const BLOCK_DEPOSITS = 500
/** Claims come this many blocks after their deposits: their exit root has been settled and injected by then. */
const CLAIM_LAG = 2
const CLAIMED_SHARE = 3 / 5
const USERS = 5_000
const TOKENS = 200
const NO_HASH = new Uint8Array(32)
const NO_METADATA = new Uint8Array(0)

/**
 * A layer 1 and one layer 2 that bridge to each other, block by block: every block of the layer 1 settles the layer 2
 * before it, every block of the layer 2 injects the global exit root before it. The same on every run.
 */
export class SeededChains {
  private readonly hasher
  private readonly trees: readonly [Frontier, Frontier]
  private readonly deposits: [number, number] = [0, 0]
  private readonly headers: [BlockHeader, BlockHeader]
  private readonly users = Array.from({ length: USERS }, (_, at) => addressOf(`user ${at}`))
  private readonly tokens = Array.from({ length: TOKENS }, (_, at) => addressOf(`token ${at}`))
  private random = 1
  private globalExitRoot: Uint8Array | undefined

  constructor(compiled: CompiledMerkle) {
    this.hasher = createHasher(compiled)
    this.trees = [new Frontier(this.hasher), new Frontier(this.hasher)]
    this.headers = [headerAfter(0, undefined), headerAfter(1, undefined)]
  }

  /** The next block of the layer 2, and the one of the layer 1 that settles it. */
  next(): { readonly layer1: IndexedBlock; readonly layer2: IndexedBlock } {
    const isFirst = this.deposits[0] === 0
    const layer2 = this.close(1, [
      ...(this.globalExitRoot === undefined
        ? []
        : [[{ type: 'gerInjected', globalExitRoot: this.globalExitRoot } as const]]),
      ...(isFirst ? this.tokens.map((token) => [this.wrappedToken(token)]) : []),
      ...this.traffic(1),
    ])
    const settledRoot = this.trees[1].root()
    const transactions = [...(isFirst ? [[rollupAdded(this.users[0]!)]] : []), ...this.traffic(0)]
    const mainnetExitRoot = this.trees[0].root()
    const rollups = new Frontier(this.hasher)
    rollups.append(settledRoot)
    const rollupExitRoot = rollups.root()
    this.globalExitRoot = this.hasher.hashPair(mainnetExitRoot, rollupExitRoot)
    const settlement: Unplaced[] = [
      { type: 'l1InfoLeaf', mainnetExitRoot, rollupExitRoot },
      { type: 'rollupSettled', networkId: asNetworkId(1), localExitRoot: settledRoot, certainty: 'applied' },
    ]
    return { layer2, layer1: this.close(0, [...transactions, settlement]) }
  }

  /** Deposits of one network's next block, and claims of the other's earlier ones. One event per transaction. */
  private traffic(networkId: 0 | 1): Unplaced[][] {
    const other = networkId === 0 ? 1 : 0
    const first = this.deposits[networkId]
    const deposits: Unplaced[] = Array.from({ length: BLOCK_DEPOSITS }, (_, at) =>
      this.deposit(networkId, first + at),
    )
    const leaves = hashDepositLeaves(this.hasher, deposits as DepositEvent[])
    for (let at = 0; at < deposits.length; at++)
      this.trees[networkId].append(leaves.subarray(32 * at, 32 * at + 32))
    const oldest = first - CLAIM_LAG * BLOCK_DEPOSITS
    const claims: Unplaced[] = []
    for (let at = 0; at < BLOCK_DEPOSITS && oldest >= 0; at++)
      if (at % 5 < 5 * CLAIMED_SHARE) claims.push(this.claim(asNetworkId(other), oldest + at))
    this.deposits[networkId] += BLOCK_DEPOSITS
    return [...deposits, ...claims].map((event) => [event])
  }

  private deposit(networkId: 0 | 1, depositCount: number): Omit<DepositEvent, Place> {
    const sender = this.pick(this.users)
    return {
      type: 'deposit',
      leafType: depositCount % 10 === 0 ? 1 : 0,
      originNetwork: asNetworkId(0),
      originAddress: this.pick(this.tokens),
      destinationNetwork: asNetworkId(networkId === 0 ? 1 : 0),
      destinationAddress: this.pick(this.users),
      amount: BigInt(1 + this.below(1_000_000_000)) * 1_000_000_000n,
      metadata: NO_METADATA,
      depositCount: asDepositCount(depositCount),
      sender: { caller: sender, transactionSender: sender },
    }
  }

  private claim(sourceNetwork: NetworkId, depositCount: number): Omit<ClaimEvent, Place> {
    const sender = this.pick(this.users)
    return {
      type: 'claim',
      generation: 'v2',
      globalIndex: encodeGlobalIndex(sourceNetwork, asDepositCount(depositCount)),
      originNetwork: asNetworkId(0),
      originAddress: this.pick(this.tokens),
      destinationAddress: this.pick(this.users),
      amount: BigInt(1 + this.below(1_000_000_000)),
      sender: { caller: sender, transactionSender: sender },
    }
  }

  private wrappedToken(token: Uint8Array): Unplaced {
    return {
      type: 'wrappedToken',
      originNetwork: asNetworkId(0),
      originTokenAddress: token,
      wrappedTokenAddress: token.toReversed(),
      metadata: NO_METADATA,
    }
  }

  private close(networkId: 0 | 1, transactions: readonly (readonly Unplaced[])[]): IndexedBlock {
    const header = this.headers[networkId]
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
    this.headers[networkId] = headerAfter(networkId, header)
    return { header, events }
  }

  private below(limit: number): number {
    this.random = (Math.imul(this.random, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.random / 2 ** 32) * limit)
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }
}

function rollupAdded(rollupAddress: Uint8Array): Unplaced {
  return {
    type: 'rollupAdded',
    networkId: asNetworkId(1),
    chainId: 901n,
    rollupAddress,
    initialLocalExitRoot: NO_HASH,
  }
}

function headerAfter(networkId: number, before: BlockHeader | undefined): BlockHeader {
  const number = asBlockNumber((before?.number ?? 0) + 1)
  return {
    number,
    hash: hashOf(`header ${networkId}/${number}`),
    parentHash: before?.hash ?? NO_HASH,
    timestampSec: 1_700_000_000 + 12 * number,
  }
}

/** Any 32 bytes that differ will do. */
function hashOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}

function addressOf(text: string): Uint8Array {
  return hashOf(text).subarray(0, 20)
}
