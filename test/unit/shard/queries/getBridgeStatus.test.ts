import assert from 'node:assert/strict'
import test from 'node:test'
import { hexToBytes } from 'viem/utils'
import { headPlaces, statusRow } from '../../../../src/board/statusBoard.js'
import { asDepositCount, asNetworkId } from '../../../../src/protocol/units.js'
import { getBridgeStatus } from '../../../../src/shard/queries/getBridgeStatus.js'
import { type PlainWay, wayOf } from '../../../support/bridgeWay.js'
import { createFakeWorld, type FakeBlock, type FakeWorld } from '../../../support/fakeChain.js'
import { type FakeDeposit, userContract } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

/** An L1 with rollups 1 and 2, and one deposit from the L1 to rollup 1 that no L1 info leaf covers yet. */
function worldWithDeposit() {
  const world = createFakeWorld({ networks: [1, 2] })
  const [l1, l2] = [world.network(0), world.network(1)]
  const made: FakeDeposit[] = []
  l1.mine((block) => {
    const tx = block.tx({ to: userContract(9) })
    for (const networkId of [1, 2]) tx.createRollup(networkId, 1000 + networkId)
  })
  const bridged = l1.mine((block) =>
    made.push(block.tx().deposit({ destinationNetwork: 1, forceUpdate: false })),
  )
  return { world, l1, l2, bridged, deposit: made[0]! }
}

/** What a reader of the chain itself notes of a block. */
const withHash = ({ number, timestampSec, transactions }: FakeBlock) => ({
  ...{ blockNumber: number, timestampSec, transactionHash: transactions[0]!.hash },
})

const nextOf = ({ currentStage, waitsFor }: PlainWay) => [currentStage, waitsFor]
const statesOf = ({ stages }: PlainWay) =>
  Object.fromEntries(Object.entries(stages).map(([stage, { state }]) => [stage, state]))

/** `statesOf` of a bridge that has come as far as told: all before is done, all behind waits. */
function upTo(last: string, names: readonly string[]) {
  const reached = names.indexOf(last)
  return Object.fromEntries(names.map((name, at) => [name, at <= reached ? 'done' : 'waiting']))
}
const FROM_L1 = ['bridged', 'final', 'in_l1_info_tree', 'injected', 'claimable', 'claimed']

test('a bridge to an L2 goes through its stages, each with its block, and says what it waits for', (context) => {
  const { world, l1, l2, bridged, deposit } = worldWithDeposit()
  const indexed = new IndexedWorld(context, world)
  const sync = () => indexed.syncAll({ finalizedLag: 2 })
  const way = () => wayOf(indexed, 0, 0)
  sync()
  assert.deepEqual(statesOf(way()), upTo('bridged', FROM_L1))
  assert.deepEqual(way().stages.bridged, { state: 'done', networkId: 0, ...withHash(bridged) })
  assert.deepEqual(nextOf(way()), ['final', { event: 'finality', networkId: 0, blockNumber: bridged.number }])
  l1.mineEmpty(2)
  sync()
  assert.deepEqual(statesOf(way()), upTo('final', FROM_L1))
  assert.deepEqual(nextOf(way()), ['in_l1_info_tree', { event: 'global_exit_root', networkId: 0 }])
  const updated = l1.mine((block) => block.tx().updateGlobalExitRoot())
  const globalExitRoot = l1.globalExitRoot()
  sync()
  assert.deepEqual(statesOf(way()), upTo('in_l1_info_tree', FROM_L1))
  assert.deepEqual(way().stages.in_l1_info_tree, {
    ...{ state: 'done', networkId: 0, ...withHash(updated), l1InfoTreeIndex: 0, globalExitRoot },
  })
  assert.deepEqual(nextOf(way()), [
    'injected',
    { event: 'finality', networkId: 0, blockNumber: updated.number },
  ])
  l1.mineEmpty(2)
  sync()
  assert.deepEqual(nextOf(way()), ['injected', { event: 'injection', networkId: 1 }])
  const injected = l2.mine((block) => block.tx().injectGer(globalExitRoot))
  sync()
  assert.deepEqual(statesOf(way()), upTo('claimable', FROM_L1))
  assert.deepEqual(way().stages.injected, {
    ...{ state: 'done', networkId: 1, ...withHash(injected), l1InfoTreeIndex: 0, globalExitRoot },
  })
  assert.deepEqual(nextOf(way()), ['claimed', { event: 'claim', networkId: 1 }])
  assert.deepEqual([way().readyForClaim, way().l1InfoTreeIndex], [true, 0])
  const claimed = l2.mine((block) => block.tx().claim({ deposit }))
  sync()
  assert.deepEqual(statesOf(way()), upTo('claimed', FROM_L1))
  assert.deepEqual(way().stages.claimed, { state: 'done', networkId: 1, ...withHash(claimed) })
  assert.deepEqual(nextOf(way()), ['claimed', null])
  assert.deepEqual([way().readyForClaim, way().claimTransactionHash], [false, claimed.transactions[0]!.hash])
})

