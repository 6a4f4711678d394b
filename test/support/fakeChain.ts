import type { Hex } from 'viem'
import { bytesToHex, hexToBytes, numberToHex, slice, stringToHex } from 'viem/utils'
import type { NetworkConfig } from '../../src/config/config.types.js'
import {
  account,
  type FakeClaim,
  type FakeContracts,
  type FakeDeposit,
  FakeState,
  localExitRootOf,
} from './fakeState.js'
import { type FakeFrame, type FakeLog, FakeTransactionBuilder } from './fakeTransaction.js'
import { keccak, plainKeccak, ZERO_HASH } from './naiveTree.js'

/**
 * A small world of forking chains: one L1 (network 0) and L2s, with bridges whose trees, roots, blooms, receipts, traces and
 * getters are right. Everything is deterministic. Values are plain data, hex strings as on JSON-RPC.
 *
 *     const world = createFakeWorld({ networks: [1, 2] })
 *     const [l1, l2] = [world.network(0), world.network(1)]
 *     l1.mine((block) => block.tx().createRollup(1, l2.chainId))
 *     let deposit
 *     l1.mine((block) => { deposit = block.tx().deposit({ destinationNetwork: 1, amount: 5n }) })
 *     l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
 *     l2.mine((block) => block.tx({ from: account(3) }).claim({ deposit }))
 *     l2.mine((block) => {
 *       const tx = block.tx({ to: userContract(1) })      // a contract makes several calls
 *       tx.deposit({ leafType: 1 }); tx.noise(); tx.deposit()
 *     })
 *     l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
 *     l1.reorg({ depth: 2, blocks: 'replay' })             // same transactions, other blocks, one block longer
 *
 * Served over JSON-RPC by `fakeEndpoint.ts`; expected values in `fakeChainModel.ts`, a ready-made history in `fakeChainScenario.ts`.
 */
export function createFakeWorld(options: FakeWorldOptions = {}): FakeWorld {
  return new FakeWorld(options)
}

export interface FakeWorldOptions {
  /** L2 network ids; network 0 is always there. Default: [1]. */
  readonly networks?: readonly number[]
  /** Unix seconds of a block. Default: twelve seconds apart. */
  readonly timeOf?: (networkId: number, block: number) => number
  /** L1: emit UpdateL1InfoTreeV2 (banana and later). Default true. */
  readonly l1InfoTreeV2?: boolean
  /** L2 bridges are sovereign ones. Default true. */
  readonly sovereign?: boolean
}

/** Builds the transactions of one block. */
export type Recipe = (block: FakeBlockBuilder) => unknown

export interface ReorgOptions {
  /** Number of newest blocks that are dropped. */
  readonly depth: number
  /** What replaces them. Default: empty blocks. `replay`: the same transactions again; `shift`: one block later. */
  readonly blocks?: readonly Recipe[] | 'empty' | 'replay' | 'shift'
  /** How much higher than before the chain gets; default 1. */
  readonly extra?: number
}

export interface FakeTransaction {
  readonly hash: Hex
  readonly index: number
  readonly from: Hex
  readonly to: Hex
  readonly input: Hex
  readonly trace: FakeFrame
  readonly logs: readonly FakeLog[]
}

export interface FakeBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestampSec: number
  readonly logsBloom: Hex
  readonly transactions: readonly FakeTransaction[]
  readonly logs: readonly FakeLog[]
  /** The state of the contracts after this block. */
  readonly state: FakeState
  readonly recipe: NumberedRecipe
}

interface NumberedRecipe {
  readonly id: number
  readonly run: Recipe
}

/** One block under construction. */
export class FakeBlockBuilder {
  readonly logs: FakeLog[] = []
  readonly transactions: FakeTransactionBuilder[] = []
  readonly network: FakeNetwork
  readonly number: number
  readonly parentHash: Hex
  readonly timestampSec: number
  /** The contracts' state so far, including this block. */
  readonly state: FakeState
  readonly #recipeId: number

