import type { Hex } from 'viem'
import {
  createFakeWorld,
  type FakeBlockBuilder,
  type FakeNetwork,
  type FakeWorld,
  type Recipe,
} from './fakeChain.js'
import {
  account,
  claimKey,
  type FakeDeposit,
  localExitRootOf,
  tokenAddress,
  userContract,
} from './fakeState.js'
import type { LeafParts } from './naiveTree.js'

/** Numbers 0 … 1 from a seed: small, and the same everywhere (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b_79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const SERVED_L2 = [1, 2]
/** A rollup that is registered and settled but not served, and a network that no manager knows. */
const FOREIGN_ROLLUP = 3
const UNKNOWN_NETWORK = 77

/** Timestamps of network 2 decrease, by up to four blocks' time. */
function timeOf(networkId: number, block: number): number {
  const late = networkId === 2 ? ((block * 7) % 11) - 5 : 0
  return 1_700_000_000 + 12 * block - 8 * late
}

/**
 * Changes a fake world at random: deposits of several senders to served, foreign and unknown networks, forced or
 * not; settlements at any leaf count; injections and removals; claims of both generations, unset and set claims;
 * emergencies; exit trees that are cut and regrown with partly equal leaves; reorgs.
 */
export class RandomWorld {
  readonly world: FakeWorld
  private readonly random: () => number
  private amount = 0n

  constructor(seed: number) {
    this.random = randomNumbers(seed)
    this.world = createFakeWorld({ networks: SERVED_L2, timeOf })
    this.world.network(0).mine((block) => {
      const tx = block.tx({ to: userContract(9) })
      for (const networkId of [...SERVED_L2, FOREIGN_ROLLUP]) tx.createRollup(networkId, 1000 + networkId)
    })
  }

  /** Mines one block of some network. */
  step(): void {
    const network = this.world.network(this.pick([0, 0, 1, 2]))
    const recipe = this.pick(network.networkId === 0 ? this.l1Recipes : this.l2Recipes)
    network.mine(recipe(network, randomNumbers(Math.floor(this.random() * 2 ** 32))))
  }

  /** A reorg of one network. Blocks of others that relied on the dropped blocks stay. */
  reorg(): void {
    const network = this.world.network(this.pick(this.world.networkIds))
    const depth = Math.min(1 + Math.floor(this.random() * 4), network.blocks.length - 2)
    if (depth > 0) network.reorg({ depth, blocks: this.pick(['replay', 'shift', 'empty'] as const) })
  }

  private readonly l1Recipes: readonly MakeRecipe[] = [
    ...repeat(5, (network, random) => this.deposits(network, random)),
    ...repeat(2, () => (block) => block.tx().updateGlobalExitRoot()),
    ...repeat(4, (_, random) => (block) => this.settle(block, random)),
    ...repeat(3, (network, random) => this.claims(network, random)),
  ]

  private readonly l2Recipes: readonly MakeRecipe[] = [
    ...repeat(4, (network, random) => this.deposits(network, random)),
    ...repeat(5, (_, random) => (block) => this.inject(block, random)),
    ...repeat(4, (network, random) => this.claims(network, random)),
    (_, random) => (block) => {
      const known = [...block.state.globalExitRoots.keys()]
      if (known.length > 0) block.tx().removeGer(pickFrom(known, random))
    },
    (network, random) => this.marks(network, random),
    (network, random) => this.marks(network, random),
    () => (block) => block.tx().setEmergency(!block.state.emergency),
    (_, random) => this.cut(random),
  ]