test('a root that was found by asking the manager is told without a transaction', (context) => {
  const { world, l1, l2 } = worldWithDeposit()
  l2.mine((block) => block.tx().deposit({ destinationNetwork: 2 }))
  const settled = l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  indexed.writer(2).addPolledGers([hexToBytes(l1.globalExitRoot())], 1)
  const { stages } = wayOf(indexed, 1, 0)
  assert.deepEqual(stages.settled, { state: 'done', networkId: 0, ...withHash(settled) })
  assert.equal(stages.injected!.transactionHash, undefined)
  assert.equal(stages.injected!.state, 'done')
})

test('a root that is injected before its leaf is final makes the bridge wait for that block alone', (context) => {
  const { world, l1, l2 } = worldWithDeposit()
  l1.mineEmpty(5)
  const updated = l1.mine((block) => block.tx().updateGlobalExitRoot())
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ finalizedLag: 1 })
  const way = wayOf(indexed, 0, 0)
  assert.deepEqual(statesOf(way), upTo('injected', FROM_L1))
  assert.deepEqual(nextOf(way), [
    'claimable',
    { event: 'finality', networkId: 0, blockNumber: updated.number },
  ])
})

test('a bridge from an L2 waits for a settlement, final or not, and to the L1 for no injection', (context) => {
  const { world, l1, l2 } = worldWithDeposit()
  l2.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  const indexed = new IndexedWorld(context, world)
  const names = ['bridged', 'final', 'settled', 'in_l1_info_tree', 'claimable', 'claimed']
  indexed.syncAll({ finalizedLag: 1 })
  assert.deepEqual(nextOf(wayOf(indexed, 1, 0)), [
    'final',
    { event: 'finality', networkId: 1, blockNumber: l2.head.number },
  ])
  indexed.writer(1).setFinalized(indexed.writer(1).checkpoint()!.number)
  assert.deepEqual(statesOf(wayOf(indexed, 1, 0)), upTo('final', names))
  assert.deepEqual(nextOf(wayOf(indexed, 1, 0)), ['settled', { event: 'settlement', networkId: 0 }])
  const settled = l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  indexed.syncAll({ finalizedLag: 1 })
  const way = wayOf(indexed, 1, 0)
  assert.deepEqual(statesOf(way), upTo('in_l1_info_tree', names))
  assert.deepEqual(way.stages.settled, { state: 'done', networkId: 0, ...withHash(settled) })
  assert.deepEqual(nextOf(way), [
    'claimable',
    { event: 'finality', networkId: 0, blockNumber: settled.number },
  ])
  // A second deposit is settled before its own block is final: the L2's finality is no condition.
  l2.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  indexed.sync(1, { finalizedLag: 1 })
  indexed.sync(0)
  const second = wayOf(indexed, 1, 1)
  assert.deepEqual(statesOf(second), { ...upTo('claimable', names), final: 'waiting' })
  assert.deepEqual(nextOf(second), ['claimed', { event: 'claim', networkId: 0 }])
})

