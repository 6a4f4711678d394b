import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { hexToBytes } from 'viem/utils'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../../../../src/protocol/units.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { getClaimProof } from '../../../../src/shard/queries/getClaimProof.js'
import { getClaimTransaction } from '../../../../src/shard/queries/getClaimTransaction.js'
import { getL1InfoTreeIndex } from '../../../../src/shard/queries/getL1InfoTreeIndex.js'
import { THRESHOLDS } from '../../../../src/shard/queries/shardReaders.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { verifiesOnChain } from '../../../support/fakeChainModel.js'
import { account, claimKey, localExitRootOf, userContract } from '../../../support/fakeState.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'
import { type LeafParts, ZERO_ADDRESS } from '../../../support/naiveTree.js'

/** The deposits of network 1 by their counts: all go to network 2 unless noted. */
interface Told {
  /** Smallest usable L1 info tree index, per deposit. */
  readonly indexes: readonly (number | null)[]
  readonly ready: readonly number[]
}

function sovereignWorld(): FakeWorld {
  const world = createFakeWorld({ networks: [1, 2] })
  world.network(0).mine((block) => {
    const tx = block.tx({ to: userContract(9) })
    for (const networkId of [1, 2]) tx.createRollup(networkId, 1000 + networkId)
  })
  return world
}

const leafTo = (destinationNetwork: number, amount: number): LeafParts => ({
  ...{ leafType: 0, originNetwork: 0, originAddress: ZERO_ADDRESS, metadata: '0x' as const },
  ...{ destinationNetwork, destinationAddress: account(30), amount: BigInt(amount) },
})

/**
 * One transaction of network 1 with a deposit to the L1 for each amount.
 * @returns the root after each deposit.
 */
function depositTogether(world: FakeWorld, ...amounts: number[]): Hex[] {
  const roots: Hex[] = []
  world.network(1).mine((block) => {
    const tx = block.tx({ to: userContract(1) })
    for (const amount of amounts) {
      tx.deposit(leafTo(0, amount))
      roots.push(localExitRootOf(block.state))
    }
  })
  return roots
}

/** @returns index of the L1 info leaf that the settlement makes. */
function settle(world: FakeWorld, root: Hex = world.network(1).localExitRoot()): number {
  world.network(0).mine((block) => block.tx().settle(1, root))
  return world.network(0).head.state.l1InfoLeaves.length - 1
}

/**
 * The answers about network 1's deposits to the L1 and to network 2: by every kind of query, with every proof
 * folded as the contracts do, under every L1 info leaf.
 */
