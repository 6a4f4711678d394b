import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FatalError } from '../../../../src/errors/chainErrors.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { createSyncHarness, isInStep, type SyncHarness } from '../syncHarness.js'

const MINUTE_MS = 60_000
const ROLLBACK_BLOCKS = 64
/** The block whose logs are hidden, far below the head when the contract is asked. */
const FIRST_HIDDEN = 41
const SECOND_HIDDEN = 42

interface Hole {
  isHidden: boolean
  /** While this is false, no comparison gets an answer, and the network goes on without one. */
  isStateAnswered: boolean
  /** State of blocks this far below the head is pruned. */
  keepsBlocks: number
}

/** A layer 2 in step, whose endpoints hid a claim and a deposit in blocks below the undo floor. */
async function longAgo(): Promise<{ harness: SyncHarness; hole: Hole }> {
  const harness = createSyncHarness({
    networkId: 1,
    indexedDeposits: () => [[0, 5]],
    // Hours pass in these tests.
    config: { rollbackBlocks: ROLLBACK_BLOCKS, pollIntervalMs: 2_000 },
  })
  const { world, network, client } = harness
  const l1 = world.network(0)
  for (let i = 0; i < 5; i++)
    l1.mine((block) => block.tx().deposit({ destinationNetwork: 1, amount: BigInt(i) }))
  network.mine((block) => block.tx().claim({ deposit: l1.deposits()[1]! }))
  network.mine((block) => block.tx().deposit())
  network.mineEmpty(FIRST_HIDDEN - 1 - network.head.number)
  network.mine((block) => block.tx().claim({ deposit: l1.deposits()[3]! }))
  network.mine((block) => block.tx().deposit())
  assert.equal(network.head.number, SECOND_HIDDEN)
  network.mineEmpty(10)

  const hole: Hole = { isHidden: true, isStateAnswered: false, keepsBlocks: Number.POSITIVE_INFINITY }
  client.hideLogs(({ number }) => hole.isHidden && (number === FIRST_HIDDEN || number === SECOND_HIDDEN))
  const isAnswered = (block: number) => hole.isStateAnswered && block > network.head.number - hole.keepsBlocks
  client.endpoint.fail({
    type: 'error',
    code: -32000,
    message: 'missing trie node 5e',
    methods: ['eth_call'],
    when: ({ params: [, tag] }) => typeof tag === 'string' && tag !== 'latest' && !isAnswered(Number(tag)),
  })

  await harness.run(() => harness.row.get('caughtUp') === 1)
  for (let i = 0; i < 20; i++) {
    network.mineEmpty(20)
    await harness.run(() => harness.shard.checkpoint()?.number === network.head.number)
  }
  const outcome = harness.shard.apply({ type: 'revertTo', ancestor: SECOND_HIDDEN as never })
  assert.equal(outcome.type === 'refused' && outcome.reason, 'reorg_too_deep')
  assert.equal(harness.shard.counts().deposits, 1)
  hole.isStateAnswered = true
  return { harness, hole }
}

const isHealed = (harness: SyncHarness) => () =>
  harness.row.haltReason() === 'none' && harness.row.get('caughtUp') === 1 && isInStep(harness)

test('a claim and a deposit missing below the undo floor come back by themselves once their logs are shown', async () => {
  const { harness, hole } = await longAgo()
  await harness.run(() => harness.row.haltReason() === 'missing_log', 3 * MINUTE_MS)
  hole.isHidden = false
  let wasSyncing = false
  await harness.run(() => {
    if (harness.shard.startedOver.length > 0 && !isInStep(harness)) {
      wasSyncing = true
      assert.equal(harness.row.get('caughtUp'), 0, 'not in step while everything is read again')
      assert.equal(harness.row.haltReason(), 'missing_log', 'nobody relies on half of it')
    }
    return isHealed(harness)()
  }, 3 * MINUTE_MS)
  assert.ok(wasSyncing)
  assert.equal(harness.shard.counts().deposits, 2)
  assert.equal(harness.shard.counts().claims, 2)
  assert.equal(harness.row.get('startOvers'), 1)
  // The network is healed: the next hours bring no further start over.
  harness.network.mineEmpty(20)
  await harness.run(() => false, 120 * MINUTE_MS).catch(() => undefined)
  assert.equal(harness.shard.startedOver.length, 1)
})

test('while the logs stay hidden the network starts over once per period, which doubles up to an hour, across restarts too', async () => {
  const { harness, hole } = await longAgo()
  const { clock, shard, row } = harness
  const startedAtMs: number[] = []
  const until = clock.now() + 200 * MINUTE_MS
  const watch = () => {
    if (shard.startedOver.length > startedAtMs.length) startedAtMs.push(clock.now())
    if (startedAtMs.length > 0 && clock.now() < until) assert.equal(row.haltReason(), 'missing_log')
    return clock.now() >= until
  }
  // A restart forgets everything except the store, halts too.
  for (let restart = 0; restart < 20; restart++)
    await harness.run(watch, 10 * MINUTE_MS).catch((error: Error) => {
      if (!error.message.startsWith('not done')) throw error
    })
  const waits = startedAtMs.slice(1).map((atMs, at) => (atMs - startedAtMs[at]!) / MINUTE_MS)
  assert.ok(waits.length >= 3 && waits.length <= 4, `waits of ${waits} minutes`)
  for (const [at, wait] of waits.entries())
    assert.ok(wait >= Math.min(60, 10 * 2 ** at), `waits of ${waits} minutes`)
  hole.isHidden = false
  await harness.run(isHealed(harness), 200 * MINUTE_MS)
})

