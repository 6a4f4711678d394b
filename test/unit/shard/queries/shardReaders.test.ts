import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { headPlaces, statusRow } from '../../../../src/board/statusBoard.js'
import { InvariantError } from '../../../../src/errors/invariantError.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import type { ShardReaders } from '../../../../src/shard/queries/shardReaders.js'
import { ShardView } from '../../../../src/shard/snapshot/shardView.js'
import { metaKey } from '../../../../src/store/layout/keys.js'
import { decodeCounters, encodeCounters } from '../../../../src/store/layout/metaValues.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import type { ShardStoreReader } from '../../../../src/store/shardStore.types.js'
import { compileMerkleModule, createHasher } from '../../../../src/wasm/wasmModule.js'
import { atEachWrite } from '../../../support/boardWrites.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { userContract } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const L1 = asNetworkId(0)
const countDeposits = (shards: ShardReaders) => shards.find(L1)!.deposits.count

test('each task reads the newest commit, and keeps one snapshot to its end', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const indexed = new IndexedWorld(context, world)
  for (let commit = 1; commit <= 50; commit++) {
    world.network(0).mine((block) => block.tx().deposit())
    indexed.sync(0)
    assert.equal(indexed.ask(countDeposits), commit)
  }
  world.network(0).mine((block) => block.tx().deposit())
  indexed.ask((shards) => {
    assert.equal(countDeposits(shards), 50)
    indexed.sync(0)
    assert.equal(countDeposits(shards), 50)
    assert.equal(shards.find(L1)!.deposits.find(50), undefined)
  })
  assert.equal(indexed.ask(countDeposits), 51)
})

test('a task waits until the status board has the commit that the task reads', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const row = statusRow(indexed.status, 0)
  const waits: unknown[][] = []
  let answered = 0
  const ask = (): void => {
    const isTold = row.get('depositCount') === world.network(0).deposits().length
    const waitsBefore = waits.length
    if (row.get('committing') === 0 || indexed.ask(countDeposits) === answered) return
    answered = world.network(0).deposits().length
    assert.ok(isTold || waits.length > waitsBefore, `deposit ${answered} was answered and not told`)
  }
  context.mock.method(Atomics, 'wait', (...args: unknown[]) => waits.push(args))
  // Except for the mark and the count of a commit: inside the transaction this thread reads data that no
  // other thread can.
  const look = (value: bigint | number) => {
    if (BigInt(value) !== 1n) ask()
  }
  atEachWrite(context, { after: look })
  for (let commit = 1; commit <= 20; commit++) {
    world.network(0).mine((block) => block.tx().deposit())
    indexed.sync(0)
    assert.equal(answered, commit)
    assert.equal(waits.length, commit)
    assert.equal(indexed.ask(countDeposits), commit)
  }
  context.mock.restoreAll()
  assert.equal(waits.length, 20)
})

test('a task that throws releases its snapshots, and the next task reads later commits', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.throws(
    () =>
      indexed.ask((shards) => {
        countDeposits(shards)
        throw new Error('a query broke')
      }),
    /a query broke/,
  )
  world.network(0).mine((block) => block.tx().deposit())
  indexed.sync(0)
  assert.equal(indexed.ask(countDeposits), 1)
})

test('between tasks no snapshot is kept, so that the writer reuses its pages', (context) => {
  const world = createFakeWorld({ networks: [1] })
  world.network(0).mine((block) => block.tx().deposit())
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  indexed.ask(countDeposits)
  const file = join(shardDirectory(indexed.config.dataDir, 0), 'data.mdb')
  const before = statSync(file).size
  world.network(0).mineEmpty(300)
  indexed.sync(0, { batchBlocks: 1 })
  const grown = statSync(file).size - before
  assert.ok(grown < 1_000_000, `${grown} bytes for 300 empty commits`)
})

test('a cut of the exit tree voids derived answers as a reorg does, and so does undoing the cut', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const l2 = world.network(1)
  l2.mine((block) => block.tx().deposit())
  l2.mine((block) => block.tx().deposit())
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const epoch = () => statusRow(indexed.status, 1).get('epoch')
  const first = epoch()
  l2.mine((block) => block.tx().deposit())
  indexed.sync(1)
  assert.equal(epoch(), first)
  l2.mine((block) => block.tx().backwardLet(1))
  indexed.sync(1)
  const cut = epoch()
  assert.ok(cut > first, `${cut} after the cut, ${first} before`)
  l2.reorg({ depth: 1 })
  indexed.sync(1)
  assert.ok(epoch() > cut, `${epoch()} after the reorg, ${cut} before`)
})

