import assert from 'node:assert/strict'
import test from 'node:test'
import { headPlaces, statusRow } from '../../../../src/board/statusBoard.js'
import { asDepositCount, asNetworkId } from '../../../../src/protocol/units.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { getL1InfoTreeIndex } from '../../../../src/shard/queries/getL1InfoTreeIndex.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { type FakeDeposit, userContract } from '../../../support/fakeState.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

/** An L1 with rollups 1 and 2, and one deposit from the L1 to rollup 1 under L1 info leaf 0. */
function worldWithDeposit(): { world: FakeWorld; deposit: FakeDeposit } {
  const world = createFakeWorld({ networks: [1, 2] })
  const made: FakeDeposit[] = []
  world.network(0).mine((block) => {
    const tx = block.tx({ to: userContract(9) })
    for (const networkId of [1, 2]) tx.createRollup(networkId, 1000 + networkId)
  })
  world.network(0).mine((block) => made.push(block.tx().deposit({ destinationNetwork: 1 })))
  return { world, deposit: made[0]! }
}

/** The list's row of one deposit, with readiness, index and claim. The filter must agree. */
function stateOf(indexed: IndexedWorld, networkId = 0, depositCount = 0) {
  return indexed.ask((shards) => {
    const one = { networkId: asNetworkId(networkId), depositCount: asDepositCount(depositCount) }
    const page = { pageNumber: 1, pageSize: 1 }
    const list = getBridges(shards, { ...page, networkId: one.networkId, depositCounts: [one.depositCount] })
    assert.ok(list.ok)
    const { readyForClaim, l1InfoTreeIndex, claimTransactionHash } = list.value.rows[0]!
    const filtered = getBridges(shards, {
      ...{ networkId: one.networkId, readyForClaim, pageNumber: 1, pageSize: 1000 },
    })
    assert.ok(filtered.ok)
    assert.ok(filtered.value.rows.some((row) => row.depositCount === depositCount))
    const index = getL1InfoTreeIndex(shards, one)
    assert.equal(index.ok ? index.value.l1InfoTreeIndex : null, l1InfoTreeIndex)
    return {
      ready: readyForClaim,
      index: l1InfoTreeIndex as number | null,
      claim: claimTransactionHash && toHex(claimTransactionHash),
      refusal: index.ok ? null : index.message,
    }
  })
}

test('a deposit to an L2 is ready from the injection of a leaf that covers it, also of a later leaf, until the leaf is removed', (context) => {
  const { world } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), {
    ...{ ready: false, index: null, claim: null },
    refusal: 'Network 1 accepts no L1 info leaf from index 0 on yet',
  })
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 2 }))
  const later = l1.globalExitRoot()
  l2.mine((block) => block.tx().injectGer(later))
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), { ready: true, index: 1, claim: null, refusal: null })
  l2.mine((block) => block.tx().removeGer(later))
  indexed.syncAll()
  assert.equal(stateOf(indexed).ready, false)
  assert.equal(stateOf(indexed).index, null)
  l2.mine((block) => block.tx().injectGer(later))
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), { ready: true, index: 1, claim: null, refusal: null })
  // An older root that is injected after the newer one has the smaller index.
  l2.mine((block) => block.tx().injectGer(l1.head.state.l1InfoLeaves[0]!.globalExitRoot))
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), { ready: true, index: 0, claim: null, refusal: null })
  l2.mine((block) => block.tx().removeGer(l1.head.state.l1InfoLeaves[0]!.globalExitRoot))
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), { ready: true, index: 1, claim: null, refusal: null })
})

test('while the destination catches up with its history no deposit to it is ready, over restarts too', (context) => {
  const { world } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  const destination = indexed.writer(1)
  const row = statusRow(indexed.status, 1)
  destination.noteCatchingUp(true)
  indexed.syncAll()
  assert.equal(row.get('catchingUp'), 1)
  assert.deepEqual(stateOf(indexed), { ready: false, index: 0, claim: null, refusal: null })
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 2 }))
  indexed.syncAll()
  assert.equal(stateOf(indexed).ready, false)
  destination.noteCatchingUp(false)
  assert.equal(row.get('catchingUp'), 0)
  assert.equal(stateOf(indexed).ready, true)
  // The source can lack nothing: the L1's roots prove its tree.
  indexed.writer(0).noteCatchingUp(true)
  assert.equal(stateOf(indexed).ready, true)
})