function tell(indexed: IndexedWorld): Told {
  const networkId = asNetworkId(1)
  const { world } = indexed
  const leaves = world.network(0).head.state.l1InfoLeaves.length
  // Lists for a combination of filters are kept from one query to the next.
  indexed.readers.thresholds = { ...THRESHOLDS, rowsWorthReading: 0, worthKeeping: 0 }
  return indexed.ask((shards) => {
    const page = { networkId, pageNumber: 1, pageSize: 1000, isAscending: true }
    const list = getBridges(shards, page)
    const ready = getBridges(shards, { ...page, readyForClaim: true })
    const open = getBridges(shards, { ...page, readyForClaim: false })
    assert.ok(list.ok && ready.ok && open.ok)
    const rows = [...list.value.rows]
    const isReady = (row: (typeof rows)[number]) => row.readyForClaim
    const counts = (of: readonly { depositCount: number }[]) => of.map(({ depositCount }) => depositCount)
    assert.deepEqual(counts([...ready.value.rows]), counts(rows.filter(isReady)))
    assert.equal(ready.value.total, rows.filter(isReady).length)
    const toAddress = hexToBytes(account(30))
    const kept = getBridges(shards, { ...page, toAddress, readyForClaim: true })
    assert.ok(kept.ok)
    assert.deepEqual(counts([...kept.value.rows]), counts(rows.filter(isReady)))
    assert.equal(open.value.total, rows.length - ready.value.total)
    for (const deposit of world.network(1).deposits()) {
      const depositCount = asDepositCount(deposit.depositCount)
      const row = rows[deposit.depositCount]!
      const index = getL1InfoTreeIndex(shards, { networkId, depositCount })
      assert.equal(index.ok ? index.value.l1InfoTreeIndex : null, row.l1InfoTreeIndex)
      const transaction = getClaimTransaction(shards, { networkId, depositCount })
      assert.equal(transaction.ok ? transaction.value.l1InfoTreeIndex : null, row.l1InfoTreeIndex)
      for (let leafIndex = 0; leafIndex < leaves; leafIndex++) {
        const proof = getClaimProof(shards, {
          ...{ networkId, depositCount, leafIndex: asL1InfoTreeIndex(leafIndex) },
        })
        if (!proof.ok) continue
        const [local, rollup] = [proof.value.localExitRootBranch, proof.value.rollupExitRootBranch].map(
          (branch) => Array.from({ length: 32 }, (_, at) => toHex(branch.subarray(32 * at, 32 * at + 32))),
        )
        const branches = { localExitRootBranch: local!, rollupExitRootBranch: rollup! }
        assert.ok(verifiesOnChain(world, deposit, leafIndex, branches), `proof under leaf ${leafIndex}`)
      }
    }
    return {
      indexes: rows.map((row) => row.l1InfoTreeIndex as number | null),
      ready: counts(rows.filter(isReady)),
    }
  })
}

/** Leaves under which the deposit has a proof. */
function provable(indexed: IndexedWorld, depositCount: number): number[] {
  const leaves = indexed.world.network(0).head.state.l1InfoLeaves.length
  return indexed.ask((shards) =>
    Array.from({ length: leaves }, (_, leafIndex) => leafIndex).filter(
      (leafIndex) =>
        getClaimProof(shards, {
          networkId: asNetworkId(1),
          depositCount: asDepositCount(depositCount),
          leafIndex: asL1InfoTreeIndex(leafIndex),
        }).ok,
    ),
  )
}

test('a root settled between two deposits of one transaction covers the deposits before it, and no others', (context) => {
  const world = sovereignWorld()
  const indexed = new IndexedWorld(context, world)
  depositTogether(world, 1)
  const old = settle(world)
  const [inside] = depositTogether(world, 2, 3, 4)
  const middle = settle(world, inside)
  for (const networkId of [0, 1, 2]) indexed.sync(networkId)
  assert.deepEqual(tell(indexed), { indexes: [old, null, null, null], ready: [0] }, 'not searched yet')
  indexed.searchRoots()
  assert.deepEqual(tell(indexed), { indexes: [old, middle, null, null], ready: [0, 1] })
  assert.deepEqual(provable(indexed, 0), [old, middle], 'older deposits are covered as well')
  assert.deepEqual(provable(indexed, 2), [])
})

test('whichever network is behind, the settled root is found when both have it, and again after a restart and after a reorg of either', (context) => {
  const world = sovereignWorld()
  const [l1, l2] = [world.network(0), world.network(1)]
  const indexed = new IndexedWorld(context, world)
  const before = depositTogether(world, 1, 2)
  settle(world, before[0])
  indexed.sync(0)
  indexed.searchRoots()
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0], 'the L1 was first')
  const [, inside] = depositTogether(world, 3, 4, 5)
  indexed.sync(1)
  indexed.searchRoots()
  settle(world, inside)
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0, 1, 2, 3], 'the L2 was first')
  indexed.restartSearch(1)
  const commits = indexed.ask((shards) => shards.find(asNetworkId(1))!.commits)
  indexed.searchRoots()
  assert.equal(
    indexed.ask((shards) => shards.find(asNetworkId(1))!.commits),
    commits,
    'nothing is stored twice',
  )
  l2.reorg({ depth: 1 })
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0], 'its leaves are gone')
  l2.reorg({ depth: 2, blocks: [() => undefined] })
  depositTogether(world, 3, 4, 5, 6)
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0, 1, 2, 3], 'they came back in another block')
  l1.reorg({ depth: 1 })
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0], 'the settlement is gone')
  settle(world, inside)
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0, 1, 2, 3])
})