test('reading outside of a task, and a task inside a task, are errors', (context) => {
  const indexed = new IndexedWorld(context, createFakeWorld({ networks: [1] }))
  assert.throws(() => indexed.readers.find(L1), InvariantError)
  assert.throws(() => indexed.ask((shards) => shards.withSnapshots(() => 0)), InvariantError)
  assert.equal(indexed.ask(countDeposits), 0)
})

test('a network that is not configured has no shard', (context) => {
  const indexed = new IndexedWorld(context, createFakeWorld({ networks: [1] }))
  assert.equal(
    indexed.ask((shards) => shards.find(asNetworkId(7))),
    undefined,
  )
})

test('a query for a network that is not indexed fails: the parser let it through', (context) => {
  const indexed = new IndexedWorld(context, createFakeWorld({ networks: [1] }), [0, 1])
  const read = (networkId: number) => indexed.ask((shards) => shards.get(asNetworkId(networkId)).networkId)
  assert.deepEqual([read(0), read(1)], [0, 1])
  assert.throws(() => read(2), /network 2 is not indexed/)
})

test('a value in an answer stays unchanged by later reads', (context) => {
  const world = createFakeWorld({ networks: [1] })
  world.network(0).mine((block) => {
    for (let made = 0; made < 100; made++) block.tx().deposit({ amount: BigInt(made) })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  indexed.ask((shards) => {
    const { deposits } = shards.find(L1)!
    const rows = Array.from({ length: 100 }, (_, depositCount) => deposits.get(depositCount))
    for (let depositCount = 99; depositCount >= 0; depositCount--) deposits.get(depositCount)
    assert.deepEqual(
      rows.map(({ amount }) => amount[31]),
      Array.from({ length: 100 }, (_, depositCount) => depositCount),
    )
  })
})

test('a store whose commits have no numbers is read anew in every task', () => {
  let deposits = 1
  const counters = () => encodeCounters({ ...decodeCounters(undefined), deposits })
  const store: ShardStoreReader = {
    refresh: () => undefined,
    release: () => undefined,
    copyTo: () => Promise.resolve(),
    close: () => Promise.resolve(),
    get: (_table, key) => (key === metaKey('counters') ? counters() : undefined),
    list: () => [],
  }
  const view = new ShardView(L1, store, createHasher(compileMerkleModule()))
  view.refresh()
  const { commits } = view
  assert.equal(view.deposits.count, 1)
  deposits = 2
  view.refresh()
  assert.equal(view.deposits.count, 2)
  assert.notEqual(view.commits, commits)
})

test('a later task tells whether it sees what an earlier one saw: commits of what that one read, halts, places of heads', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const mine = (networkId: number): void => {
    world.network(networkId).mine((block) => block.tx().deposit())
    indexed.sync(networkId)
  }
  const remember = (): (() => boolean) =>
    indexed.readers.withSnapshots(() => {
      countDeposits(indexed.readers)
      return indexed.readers.rememberSnapshots()
    })
  const seesAfter = (change: () => void): boolean => {
    const isSame = remember()
    change()
    return indexed.readers.withSnapshots(isSame)
  }
  assert.equal(
    seesAfter(() => undefined),
    true,
  )
  assert.equal(
    seesAfter(() => mine(1)),
    true,
    'a shard that was not read',
  )
  assert.equal(
    seesAfter(() => mine(0)),
    false,
  )
  assert.equal(
    seesAfter(() => indexed.halt(1, 'missing_log')),
    false,
  )
  assert.equal(
    seesAfter(() => statusRow(indexed.status, 1).setHeadPlace(headPlaces.belowFinal)),
    false,
  )
})

test('a later task does not go on where an earlier one has looked up only a part of the settled roots', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const [l1, l2] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().createRollup(1, l2.chainId))
  // More roots that network 1 does not have than one task looks up in vain.
  l1.mine((block) => {
    const tx = block.tx({ to: userContract(0) })
    for (let at = 1; at <= 1_100; at++) tx.settle(1, `0x${at.toString(16).padStart(64, '0')}`)
  })
  const indexed = new IndexedWorld(context, world)
  const { readers } = indexed
  const readPath = () => readers.claimFacts.path(readers.get(asNetworkId(1)), L1)
  const deposit = (): void => {
    l2.mine((block) => block.tx().deposit())
    indexed.sync(1)
  }
  const goesOn = (): boolean => {
    const isSame = readers.withSnapshots(() => {
      readPath()
      return readers.rememberSnapshots()
    })
    return readers.withSnapshots(isSame)
  }
  indexed.sync(0)
  deposit()
  readers.withSnapshots(readPath)
  deposit()
  assert.deepEqual([goesOn(), goesOn()], [false, true])
})