test('once all claims were compared with the contract, a deposit is ready only when its own were compared, over restarts too', (context) => {
  const { world } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const destination = indexed.writer(1)
  const compare = (sourceNetwork: number, deposits: number, isWhole = true) => {
    const compared = [{ sourceNetwork: asNetworkId(sourceNetwork), deposits }]
    const outcome = destination.apply({ type: 'noteClaimsCompared', compared, isWhole })
    assert.equal(outcome.type, 'applied')
    return stateOf(indexed).ready
  }
  // What was compared in part says nothing of the rest, which may have been compared before a restart.
  assert.equal(compare(2, 256, false), true)
  assert.equal(compare(2, 256), false)
  assert.equal(compare(0, 0), false)
  assert.equal(compare(0, 256, false), true)
  // A restarted thread begins to compare anew. What was compared stays so.
  assert.equal(compare(0, 0), true)
  assert.equal(compare(2, 512), true)
  // A proof is given all the same: the contract decides.
  assert.equal(stateOf(indexed).index, 0)
})

test('a root injected before its leaf is indexed on the L1 shard counts as soon as the leaf is indexed', (context) => {
  const { world } = worldWithDeposit()
  world.network(1).mine((block) => block.tx().injectGer(world.network(0).globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.sync(1)
  indexed.sync(2)
  indexed.sync(0, { to: 1 })
  assert.equal(
    indexed.ask((shards) => {
      const answer = getBridges(shards, {
        networkId: asNetworkId(0),
        pageNumber: 1,
        pageSize: 1,
        readyForClaim: true,
      })
      return answer.ok && answer.value.total
    }),
    0,
  )
  indexed.sync(0)
  assert.deepEqual(stateOf(indexed), { ready: true, index: 0, claim: null, refusal: null })
})

test('no deposit is ready before the covering L1 block is final', (context) => {
  const { world } = worldWithDeposit()
  const block = world.network(0).head.number
  world.network(1).mine((next) => next.tx().injectGer(world.network(0).globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ finalizedLag: 1 })
  assert.deepEqual(stateOf(indexed), {
    ...{ ready: false, index: null, claim: null },
    refusal: `L1 info leaf 0 is in block ${block}, above the final block ${block - 1}`,
  })
  indexed.writer(0).setFinalized(indexed.writer(0).checkpoint()!.number)
  assert.deepEqual(stateOf(indexed), { ready: true, index: 0, claim: null, refusal: null })
})

test('a deposit that does not force an exit root update is in no leaf until the next update', (context) => {
  const { world } = worldWithDeposit()
  world.network(0).mine((block) => block.tx().deposit({ destinationNetwork: 1, forceUpdate: false }))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.equal(
    stateOf(indexed, 0, 1).refusal,
    'Deposit 1 of network 0 is in none of the 1 L1 info leaves yet',
  )
  world.network(0).mine((block) => block.tx().updateGlobalExitRoot())
  world.network(1).mine((block) => block.tx().injectGer(world.network(0).globalExitRoot()))
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed, 0, 1), { ready: true, index: 1, claim: null, refusal: null })
})

test('a claim ends readiness, an unset claim restores it, and a claim that an administrator sets ends it without ClaimEvent', (context) => {
  const { world, deposit } = worldWithDeposit()
  const l2 = world.network(1)
  l2.mine((block) => block.tx().injectGer(world.network(0).globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.equal(stateOf(indexed).ready, true)
  const claimed = l2.mine((block) => block.tx().claim({ deposit }))
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), {
    ...{ ready: false, index: 0, refusal: null },
    claim: claimed.transactions[0]!.hash,
  })
  l2.mine((block) => block.tx().unsetClaim(deposit))
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), { ready: true, index: 0, claim: null, refusal: null })
  const set = l2.mine((block) => block.tx().setClaim(deposit))
  indexed.syncAll()
  assert.equal(stateOf(indexed).claim, set.transactions[0]!.hash)
  assert.equal(stateOf(indexed).ready, false)
  l2.reorg({ depth: 1 })
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), { ready: true, index: 0, claim: null, refusal: null })
})

test("no deposit is ready while the destination's bridge is in emergency state", (context) => {
  const { world } = worldWithDeposit()
  const l2 = world.network(1)
  l2.mine((block) => block.tx().injectGer(world.network(0).globalExitRoot()))
  l2.mine((block) => block.tx().setEmergency(true))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), { ready: false, index: 0, claim: null, refusal: null })
  l2.mine((block) => block.tx().setEmergency(false))
  indexed.syncAll()
  assert.equal(stateOf(indexed).ready, true)
})

test('a deposit to a network that is not indexed is not ready, has no claim, and has the first covering index', (context) => {
  const { world, deposit } = worldWithDeposit()
  const l2 = world.network(1)
  l2.mine((block) => block.tx().injectGer(world.network(0).globalExitRoot()))
  l2.mine((block) => block.tx().claim({ deposit }))
  const indexed = new IndexedWorld(context, world, [0, 2])
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed), { ready: false, index: 0, claim: null, refusal: null })
})