  constructor(network: FakeNetwork, parent: FakeBlock | undefined, recipeId: number) {
    this.network = network
    this.number = parent ? parent.number + 1 : 0
    this.parentHash = parent?.hash ?? ZERO_HASH
    this.timestampSec = network.world.timeOf(network.networkId, this.number)
    this.state = Object.assign(new FakeState(), parent?.state)
    this.#recipeId = recipeId
  }

  /**
   * A new transaction. Without `to`, an account calls a bridge contract itself (exactly one operation); with `to`, a user's
   * contract makes any number of calls.
   */
  tx({ from = account(1), to }: { from?: Hex; to?: Hex } = {}): FakeTransactionBuilder {
    const place = `${this.network.networkId} ${this.#recipeId} ${this.transactions.length}`
    // A replayed recipe may choose other transactions on another state: only an equal sender keeps the hash.
    const hash = keccak(stringToHex(`transaction ${place} ${from} ${to}`))
    const tx = new FakeTransactionBuilder(this, hash, from, to)
    this.transactions.push(tx)
    return tx
  }
}

export class FakeNetwork {
  readonly world: FakeWorld
  readonly networkId: number
  readonly chainId: number
  readonly contracts: FakeContracts
  /** The canonical chain, block 0 first. Replaced, never changed in place, by a reorg. */
  blocks: readonly FakeBlock[]
  /** Chains that reorgs dropped, oldest first. */
  readonly abandoned: Array<readonly FakeBlock[]> = []
  /** Distance of the tags behind the head. Undefined: the tag is not offered. */
  safeLag: number | undefined = 0
  finalizedLag: number | undefined = 0
  #branch = 0
  #recipes = 0

