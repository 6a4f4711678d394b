import { encodeAbiParameters, parseAbiParameters } from 'viem/utils'
import { createFakeWorld, type FakeWorld } from './fakeChain.js'
import { account, type FakeDeposit, tokenAddress, userContract } from './fakeState.js'

/** A world with named deposits for tests. */
export interface SmallWorld {
  readonly world: FakeWorld
  /** Ready: L1 → 1, injected, unclaimed. */
  readonly ready: FakeDeposit
  /** Claimed: L1 → 1. */
  readonly claimed: FakeDeposit
  /** Claimed: 1 → L1, a message of a contract. */
  readonly claimedOnL1: FakeDeposit
  /** Ready: 1 → 2. */
  readonly betweenRollups: FakeDeposit
  /** Not covered: L1 → 2, an unforced deposit after all others. */
  readonly pending: FakeDeposit
  /** Not covered: 1 → L1, never settled. */
  readonly unsettled: FakeDeposit
}

/**
 * An L1 and the L2s 1 and 2 with about 40 blocks each: assets, messages, unforced deposits, several deposits of one
 * transaction, a foreign rollup (3), leaves that are never injected, claims both ways, a wrapped token.
 */
export function buildSmallWorld(): SmallWorld {
  const world = createFakeWorld({ networks: [1, 2] })
  const [l1, first, second] = [world.network(0), world.network(1), world.network(2)]
  const token = {
    originNetwork: 0,
    originAddress: tokenAddress(1),
    metadata: tokenMetadata('Fake', 'FK', 18),
  }
  l1.mine((block) => {
    const tx = block.tx({ to: userContract(9) })
    for (const networkId of [1, 2, 3]) tx.createRollup(networkId, 1000 + networkId)
  })
  l1.mineEmpty(3)
  const made = {} as Record<string, FakeDeposit>
  l1.mine((block) => {
    made.claimed = block.tx().deposit({ ...token, amount: 7n, destinationNetwork: 1 })
    block.tx({ from: account(2) }).noise()
  })
  l1.mine((block) => block.tx({ from: account(2) }).settle(3, `0x${'33'.repeat(32)}`))
  l1.mine((block) => {
    const tx = block.tx({ from: account(3), to: userContract(1) })
    tx.deposit({ destinationNetwork: 1, leafType: 1, metadata: '0x1234', forceUpdate: false })
    tx.noise()
    tx.deposit({ destinationNetwork: 2, amount: 10n ** 30n, forceUpdate: false })
    made.ready = tx.deposit({ destinationNetwork: 1, amount: 3n })
  })
  first.mineEmpty(4)
  first.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  first.mine((block) => {
    const tx = block.tx({ from: account(4) })
    tx.claim({ deposit: made.claimed!, newWrappedToken: tokenAddress(100) })
  })
  first.mine((block) => {
    const tx = block.tx({ from: account(5), to: userContract(2) })
    made.claimedOnL1 = tx.deposit({ leafType: 1, metadata: '0x', amount: 0n })
    made.betweenRollups = tx.deposit({ destinationNetwork: 2, amount: 2n })
  })
  l1.mine((block) => block.tx().settle(1, first.localExitRoot()))
  second.mineEmpty(6)
  second.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  second.mine((block) => block.tx().deposit({ destinationNetwork: 1, amount: 11n }))
  l1.mine((block) => block.tx({ from: account(6) }).claim({ deposit: made.claimedOnL1! }))
  first.mine((block) => {
    made.unsettled = block.tx({ from: account(7) }).deposit({ amount: 4n })
  })
  l1.mine((block) => {
    made.pending = block.tx().deposit({ destinationNetwork: 2, forceUpdate: false })
  })
  for (const network of [l1, first, second]) network.mineEmpty(41 - network.blocks.length)
  return { world, ...(made as unknown as Omit<SmallWorld, 'world'>) }
}

/** An L1 alone with a few deposits: half the threads of a service, for tests that do not depend on the indexed data. */
export function buildLoneWorld(): FakeWorld {
  const world = createFakeWorld({ networks: [] })
  const l1 = world.network(0)
  for (let count = 0; count < 3; count++) l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  l1.mineEmpty(41 - l1.blocks.length)
  return world
}

/** abi.encode(name, symbol, decimals), as the bridge reads it from an ERC-20. */
export function tokenMetadata(name: string, symbol: string, decimals: number): `0x${string}` {
  return encodeAbiParameters(parseAbiParameters('string, string, uint8'), [name, symbol, decimals])
}