test('a log that is shown late is read within an hour', async () => {
  const { harness, hole } = await longAgo()
  await harness.run(() => harness.shard.startedOver.length >= 6, 400 * MINUTE_MS)
  hole.isHidden = false
  await harness.run(isHealed(harness), 65 * MINUTE_MS)
})

test('a failure while the network decides whether to start over halts it under its own reason', async () => {
  const { harness } = await longAgo()
  const { client, row, messages, shard } = harness
  const comparedAt = new FatalError('another chain', { reason: 'wrong_chain' })
  const apply = shard.apply.bind(shard)
  shard.apply = (command) => {
    if (command.type !== 'startOver') return apply(command)
    throw Object.assign(new Error('commit failed: no space left on device'), { code: 'ENOSPC' })
  }
  await harness.run(() => row.haltReason() === 'disk_full', 10 * MINUTE_MS)
  client.getFinalizedBlock = () => Promise.reject(comparedAt)
  await harness.run(() => row.haltReason() === 'wrong_chain', 30 * MINUTE_MS)
  const reasons = messages.flatMap((message) => (message.type === 'halted' ? [message.reason] : []))
  assert.ok(!reasons.includes('internal_error'), reasons.join())
})

test('an interruption while the network is read again causes no further start over', async () => {
  const { harness, hole } = await longAgo()
  await harness.run(() => harness.row.haltReason() === 'missing_log', 3 * MINUTE_MS)
  hole.isHidden = false
  await harness.run(() => harness.shard.startedOver.length > 0, 3 * MINUTE_MS)
  for (let i = 0; i < 4; i++) {
    harness.client.before = ({ method, from }) => {
      if (method === 'fetchRange' && from > 100 * i) harness.interrupt()
    }
    await harness.run(() => false)
  }
  harness.client.before = () => {}
  await harness.run(isHealed(harness), 3 * MINUTE_MS)
  assert.equal(harness.shard.startedOver.length, 1)
})

test('a log hidden above the undo floor never makes the network start over', async () => {
  const { harness, hole } = await longAgo()
  hole.isHidden = false
  await harness.run(isHealed(harness), 20 * MINUTE_MS)
  const { network, client } = harness
  const before = harness.shard.startedOver.length
  const hidden = network.mine((block) => block.tx().deposit())
  client.hideLogs(({ number }) => number === hidden.number)
  network.mineEmpty(10)
  await harness.run(() => false, 90 * MINUTE_MS).catch(() => undefined)
  assert.equal(harness.row.haltReason(), 'missing_log')
  assert.equal(harness.shard.startedOver.length, before)
})

test('the network starts over only once the compared block is final', async () => {
  const { harness } = await longAgo()
  harness.client.getFinalizedBlock = async () => asBlockNumber(0)
  await harness.run(() => false, 60 * MINUTE_MS).catch(() => undefined)
  assert.equal(harness.row.haltReason(), 'missing_log')
  assert.deepEqual(harness.shard.startedOver, [])
})

test('a node that prunes old state can prove the difference at the newest final block', async () => {
  const { harness, hole } = await longAgo()
  const { network, clock, client } = harness
  client.getFinalizedBlock = async ({ number }) => asBlockNumber(number - 10)
  hole.keepsBlocks = 20
  let isGrowing = true
  const grow = () => {
    if (!isGrowing) return
    network.mineEmpty(1)
    clock.after(12_000, grow)
  }
  grow()
  await harness.run(() => harness.row.haltReason() === 'missing_log', 3 * MINUTE_MS)
  hole.isHidden = false
  await harness.run(isHealed(harness), 60 * MINUTE_MS).finally(() => {
    isGrowing = false
  })
  assert.equal(harness.shard.startedOver.length, 1)
})

test('a missing deposit below the undo floor that only the next deposit reveals comes back too', async () => {
  const { harness, hole } = await longAgo()
  const { network, row, shard } = harness
  hole.isStateAnswered = false
  network.mine((block) => block.tx().deposit())
  await harness.run(() => row.haltReason() === 'deposit_count_gap', 3 * MINUTE_MS)
  network.mineEmpty(5)
  hole.isStateAnswered = true
  hole.isHidden = false
  await harness.run(isHealed(harness), 12 * MINUTE_MS)
  assert.equal(shard.startedOver.length, 1)
  assert.equal(shard.counts().deposits, 3)
})
