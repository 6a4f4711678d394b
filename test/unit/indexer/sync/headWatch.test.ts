import assert from 'node:assert/strict'
import { test } from 'node:test'
import { headPlaces, isPutBack } from '../../../../src/board/statusBoard.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import type { FakeEndpoint } from '../../../support/fakeEndpoint.js'
import type { VirtualClock } from '../../../support/virtualClock.js'
import { openSimulatedLoop } from '../simulatedLoop.js'
import { createSyncHarness, isInStep, type SyncHarness } from '../syncHarness.js'

/** The fake chain's blocks are twelve seconds apart by their timestamps. */
const BLOCK_MS = 12_000

/** A network in step at block 40, polled once a second. */
async function followed(networkId = 0): Promise<SyncHarness> {
  const harness = createSyncHarness({ networkId, config: { pollIntervalMs: 1_000 } })
  harness.network.mineEmpty(40)
  await harness.run(() => isInStep(harness))
  return harness
}

/** Virtual milliseconds until `holds` returns true. */
async function timeUntil(harness: SyncHarness, holds: () => boolean): Promise<number> {
  const start = harness.clock.now()
  await harness.run(holds)
  return harness.clock.now() - start
}

test('a head that stays below the stored blocks counts as put back after two block times, and its height is reported', async () => {
  const harness = await followed()
  harness.network.rollback(7)
  const waited = await timeUntil(harness, () => isPutBack(harness.row))
  assert.ok(waited >= 2 * BLOCK_MS && waited < 2 * BLOCK_MS + 2_500, `${waited} ms`)
  assert.equal(harness.row.get('headBlock'), 33)
  assert.equal(harness.row.get('rpcDown'), 0)
  assert.deepEqual(harness.shard.reverts, [])
})

test('the block time is the median of the last twenty, whatever a single block took', async () => {
  const harness = createSyncHarness({ config: { pollIntervalMs: 1_000 } })
  harness.network.mineEmpty(40)
  // Two seconds per block, except one that took an hour.
  const [first] = harness.network.blocks
  harness.network.blocks = harness.network.blocks.map((block, index) => ({
    ...block,
    timestampSec: first!.timestampSec + 2 * index + (index > 30 ? 3_600 : 0),
  }))
  await harness.run(() => harness.row.get('caughtUp') === 1)
  harness.network.rollback(7)
  const waited = await timeUntil(harness, () => isPutBack(harness.row))
  assert.ok(waited >= 5_000 && waited < 7_500, `${waited} ms`)
})

test('a head counts as put back only after two polls, where polls take longer than block times', async () => {
  const harness = createSyncHarness({ config: { pollIntervalMs: 60_000 } })
  harness.network.mineEmpty(40)
  await harness.run(() => isInStep(harness))
  harness.network.rollback(7)
  const waited = await timeUntil(harness, () => isPutBack(harness.row)).catch(() => Number.NaN)
  assert.ok(Number.isNaN(waited) || waited >= 120_000, `${waited} ms`)
})

test('a head that is back at every second look never counts as put back', async () => {
  const harness = await followed()
  let looks = 0
  harness.client.view = ({ method }) =>
    method.endsWith('Head') && looks++ % 2 === 0
      ? harness.network.blocks.slice(0, -7)
      : harness.network.blocks
  let hasBeenBelow = false
  const start = harness.clock.now()
  await harness.run(() => {
    hasBeenBelow ||= isPutBack(harness.row)
    return harness.clock.now() - start > 100_000
  })
  assert.equal(hasBeenBelow, false)
  assert.ok(looks > 50, `${looks} looks`)
})

test('a chain that grows past the stored blocks on other blocks is in step only after the stored ones were reverted', async () => {
  const harness = await followed()
  for (const blocks of [7, 8, 30]) {
    const reverts = harness.shard.reverts.length
    let isMined = false
    let wasEarly = false
    harness.client.before = () => {
      if (!isMined && isPutBack(harness.row)) {
        isMined = true
        harness.network.mineEmpty(blocks)
      }
      wasEarly ||= isMined && !isPutBack(harness.row) && harness.shard.reverts.length === reverts
    }
    // Only within one run: a restart compares anyway.
    harness.clock.after(5_000, () => harness.network.rollback(7))
    await harness.run(() => isMined && isInStep(harness) && !isPutBack(harness.row))
    assert.equal(wasEarly, false, `${blocks} blocks`)
    assert.equal(harness.row.headPlace(), headPlaces.inStep)
    assert.equal(harness.shard.reverts.length, reverts + 1)
  }
})