test('a root inside a block of an older lineage is found when it is settled after the cut', (context) => {
  const world = sovereignWorld()
  const indexed = new IndexedWorld(context, world)
  depositTogether(world, 1)
  const roots = depositTogether(world, 2, 3, 4, 5)
  world.network(1).mine((block) => {
    block.tx().backwardLet(2)
    block.tx().forwardLet([leafTo(0, 30), leafTo(0, 4), leafTo(0, 50)])
  })
  const index = settle(world, roots[2])
  indexed.syncAll()
  // Deposits 0 and 1 were never cut, 3 was regrown unchanged, and the root does not cover 4.
  assert.deepEqual(tell(indexed), { indexes: [index, index, null, index, null], ready: [0, 1, 3] })
})

/** Deposits by amount: each step of the tree, which steps are settled, and which of the final deposits are ready. */
const regrown: {
  readonly what: string
  readonly first: readonly number[]
  readonly steps: readonly { cut: number; forward: readonly number[]; settledBefore?: true }[]
  readonly ready: readonly number[]
}[] = [
  {
    what: 'one unchanged, one with another amount',
    first: [1, 2, 3],
    steps: [{ cut: 1, forward: [2, 30], settledBefore: true }],
    ready: [0, 1],
  },
  {
    what: 'the middle one changed',
    first: [1, 2, 3],
    steps: [{ cut: 0, forward: [1, 20, 3], settledBefore: true }],
    ready: [0, 2],
  },
  {
    what: 'all unchanged, and more after them',
    first: [1, 2, 3],
    steps: [{ cut: 0, forward: [1, 2, 3, 4], settledBefore: true }],
    ready: [0, 1, 2],
  },
  {
    what: 'the same leaves at other counts',
    first: [1, 2, 3],
    steps: [{ cut: 1, forward: [3, 2], settledBefore: true }],
    ready: [0],
  },
  {
    what: 'regrown unchanged, cut again and regrown changed',
    first: [1, 2, 3, 4],
    steps: [
      { cut: 1, forward: [2, 30, 4], settledBefore: true },
      { cut: 3, forward: [40] },
    ],
    ready: [0, 1],
  },
  {
    what: 'regrown changed, cut again and regrown unchanged',
    first: [1, 2, 3, 4],
    steps: [
      { cut: 1, forward: [20, 30, 40], settledBefore: true },
      { cut: 2, forward: [3, 4] },
    ],
    ready: [0, 2, 3],
  },
  {
    what: 'two lineages each share another part',
    first: [1, 2, 3, 4],
    steps: [
      { cut: 1, forward: [2, 30, 40], settledBefore: true },
      { cut: 2, forward: [3, 40], settledBefore: true },
    ],
    ready: [0, 1, 2, 3],
  },
  {
    what: 'more leaves than a tile holds',
    first: Array.from({ length: 150 }, (_, at) => at + 1),
    steps: [
      {
        cut: 3,
        forward: Array.from({ length: 140 }, (_, at) => (at === 70 ? 999 : at + 4)),
        settledBefore: true,
      },
    ],
    ready: Array.from({ length: 143 }, (_, at) => at).filter((at) => at !== 73),
  },
]

