import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { changeReader, statusRow } from '../../../../src/board/statusBoard.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { ClaimableSearch } from '../../../../src/shard/readiness/claimableSearch.js'
import { readFeed } from '../../../../src/shard/snapshot/feedReads.js'
import { shardDirectory } from '../../../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../../../src/store/shardStore.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { type FakeDeposit, userContract } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

/** Network 1, to which deposits come, with what its indexer thread does for the feed. */
class Destination {
  readonly indexed: IndexedWorld
  readonly #search: ClaimableSearch
  readonly #read: () => string[]

  constructor(context: TestContext, world: FakeWorld) {
    this.indexed = new IndexedWorld(context, world)
    const { readers, status, config } = this.indexed
    this.#search = new ClaimableSearch(() => readers, asNetworkId(1), changeReader(status))
    const store = openShardStoreReader(shardDirectory(config.dataDir, 1))
    context.after(() => store.close())
    let position = 0
    this.#read = () => {
      store.refresh()
      const entries = readFeed(store, position, 1_000)
      store.release()
      position = entries.at(-1)?.sequence ?? position
      return entries.flatMap(({ event }) => {
        if (event.type === 'claimable')
          return `claimable ${event.sourceNetwork}:${event.depositCount} under ${event.l1InfoTreeIndex}`
        if (event.type === 'unclaimable') return `unclaimable ${event.sourceNetwork}:${event.depositCount}`
        if (event.type === 'claim')
          return `${event.isInForce ? 'claim' : 'unset'} ${event.sourceNetwork}:${event.depositCount}`
        if (event.type === 'sync' && event.isHistory) return 'history'
        return []
      })
    }
  }

  /** Indexes what was mined, tells the feed. @returns what is new in it. */
  told(): string[] {
    this.indexed.syncAll()
    return this.toldOnly()
  }

  toldOnly(): string[] {
    for (let news = this.#search.next(); news !== undefined; news = this.#search.next())
      assert.deepEqual(this.indexed.writer(1).apply({ type: 'noteClaimable', news }), { type: 'applied' })
    return this.#read()
  }

  /** As after a restart: another search, which has to find in the shard what was told. */
  toldByAnother(): string[] {
    const { readers, status } = this.indexed
    const other = new ClaimableSearch(() => readers, asNetworkId(1), changeReader(status))
    assert.equal(other.next(), undefined)
    return this.#read()
  }
}

/** An L1 with rollups 1 and 2, whose first deposit, to rollup 1, is under L1 info leaf 0. */
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

test('what can be claimed already is told as history once, and what comes after one by one, before its claim', (context) => {
  const { world, deposit } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const destination = new Destination(context, world)
  assert.deepEqual(destination.told(), ['history'])
  l1.mine((block) => {
    block.tx().deposit({ destinationNetwork: 2 })
    block.tx().deposit({ destinationNetwork: 1 })
  })
  assert.deepEqual(destination.told(), [])
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  assert.deepEqual(destination.told(), [`claimable 0:2 under ${l1.head.state.l1InfoLeaves.length - 1}`])
  l2.mine((block) => block.tx().claim({ deposit }))
  assert.deepEqual(destination.told(), ['claim 0:0'])
  assert.deepEqual(destination.toldOnly(), [])
  assert.deepEqual(destination.toldByAnother(), [])
})

test('a root that is removed makes unclaimable what no other root covers, and another index what one does', (context) => {
  const { world } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const first = l1.globalExitRoot()
  const destination = new Destination(context, world)
  destination.told()
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  const second = l1.globalExitRoot()
  l2.mine((block) => block.tx().injectGer(second))
  assert.deepEqual(destination.told(), ['claimable 0:1 under 1'])
  l2.mine((block) => block.tx().removeGer(second))
  assert.deepEqual(destination.told(), ['unclaimable 0:1'])
  l2.mine((block) => block.tx().injectGer(second))
  assert.deepEqual(destination.told(), ['claimable 0:1 under 1'])
  l2.mine((block) => block.tx().removeGer(first))
  assert.deepEqual(destination.told(), ['unclaimable 0:0', 'claimable 0:0 under 1'])
})

