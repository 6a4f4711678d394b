import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { createStatusBoard, statusRow } from '../../../../src/board/statusBoard.js'
import { RetryableError } from '../../../../src/errors/chainErrors.js'
import { SenderPass } from '../../../../src/indexer/senders/senderPass.js'
import { encodeHex } from '../../../../src/protocol/hex.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { handOn } from '../../../../src/shard/proposer.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { userContract } from '../../../support/fakeState.js'
import { headerOf, indexedBlock } from '../../../support/indexedBlocks.js'
import { quietReport } from '../../../support/keepingLogger.js'
import { batchOf } from '../../../support/testShard.js'
import { VirtualClock } from '../../../support/virtualClock.js'
import { createWatchedClient } from '../../../support/watchedClient.js'
import { openWatchedShard, type WatchedShard } from '../watchedShard.js'

const never = new AbortController().signal

/** The tracer fails. */
const noTrace = {
  type: 'error',
  code: -32000,
  message: 'execution timeout',
  methods: ['debug_traceTransaction'],
} as const

/** A shard with `deposits` deposits whose senders are open. @param to a contract that makes them: only a trace shows it. */
function openSenders(deposits: number, { to, ...limits }: { to?: Hex; largestBatch?: number } = {}) {
  const network = createFakeWorld().network(0)
  for (let i = 0; i < deposits; i++)
    network.mine((block) => block.tx(to === undefined ? {} : { to }).deposit())
  const clock = new VirtualClock()
  const client = createWatchedClient(network, clock)
  const shard = openWatchedShard(0)
  const blocks = network.blocks.map((block) => indexedBlock(network, block, false))
  assert.equal(shard.apply({ type: 'applyBlocks', batch: batchOf(blocks) }).type, 'applied')
  const row = statusRow(createStatusBoard([0]), 0)
  const report = quietReport(0, row, clock, [])
  const pass = new SenderPass({ client, writer: shard, proposer: handOn(shard), clock, report, ...limits })
  const left = () => shard.counts().unresolvedSenders
  const wait = (ms: number) => clock.sleep(ms, never)
  const now = () => clock.now()
  return { network, client, shard, pass, left, wait, now, row }
}

test('one step resolves one batch, and the last step says done', async () => {
  const { pass, left } = openSenders(5)
  assert.equal(await pass.step(never), 'done')
  assert.equal(left(), 0)
  assert.equal(await pass.step(never), 'done')
})

test('a failed pass waits by itself, and smaller batches get past a transaction that cannot be read', async () => {
  const { client, pass, left, wait } = openSenders(1_500)
  let isBroken = true
  client.before = ({ method, from }) => {
    if (isBroken && method === 'resolveSenders' && from > 300)
      throw new RetryableError('transaction not found')
  }
  assert.equal(await pass.step(never), 'waiting')
  assert.equal(client.callCount('resolveSenders'), 1)
  assert.equal(await pass.step(never), 'waiting', 'not due yet')
  assert.equal(client.callCount('resolveSenders'), 1)
  await wait(1_000)
  assert.equal(await pass.step(never), 'more')
  assert.equal(left(), 1_500 - 256)
  isBroken = false
  while ((await pass.step(never)) === 'more');
  assert.equal(left(), 0)
})

/** Callers of the deposits as stored, with `?` for rows that will be asked again. */
const callers = (shard: WatchedShard) =>
  shard.senders().map((sender) => sender && sender.caller + (sender.isProvisional ? '?' : ''))

/** Steps until nothing is asked any more. */
async function settle({ pass, wait }: ReturnType<typeof openSenders>, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1_000) {
    assert.equal(await pass.step(never), 'done')
    await wait(1_000)
  }
}

test('a provisional sender is stored at once, delays no other sender, and is corrected when the trace is read', async () => {
  const opened = openSenders(3, { to: userContract(1) })
  const { network, client, shard, pass, left } = opened
  const { transactionHash, transactionSender: from } = network.deposits()[1]!
  const fault = client.endpoint.fail({ ...noTrace, when: ({ params: [hash] }) => hash === transactionHash })
  assert.equal(await pass.step(never), 'done')
  assert.equal(left(), 0)
  assert.deepEqual(callers(shard)[1], `${from}?`)
  await settle(opened, 120_000)
  assert.deepEqual(callers(shard)[1], `${from}?`)
  const tries = client.callCount('resolveSenders')
  assert.ok(tries < 20, `${tries} tries in two minutes`)
  fault.off()
  await settle(opened, 120_000)
  assert.equal(callers(shard)[1], userContract(1))
  assert.deepEqual(shard.senderNotes(), { provisional: 0, unknown: 0 })
})