test('a root that is taken out again is told as removed, until it or a later one is injected', (context) => {
  const { world, l1, l2 } = worldWithDeposit()
  l1.mine((block) => block.tx().updateGlobalExitRoot())
  const first = l1.globalExitRoot()
  const indexed = new IndexedWorld(context, world)
  l2.mine((block) => block.tx().deposit())
  indexed.syncAll()
  const injected = l2.mine((block) => block.tx().injectGer(first))
  l2.mine((block) => block.tx().removeGer(first))
  indexed.syncAll()
  const way = wayOf(indexed, 0, 0)
  assert.deepEqual(way.stages.injected, {
    ...{ state: 'removed', networkId: 1, ...withHash(injected), l1InfoTreeIndex: 0, globalExitRoot: first },
  })
  assert.deepEqual(nextOf(way), ['injected', { event: 'injection', networkId: 1 }])
  assert.deepEqual([way.readyForClaim, way.l1InfoTreeIndex], [false, null])
  // A deposit that only a later leaf covers never had an injected root.
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  indexed.syncAll()
  assert.equal(wayOf(indexed, 0, 1).stages.injected!.state, 'waiting')
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  indexed.syncAll()
  const again = wayOf(indexed, 0, 0).stages.injected!
  assert.deepEqual([again.state, again.l1InfoTreeIndex], ['done', 1])
  // The reorg takes injection and removal back: nothing was ever removed then.
  l2.reorg({ depth: 3 })
  indexed.syncAll()
  assert.equal(wayOf(indexed, 0, 0).stages.injected!.state, 'waiting')
})

test('an unset claim is told with its transaction, and the bridge waits for a claim again', (context) => {
  const { world, l1, l2, deposit } = worldWithDeposit()
  l1.mine((block) => block.tx().updateGlobalExitRoot())
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const claimed = l2.mine((block) => block.tx().claim({ deposit }))
  l2.mine((block) => block.tx().unsetClaim(deposit))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const way = wayOf(indexed, 0, 0)
  assert.deepEqual(statesOf(way), { ...upTo('claimable', FROM_L1), claimed: 'unset' })
  assert.deepEqual(way.stages.claimed, { state: 'unset', networkId: 1, ...withHash(claimed) })
  assert.deepEqual([...nextOf(way), way.readyForClaim], ['claimed', { event: 'claim', networkId: 1 }, true])
  const set = l2.mine((block) => block.tx().setClaim(deposit))
  indexed.syncAll()
  assert.deepEqual(wayOf(indexed, 0, 0).stages.claimed, {
    ...{ state: 'done', networkId: 1, ...withHash(set) },
  })
})

test('a claim of an archived deposit blocks the one that has its count now; unset it blocks nobody', (context) => {
  const { world, l1, l2 } = worldWithDeposit()
  const made: FakeDeposit[] = []
  l2.mine((block) => made.push(block.tx().deposit({ destinationNetwork: 2, amount: 1n })))
  l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  const destination = world.network(2)
  destination.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const claimed = destination.mine((block) => block.tx().claim({ deposit: made[0]! }))
  l2.mine((block) => block.tx().backwardLet(0))
  const current = l2.mine((block) => block.tx().deposit({ destinationNetwork: 2, amount: 2n }))
  l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  destination.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const way = wayOf(indexed, 1, 0)
  assert.deepEqual(way.stages.bridged, { state: 'done', networkId: 1, ...withHash(current) })
  assert.deepEqual([way.stages.claimable!.state, way.claimMatches], ['blocked', false])
  assert.deepEqual(way.stages.claimed, { state: 'blocked', networkId: 2, ...withHash(claimed) })
  assert.deepEqual(nextOf(way), ['claimed', null])
  // The root of the older lineage covers the archived deposit alone.
  assert.equal(way.stages.in_l1_info_tree!.l1InfoTreeIndex, 1)
  destination.mine((block) => block.tx().unsetClaim(made[0]!))
  indexed.syncAll()
  const free = wayOf(indexed, 1, 0)
  assert.deepEqual([free.stages.claimed!.state, free.readyForClaim], ['waiting', true])
})

