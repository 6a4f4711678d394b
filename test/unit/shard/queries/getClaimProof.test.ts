import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { InvariantError } from '../../../../src/errors/invariantError.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../../../../src/protocol/units.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { getClaimProof } from '../../../../src/shard/queries/getClaimProof.js'
import { getClaims } from '../../../../src/shard/queries/getClaims.js'
import { getClaimTransaction } from '../../../../src/shard/queries/getClaimTransaction.js'
import { getL1InfoTreeIndex } from '../../../../src/shard/queries/getL1InfoTreeIndex.js'
import { chunkKey, tileKey, trees, uint32PairKey } from '../../../../src/store/layout/keys.js'
import { DEPOSITS_PER_CHUNK, type TableName } from '../../../../src/store/layout/tables.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../../src/store/shardStore.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import {
  expectedDeposits,
  expectedProof,
  localExitRootUnder,
  verifiesOnChain,
} from '../../../support/fakeChainModel.js'
import { buildSmallWorld } from '../../../support/fakeChainScenario.js'
import { userContract } from '../../../support/fakeState.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const UINT32_MAX = 0xffff_ffff

function prove(indexed: IndexedWorld, networkId: number, depositCount: number, leafIndex: number) {
  return indexed.ask((shards) =>
    getClaimProof(shards, {
      networkId: asNetworkId(networkId),
      depositCount: asDepositCount(depositCount),
      leafIndex: asL1InfoTreeIndex(leafIndex),
    }),
  )
}

/** An L1 with rollups 1 and 2. */
function freshWorld(): FakeWorld {
  const world = createFakeWorld({ networks: [1, 2] })
  world.network(0).mine((block) => {
    const tx = block.tx({ to: userContract(9) })
    for (const networkId of [1, 2]) tx.createRollup(networkId, 1000 + networkId)
  })
  return world
}

const siblings = (branch: Uint8Array) =>
  Array.from({ length: 32 }, (_, level) => toHex(branch.subarray(32 * level, 32 * level + 32)))

test("each deposit has a proof under each leaf that covers it, with the naive tree's siblings, and under no other leaf", (context) => {
  const { world } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const leaves = world.network(0).head.state.l1InfoLeaves
  let proofs = 0
  let refusals = 0
  for (const source of world.networkIds)
    for (const deposit of expectedDeposits(world, source))
      for (const { index } of leaves) {
        const told = `deposit ${deposit.depositCount} of ${source} under leaf ${index}`
        const answer = prove(indexed, source, deposit.depositCount, index)
        const root = localExitRootUnder(world, leaves[index]!, source)
        const covered = root && world.network(source).head.state.localExitRoots.get(root)
        if ((covered?.length ?? 0) <= deposit.depositCount) {
          assert.equal(!answer.ok && answer.code, 'PROOF_NOT_AVAILABLE', told)
          refusals++
          continue
        }
        assert.ok(answer.ok, told)
        const branches = {
          localExitRootBranch: siblings(answer.value.localExitRootBranch),
          rollupExitRootBranch: siblings(answer.value.rollupExitRootBranch),
        }
        assert.deepEqual(branches, expectedProof(world, deposit, index), told)
        assert.ok(verifiesOnChain(world, deposit, index, branches), told)
        assert.equal(toHex(answer.value.leafHash), deposit.leaf, told)
        assert.equal(BigInt(toHex(answer.value.globalIndex)), deposit.globalIndex, told)
        assert.equal(toHex(answer.value.leaf.globalExitRoot), leaves[index]!.globalExitRoot, told)
        proofs++
      }
  assert.ok(proofs > 10 && refusals > 10, `${proofs} proofs, ${refusals} refusals`)
})

test('refusals name fact, value and limit, and say to retry where waiting helps', (context) => {
  const world = freshWorld()
  const l1 = world.network(0)
  for (const _ of [0, 1]) l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1, forceUpdate: false }))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ finalizedLag: 1 })
  const refusal = (depositCount: number, leafIndex: number, networkId = 0) => {
    const answer = prove(indexed, networkId, depositCount, leafIndex)
    assert.ok(!answer.ok)
    const { code, message, retryAfterSec } = answer
    return [code, message, retryAfterSec !== undefined]
  }
  assert.deepEqual(refusal(1, 0), [
    'PROOF_NOT_AVAILABLE',
    'leaf_index 0 is too small: it covers the deposits below 1, not deposit 1',
    false,
  ])
  assert.deepEqual(refusal(0, 2), [
    'PROOF_NOT_AVAILABLE',
    'leaf_index 2 is beyond the tip: 2 L1 info leaves are indexed',
    true,
  ])
  assert.deepEqual(refusal(3, 99), [
    'BRIDGE_NOT_FOUND',
    'Deposit 3 of network 0 is not indexed: 3 deposits are',
    false,
  ])
  assert.equal(prove(indexed, 0, 1, 1).ok, true)
})