test('a deposit between rollups is ready once its root is settled and the covering leaf is injected', (context) => {
  const { world } = worldWithDeposit()
  const [l1, first, second] = [world.network(0), world.network(1), world.network(2)]
  first.mine((block) => block.tx().deposit({ destinationNetwork: 2 }))
  first.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.equal(
    stateOf(indexed, 1, 0).refusal,
    'Deposit 0 of network 1 is in none of the 1 L1 info leaves yet',
  )
  l1.mine((block) => block.tx().settle(1, first.localExitRoot()))
  indexed.syncAll()
  assert.equal(stateOf(indexed, 1, 0).ready, false)
  assert.deepEqual(stateOf(indexed, 1, 1), { ready: true, index: 1, claim: null, refusal: null })
  second.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  indexed.syncAll()
  assert.deepEqual(stateOf(indexed, 1, 0), { ready: true, index: 1, claim: null, refusal: null })
})

test('a root that is settled while its own network is behind covers deposits as soon as that network has caught up', (context) => {
  const { world } = worldWithDeposit()
  const [l1, first] = [world.network(0), world.network(1)]
  first.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  const before = first.head.number
  first.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  l1.mine((block) => block.tx().settle(1, first.localExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.sync(0)
  indexed.sync(1, { to: before })
  assert.equal(stateOf(indexed, 1, 0).ready, false)
  indexed.sync(1)
  for (const depositCount of [0, 1]) assert.equal(stateOf(indexed, 1, depositCount).ready, true)
})

test('while source, L1 or destination is halted no deposit is ready or has an index, unless it is halted for want of disk or endpoints', (context) => {
  for (const halted of [0, 1]) {
    const { world } = worldWithDeposit()
    world.network(1).mine((block) => block.tx().injectGer(world.network(0).globalExitRoot()))
    const indexed = new IndexedWorld(context, world)
    indexed.syncAll()
    assert.equal(stateOf(indexed).ready, true)
    indexed.halt(halted, 'exit_root_mismatch')
    const state = stateOf(indexed)
    assert.match(state.refusal!, new RegExp(`^Network ${halted} is halted \\(exit_root_mismatch\\)`))
    assert.deepEqual({ ready: state.ready, index: state.index }, { ready: false, index: null })
    indexed.halt(halted, 'rpc_unavailable')
    assert.equal(stateOf(indexed).ready, true)
  }
})

test('on a network whose head stays below the stored blocks no deposit is ready, and other answers are unchanged', (context) => {
  const { world } = worldWithDeposit()
  const [l1, first, second] = [world.network(0), world.network(1), world.network(2)]
  for (const destinationNetwork of [0, 2]) first.mine((block) => block.tx().deposit({ destinationNetwork }))
  l1.mine((block) => block.tx().settle(1, first.localExitRoot()))
  for (const rollup of [first, second]) rollup.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const deposits = [
    { from: 0, depositCount: 0, to: 1 },
    { from: 1, depositCount: 0, to: 0 },
    { from: 1, depositCount: 1, to: 2 },
  ]
  const states = () => deposits.map(({ from, depositCount }) => stateOf(indexed, from, depositCount))
  const before = states()
  assert.ok(before.every(({ ready }) => ready))
  for (const place of [headPlaces.below, headPlaces.belowFinal, headPlaces.unseen])
    for (const behind of [0, 1, 2]) {
      const isForAll = behind === 0 && place !== headPlaces.below
      statusRow(indexed.status, behind).setHeadPlace(place)
      const expected = before.map((state, i) => ({
        ...state,
        ready: !isForAll && deposits[i]!.to !== behind,
      }))
      assert.deepEqual(states(), expected, `network ${behind}, place ${place}`)
      statusRow(indexed.status, behind).setHeadPlace(headPlaces.inStep)
      assert.deepEqual(states(), before)
    }
})

test('a claim of a deposit that does not exist, with whatever count, uses no memory', (context) => {
  const { world, deposit } = worldWithDeposit()
  const l2 = world.network(1)
  l2.mine((block) => block.tx().injectGer(world.network(0).globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.equal(stateOf(indexed).ready, true)
  l2.mine((block) => block.tx().setClaim({ ...deposit, depositCount: 0xffff_fff0 }, 'index'))
  indexed.syncAll()
  const before = process.memoryUsage().arrayBuffers
  assert.equal(stateOf(indexed).ready, true)
  const grown = process.memoryUsage().arrayBuffers - before
  assert.ok(grown < 10_000_000, `${grown} bytes`)
})

test('that all claims were compared is stored once where no other network is indexed', (context) => {
  const { world } = worldWithDeposit()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const row = statusRow(indexed.status, 1)
  const commits = () => {
    const outcome = indexed.writer(1).apply({ type: 'noteClaimsCompared', compared: [], isWhole: true })
    assert.equal(outcome.type, 'applied')
    return row.get('commits')
  }
  const first = commits()
  assert.equal(commits(), first)
})