test('while every endpoint refuses traces nothing is asked, and when one offers them all provisional senders are asked', async () => {
  const opened = openSenders(300, { to: userContract(1) })
  const { client, shard } = opened
  const fault = client.endpoint.fail({ ...noTrace, code: -32601, message: 'no such method' })
  const { canTrace } = client
  client.canTrace = () => false
  await settle(opened, 30_000)
  assert.equal(client.callCount('resolveSenders'), 1)
  assert.equal(shard.senderNotes().provisional, 300)
  client.canTrace = canTrace
  fault.off()
  await settle(opened, 5_000)
  assert.deepEqual(shard.senderNotes(), { provisional: 0, unknown: 0 })
})

test('a transaction that is never traced is asked ever more rarely', async () => {
  const opened = openSenders(1, { to: userContract(1) })
  opened.client.endpoint.fail(noTrace)
  const tries = async (minutes: number) => {
    const before = opened.client.callCount('resolveSenders')
    for (let minute = 0; minute < minutes; minute++) {
      await opened.pass.step(never)
      await opened.wait(60_000)
    }
    return opened.client.callCount('resolveSenders') - before
  }
  assert.ok((await tries(60)) <= 20)
  assert.ok((await tries(180)) <= 20)
  assert.ok((await tries(24 * 60)) <= 5, 'a day')
})

test('a transaction that no endpoint knows is passed over at once, holds the network for a minute, and gets its sender when it turns up', async () => {
  const opened = openSenders(4)
  const { network, client, shard, pass, left, wait, row } = opened
  const [, second, third] = network.deposits()
  let isHidden = true
  client.hideTransactions(
    (hash) => isHidden && (hash === second!.transactionHash || hash === third!.transactionHash),
  )
  assert.equal(await pass.step(never), 'done')
  assert.equal(left(), 0)
  assert.deepEqual(
    callers(shard).map((caller) => caller !== null),
    [true, false, false, true],
  )
  assert.deepEqual(shard.senderNotes(), { provisional: 0, unknown: 2 })
  assert.equal(row.get('awaitedSenders'), 2)
  for (let waitedMs = 0; waitedMs < 59_000; waitedMs += 1_000) {
    await wait(1_000)
    await pass.step(never)
    assert.equal(row.get('awaitedSenders'), 2)
  }
  await wait(1_000)
  await pass.step(never)
  assert.equal(row.get('awaitedSenders'), 0)
  isHidden = false
  await settle(opened, 60_000)
  assert.ok(callers(shard).every((caller) => caller !== null))
  assert.deepEqual(shard.senderNotes(), { provisional: 0, unknown: 0 })
})

test('each fourth look for an unknown transaction is a thorough one, apart from others, which it delays by no more than its own time', async () => {
  const opened = openSenders(4)
  const { network, client, shard, wait, now } = opened
  const [lost, , late] = network.deposits().map(({ transactionHash }) => transactionHash)
  let isHidden = true
  client.hideTransactions((hash) => hash === lost || (isHidden && hash === late))
  const looks: boolean[] = []
  const { resolveSenders } = client
  client.resolveSenders = async (questions, signal, budget) => {
    const hashes = questions.map(({ transactionHash }) => encodeHex(transactionHash))
    const isThorough = budget?.isThorough === true
    if (hashes.includes(lost!)) looks.push(isThorough)
    if (!isThorough) return resolveSenders(questions, signal, budget)
    await wait(60_000)
    throw new RetryableError('no answer')
  }
  await settle(opened, 600_000)
  const [, ...again] = looks
  assert.deepEqual(again.slice(0, 8), [false, false, false, true, false, false, false, true])
  isHidden = false
  const sinceMs = now()
  const isKnown = () => callers(shard)[2] !== null
  while (!isKnown() && now() - sinceMs < 600_000) await settle(opened, 1_000)
  assert.ok(isKnown())
})

test('a row without any sender does not wait for hundreds of provisional ones, and is asked for once when it turns up', async () => {
  const opened = openSenders(300, { to: userContract(1) })
  const { network, client, shard, pass, now } = opened
  const lost = network.deposits()[20]!.transactionHash
  client.endpoint.fail({ ...noTrace, code: -32601, message: 'the method does not exist' })
  let isHidden = true
  client.hideTransactions((hash) => isHidden && hash === lost)
  let looks = 0
  const { resolveSenders } = client
  client.resolveSenders = (questions, signal, budget) => {
    if (questions.some(({ transactionHash }) => encodeHex(transactionHash) === lost)) looks++
    return resolveSenders(questions, signal, budget)
  }
  assert.equal(await pass.step(never), 'done')
  assert.deepEqual(shard.senderNotes(), { provisional: 299, unknown: 1 })
  // The next look is a thorough one.
  for (const sinceMs = now(); looks < 4 && now() - sinceMs < 3_600_000; ) await settle(opened, 1_000)
  isHidden = false
  looks = 0
  const sinceMs = now()
  while (callers(shard)[20] === null && now() - sinceMs < 3_600_000) await settle(opened, 1_000)
  assert.ok(now() - sinceMs <= 5 * 60_000, `${now() - sinceMs} ms`)
  assert.equal(looks, 1)
})

