import assert from 'node:assert/strict'
import test from 'node:test'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { wayOf } from '../../../support/bridgeWay.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { type FakeDeposit, userContract } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

/** Seconds of a block of either network: blocks of the L2 come at once, those of the L1 one minute apart. */
const L1_BLOCK_SEC = 60
const times = new Map<string, number>()

/** A world whose blocks have the times that a test gives them. */
class TimedWorld {
  readonly world: FakeWorld
  nowSec = 1_700_000_000

  constructor() {
    const timeOf = (networkId: number, block: number): number => {
      const key = `${networkId} ${block}`
      const known = times.get(key)
      if (known !== undefined && block > 0) return known
      times.set(key, this.nowSec)
      return this.nowSec
    }
    times.clear()
    this.world = createFakeWorld({ networks: [1, 2], timeOf })
    this.world.network(0).mine((block) => {
      const tx = block.tx({ to: userContract(9) })
      for (const networkId of [1, 2]) tx.createRollup(networkId, 1000 + networkId)
    })
  }

  wait(seconds: number): void {
    this.nowSec += seconds
  }

  /** One bridge from the L1 to network 1: a leaf, an injection and a claim, each so many seconds after the one before. */
  bridge(toLeaf: number, toInjection: number, toClaim: number): void {
    const [l1, l2] = [this.world.network(0), this.world.network(1)]
    const made: FakeDeposit[] = []
    l1.mine((block) => made.push(block.tx().deposit({ destinationNetwork: 1, forceUpdate: false })))
    this.wait(toLeaf)
    l1.mine((block) => block.tx().updateGlobalExitRoot())
    this.wait(toInjection)
    const ger = l1.globalExitRoot()
    // A deposit in the block of the injection tells its time.
    l2.mine((block) => {
      block.tx().injectGer(ger)
      block.tx().deposit({ destinationNetwork: 0 })
    })
    this.wait(toClaim)
    l2.mine((block) => block.tx().claim({ deposit: made[0]! }))
    this.wait(L1_BLOCK_SEC)
  }
}

const typicalOf = (indexed: IndexedWorld, networkId: number, depositCount: number) =>
  Object.fromEntries(
    Object.entries(wayOf(indexed, networkId, depositCount).stages).flatMap(([stage, { typical }]) =>
      typical === undefined ? [] : [[stage, typical]],
    ),
  )

test('the times of a pair are median and nine tenths of what its own bridges took, from 20 bridges on', (context) => {
  const timed = new TimedWorld()
  // The n-th bridge takes n × 10, n × 100 and n seconds.
  for (let n = 1; n <= 19; n++) timed.bridge(10 * n, 100 * n, n)
  const indexed = new IndexedWorld(context, timed.world)
  indexed.syncAll()
  assert.deepEqual(typicalOf(indexed, 0, 0), {})
  timed.bridge(200, 2_000, 20)
  indexed.syncAll()
  // Of 1 … 20 the tenth is the median and the eighteenth is nine tenths.
  const expected = {
    in_l1_info_tree: { since: 'bridged', medianSec: 100, p90Sec: 180, sampleSize: 20 },
    injected: { since: 'in_l1_info_tree', medianSec: 1_000, p90Sec: 1_800, sampleSize: 20 },
    claimed: { since: 'injected', medianSec: 10, p90Sec: 18, sampleSize: 20 },
  }
  for (const depositCount of [0, 19]) assert.deepEqual(typicalOf(indexed, 0, depositCount), expected)
  // Nothing of it is told of another pair.
  assert.deepEqual(typicalOf(indexed, 1, 0), {})
  // The next bridge is told as soon as it is indexed, and a reorg takes it back.
  timed.bridge(1_000, 5_000, 500)
  indexed.syncAll()
  assert.equal((typicalOf(indexed, 0, 0).claimed as { sampleSize: number }).sampleSize, 21)
  timed.world.network(1).reorg({ depth: 1 })
  indexed.syncAll()
  assert.deepEqual(typicalOf(indexed, 0, 0).claimed, expected.claimed)
})

test('bridges to the L1 count from the settlement to the claim', (context) => {
  const timed = new TimedWorld()
  const [l1, l2] = [timed.world.network(0), timed.world.network(1)]
  for (let n = 1; n <= 20; n++) {
    const made: FakeDeposit[] = []
    l2.mine((block) => made.push(block.tx().deposit({ destinationNetwork: 0 })))
    timed.wait(100 * n)
    l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
    timed.wait(n)
    l1.mine((block) => block.tx().claim({ deposit: made[0]! }))
  }
  const indexed = new IndexedWorld(context, timed.world)
  indexed.syncAll()
  assert.deepEqual(typicalOf(indexed, 1, 3), {
    settled: { since: 'bridged', medianSec: 1_000, p90Sec: 1_800, sampleSize: 20 },
    claimed: { since: 'in_l1_info_tree', medianSec: 10, p90Sec: 18, sampleSize: 20 },
  })
})