for (const { what, first, steps, ready } of regrown)
  for (const isInOneBlock of [false, true])
    test(`after a cut the settled root covers the regrown deposits: ${what}${isInOneBlock ? ', in one block' : ''}`, (context) => {
      const world = sovereignWorld()
      const indexed = new IndexedWorld(context, world)
      depositTogether(world, ...first)
      const regrow = (step: (typeof steps)[number]) =>
        world.network(1).mine((block) => {
          block.tx().backwardLet(step.cut)
          if (isInOneBlock) block.tx().forwardLet(step.forward.map((amount) => leafTo(0, amount)))
        })
      for (const step of steps) {
        if (step.settledBefore) settle(world)
        indexed.syncAll()
        tell(indexed)
        regrow(step)
        // Leaf by leaf: each leaf is compared when it is appended.
        if (!isInOneBlock)
          for (const amount of step.forward) {
            world.network(1).mine((block) => block.tx().forwardLet([leafTo(0, amount)]))
            if (first.length < 10) indexed.syncAll()
          }
        indexed.syncAll()
        tell(indexed)
      }
      assert.deepEqual(tell(indexed).ready, ready)
      const fresh = new IndexedWorld(context, world)
      fresh.syncAll()
      assert.deepEqual(tell(fresh), tell(indexed), 'read at once')
    })

test('a reorg of the regrowth ends its coverage, and a reorg of the cut restores the old coverage', (context) => {
  const world = sovereignWorld()
  const l2 = world.network(1)
  const indexed = new IndexedWorld(context, world)
  depositTogether(world, 1, 2, 3)
  settle(world)
  l2.mine((block) => block.tx().backwardLet(1))
  l2.mine((block) => block.tx().forwardLet([leafTo(0, 2), leafTo(0, 3)]))
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0, 1, 2])
  l2.reorg({ depth: 1, blocks: [(block) => block.tx().forwardLet([leafTo(0, 20), leafTo(0, 3)])] })
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0, 2])
  l2.reorg({ depth: 3 })
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0, 1, 2], 'the tree as it was before the cut')
})

test('a newer leaf that covers fewer deposits ends no readiness: the destination needs only one covering leaf', (context) => {
  const world = sovereignWorld()
  const [l1, l2, destination] = [world.network(0), world.network(1), world.network(2)]
  const indexed = new IndexedWorld(context, world)
  l2.mine((block) => {
    const tx = block.tx({ to: userContract(1) })
    for (const amount of [1, 2, 3]) tx.deposit(leafTo(2, amount))
  })
  const before = settle(world)
  const covering = l1.globalExitRoot()
  l2.mine((block) => {
    block.tx().backwardLet(1)
    block.tx().forwardLet([leafTo(2, 2), leafTo(2, 30)])
  })
  const cut = [...l2.head.state.localExitRoots].find(([, leaves]) => leaves.length === 1)![0]
  const newer = settle(world, cut)
  destination.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  indexed.syncAll()
  assert.deepEqual(tell(indexed), { indexes: [newer, null, null], ready: [0] }, 'the newer leaf alone')
  destination.mine((block) => block.tx().injectGer(covering))
  indexed.syncAll()
  assert.deepEqual(tell(indexed), { indexes: [before, before, null], ready: [0, 1] })
  destination.mine((block) => block.tx({ from: account(6) }).claim({ deposit: l2.deposits()[1]! }))
  indexed.syncAll()
  assert.ok(destination.head.state.claims.has(claimKey(1, 1)))
  assert.deepEqual(tell(indexed).ready, [0], 'claimed')
  destination.mine((block) => block.tx().removeGer(covering))
  indexed.syncAll()
  assert.deepEqual(tell(indexed), { indexes: [newer, null, null], ready: [0] })
})

test('a claim of a deposit that was cut off makes the deposit with its count not ready', (context) => {
  const world = sovereignWorld()
  const [l1, l2] = [world.network(0), world.network(1)]
  const indexed = new IndexedWorld(context, world)
  depositTogether(world, 1, 2)
  settle(world)
  l1.mine((block) => block.tx({ from: account(6) }).claim({ deposit: l2.deposits()[1]! }))
  l2.mine((block) => {
    block.tx().backwardLet(1)
    block.tx().forwardLet([leafTo(0, 20)])
  })
  settle(world)
  indexed.syncAll()
  assert.deepEqual(tell(indexed).ready, [0])
})