test('a claim that is unset, or taken back by a reorg, is told, and its deposit as claimable again', (context) => {
  const { world, deposit } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const destination = new Destination(context, world)
  destination.told()
  l2.mine((block) => block.tx().claim({ deposit }))
  assert.deepEqual(destination.told(), ['claim 0:0'])
  l2.mine((block) => block.tx().unsetClaim(deposit))
  assert.deepEqual(destination.told(), ['unset 0:0', 'claimable 0:0 under 0'])
  l2.mine((block) => block.tx().claim({ deposit }))
  assert.deepEqual(destination.told(), ['claim 0:0'])
  l2.reorg({ depth: 1, blocks: 'empty' })
  assert.deepEqual(destination.told(), ['claimable 0:0 under 0'])
})

test('a deposit that a reorg of its source replaces by another one of the same count is told as gone and as new', (context) => {
  const { world } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  const destination = new Destination(context, world)
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  assert.deepEqual(destination.told(), ['history'])
  l1.reorg({ depth: 1, blocks: 'empty' })
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1, amount: 77n }))
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  assert.deepEqual(destination.told(), ['unclaimable 0:0', 'claimable 0:0 under 0'])
})

test('nothing is worked out while the network is catching up, and what has changed meanwhile is told as history', (context) => {
  const { world } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  const destination = new Destination(context, world)
  assert.deepEqual(destination.told(), ['history'])
  const writer = destination.indexed.writer(1)
  writer.noteCatchingUp(true)
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  assert.deepEqual(destination.told(), [])
  writer.noteCatchingUp(false)
  // One sync of the blocks that were read, one of what can be claimed since.
  assert.deepEqual(destination.told(), ['history', 'history'])
  assert.deepEqual(destination.toldByAnother(), [])
})

test('telling what can be claimed is no commit: kept answers stay, and readers of the feed are woken', (context) => {
  const { world } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  const destination = new Destination(context, world)
  destination.told()
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  destination.indexed.syncAll()
  const row = statusRow(destination.indexed.status, 1)
  const [commits, newest] = [row.get('commits'), row.get('feedNewest')]
  assert.deepEqual(destination.toldOnly(), ['claimable 0:0 under 0'])
  assert.equal(row.get('commits'), commits)
  assert.equal(row.get('feedNewest'), newest + 1)
})

test('news that were worked out from an older state of the shard are refused, and change nothing', (context) => {
  const { world, deposit } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  const destination = new Destination(context, world)
  destination.told()
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  destination.indexed.syncAll()
  const { readers, status } = destination.indexed
  const search = new ClaimableSearch(() => readers, asNetworkId(1), changeReader(status))
  const news = search.next()
  assert.ok(news?.claimable.length === 1)
  l2.mine((block) => block.tx().claim({ deposit }))
  destination.indexed.syncAll()
  const outcome = destination.indexed.writer(1).apply({ type: 'noteClaimable', news })
  assert.ok(outcome.type === 'refused' && outcome.reason === 'outdated')
  search.forget()
  assert.equal(search.next(), undefined)
  assert.deepEqual(destination.toldOnly(), ['claim 0:0'])
})

test('a look that can not open the shards finds nothing, and the next one opens them', (context) => {
  const { world } = worldWithDeposit()
  const [l1, l2] = [world.network(0), world.network(1)]
  const destination = new Destination(context, world)
  destination.told()
  l2.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  destination.indexed.syncAll()
  const { readers, status } = destination.indexed
  const opened = [undefined, readers]
  const search = new ClaimableSearch(() => opened.shift(), asNetworkId(1), changeReader(status))
  assert.equal(search.next(), undefined)
  assert.equal(search.next()?.claimable.length, 1)
})