test('while all rows rest some notes are read each second, and all notes every ten seconds', async (context) => {
  const { network, client, shard, pass, wait } = openSenders(40, { to: userContract(1) })
  const lost = network.deposits().slice(0, 20)
  client.hideTransactions((hash) => lost.some(({ transactionHash }) => transactionHash === hash))
  client.endpoint.fail(noTrace)
  for (let waitedMs = 0; waitedMs < 12 * 3_600_000; waitedMs += 20_000) {
    await pass.step(never)
    await wait(20_000)
  }
  assert.deepEqual(shard.senderNotes(), { provisional: 20, unknown: 20 })
  const asked = client.callCount('resolveSenders')
  const reads = context.mock.method(shard, 'notedSenders')
  for (let waitedMs = 0; waitedMs < 120_000; waitedMs += 100) {
    await pass.step(never)
    await wait(100)
  }
  assert.equal(client.callCount('resolveSenders'), asked)
  const ofUnknown = reads.mock.calls.filter(({ arguments: [range] }) => range.onlyUnknown)
  assert.deepEqual([ofUnknown.length, reads.mock.callCount() - ofUnknown.length], [12, 120])
})

test('an unknown transaction that turns up within the minute no longer holds the network', async () => {
  const opened = openSenders(2)
  const { network, client, pass, wait, row } = opened
  const [, second] = network.deposits()
  let isHidden = true
  client.hideTransactions((hash) => isHidden && hash === second!.transactionHash)
  await pass.step(never)
  assert.equal(row.get('awaitedSenders'), 1)
  isHidden = false
  await wait(4_000)
  await settle(opened, 2_000)
  assert.equal(row.get('awaitedSenders'), 0)
})

test('a transaction that fails even in a batch of one counts as unknown, and the following ones are resolved', async () => {
  const opened = openSenders(6, { largestBatch: 4 })
  const { network, client, pass, left, wait, shard } = opened
  const third = network.deposits()[2]!.transactionHash
  const { resolveSenders } = client
  client.resolveSenders = async (questions, ...rest) => {
    if (questions.some(({ transactionHash }) => encodeHex(transactionHash) === third))
      throw new RetryableError('no answer')
    return resolveSenders(questions, ...rest)
  }
  for (let steps = 0; steps < 20 && left() > 0; steps++) {
    await pass.step(never)
    await wait(2_000)
  }
  assert.equal(left(), 0)
  assert.equal(shard.senderNotes().unknown, 1)
})

test('senders asked before a reorg are not stored after it', async () => {
  const { client, shard, pass, wait } = openSenders(2, { to: userContract(1) })
  const fault = client.endpoint.fail(noTrace)
  await pass.step(never)
  fault.off()
  // A question whose answer takes some time.
  await pass.step(never)
  assert.equal(client.callCount('resolveSenders'), 2)
  pass.reorged(asBlockNumber(0))
  await wait(10)
  client.endpoint.fail(noTrace)
  await pass.step(never)
  assert.equal(shard.senderNotes().provisional, 2)
})

test('batches are asked one after another while there is time, and stored together', async (context) => {
  const { client, shard, pass, left, now } = openSenders(50, { largestBatch: 10 })
  const stored = context.mock.method(shard, 'apply')
  const asked: number[] = []
  for (let progress = 'more'; progress === 'more'; asked.push(client.callCount('resolveSenders')))
    progress = await pass.step(never, now() + 1)
  assert.equal(left(), 0)
  assert.deepEqual(asked, [1, 3, 5])
  assert.deepEqual(
    stored.mock.calls.map(
      ({ arguments: [command] }) => command.type === 'resolveSenders' && command.resolved.length,
    ),
    [10, 20, 20],
  )
})

test('no further batch is asked when the time is over', async () => {
  const { client, pass, left, wait, now } = openSenders(50, { largestBatch: 10 })
  await pass.step(never, now() + 1)
  client.before = () => wait(10)
  assert.equal(await pass.step(never, now() + 5), 'more')
  assert.equal(client.callCount('resolveSenders'), 2)
  assert.equal(left(), 50 - 20)
})

