import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryableError } from '../../../src/errors/chainErrors.js'
import { SenderPass } from '../../../src/indexer/senderPass.js'
import { asBlockNumber } from '../../../src/protocol/units.js'
import { createStatusBoard, statusRow } from '../../../src/telemetry/statusBoard.js'
import { DirectClient, headerOf } from '../../support/directClient.js'
import { createFakeWorld } from '../../support/fakeChain.js'
import { MemoryShard } from '../../support/memoryShard.js'
import { quietReport } from '../../support/syncHarness.js'
import { VirtualClock } from '../../support/virtualClock.js'

const never = new AbortController().signal

/** A shard with `deposits` deposits whose senders are open. */
function openSenders(deposits: number, limits: { readonly largestBatch?: number } = {}) {
  const network = createFakeWorld().network(0)
  for (let i = 0; i < deposits; i++) network.mine((block) => block.tx().deposit())
  const client = new DirectClient(network)
  const shard = new MemoryShard()
  const blocks = network.blocks.map((block) => client.indexed(block))
  const zero = asBlockNumber(0)
  const head = headerOf(network.head)
  shard.applyBlocks({ fromBlock: zero, head, blocks, finalizedBlock: zero, undoFloor: zero })
  const clock = new VirtualClock()
  const report = quietReport(0, statusRow(createStatusBoard([0]), 0), clock, [])
  const pass = new SenderPass({ client, writer: shard, clock, report, ...limits })
  const left = () => shard.counts().unresolvedSenders
  const wait = (ms: number) => clock.sleep(ms, never)
  const now = () => clock.now()
  return { network, client, shard, pass, left, wait, now }
}

test('one step resolves one batch, the last one says done', async () => {
  const { pass, left } = openSenders(5)
  assert.equal(await pass.step(never), 'done')
  assert.equal(left(), 0)
  assert.equal(await pass.step(never), 'done')
})

test('a failure waits on its own, and smaller batches get past a transaction that can not be read', async () => {
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

test('a provisional answer holds its place until patience ends, then the next ones follow', async () => {
  const { network, client, pass, left, wait } = openSenders(3)
  const second = network.deposits()[1]!.transactionHash
  client.isProvisional = (hash) => hash === second
  assert.equal(await pass.step(never), 'more')
  assert.equal(left(), 2)
  assert.equal(await pass.step(never), 'waiting')
  for (let i = 0; i < 5; i++) {
    await wait(20_000)
    assert.equal(await pass.step(never), 'waiting')
  }
  assert.equal(left(), 2)
  await wait(20_000)
  assert.equal(await pass.step(never), 'done')
  assert.equal(left(), 0)
})

test('a transaction that nobody can tell of ends up without a sender, and then the others follow', async () => {
  const { network, client, pass, left, wait } = openSenders(4)
  const [, second, third] = network.deposits()
  client.isUnknown = (hash) => hash === second!.transactionHash || hash === third!.transactionHash
  assert.equal(await pass.step(never), 'more')
  for (let minute = 0; minute < 9; minute++) {
    await wait(60_000)
    assert.equal(await pass.step(never), 'waiting')
  }
  assert.equal(left(), 3)
  await wait(60_000)
  assert.equal(await pass.step(never), 'done', 'both of them, after one wait')
  assert.equal(left(), 0)
})

test('batches are asked for one by one while there is time, and stored together', async (context) => {
  const { client, shard, pass, left, now } = openSenders(50, { largestBatch: 10 })
  const stored = context.mock.method(shard, 'resolveSenders')
  const asked: number[] = []
  for (let progress = 'more'; progress === 'more'; asked.push(client.callCount('resolveSenders')))
    progress = await pass.step(never, now() + 1)
  assert.equal(left(), 0)
  assert.deepEqual(asked, [1, 3, 5])
  assert.deepEqual(
    stored.mock.calls.map(({ arguments: [resolved] }) => resolved.length),
    [10, 20, 20],
  )
})

test('no further batch is asked for when the time is over', async () => {
  const { client, pass, left, wait, now } = openSenders(50, { largestBatch: 10 })
  await pass.step(never, now() + 1)
  client.before = () => wait(10)
  assert.equal(await pass.step(never, now() + 5), 'more')
  assert.equal(client.callCount('resolveSenders'), 2)
  assert.equal(left(), 50 - 20)
})

test('what was answered before a batch failed is stored', async () => {
  const { client, pass, left, now } = openSenders(50, { largestBatch: 10 })
  await pass.step(never, now() + 1)
  let calls = 0
  client.before = () => {
    if (++calls === 2) throw new RetryableError('out of reach')
  }
  assert.equal(await pass.step(never, now() + 1), 'waiting')
  assert.equal(left(), 50 - 20)
})

test('a batch with an answer that is not certain ends its step, and what comes before it is stored', async () => {
  const { network, client, pass, left, now } = openSenders(50, { largestBatch: 10 })
  const uncertain = network.deposits()[15]!.transactionHash
  client.isProvisional = (hash) => hash === uncertain
  await pass.step(never, now() + 1)
  assert.equal(await pass.step(never, now() + 1), 'more')
  assert.equal(client.callCount('resolveSenders'), 2)
  assert.equal(left(), 50 - 15)
})
