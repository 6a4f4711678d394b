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
function openSenders(deposits: number) {
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
  const pass = new SenderPass({ client, writer: shard, clock, report })
  const left = () => shard.counts().unresolvedSenders
  const wait = (ms: number) => clock.sleep(ms, never)
  return { network, client, pass, left, wait }
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