test('a chain whose same blocks return is in step again', async () => {
  const harness = await followed()
  const { blocks } = harness.network
  harness.network.rollback(7)
  await harness.run(() => isPutBack(harness.row))
  harness.network.blocks = blocks
  await harness.run(() => harness.row.headPlace() === headPlaces.inStep)
  assert.deepEqual(harness.shard.reverts, [])
})

test('a process that starts while the head is below the stored blocks is not in step until the head is back', async () => {
  const harness = await followed()
  harness.network.rollback(7)
  harness.row.setHeadPlace(headPlaces.unseen)
  let hasBeenInStep = false
  const look = () => {
    hasBeenInStep ||= harness.row.headPlace() === headPlaces.inStep
  }
  await harness.run(() => {
    look()
    return isPutBack(harness.row)
  })
  assert.equal(hasBeenInStep, false)
  harness.network.mineEmpty(8)
  await harness.run(() => harness.row.headPlace() === headPlaces.inStep)
  assert.equal(harness.shard.reverts.length, 1)
})

test('a head below a final block is reported as below finality', async () => {
  const harness = await followed()
  harness.row.set('finalizedBlock', 30)
  harness.network.rollback(7)
  await harness.run(() => harness.row.headPlace() === headPlaces.below)
  harness.network.rollback(5)
  await harness.run(() => harness.row.headPlace() === headPlaces.belowFinal)
  harness.network.mineEmpty(4)
  await harness.run(() => harness.row.headPlace() === headPlaces.below)
})

/** Two endpoints, with a block every five seconds until `isMining` is false. */
async function followTwo(
  script: (world: {
    readonly endpoints: readonly FakeEndpoint[]
    readonly clock: VirtualClock
    readonly stopMining: () => void
  }) => void,
): Promise<{ readonly places: Set<number>; readonly behind: number }> {
  const network = createFakeWorld().network(1)
  const config = { pollIntervalMs: 1_000 }
  const { clock, endpoints, row, shard, run } = openSimulatedLoop(network, { endpoints: 2, config })
  const stop = new AbortController()
  const places = new Set<number>()
  let isMining = true
  for (let ms = 1_000; ms < 240_000; ms += 1_000)
    clock.after(ms, () => {
      places.add(row.headPlace())
      if (isMining && ms % 5_000 === 0) network.mine((block) => block.tx().deposit())
    })
  clock.after(60_000, () => script({ endpoints, clock, stopMining: () => (isMining = false) }))
  clock.after(241_000, () => stop.abort())
  await run(stop.signal)
  return { places, behind: network.head.number - shard.checkpoint()!.number }
}

for (const blocks of [1, 2, 7, 30])
  test(`one endpoint of two that stays ${blocks} blocks behind is not taken for the chain's head, and stops nothing`, async () => {
    for (const which of [0, 1]) {
      const { places, behind } = await followTwo(({ endpoints }) => {
        endpoints[which]!.fail({ type: 'lag', blocks })
      })
      assert.deepEqual([...places], [headPlaces.inStep], `endpoint ${which}`)
      assert.ok(behind <= 2, `${behind} blocks behind`)
    }
  })

test('with both endpoints below the stored blocks, or one below and one silent, the head counts as put back', async () => {
  for (const second of [{ type: 'lag', blocks: 5 }, { type: 'silent' }] as const) {
    const { places } = await followTwo(({ endpoints, stopMining }) => {
      stopMining()
      endpoints[0]!.fail({ type: 'lag', blocks: 7 })
      endpoints[1]!.fail(second)
    })
    assert.ok(places.has(headPlaces.below) || places.has(headPlaces.belowFinal), second.type)
  }
})