test('what keeps a bridge from being ready although all events have come is told by name', (context) => {
  const { world, l1, l2 } = worldWithDeposit()
  l1.mine((block) => block.tx().updateGlobalExitRoot())
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const waits = () => {
    const way = wayOf(indexed, 0, 0)
    assert.equal(way.stages.claimable!.state, way.readyForClaim ? 'done' : 'waiting')
    return nextOf(way)
  }
  const ready = ['claimed', { event: 'claim', networkId: 1 }]
  const held = (event: string, networkId: number) => ['claimable', { event, networkId }]
  assert.deepEqual(waits(), ready)
  const destination = indexed.writer(1)
  destination.noteCatchingUp(true)
  assert.deepEqual(waits(), held('sync', 1))
  destination.noteCatchingUp(false)
  const [l1Row, l2Row] = [0, 1].map((networkId) => statusRow(indexed.status, networkId))
  l2Row!.setHeadPlace(headPlaces.below)
  assert.deepEqual(waits(), held('sync', 1))
  l2Row!.setHeadPlace(headPlaces.inStep)
  l1Row!.setHeadPlace(headPlaces.below)
  assert.deepEqual(waits(), ready)
  l1Row!.setHeadPlace(headPlaces.belowFinal)
  assert.deepEqual(waits(), held('sync', 0))
  l1Row!.setHeadPlace(headPlaces.inStep)
  for (const halted of [0, 1]) {
    indexed.halt(halted, 'exit_root_mismatch')
    assert.deepEqual(waits(), held('recovery', halted))
    assert.equal(wayOf(indexed, 0, 0).l1InfoTreeIndex, null)
    indexed.halt(halted, 'disk_full')
    assert.deepEqual(waits(), ready)
    indexed.halt(halted, 'none')
  }
  // A network that has no part in the bridge.
  indexed.halt(2, 'exit_root_mismatch')
  assert.deepEqual(waits(), ready)
  l2.mine((block) => block.tx().setEmergency(true))
  indexed.syncAll()
  assert.deepEqual(waits(), held('emergency_end', 1))
})

test('of a destination that is not indexed here, injection and claim are unknown', (context) => {
  const { world, l1, l2, deposit } = worldWithDeposit()
  l1.mine((block) => block.tx().updateGlobalExitRoot())
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  l2.mine((block) => block.tx().claim({ deposit }))
  const indexed = new IndexedWorld(context, world, [0, 2])
  indexed.syncAll()
  const way = wayOf(indexed, 0, 0)
  assert.deepEqual(statesOf(way), {
    ...upTo('in_l1_info_tree', FROM_L1),
    ...{ injected: 'unknown', claimable: 'unknown', claimed: 'unknown' },
  })
  assert.deepEqual(nextOf(way), ['injected', null])
})

test('a transaction is told with all its bridges, of which 100 are shown', (context) => {
  const { world, l1 } = worldWithDeposit()
  const hashOf = (block: FakeBlock) => hexToBytes(block.transactions[0]!.hash)
  const many = l1.mine((block) => {
    const tx = block.tx({ to: userContract(1) })
    for (let made = 0; made < 101; made++) tx.deposit({ destinationNetwork: made % 2 })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const told = (transactionHash: Uint8Array, networkId?: number) =>
    indexed.ask((shards) => {
      const query = networkId === undefined ? {} : { networkId: asNetworkId(networkId) }
      const answer = getBridgeStatus(shards, { transactionHash, ...query })
      return answer.ok
        ? { total: answer.value.total, counts: answer.value.statuses.map((one) => one.depositCount) }
        : answer
    })
  const counts = Array.from({ length: 100 }, (_, at) => at + 1)
  assert.deepEqual(told(hashOf(many)), { total: 101, counts })
  assert.deepEqual(told(hashOf(many), 0), { total: 101, counts })
  const missing = { ok: false, code: 'BRIDGE_NOT_FOUND' }
  assert.deepEqual(told(hashOf(many), 1), {
    ...missing,
    message: `Transaction ${many.transactions[0]!.hash} has no bridge that is indexed here`,
  })
})

test('a deposit that is not indexed, and a network that is not served, are refused as elsewhere', (context) => {
  const indexed = new IndexedWorld(context, worldOf())
  indexed.syncAll()
  const ask = (networkId: number) =>
    indexed.ask((shards) =>
      getBridgeStatus(shards, { networkId: asNetworkId(networkId), depositCount: asDepositCount(9) }),
    )
  assert.deepEqual(ask(0), {
    ...{ ok: false, code: 'BRIDGE_NOT_FOUND' },
    message: 'Deposit 9 of network 0 is not indexed: 1 deposits are',
  })
  assert.deepEqual(ask(7), {
    ...{ ok: false, code: 'INVALID_NETWORK_ID' },
    message: 'Network ID 7 is not supported',
  })
})

function worldOf(): FakeWorld {
  return worldWithDeposit().world
}