test('a leaf above L1 finality gives no proof until its block is final', (context) => {
  const world = freshWorld()
  const { number } = world.network(0).mine((block) => block.tx().deposit())
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ finalizedLag: 1 })
  const early = prove(indexed, 0, 0, 0)
  assert.ok(!early.ok)
  assert.equal(early.code, 'PROOF_NOT_AVAILABLE')
  assert.equal(early.message, `L1 info leaf 0 is in block ${number}, above the final block ${number - 1}`)
  assert.notEqual(early.retryAfterSec, undefined)
  indexed.writer(0).setFinalized(indexed.writer(0).checkpoint()!.number)
  assert.equal(prove(indexed, 0, 0, 0).ok, true)
})

test('a proof is final when neither its leaf nor its deposit can be undone', (context) => {
  const world = freshWorld()
  const [l1, l2] = [world.network(0), world.network(1)]
  const deposit = l2.mine((block) => block.tx().deposit()).number
  const leaf = l1.mine((block) => block.tx().settle(1, l2.localExitRoot())).number
  for (const [l1Floor, l2Floor, isFinal] of [
    [leaf - 1, deposit, false],
    [leaf, 0, false],
    [leaf, deposit, true],
  ] as const) {
    const indexed = new IndexedWorld(context, world)
    indexed.sync(0, { undoFloor: l1Floor })
    indexed.sync(1, { undoFloor: l2Floor })
    const answer = prove(indexed, 1, 0, 0)
    assert.equal(answer.ok && answer.value.isFinal, isFinal, `floors ${l1Floor} and ${l2Floor}`)
  }
})

test('a source network that is behind the L1 gives proofs once it has the settled root', (context) => {
  const world = freshWorld()
  const [l1, l2] = [world.network(0), world.network(1)]
  l2.mine((block) => block.tx().deposit())
  l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  l2.mine((block) => block.tx().deposit())
  l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.sync(0)
  indexed.sync(1, { to: 1 })
  assert.equal(prove(indexed, 1, 0, 0).ok, true)
  const behind = prove(indexed, 1, 0, 1)
  assert.deepEqual(behind, {
    ok: false,
    code: 'PROOF_NOT_AVAILABLE',
    message: 'The exit root of network 1 under L1 info leaf 1 is not indexed yet',
    retryAfterSec: 30,
  })
  indexed.sync(1)
  assert.equal(prove(indexed, 1, 0, 1).ok, true)
  assert.equal(prove(indexed, 1, 1, 1).ok, true)
})