  private deposits(network: FakeNetwork, random: () => number): Recipe {
    const served = this.world.networkIds.filter((id) => id !== network.networkId)
    const made = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
      leafType: random() < 0.3 ? 1 : 0,
      destinationNetwork:
        random() < 0.8 ? pickFrom(served, random) : pickFrom([FOREIGN_ROLLUP, UNKNOWN_NETWORK], random),
      destinationAddress: account(20 + Math.floor(random() * 3)),
      originAddress: tokenAddress(Math.floor(random() * 3)),
      amount: ++this.amount,
      metadata: pickFrom<Hex>(['0x', '0x1234', `0x${'ab'.repeat(300)}`], random),
      forceUpdate: random() < 0.5,
    }))
    const from = account(1 + Math.floor(random() * 4))
    const contract = random() < 0.4 ? { to: userContract(Math.floor(random() * 2)) } : undefined
    return (block) => {
      if (contract !== undefined) {
        const tx = block.tx({ from, ...contract })
        for (const options of made) tx.deposit(options)
      } else for (const options of made) block.tx({ from }).deposit(options)
    }
  }

  private settle(block: FakeBlockBuilder, random: () => number): void {
    const networkId = pickFrom([...SERVED_L2, ...SERVED_L2, FOREIGN_ROLLUP], random)
    const foreign: Hex = `0x${Math.floor(random() * 200)
      .toString(16)
      .padStart(64, '0')}`
    block.tx().settle(networkId, networkId === FOREIGN_ROLLUP ? foreign : this.settledRoot(networkId, random))
  }

  /** Mostly the newest root, but any earlier root can be settled: one inside a block, one from before a cut. */
  private settledRoot(networkId: number, random: () => number): Hex {
    const { state } = this.world.network(networkId).head
    const all = [...state.localExitRoots.keys()]
    if (all.length === 0 || random() < 0.5) return localExitRootOf(state)
    return pickFrom(random() < 0.7 ? all.slice(-6) : all, random)
  }

  private inject(block: FakeBlockBuilder, random: () => number): void {
    const leaves = this.world.network(0).head.state.l1InfoLeaves
    if (leaves.length === 0) return
    const newest = leaves.length - 1
    const index = random() < 0.6 ? newest : Math.floor(random() * leaves.length)
    const ger = leaves[index]!.globalExitRoot
    // The contract refuses to insert a root that it already has.
    if (!block.state.globalExitRoots.has(ger)) block.tx().injectGer(ger)
  }

  /** Deposits of other networks to this one that `block` has no claim of yet. */
  private unclaimed(network: FakeNetwork, block: FakeBlockBuilder): FakeDeposit[] {
    return this.world.networkIds
      .flatMap((id) => [...this.world.network(id).deposits()])
      .filter(
        (deposit) =>
          deposit.destinationNetwork === network.networkId &&
          !block.state.claims.has(claimKey(deposit.networkId, deposit.depositCount)),
      )
  }

  private claims(network: FakeNetwork, random: () => number): Recipe {
    return (block) => {
      for (let made = Math.floor(random() * 3); made >= 0; made--) {
        const open = this.unclaimed(network, block)
        if (open.length === 0) return
        const deposit = pickFrom(open, random)
        const isV1Way = network.networkId === 0 ? deposit.networkId === 1 : deposit.networkId === 0
        const form =
          isV1Way && random() < 0.2
            ? { generation: 'v1' as const }
            : random() < 0.2
              ? { globalIndex: deposit.globalIndex + (1n << 100n) }
              : {}
        const from = account(5 + Math.floor(random() * 3))
        block.tx({ from, ...(random() < 0.3 ? { to: userContract(1) } : {}) }).claim({ deposit, ...form })
      }
    }
  }

  /** Unset and set claims of sovereign bridges. */
  private marks(network: FakeNetwork, random: () => number): Recipe {
    return (block) => {
      const claimed = [...block.state.claims.values()]
      if (claimed.length > 0 && random() < 0.7) {
        const { sourceNetwork, depositCount } = pickFrom(claimed, random)
        const deposit = this.world.network(sourceNetwork).deposits()[depositCount]
        if (deposit !== undefined) block.tx().unsetClaim(deposit, random() < 0.5 ? 'v9' : 'v10')
      } else {
        const open = this.unclaimed(network, block)
        if (open.length > 0)
          block
            .tx({ from: account(7) })
            .setClaim(pickFrom(open, random), random() < 0.5 ? 'index' : 'globalIndex')
      }
    }
  }

  /**
   * BackwardLET, and mostly ForwardLET with the archived leaves: some unchanged, some with another destination or
   * amount, some left out.
   */
  private cut(random: () => number): Recipe {
    const drop = 1 + Math.floor(random() * 6)
    const fates = Array.from({ length: drop + 2 }, () => ({ chance: random(), amount: ++this.amount }))
    const isRegrown = random() < 0.8
    return (block) => {
      const { deposits } = block.state
      if (deposits.length === 0) return
      const lost = deposits.slice(-drop)
      block.tx().backwardLet(Math.max(0, deposits.length - drop))
      if (!isRegrown) return
      const leaves = fates.flatMap(({ chance, amount }, index) => {
        const leaf = leafParts(lost[index % lost.length]!)
        if (index >= lost.length) return chance < 0.3 ? [{ ...leaf, amount }] : []
        if (chance < 0.6) return [leaf]
        if (chance < 0.7)
          return [{ ...leaf, destinationNetwork: leaf.destinationNetwork === 0 ? FOREIGN_ROLLUP : 0 }]
        return chance < 0.9 ? [{ ...leaf, amount }] : []
      })
      if (leaves.length > 0) block.tx({ from: account(9) }).forwardLet(leaves)
    }
  }

  private pick<T>(choices: readonly T[]): T {
    return pickFrom(choices, this.random)
  }
}

function leafParts(deposit: FakeDeposit): LeafParts {
  const { leafType, originNetwork, originAddress, destinationNetwork, destinationAddress, amount, metadata } =
    deposit
  return { leafType, originNetwork, originAddress, destinationNetwork, destinationAddress, amount, metadata }
}

type MakeRecipe = (network: FakeNetwork, random: () => number) => Recipe

function pickFrom<T>(choices: readonly T[], random: () => number): T {
  return choices[Math.floor(random() * choices.length)]!
}

function repeat(times: number, recipe: MakeRecipe): MakeRecipe[] {
  return Array<MakeRecipe>(times).fill(recipe)
}
