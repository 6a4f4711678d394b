import type { Hex } from 'viem'
import { numberToHex } from 'viem/utils'
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
import { TestNumbers } from './testNumbers.js'

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
  private readonly numbers: TestNumbers
  private amount = 0n

  constructor(seed: number) {
    this.numbers = new TestNumbers(seed)
    this.world = createFakeWorld({ networks: SERVED_L2, timeOf })
    this.world.network(0).mine((block) => {
      const tx = block.tx({ to: userContract(9) })
      for (const networkId of [...SERVED_L2, FOREIGN_ROLLUP]) tx.createRollup(networkId, 1000 + networkId)
    })
  }

  /** Mines one block of some network. */
  step(): void {
    const network = this.world.network(this.numbers.pick([0, 0, 1, 2]))
    const recipe = this.numbers.pick(network.networkId === 0 ? this.l1Recipes : this.l2Recipes)
    network.mine(recipe(network, new TestNumbers(this.numbers.below(2 ** 32))))
  }

  /** A reorg of one network. Blocks of others that relied on the dropped blocks stay. */
  reorg(): void {
    const network = this.world.network(this.numbers.pick(this.world.networkIds))
    const depth = Math.min(1 + this.numbers.below(4), network.blocks.length - 2)
    if (depth > 0) network.reorg({ depth, blocks: this.numbers.pick(['replay', 'shift', 'empty'] as const) })
  }

  private readonly deposits: MakeRecipe = (network, numbers) => {
    const served = this.world.networkIds.filter((id) => id !== network.networkId)
    const made = Array.from({ length: 1 + numbers.below(3) }, () => ({
      leafType: numbers.chance(0.3) ? 1 : 0,
      destinationNetwork: numbers.pick(numbers.chance(0.8) ? served : [FOREIGN_ROLLUP, UNKNOWN_NETWORK]),
      destinationAddress: account(20 + numbers.below(3)),
      originAddress: tokenAddress(numbers.below(3)),
      amount: ++this.amount,
      metadata: numbers.pick<Hex>(['0x', '0x1234', `0x${'ab'.repeat(300)}`]),
      forceUpdate: numbers.chance(0.5),
    }))
    const from = account(1 + numbers.below(4))
    const contract = numbers.chance(0.4) ? { to: userContract(numbers.below(2)) } : undefined
    return (block) => {
      const shared = contract && block.tx({ from, ...contract })
      for (const options of made) (shared ?? block.tx({ from })).deposit(options)
    }
  }

  /** Mostly the newest root, but any earlier root can be settled: one inside a block, one from before a cut. */
  private readonly settle: MakeRecipe = (_, numbers) => (block) => {
    const networkId = numbers.pick([...SERVED_L2, ...SERVED_L2, FOREIGN_ROLLUP])
    const foreign = numberToHex(numbers.below(200), { size: 32 })
    if (networkId === FOREIGN_ROLLUP) return block.tx().settle(networkId, foreign)
    const { state } = this.world.network(networkId).head
    const all = [...state.localExitRoots.keys()]
    const isNewest = all.length === 0 || numbers.chance(0.5)
    const root = isNewest ? localExitRootOf(state) : numbers.pick(numbers.chance(0.7) ? all.slice(-6) : all)
    block.tx().settle(networkId, root)
  }

  private readonly inject: MakeRecipe = (_, numbers) => (block) => {
    const leaves = this.world.network(0).head.state.l1InfoLeaves
    if (leaves.length === 0) return
    const index = numbers.chance(0.6) ? leaves.length - 1 : numbers.below(leaves.length)
    const ger = leaves[index]!.globalExitRoot
    // The contract refuses to insert a root that it already has.
    if (!block.state.globalExitRoots.has(ger)) block.tx().injectGer(ger)
  }

  /** Deposits of other networks to this one that have no claim yet. */
  private unclaimed({ network: { networkId }, state }: FakeBlockBuilder): FakeDeposit[] {
    return this.world.networkIds
      .flatMap((id) => this.world.network(id).deposits())
      .filter((deposit) => deposit.destinationNetwork === networkId)
      .filter((deposit) => !state.claims.has(claimKey(deposit.networkId, deposit.depositCount)))
  }

  private readonly claims: MakeRecipe = (network, numbers) => (block) => {
    for (let made = numbers.below(3); made >= 0; made--) {
      const open = this.unclaimed(block)
      if (open.length === 0) return
      const deposit = numbers.pick(open)
      const isV1Way = network.networkId === 0 ? deposit.networkId === 1 : deposit.networkId === 0
      const isV1 = isV1Way && numbers.chance(0.2)
      const isDirty = !isV1 && numbers.chance(0.2)
      const globalIndex = deposit.globalIndex + (isDirty ? 1n << 100n : 0n)
      const from = account(5 + numbers.below(3))
      const tx = block.tx({ from, ...(numbers.chance(0.3) ? { to: userContract(1) } : {}) })
      tx.claim({ deposit, globalIndex, generation: isV1 ? 'v1' : 'v2' })
    }
  }

  /** Unset and set claims of sovereign bridges. */
  private readonly marks: MakeRecipe = (_, numbers) => (block) => {
    const claimed = [...block.state.claims.values()]
    if (claimed.length > 0 && numbers.chance(0.7)) {
      const { sourceNetwork, depositCount } = numbers.pick(claimed)
      const deposit = this.world.network(sourceNetwork).deposits()[depositCount]
      if (deposit !== undefined) block.tx().unsetClaim(deposit, numbers.chance(0.5) ? 'v9' : 'v10')
    } else {
      const open = this.unclaimed(block)
      if (open.length === 0) return
      const form = () => (numbers.chance(0.5) ? 'index' : 'globalIndex')
      block.tx({ from: account(7) }).setClaim(numbers.pick(open), form())
    }
  }

  /**
   * BackwardLET, and mostly ForwardLET with the archived leaves: some unchanged, some with another destination or
   * amount, some left out.
   */
  private readonly cut: MakeRecipe = (_, numbers) => {
    const drop = 1 + numbers.below(6)
    const fates = Array.from({ length: drop + 2 }, () => ({ fate: numbers.below(10), amount: ++this.amount }))
    const isRegrown = numbers.chance(0.8)
    return (block) => {
      const { deposits } = block.state
      if (deposits.length === 0) return
      const lost = deposits.slice(-drop)
      block.tx().backwardLet(Math.max(0, deposits.length - drop))
      if (!isRegrown) return
      const leaves = fates.flatMap(({ fate, amount }, index) => {
        const leaf = lost[index % lost.length]!
        if (index >= lost.length) return fate < 3 ? [{ ...leaf, amount }] : []
        if (fate < 6) return [leaf]
        if (fate < 7)
          return [{ ...leaf, destinationNetwork: leaf.destinationNetwork === 0 ? FOREIGN_ROLLUP : 0 }]
        return fate < 9 ? [{ ...leaf, amount }] : []
      })
      if (leaves.length > 0) block.tx({ from: account(9) }).forwardLet(leaves)
    }
  }

  private readonly l1Recipes: readonly MakeRecipe[] = [
    ...repeat(5, this.deposits),
    ...repeat(2, () => (block) => block.tx().updateGlobalExitRoot()),
    ...repeat(4, this.settle),
    ...repeat(3, this.claims),
  ]

  private readonly l2Recipes: readonly MakeRecipe[] = [
    ...repeat(4, this.deposits),
    ...repeat(5, this.inject),
    ...repeat(4, this.claims),
    (_, numbers) => (block) => {
      const known = [...block.state.globalExitRoots.keys()]
      if (known.length > 0) block.tx().removeGer(numbers.pick(known))
    },
    ...repeat(2, this.marks),
    () => (block) => block.tx().setEmergency(!block.state.emergency),
    this.cut,
  ]
}

type MakeRecipe = (network: FakeNetwork, numbers: TestNumbers) => Recipe

function repeat(times: number, recipe: MakeRecipe): MakeRecipe[] {
  return Array<MakeRecipe>(times).fill(recipe)
}
