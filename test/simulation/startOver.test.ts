import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusRow } from '../../src/board/statusBoard.js'
import { runSyncLoop } from '../../src/indexer/sync/syncLoop.js'
import { asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import { handOn } from '../../src/shard/proposer.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { getClaims } from '../../src/shard/queries/getClaims.js'
import { getL1InfoTreeIndex } from '../../src/shard/queries/getL1InfoTreeIndex.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../src/store/shardStore.js'
import { noCommits } from '../support/commitWatches.js'
import { expectedBridge, expectedBridges, plainBridge } from '../support/expectedRows.js'
import { createFakeWorld } from '../support/fakeChain.js'
import { IndexedWorld } from '../support/indexedWorld.js'
import { quietReport } from '../support/keepingLogger.js'
import { dumpTables } from '../support/testShard.js'
import { VirtualClock } from '../support/virtualClock.js'
import { createWatchedClient } from '../support/watchedClient.js'

const ROLLBACK_BLOCKS = 32
const NETWORK = asNetworkId(1)
const L1 = asNetworkId(0)

/** Bookkeeping that depends on how the shard was made, not on the chain. */
const WAY = ['undoFloor', 'finalized'].map((name) => `meta/${Buffer.from(name).toString('hex')}`)

async function dump(indexed: IndexedWorld): Promise<Record<string, string>> {
  const reader = openShardStoreReader(shardDirectory(indexed.config.dataDir, NETWORK))
  reader.refresh()
  const tables = dumpTables(reader, ['undo', 'headers'])
  reader.release()
  await reader.close()
  return Object.fromEntries(Object.entries(tables).filter(([key]) => !WAY.includes(key)))
}

test('a store that lacks an old claim and an old deposit becomes, under open readers, the store of a clean replay', async (context) => {
  const world = createFakeWorld({ networks: [1] })
  const l1 = world.network(0)
  const network = world.network(1)
  l1.mine((block) => block.tx().createRollup(1, 1001))
  for (let i = 0; i < 300; i++)
    l1.mine((block) => block.tx().deposit({ destinationNetwork: 1, amount: BigInt(i) }))
  for (let i = 0; i < 200; i++)
    network.mine((block) => {
      if (i % 10 === 3) block.tx().claim({ deposit: l1.deposits()[i]! })
      if (i % 20 === 7) block.tx().deposit({ destinationNetwork: 0 })
      if (i % 25 === 1) block.tx().injectGer(l1.head.state.l1InfoLeaves.at(-1)!.globalExitRoot)
    })
  // The last claim and the last deposit: no later log reveals that they are missing.
  const hiddenBlocks = [
    network.mine((block) => block.tx().claim({ deposit: l1.deposits()[299]! })).number,
    network.mine((block) => block.tx().deposit({ destinationNetwork: 0 })).number,
  ]
  const depositAt = network.deposits().length - 1
  assert.equal(depositAt, 10)

  const indexed = new IndexedWorld(context, world)
  indexed.sync(L1)
  const clock = new VirtualClock()
  const row = statusRow(indexed.status, NETWORK)
  const report = quietReport(NETWORK, row, clock, [])
  const settings = { pollIntervalMs: 100, logRange: 20, rollbackBlocks: ROLLBACK_BLOCKS }
  const client = createWatchedClient(network, clock, settings)
  let isHidden = true
  let isPruned = true
  client.hideLogs(({ number }) => isHidden && hiddenBlocks.includes(number))
  client.endpoint.fail({
    type: 'error',
    code: -32000,
    message: 'missing trie node 5e',
    methods: ['eth_call'],
    when: ({ params: [, tag] }) => isPruned && tag !== 'latest',
  })

  let stop = new AbortController()
  const run = async (done: () => boolean, limitMs: number): Promise<void> => {
    stop = new AbortController()
    const deadline = clock.now() + limitMs
    const look = () => {
      if (done() || clock.now() >= deadline) stop.abort()
      else if (!stop.signal.aborted) clock.after(50, look)
    }
    look()
    const writer = indexed.writer(NETWORK)
    const indexedDeposits = () => new Map([[asNetworkId(0), 300]])
    await runSyncLoop(
      {
        network: client.settings,
        client,
        writer,
        proposer: handOn(writer),
        clock,
        report,
        indexedDeposits,
        commits: noCommits,
      },
      stop.signal,
    )
    assert.ok(clock.now() < deadline, `not done in time, halted: ${row.haltReason()}`)
  }
  const page = { networkId: NETWORK, pageNumber: 1, pageSize: 100 }
  const expected = expectedBridges(world, NETWORK, { finalizedL1Block: l1.head.number })
  /** Every answer is right, though not complete, and nothing is ready while the shard is in doubt. */
  const look = () => {
    const bridges = indexed.ask((shards) => {
      const answer = getBridges(shards, page)
      assert.ok(answer.ok)
      return answer.value.rows.map(plainBridge)
    })
    const claims = indexed.ask((shards) => {
      const answer = getClaims(shards, page)
      assert.ok(answer.ok)
      return answer.value.total
    })
    for (const bridge of bridges) {
      const own = expected.find(({ depositCount }) => depositCount === bridge.depositCount)!
      assert.equal(bridge.transactionHash, expectedBridge(own).transactionHash)
    }
    assert.ok(claims <= 21)
    const asked = { networkId: L1, depositCount: asDepositCount(299) }
    const index = indexed.ask((shards) => getL1InfoTreeIndex(shards, asked))
    if (row.haltReason() !== 'none') assert.equal(!index.ok && index.code, 'SERVICE_UNAVAILABLE')
    return { bridges: bridges.length, claims }
  }

  await run(() => row.get('caughtUp') === 1, 60_000)
  for (let i = 0; i < 10; i++) {
    network.mineEmpty(10)
    await run(() => row.get('syncedBlock') === network.head.number, 60_000)
  }
  assert.deepEqual(look(), { bridges: 10, claims: 20 })
  isPruned = false
  await run(() => row.haltReason() === 'missing_log', 300_000)
  isHidden = false
  const seen = new Set<number>()
  let interruptions = 0
  client.before = ({ method, from }) => {
    if (row.get('startOvers') === 0) return
    seen.add(look().claims)
    // A restart in the middle of the second reading.
    if (method === 'fetchRange' && from > 100 && interruptions++ === 0) stop.abort()
  }
  const isHealed = () =>
    row.haltReason() === 'none' &&
    row.get('caughtUp') === 1 &&
    row.get('syncedBlock') === network.head.number &&
    row.get('unresolvedSenders') === 0
  await run(isHealed, 600_000)
  await run(isHealed, 600_000)
  assert.ok(interruptions > 0)
  assert.equal(row.get('startOvers'), 1)
  assert.ok(seen.has(0) && seen.size > 5, `claims seen meanwhile: ${[...seen]}`)
  assert.deepEqual(look(), { bridges: 11, claims: 21 })
  const clean = new IndexedWorld(context, world)
  clean.sync(NETWORK, { batchBlocks: 13 })
  assert.deepEqual(await dump(indexed), await dump(clean))
})
