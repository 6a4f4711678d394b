import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hexToBytes } from 'viem/utils'
import { statusRow } from '../../../../src/board/statusBoard.js'
import { runSyncLoop } from '../../../../src/indexer/sync/syncLoop.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { handOn } from '../../../../src/shard/proposer.js'
import { compileMerkleModule, createLogScanner } from '../../../../src/wasm/wasmModule.js'
import { noCommits } from '../../../support/commitWatches.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { userContract } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'
import { quietReport } from '../../../support/keepingLogger.js'
import { openSimulated } from '../../../support/simulatedPosts.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const NETWORK = 1
const scanner = createLogScanner(compileMerkleModule())

/** Follows network 1 into the shard until its head is stored. Each call is a restart. */
async function follow(indexed: IndexedWorld, logRange: number): Promise<void> {
  const network = indexed.world.network(NETWORK)
  const clock = new VirtualClock()
  const config = { pollIntervalMs: 100, logRange }
  const { client, settings, endpoints } = openSimulated(network, clock, { config, scanner })
  endpoints[0]!.fail({ type: 'logIndex' })
  const writer = indexed.writer(NETWORK)
  const row = statusRow(indexed.status, NETWORK)
  const report = quietReport(NETWORK, row, clock, [])
  const stop = new AbortController()
  const isDone = () => writer.checkpoint()?.hash.join() === hexToBytes(network.head.hash).join()
  const deadline = clock.now() + 120_000
  const look = () => {
    if (isDone() || clock.now() >= deadline) stop.abort()
    else clock.after(100, look)
  }
  look()
  const indexedDeposits = () => new Map([[asNetworkId(NETWORK), writer.counts().deposits]])
  await runSyncLoop(
    {
      network: settings,
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
  client.close()
  assert.ok(isDone(), `not done in time, halted: ${row.haltReason()}`)
}

function places(indexed: IndexedWorld): (readonly [block: number, logIndex: number])[] {
  return indexed.ask((shards) => {
    const { deposits } = shards.find(asNetworkId(NETWORK))!
    return Array.from({ length: deposits.count }, (_, count) => {
      const { blockNumber, logIndex } = deposits.get(count)
      return [blockNumber, logIndex] as const
    })
  })
}

const place = (transaction: number, log: number) => transaction * 65_536 + log

/**
 * Single deposits as the second transaction of their block, before and after block 30, in which two transactions
 * make deposits.
 */
function chainThatShowsAt30(): FakeWorld {
  const world = createFakeWorld({ networks: [NETWORK] })
  const network = world.network(NETWORK)
  for (let block = 1; block <= 200; block++)
    network.mine((builder) => {
      if (block === 30 || block === 70) {
        builder.tx().deposit()
        builder.tx().deposit()
      } else if (block % 10 === 0) {
        builder.tx({ to: userContract(1) }).noise()
        builder.tx().deposit()
      }
    })
  return world
}

const EXPECTED = Array.from({ length: 20 }, (_, at) => 10 * (at + 1)).flatMap((block) => {
  if (block < 30) return [[block, 0] as const]
  const later = [block, place(1, 0)] as const
  return block === 30 || block === 70 ? [[block, place(0, 0)] as const, later] : [later]
})

test('log positions are the same however history is divided, from the first block that shows the numbering on', async (context) => {
  const world = chainThatShowsAt30()
  for (const logRange of [7, 25, 64, 1000]) {
    const indexed = new IndexedWorld(context, world, [NETWORK])
    await follow(indexed, logRange)
    assert.deepEqual(places(indexed), EXPECTED, `windows of ${logRange} blocks`)
    assert.equal(indexed.writer(NETWORK).perTransactionFrom(), 30)
  }
})

test('a reorg of the block that showed the numbering makes it unknown again', async (context) => {
  const world = createFakeWorld({ networks: [NETWORK] })
  const network = world.network(NETWORK)
  const single = () =>
    network.mine((block) => {
      block.tx({ to: userContract(1) }).noise()
      block.tx().deposit()
    })
  single()
  network.mine((block) => {
    block.tx().deposit()
    block.tx().deposit()
  })
  single()
  const indexed = new IndexedWorld(context, world, [NETWORK])
  await follow(indexed, 100)
  assert.deepEqual(places(indexed), [
    [1, 0],
    [2, 0],
    [2, place(1, 0)],
    [3, place(1, 0)],
  ])
  network.reorg({ depth: 2, blocks: 'empty', extra: 1 })
  single()
  await follow(indexed, 100)
  assert.deepEqual(places(indexed), [
    [1, 0],
    [network.head.number, 0],
  ])
  assert.equal(indexed.writer(NETWORK).perTransactionFrom(), undefined)
})

test('after a restart logs are numbered as before', async (context) => {
  const world = chainThatShowsAt30()
  const indexed = new IndexedWorld(context, world, [NETWORK])
  await follow(indexed, 100)
  world.network(NETWORK).mine((block) => {
    block.tx({ to: userContract(1) }).noise()
    block.tx().deposit()
  })
  await follow(indexed, 100)
  assert.deepEqual(places(indexed), [...EXPECTED, [201, place(1, 0)]])
})