test('after BackwardLET an old leaf proves the deposits that it shares with the present tree, and none that were cut', (context) => {
  const world = freshWorld()
  const [l1, l2] = [world.network(0), world.network(1)]
  l2.mine((block) => {
    for (let made = 0; made < 4; made++) block.tx().deposit({ amount: BigInt(made) })
  })
  l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  l2.mine((block) => block.tx().backwardLet(2))
  l2.mine((block) => {
    for (let made = 0; made < 3; made++) block.tx().deposit({ amount: 100n + BigInt(made) })
  })
  l1.mine((block) => block.tx().settle(1, l2.localExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  for (const depositCount of [0, 1, 2, 3, 4]) {
    assert.equal(prove(indexed, 1, depositCount, 1).ok, true, `deposit ${depositCount} under the new leaf`)
    assert.equal(
      prove(indexed, 1, depositCount, 0).ok,
      depositCount < 2,
      `deposit ${depositCount} under the old`,
    )
  }
  assert.deepEqual(prove(indexed, 1, 3, 0), {
    ok: false,
    code: 'PROOF_NOT_AVAILABLE',
    message:
      'L1 info leaf 0 holds the exit tree before it was cut: it shares the deposits below 2, not deposit 3',
  })
})

test('a rollup exit root older than the rollup exit tree gives no proofs of L2 deposits, and gives those of L1 deposits', (context) => {
  const world = freshWorld()
  const l1 = world.network(0)
  l1.mine((block) => {
    // The manager's root right after the etrog upgrade: the raw local exit root of the zkEVM.
    block.state.rollupExitRoot = `0x${'5a'.repeat(32)}`
    block.tx().deposit()
  })
  world.network(1).mine((block) => block.tx().deposit())
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.equal(prove(indexed, 0, 0, 0).ok, true)
  assert.deepEqual(prove(indexed, 1, 0, 0), {
    ok: false,
    code: 'PROOF_NOT_AVAILABLE',
    message: 'The rollup exit root of L1 info leaf 0 is from before the rollup exit tree: use a later leaf',
  })
})

test('a halted network stops the proofs that need it, except when halted for want of disk or endpoints', (context) => {
  const { world, ready, betweenRollups } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const leafIndex = world.network(0).head.state.l1InfoLeaves.length - 1
  indexed.halt(1, 'deposit_count_gap')
  assert.equal(prove(indexed, 0, ready.depositCount, leafIndex).ok, true)
  const halted = prove(indexed, 1, betweenRollups.depositCount, leafIndex)
  assert.ok(!halted.ok)
  assert.equal(halted.code, 'SERVICE_UNAVAILABLE')
  assert.match(halted.message, /^Network 1 is halted \(deposit_count_gap\)/)
  assert.notEqual(halted.retryAfterSec, undefined)
  const unknown = prove(indexed, 1, 1000, leafIndex)
  assert.equal(!unknown.ok && unknown.code, 'BRIDGE_NOT_FOUND')
  indexed.halt(1, 'disk_full')
  assert.equal(prove(indexed, 1, betweenRollups.depositCount, leafIndex).ok, true)
  indexed.halt(0, 'corrupt_store')
  const l1Halted = prove(indexed, 1, betweenRollups.depositCount, leafIndex)
  assert.equal(!l1Halted.ok && l1Halted.code, 'SERVICE_UNAVAILABLE')
})

const damages: { what: string; network: number; table: TableName; key: Uint8Array; byte: number }[] = [
  {
    what: 'a tree node',
    network: 1,
    table: 'treeTiles',
    key: tileKey(trees.localExitTree, 0, 0, 0),
    byte: 33,
  },
  {
    what: 'the proven leaf',
    network: 1,
    table: 'treeTiles',
    key: tileKey(trees.localExitTree, 0, 0, 0),
    byte: 1,
  },
  {
    what: 'the deposit itself',
    network: 1,
    table: 'deposits',
    key: chunkKey(0, DEPOSITS_PER_CHUNK),
    byte: 118,
  },
  {
    what: 'a settled root of another rollup',
    network: 0,
    table: 'settledLocalExitRoots',
    key: uint32PairKey(3, 1),
    byte: 7,
  },
]

for (const { what, network, table, key, byte } of damages)
  test(`one flipped bit in ${what} is detected before a proof is returned, and names network ${network}`, async (context) => {
    const { world } = buildSmallWorld()
    const indexed = new IndexedWorld(context, world)
    indexed.syncAll()
    const leafIndex = world.network(0).head.state.l1InfoLeaves.length - 1
    const store = openShardStoreWriter(shardDirectory(indexed.config.dataDir, network))
    store.transact((view) => {
      const bytes = new Uint8Array(view.get(table, key)!)
      bytes[byte]! ^= 1
      view.put(table, key, bytes)
    })
    await store.close()
    assert.throws(
      () => prove(indexed, 1, 0, leafIndex),
      (error) => error instanceof InvariantError && error.networkId === network,
    )
  })

test('no query, whatever its numbers, changes a byte of any shard', (context) => {
  const { world } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const bytes = () =>
    world.networkIds.map((id) => readFileSync(join(shardDirectory(indexed.config.dataDir, id), 'data.mdb')))
  const before = bytes()
  const numbers = [0, 1, 5, 300, 2 ** 31, UINT32_MAX]
  let asked = 0
  for (const network of world.networkIds)
    for (const count of numbers)
      for (const index of numbers) {
        const networkId = asNetworkId(network)
        const depositCount = asDepositCount(count)
        const leafIndex = asL1InfoTreeIndex(index)
        indexed.ask((shards) => {
          getClaimProof(shards, { networkId, depositCount, leafIndex })
          getClaimTransaction(shards, { networkId, depositCount, leafIndex })
          getL1InfoTreeIndex(shards, { networkId, depositCount })
          const page = { networkId, pageNumber: index + 1, pageSize: 1000 }
          getBridges(shards, { ...page, networkIds: [asNetworkId(index)], readyForClaim: true })
          getBridges(shards, { ...page, depositCounts: [depositCount] })
          getClaims(shards, page)
        })
        asked += 6
      }
  assert.equal(asked, 216 * world.networkIds.length)
  assert.deepEqual(bytes(), before)
})