  constructor(world: FakeWorld, networkId: number) {
    this.world = world
    this.networkId = networkId
    this.chainId = networkId === 0 ? 900 : 1000 + networkId
    const address = (name: string) => slice(keccak(stringToHex(`${name} ${networkId}`)), 12)
    this.contracts = {
      bridge: address('bridge'),
      globalExitRootManager: address('global exit root manager'),
      rollupManager: address('rollup manager'),
    }
    this.blocks = [
      this.#build(
        undefined,
        this.#numbered(() => {}),
      ),
    ]
  }

  get head(): FakeBlock {
    return this.blocks.at(-1)!
  }

  /** Mines one block, empty without a recipe. */
  mine(run: Recipe = () => {}): FakeBlock {
    return this.#add(this.#numbered(run))
  }

  mineEmpty(count: number): void {
    for (let i = 0; i < count; i++) this.mine()
  }

  /** Drops the newest blocks and mines others in their place. */
  reorg({ depth, extra = 1, blocks = 'empty' }: ReorgOptions): void {
    if (depth < 1 || depth >= this.blocks.length) throw new Error(`a reorg of depth ${depth} is not possible`)
    const dropped = this.blocks.slice(-depth)
    const height = this.blocks.length + extra
    this.rollback(depth)
    if (blocks === 'shift') this.mine()
    if (blocks === 'replay' || blocks === 'shift') for (const { recipe } of dropped) this.#add(recipe)
    else if (blocks !== 'empty') for (const run of blocks) this.mine(run)
    this.mineEmpty(height - this.blocks.length)
  }

  /** Drops the newest blocks without replacement, as a node that lost its newest blocks. */
  rollback(depth: number): void {
    this.abandoned.push(this.blocks)
    this.#branch++
    this.blocks = this.blocks.slice(0, this.blocks.length - depth)
  }

  /** Deposits in force, by deposit count. */
  deposits(): readonly FakeDeposit[] {
    return this.head.state.deposits
  }

  /** Claims in force, oldest first. */
  claims(): readonly FakeClaim[] {
    return [...this.head.state.claims.values()].sort(
      (a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex,
    )
  }

  localExitRoot(): Hex {
    return localExitRootOf(this.head.state)
  }

  /** Newest global exit root of the L1 info tree (network 0). */
  globalExitRoot(): Hex {
    const leaf = this.head.state.l1InfoLeaves.at(-1)
    if (!leaf) throw new Error('the L1 info tree has no leaf yet')
    return leaf.globalExitRoot
  }

  /** The service's configuration of this network. */
  config(urls: readonly string[], overrides: Partial<NetworkConfig> = {}): NetworkConfig {
    const { networkId, chainId } = this
    const { rollupManager, ...contracts } = this.contracts
    return {
      ...{ networkId, chainId, ...contracts, startBlock: 0, rollbackBlocks: 64, logRange: 1000 },
      ...(networkId === 0 ? { rollupManager } : {}),
      rpc: urls.map((url, index) => ({ url, alias: `network ${networkId} endpoint ${index}` })),
      finality: { tag: 'latest', depth: 0 },
      ...{ pollIntervalMs: 20, rpcTimeoutMs: 2000, rpcMaxResponseBytes: 64 * 1024 ** 2, stalledAfterMs: 0 },
      ...{ callTraces: 'auto', gerInjection: 'auto' },
      ...overrides,
    }
  }

  #numbered(run: Recipe): NumberedRecipe {
    return { id: this.#recipes++, run }
  }

  #add(recipe: NumberedRecipe): FakeBlock {
    const block = this.#build(this.head, recipe)
    this.blocks = [...this.blocks, block]
    return block
  }

  #build(parent: FakeBlock | undefined, recipe: NumberedRecipe): FakeBlock {
    const builder = new FakeBlockBuilder(this, parent, recipe.id)
    recipe.run(builder)
    const { logs, number, parentHash, timestampSec, state } = builder
    const transactions = builder.transactions.map((tx) => {
      const { hash, index, from } = tx
      const trace = tx.trace()
      const own = logs.filter((log) => log.transactionIndex === index)
      return { hash, index, from, to: trace.to, input: trace.input, trace, logs: own }
    })
    const content = stringToHex(
      `block ${this.networkId} ${this.#branch} ${transactions.map((tx) => tx.hash)}`,
    )
    const hash = keccak(parentHash, numberToHex(number, { size: 32 }), content)
    const logsBloom = bloomOf(logs)
    return { number, hash, parentHash, timestampSec, logsBloom, transactions, logs, state, recipe }
  }
}

export class FakeWorld {
  readonly timeOf: (networkId: number, block: number) => number
  readonly l1InfoTreeV2: boolean
  readonly sovereign: boolean
  readonly #networks: ReadonlyMap<number, FakeNetwork>

  constructor(options: FakeWorldOptions) {
    this.timeOf = options.timeOf ?? ((_, block) => 1_700_000_000 + 12 * block)
    this.l1InfoTreeV2 = options.l1InfoTreeV2 ?? true
    this.sovereign = options.sovereign ?? true
    const ids = [0, ...(options.networks ?? [1])]
    this.#networks = new Map(ids.map((id) => [id, new FakeNetwork(this, id)]))
  }

  get networkIds(): number[] {
    return [...this.#networks.keys()]
  }

  network(networkId: number): FakeNetwork {
    const network = this.#networks.get(networkId)
    if (!network) throw new Error(`this world has no network ${networkId}`)
    return network
  }
}

/** 2048-bit bloom of a block's logs: three bits per address and topic (yellow paper 4.3.1). */
function bloomOf(logs: readonly FakeLog[]): Hex {
  const bloom = new Uint8Array(256)
  for (const log of logs)
    for (const item of [log.address, ...log.topics]) {
      const hash = plainKeccak(hexToBytes(item))
      for (const pair of [0, 2, 4]) {
        const bit = ((hash[pair]! << 8) | hash[pair + 1]!) & 2047
        bloom[255 - (bit >> 3)]! |= 1 << (bit & 7)
      }
    }
  return bytesToHex(bloom)
}
