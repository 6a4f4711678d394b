import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FetchedRange } from '../../../src/chain/chainClient.types.js'
import { RetryableError } from '../../../src/errors/chainErrors.js'
import { assertContinues } from '../../../src/indexer/continuity.js'
import { WindowPipeline } from '../../../src/indexer/windowPipeline.js'
import { DirectClient } from '../../support/directClient.js'
import { createFakeWorld, type FakeNetwork } from '../../support/fakeChain.js'

const never = new AbortController().signal

function longChain(blocks: number): FakeNetwork {
  const network = createFakeWorld().network(0)
  network.mineEmpty(blocks)
  return network
}

async function readAll(windows: WindowPipeline): Promise<Array<readonly [number, number]>> {
  const read: Array<readonly [number, number]> = []
  for (let range = await windows.next(); range !== undefined; range = await windows.next())
    read.push([range.fromBlock, range.head.number])
  return read
}

test('windows come in order and without a hole, the last one ends at the target', async () => {
  const client = new DirectClient(longChain(100))
  const windows = new WindowPipeline(client, { from: 1, target: 95, windowBlocks: 40 }, never)
  assert.deepEqual(await readAll(windows), [
    [1, 40],
    [41, 80],
    [81, 95],
  ])
})

test('an answer that ends early is followed by the rest of its window', async () => {
  const client = new DirectClient(longChain(100))
  client.maxRange = 15
  const windows = new WindowPipeline(client, { from: 1, target: 60, windowBlocks: 30 }, never)
  assert.deepEqual(await readAll(windows), [
    [1, 15],
    [16, 30],
    [31, 45],
    [46, 60],
  ])
})

test('at most two windows are in flight, and the next one is asked for before the first is taken in', async () => {
  const client = new DirectClient(longChain(100))
  const windows = new WindowPipeline(client, { from: 1, target: 100, windowBlocks: 10 }, never)
  await windows.next()
  assert.deepEqual(
    client.calls.map(({ from }) => from),
    [1, 11, 21],
  )
})

test('first windows are short, and widen while they hold little', async () => {
  const client = new DirectClient(longChain(5_000))
  const windows = new WindowPipeline(client, { from: 1, target: 5_000, windowBlocks: 2_000 }, never)
  const widths = (await readAll(windows)).map(([from, to]) => to - from + 1)
  assert.deepEqual(widths, [250, 250, 500, 1_000, 2_000, 1_000])
})

test('a window that fails is told to whoever asks for it, one that is cancelled to nobody', async () => {
  const client = new DirectClient(longChain(100))
  client.before = ({ from }) => {
    if (from === 11) throw new RetryableError('no answer')
  }
  const windows = new WindowPipeline(client, { from: 1, target: 100, windowBlocks: 10 }, never)
  assert.equal((await windows.next())?.head.number, 10)
  await assert.rejects(windows.next(), RetryableError)
  windows.cancel()
  assert.equal(client.callCount('fetchRange'), 3)
})

test('two windows fit together when the counts go on, and not when a deposit is missing between them', async () => {
  const network = createFakeWorld().network(0)
  for (let i = 0; i < 6; i++) network.mine((block) => block.tx().deposit())
  const client = new DirectClient(network)
  const range = async (from: number, to: number, without?: number): Promise<FetchedRange> => {
    const all = await client.fetchRange(from as never, to as never)
    return { ...all, blocks: all.blocks.filter(({ header }) => header.number !== without) }
  }
  assertContinues(0, await range(1, 3), await range(4, 6))
  assertContinues(3, { ...(await range(1, 3)), blocks: [] }, await range(4, 6))
  const [short, next] = [await range(1, 3, 3), await range(4, 6)]
  const gap = { reason: 'deposit_count_gap', message: 'deposit count 3 in block 4, expected 2' }
  assert.throws(() => assertContinues(0, short, next), gap)
})