test('senders that were answered before a batch failed are stored', async () => {
  const { client, pass, left, now } = openSenders(50, { largestBatch: 10 })
  await pass.step(never, now() + 1)
  let calls = 0
  client.before = () => {
    if (++calls === 2) throw new RetryableError('out of reach')
  }
  assert.equal(await pass.step(never, now() + 1), 'waiting')
  assert.equal(left(), 50 - 20)
})

/** The answer to senders comes when it is let go. */
function heldAnswers({ client }: ReturnType<typeof openSenders>) {
  let letGo = () => {}
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  client.before = ({ method }) => (method === 'resolveSenders' ? held : undefined)
  return letGo
}

test('a step waits for late answers for a while only, and a later one stores them without asking again', async () => {
  const opened = openSenders(5)
  const { client, pass, left, wait, now } = opened
  const letGo = heldAnswers(opened)
  const fromMs = now()
  assert.equal(await pass.step(never), 'waiting')
  assert.equal(now() - fromMs, 10_000)
  assert.equal(pass.isAnswered, false)
  assert.equal(await pass.step(never), 'waiting')
  assert.equal(now() - fromMs, 10_000, 'once')
  letGo()
  await wait(1)
  assert.equal(pass.isAnswered, true)
  assert.equal(left(), 5)
  assert.equal(await pass.step(never), 'done')
  assert.equal(left(), 0)
  assert.equal(client.callCount('resolveSenders'), 1)
})

test('who waits for late answers is told once when they come, at once if they have come, and not after a taking back', async () => {
  const opened = openSenders(5)
  const { pass, wait } = opened
  const letGo = heldAnswers(opened)
  await pass.step(never)
  const told: string[] = []
  const stop = pass.onAnswered(() => told.push('given up'))
  stop()
  pass.onAnswered(() => told.push('waiting'))
  letGo()
  await wait(1)
  assert.deepEqual(told, ['waiting'])
  pass.onAnswered(() => told.push('late'))
  assert.deepEqual(told, ['waiting', 'late'])
})

test('late answers about rows that were taken back are dropped: the rows are asked for anew, at once where the pass was told', async () => {
  for (const isTold of [true, false]) {
    const opened = openSenders(5)
    const { client, shard, pass, left, wait } = opened
    const letGo = heldAnswers(opened)
    await pass.step(never)
    assert.equal(shard.apply({ type: 'revertTo', ancestor: asBlockNumber(3) }).type, 'applied')
    if (isTold) pass.reorged(asBlockNumber(3))
    letGo()
    await wait(1)
    const before = left()
    assert.equal(await pass.step(never), isTold ? 'done' : 'more')
    assert.equal(left(), isTold ? 0 : before)
    assert.equal(client.callCount('resolveSenders'), isTold ? 2 : 1)
  }
})

test('a failure that comes late is met by the next step', async () => {
  const opened = openSenders(2)
  const { client, pass, wait } = opened
  let fail = () => {}
  const failed = new Promise<void>((_, reject) => {
    fail = () => reject(new Error('a fault of our own'))
  })
  client.before = ({ method }) => (method === 'resolveSenders' ? failed : undefined)
  assert.equal(await pass.step(never), 'waiting')
  fail()
  await wait(1)
  await assert.rejects(pass.step(never), /a fault of our own/)
  client.before = () => {}
  assert.equal(await pass.step(never), 'done')
})

test('late answers are not the last ones when blocks were stored meanwhile', async () => {
  const opened = openSenders(3)
  const { network, shard, pass, left, wait } = opened
  const letGo = heldAnswers(opened)
  await pass.step(never)
  const added = network.mine((block) => block.tx().deposit())
  const zero = asBlockNumber(0)
  const blocks = [indexedBlock(network, added, false)]
  const fromBlock = asBlockNumber(network.head.number)
  const batch = { fromBlock, head: headerOf(network.head), blocks, finalizedBlock: zero, undoFloor: zero }
  assert.equal(shard.apply({ type: 'applyBlocks', batch }).type, 'applied')
  letGo()
  await wait(1)
  assert.equal(await pass.step(never), 'more')
  assert.equal(left(), 1)
  assert.equal(await pass.step(never), 'done')
})

test('reorgs above the rows that are asked for do not start the question anew', async () => {
  const opened = openSenders(5)
  const { client, pass, left, wait } = opened
  const letGo = heldAnswers(opened)
  await pass.step(never)
  pass.reorged(asBlockNumber(5))
  letGo()
  await wait(1)
  assert.equal(await pass.step(never), 'done')
  assert.equal(left(), 0)
  assert.equal(client.callCount('resolveSenders'), 1)
})
