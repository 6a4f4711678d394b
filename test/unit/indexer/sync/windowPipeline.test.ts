import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FetchedRange } from '../../../../src/chain/chainClient.types.js'
import { RetryableError } from '../../../../src/errors/chainErrors.js'
import { assertContinues } from '../../../../src/indexer/sync/batches.js'
import { stretchEvents, WindowPipeline } from '../../../../src/indexer/sync/windowPipeline.js'
import { createFakeWorld, type FakeNetwork } from '../../../support/fakeChain.js'
import { createWatchedClient } from '../../../support/watchedClient.js'

const never = new AbortController().signal
const MOST_EVENTS = 20_000

function longChain(blocks: number): FakeNetwork {
  const network = createFakeWorld().network(0)
  network.mineEmpty(blocks)
  return network
}

async function readAll(windows: WindowPipeline): Promise<Array<readonly [number, number]>> {
  const read: Array<readonly [number, number]> = []
  for (let next = await windows.next(MOST_EVENTS); next !== undefined; next = await windows.next(MOST_EVENTS))
    read.push([next.range.fromBlock, next.range.head.number])
  return read
}

test('windows are handed out in order and without a gap, and the last one ends at the target', async () => {
  const client = createWatchedClient(longChain(100))
  const windows = new WindowPipeline(client, { from: 1, target: 75, joinedUpTo: 75, windowBlocks: 30 }, never)
  assert.deepEqual(await readAll(windows), [
    [1, 30],
    [31, 60],
    [61, 75],
  ])
})

test('a range that ends early is followed by the rest of its window', async () => {
  const client = createWatchedClient(longChain(100), undefined, { logRange: 15 })
  const windows = new WindowPipeline(client, { from: 1, target: 60, joinedUpTo: 60, windowBlocks: 30 }, never)
  assert.deepEqual(await readAll(windows), [
    [1, 15],
    [16, 30],
    [31, 45],
    [46, 60],
  ])
})

test('at most two windows are in flight, and the next one is requested before the first is stored', async () => {
  const client = createWatchedClient(longChain(100))
  const windows = new WindowPipeline(
    client,
    { from: 1, target: 100, joinedUpTo: 100, windowBlocks: 10 },
    never,
  )
  await windows.next(MOST_EVENTS)
  assert.deepEqual(
    client.calls.map(({ from }) => from),
    [1, 11, 21],
  )
})

test('the first windows are narrow, and widen while they hold few events', async () => {
  const client = createWatchedClient(longChain(2_500))
  const windows = new WindowPipeline(
    client,
    { from: 1, target: 2_500, joinedUpTo: 2_500, windowBlocks: 1_000 },
    never,
  )
  const widths = (await readAll(windows)).map(([from, to]) => to - from + 1)
  assert.deepEqual(widths, [32, 32, 256, 1_000, 1_000, 180])
})

/** Block n has `counts[n]` events, and each answer is one block. A block without a count gets no answer. */
function crowdedClient(counts: readonly number[]) {
  return {
    fetchRange: async (from: number): Promise<FetchedRange> => {
      if (counts[from] === undefined) throw new RetryableError('no answer')
      const header = { number: from } as FetchedRange['head']
      const blocks = [
        { header, events: Array.from({ length: counts[from] }, () => ({ type: 'claim' })) as never },
      ]
      return { fromBlock: from as never, head: header, blocks }
    },
  }
}

test('full windows are stored together: each event once, in order, up to 20,000', async () => {
  const plan = { from: 0, target: 3, joinedUpTo: 3, windowBlocks: 4 }
  const windows = new WindowPipeline(crowdedClient([6_000, 6_000, 6_000, 6_000]), plan, never)
  const { range, following } = (await windows.next(MOST_EVENTS))!
  assert.deepEqual(
    range.blocks.map(({ header }) => header.number),
    [0, 1, 2],
  )
  assert.deepEqual([range.fromBlock, range.head.number, following?.fromBlock], [0, 2, 3])
  assert.deepEqual(await readAll(windows), [[3, 3]])
})