/** 20 bridges whose roots are injected in empty blocks `gap` blocks behind the last event of the L2, which has the next one as far behind. */
function worldWithBareInjections(blockSec: (block: number) => number, gap: number): FakeWorld {
  const timeOf = (networkId: number, block: number): number =>
    1_700_000_000 + (networkId === 0 ? 60 * block : blockSec(block))
  const world = createFakeWorld({ networks: [1, 2], timeOf })
  const [l1, l2] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx({ to: userContract(9) }).createRollup(1, 1001))
  l2.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  for (let n = 0; n < 20; n++) {
    l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
    l2.mineEmpty(gap)
    l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
    l2.mineEmpty(gap)
    l2.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  }
  return world
}

test('where no deposit or claim is in its block, the time of an injection is taken from those around it, but not from far ones', (context) => {
  const medianOf = (blockSec: (block: number) => number, gap: number) => {
    const world = worldWithBareInjections(blockSec, gap)
    const indexed = new IndexedWorld(context, world)
    indexed.syncAll()
    const told = typicalOf(indexed, 0, 0).injected as { medianSec: number } | undefined
    const exact = world
      .network(0)
      .deposits()
      .map((deposit) => {
        const at = world.network(1).blocks.find((block) => block.state.globalExitRoots.has(gerOf(deposit)))!
        return Math.max(0, at.timestampSec - timeOfDeposit(deposit))
      })
      .sort((left, right) => left - right)[9]
    function gerOf({ depositCount }: FakeDeposit) {
      return world.network(0).head.state.l1InfoLeaves[depositCount]!.globalExitRoot
    }
    function timeOfDeposit({ blockNumber }: FakeDeposit) {
      return world.network(0).blocks[blockNumber]!.timestampSec
    }
    return [told?.medianSec, exact] as const
  }
  // At fixed intervals: exact, however far the events around are.
  const [even, evenExact] = medianOf((block) => 100 * block, 60)
  assert.equal(even, evenExact)
  // Within two minutes: half of that is the largest error.
  const [close, closeExact] = medianOf((block) => 30 * block + (block % 2) * 11, 0)
  assert.ok(Math.abs(close! - closeExact!) <= 60, `${close}, ${closeExact}`)
  // Further apart and uneven: nothing is told.
  const [far] = medianOf((block) => 301 * block + (block % 3) * 7, 0)
  assert.equal(far, undefined)
})

test('the newest 1,000 bridges count', (context) => {
  const world = createFakeWorld({ networks: [1, 2], timeOf: (_, block) => 1_700_000_000 + 10 * block })
  const l1 = world.network(0)
  l1.mine((block) => block.tx({ to: userContract(9) }).createRollup(1, 1001))
  const deposit = (count: number) =>
    l1.mine((block) => {
      const tx = block.tx({ to: userContract(1) })
      for (let made = 0; made < count; made++) tx.deposit({ destinationNetwork: 1, forceUpdate: false })
    })
  // 24 old ones waited for 500 seconds, the 1,000 after them for 10.
  deposit(24)
  l1.mineEmpty(49)
  l1.mine((block) => block.tx().updateGlobalExitRoot())
  deposit(1_000)
  l1.mine((block) => block.tx().updateGlobalExitRoot())
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.deepEqual(typicalOf(indexed, 0, 0).in_l1_info_tree, {
    ...{ since: 'bridged', medianSec: 10, p90Sec: 10, sampleSize: 1_000 },
  })
})

test('times are worked out again only when the history has moved', (context) => {
  const timed = new TimedWorld()
  for (let n = 1; n <= 20; n++) timed.bridge(10 * n, 100 * n, n)
  const indexed = new IndexedWorld(context, timed.world)
  indexed.syncAll()
  const read = () =>
    indexed.ask((shards) => shards.typicalTimes.of(shards.get(asNetworkId(0)), asNetworkId(1)))
  const first = read()
  assert.equal(read(), first)
  timed.world.network(1).mineEmpty(1)
  indexed.syncAll()
  assert.equal(read(), first)
  timed.bridge(10, 100, 1)
  indexed.syncAll()
  assert.notEqual(read(), first)
})