test('a request is never wider than a window', async () => {
  const plan = { from: 0, target: 4, joinedUpTo: 4, windowBlocks: 2 }
  const windows = new WindowPipeline(crowdedClient([2_000, 2_000, 2_000, 2_000, 2_000]), plan, never)
  assert.deepEqual(await readAll(windows), [
    [0, 1],
    [2, 3],
    [4, 4],
  ])
})

test('a window with few events is stored alone, and so is each window near the head', async () => {
  const stretches = async (counts: readonly number[], joinedUpTo: number) => {
    const plan = { from: 0, target: counts.length - 1, joinedUpTo, windowBlocks: 8 }
    return readAll(new WindowPipeline(crowdedClient(counts), plan, never))
  }
  assert.deepEqual(await stretches([2_000, 1_999, 2_000, 2_000], 3), [
    [0, 0],
    [1, 1],
    [2, 3],
  ])
  assert.deepEqual(await stretches([2_000, 2_000, 2_000, 2_000], 1), [
    [0, 1],
    [2, 2],
    [3, 3],
  ])
})

test('a larger store stores more events at once', async () => {
  assert.deepEqual([0, 500_000, 1_000_000, 1_500_000, 1e7].map(stretchEvents), [20e3, 20e3, 40e3, 60e3, 60e3])
  const ends: number[] = []
  for (const mostEvents of [20_000, 24_000]) {
    const plan = { from: 0, target: 3, joinedUpTo: 3, windowBlocks: 4 }
    const windows = new WindowPipeline(crowdedClient([6_000, 6_000, 6_000, 6_000]), plan, never)
    ends.push((await windows.next(mostEvents))!.range.head.number)
    windows.cancel()
  }
  assert.deepEqual(ends, [2, 3])
})

test('windows that were read before a failing window are handed out first', async () => {
  const plan = { from: 0, target: 5, joinedUpTo: 5, windowBlocks: 8 }
  const windows = new WindowPipeline(crowdedClient([2_000, 2_000]), plan, never)
  const { range, following } = (await windows.next(MOST_EVENTS))!
  assert.deepEqual([range.fromBlock, range.head.number, following], [0, 1, undefined])
  await assert.rejects(windows.next(MOST_EVENTS), RetryableError)
  windows.cancel()
})

test('a failed window is reported to its reader, a cancelled one to no reader', async () => {
  const client = createWatchedClient(longChain(100))
  client.before = ({ from }) => {
    if (from === 11) throw new RetryableError('no answer')
  }
  const windows = new WindowPipeline(
    client,
    { from: 1, target: 100, joinedUpTo: 100, windowBlocks: 10 },
    never,
  )
  assert.equal((await windows.next(MOST_EVENTS))?.range.head.number, 10)
  await assert.rejects(windows.next(MOST_EVENTS), RetryableError)
  windows.cancel()
  assert.equal(client.callCount('fetchRange'), 3)
})

test('two windows join when the deposit counts continue, and not when a deposit is missing between them', async () => {
  const network = createFakeWorld().network(0)
  for (let i = 0; i < 6; i++) network.mine((block) => block.tx().deposit())
  const client = createWatchedClient(network)
  const range = async (from: number, to: number, without?: number): Promise<FetchedRange> => {
    const all = await client.fetchRange(from as never, to as never, never)
    return { ...all, blocks: all.blocks.filter(({ header }) => header.number !== without) }
  }
  assertContinues(0, await range(1, 3), await range(4, 6))
  assertContinues(3, { ...(await range(1, 3)), blocks: [] }, await range(4, 6))
  const [short, next] = [await range(1, 3, 3), await range(4, 6)]
  const gap = { reason: 'deposit_count_gap', message: 'deposit count 3 in block 4, expected 2' }
  assert.throws(() => assertContinues(0, short, next), gap)
})
