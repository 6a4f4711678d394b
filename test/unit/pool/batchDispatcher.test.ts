import assert from 'node:assert/strict'
import test from 'node:test'
import { BatchDispatcher } from '../../../src/pool/batchDispatcher.js'
import { ReplyHead, replyHeadBytes } from '../../../src/pool/batchMessages.js'
import { BatchSlots, createSlotMemory } from '../../../src/pool/batchSlots.js'
import type { ContentCoding } from '../../../src/pool/contentCoding.js'
import { decodeQueries } from '../../../src/pool/queryCodec.js'
import type { Address, Hash } from '../../../src/protocol/chainEvent.js'
import { asDepositCount, asNetworkId } from '../../../src/protocol/units.js'
import type { OperationId, PoolOperation, QueryByOperation } from '../../../src/query/queries.js'
import { createLogger } from '../../../src/telemetry/logger.js'

const networkId = asNetworkId(1)
const PAGE = { networkId, pageNumber: 1, pageSize: 1_000 }
const USUAL_PAGE = { networkId, pageNumber: 1, pageSize: 100 }
const POINT = { networkId, depositCount: asDepositCount(7) }

function putEmptyReply(length: number, slot: Uint8Array): void {
  const reply = slot.subarray(0, replyHeadBytes(length))
  const head = new ReplyHead(reply, { commits: 0, epoch: 0, halted: 0 }, length)
  for (let at = 0; at < length; at++)
    head.setEntry(at, {
      offset: 0,
      length: 0,
      status: 200,
      coding: 'identity',
      isTagged: false,
      retryAfterSec: 0,
      life: undefined,
      isFault: false,
    })
}

/** A dispatcher whose batches wait until the test answers them, in order. */
function heldDispatcher(workers: number, maxWaiting = 10_000) {
  const batches: {
    readonly isLarge: boolean
    readonly operations: readonly PoolOperation[]
    answer(): void
    dieBefore(): void
  }[] = []
  const clock = { nowMs: 0 }
  const memory = createSlotMemory(2 * workers + 1)
  const slots = new BatchSlots(memory)
  const dispatcher = new BatchDispatcher({
    now: () => clock.nowMs,
    run: (task) =>
      new Promise((resolve, reject) => {
        const queries = decodeQueries(slots.takeQueries(task))
        batches.push({
          isLarge: queries[0]!.operation === 'getBridges',
          operations: queries.map(({ operation }) => operation),
          answer: () => {
            putEmptyReply(queries.length, slots.replyOf(task.slot))
            resolve(undefined)
          },
          /** As if the worker had died before it took the batch. */
          dieBefore: () => {
            slots.putQueries(task.slot, new Uint8Array(0))
            reject(new Error('died'))
          },
        })
      }),
    slots: memory,
    workers,
    maxInFlight: 2 * workers,
    maxWaiting,
    logger: createLogger({ level: 'error', format: 'json' }, {}, () => undefined),
    metrics: { batchFinished: () => undefined, workerRestarted: () => undefined, rejected: () => undefined },
    onCorruptStore: () => undefined,
    endThreads: async () => undefined,
  })
  const answered: OperationId[] = []
  const offer = <K extends OperationId>(
    operation: K,
    query: QueryByOperation[K],
    coding: ContentCoding = 'identity',
    isWanted = (): boolean => true,
  ): boolean =>
    dispatcher.submit({ operation, query, coding, isWanted, deliver: () => answered.push(operation) })
  const submit: typeof offer = (...request) => {
    assert.ok(offer(...request))
    return true
  }
  const turn = () => new Promise<void>(setImmediate)
  return { offer, submit, batches, answered, dispatcher, slots, clock, turn }
}

test('a pool is alive while it has nothing to do, and dead while no worker has answered a batch for more than ten seconds', async () => {
  const { submit, batches, dispatcher, clock, turn } = heldDispatcher(1)
  clock.nowMs += 60_000
  assert.equal(dispatcher.isAlive(), true)
  submit('getL1InfoTreeIndex', POINT)
  await turn()
  clock.nowMs += 10_000
  assert.equal(dispatcher.isAlive(), true)
  clock.nowMs += 1
  assert.equal(dispatcher.isAlive(), false)
  batches[0]!.answer()
  await turn()
  assert.equal(dispatcher.isAlive(), true)
})

test('a point query behind a thousand large pages waits for one of them at most', async () => {
  for (const workers of [1, 2]) {
    const { submit, batches, answered, turn } = heldDispatcher(workers)
    for (let page = 0; page < 1_000; page++) submit('getBridges', PAGE)
    await turn()
    submit('getL1InfoTreeIndex', POINT)
    await turn()
    assert.deepEqual(
      batches.map(({ isLarge }) => isLarge),
      [...Array(workers).fill(true), false],
      'every worker has one large page at most, and the point is on its way beside them',
    )
    batches[0]!.answer()
    await turn()
    batches[workers]!.answer()
    await turn()
    assert.deepEqual(answered, ['getBridges', 'getL1InfoTreeIndex'])
  }
})

test('an endless stream of point queries does not keep a large page waiting', async () => {
  const { submit, batches, answered, turn } = heldDispatcher(1)
  for (let point = 0; point < 600; point++) submit('getL1InfoTreeIndex', POINT)
  await turn()
  submit('getBridges', PAGE)
  let next = 0
  while (!answered.includes('getBridges') && next < 10) {
    for (let point = 0; point < 300; point++) submit('getL1InfoTreeIndex', POINT)
    batches[next++]!.answer()
    await turn()
  }
  assert.ok(next <= 4, `${next} batches`)
})

test('a busy worker gets a second batch once sixteen point queries wait, an idle worker gets the first at once', async () => {
  const { submit, batches, answered, turn } = heldDispatcher(1)
  const submitPoints = async (count: number): Promise<number> => {
    for (let point = 0; point < count; point++) submit('getL1InfoTreeIndex', POINT)
    await turn()
    return batches.length
  }
  assert.deepEqual([await submitPoints(1), await submitPoints(15), await submitPoints(1)], [1, 1, 2])
  // With both slots in use the next queries wait, and travel together.
  assert.deepEqual([await submitPoints(20), await submitPoints(20)], [2, 2])
  batches[0]!.answer()
  await turn()
  assert.deepEqual([batches.length, answered.length], [3, 1])
})

test('while point queries arrive a large page is followed by a pause, otherwise by the next page at once', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { submit, batches, turn } = heldDispatcher(1)
  const shape = () => batches.map(({ isLarge }) => (isLarge ? 'page' : 'point')).join(' ')
  const answer = async (at: number): Promise<string> => {
    batches[at]!.answer()
    await turn()
    return shape()
  }
  const submitPoint = async (): Promise<string> => {
    submit('getL1InfoTreeIndex', POINT)
    await turn()
    return shape()
  }
  for (let page = 0; page < 5; page++) submit('getBridges', PAGE)
  await turn()
  assert.equal(await answer(0), 'page page', 'nobody else came')
  assert.equal(await submitPoint(), 'page page point')
  await answer(2)
  assert.equal(await answer(1), 'page page point', 'no page follows at once')
  assert.equal(await submitPoint(), 'page page point point', 'points do not wait')
  await answer(3)
  context.mock.timers.tick(60_000)
  assert.equal(shape(), 'page page point point page')
  assert.equal(await answer(4), 'page page point point page', 'a point that came in the rest counts')
  context.mock.timers.tick(60_000)
  assert.equal(await answer(5), 'page page point point page page page', 'nobody came since')
})

/** How many of the batch are of each operation. */
function counted(operations: readonly PoolOperation[]): string {
  const names = [...new Set(operations)]
  return names.map((name) => `${operations.filter((each) => each === name).length} ${name}`).join(', ')
}

test('a point travels with the next batch, however many pages wait, and few of these go with it', async () => {
  const batchAfter = async (coding: ContentCoding, pageSize: number): Promise<string> => {
    const { submit, batches, turn } = heldDispatcher(1)
    for (let page = 0; page < 3_000; page++) submit('getClaims', { ...USUAL_PAGE, pageSize }, coding)
    await turn()
    for (let point = 0; point < 10; point++) submit('getL1InfoTreeIndex', POINT)
    batches[0]!.answer()
    await turn()
    return counted(batches[2]!.operations)
  }
  // 768 KiB of answers, or 1.1 MB of work, of which compressing makes four of one.
  assert.equal(await batchAfter('identity', 100), '10 getL1InfoTreeIndex, 8 getClaims')
  assert.equal(await batchAfter('br', 100), '10 getL1InfoTreeIndex, 3 getClaims')
  assert.equal(await batchAfter('br', 200), '10 getL1InfoTreeIndex, 1 getClaims')
})

test('a list for which a set may have to be made waits with the pages, however few rows are asked for; one deposit is a point', async () => {
  const ROW = { networkId, pageNumber: 1, pageSize: 1 }
  const ONE_DEPOSIT = { ...ROW, depositCounts: [asDepositCount(7)], readyForClaim: true }
  const placeOf = async <K extends OperationId>(
    operation: K,
    query: QueryByOperation[K],
  ): Promise<string> => {
    const { offer, turn } = heldDispatcher(1, 20)
    // The lane of pages is full, that of points is empty.
    while (offer('getClaims', USUAL_PAGE));
    const place = offer(operation, query) ? 'points' : 'pages'
    await turn()
    return place
  }
  for (const filter of [
    { networkIds: [networkId] },
    { leafType: 1 },
    { claimed: false },
    { readyForClaim: true },
    { readyForClaim: true, depositCounts: [asDepositCount(7), asDepositCount(8)] },
  ])
    assert.equal(await placeOf('getBridges', { ...ROW, ...filter }), 'pages', JSON.stringify(filter))
  assert.equal(await placeOf('getClaims', { ...ROW, networkIds: [networkId] }), 'pages')
  for (const query of [ROW, ONE_DEPOSIT])
    assert.equal(await placeOf('getBridges', query), 'points', JSON.stringify(query))
  assert.equal(await placeOf('getClaims', ROW), 'points')
})

test('compressed pages whose rows lie anywhere go alone, as those of many rows do', async () => {
  const firstBatch = async (query: QueryByOperation['getClaims'], coding: ContentCoding) => {
    const { submit, batches, turn } = heldDispatcher(1)
    for (let page = 0; page < 10; page++) submit('getClaims', query, coding)
    await turn()
    return counted(batches[0]!.operations)
  }
  const rows = { ...USUAL_PAGE, pageSize: 200 }
  const scattered = { ...rows, toAddress: new Uint8Array(20) as Address }
  assert.equal(await firstBatch(rows, 'identity'), '4 getClaims')
  assert.equal(await firstBatch(scattered, 'identity'), '3 getClaims')
  assert.equal(await firstBatch(scattered, 'gzip'), '1 getClaims')
})

test('the way of a bridge waits with the pages and those of a transaction with the large ones, since they take longer than their bytes say', async () => {
  const { offer, submit, turn } = heldDispatcher(1, 20)
  const byTransaction = { transactionHash: new Uint8Array(32) as Hash }
  assert.ok(offer('getBridgeStatus', POINT))
  for (let page = 1; page < 20; page++) submit('getClaims', USUAL_PAGE)
  assert.equal(offer('getBridgeStatus', POINT), false)
  assert.ok(offer('getBridgeStatus', byTransaction))
  for (let page = 1; page < 20; page++) submit('getBridges', PAGE)
  assert.equal(offer('getBridgeStatus', byTransaction), false)
  submit('getL1InfoTreeIndex', POINT)
  await turn()
})

test('an endless stream of points does not keep a page waiting', async () => {
  const { submit, batches, answered, turn } = heldDispatcher(1)
  // A hundred of them have as many bytes as a batch may have.
  for (let point = 0; point < 600; point++) submit('getClaimTransaction', POINT)
  await turn()
  submit('getClaims', USUAL_PAGE)
  let next = 0
  while (!answered.includes('getClaims') && next < 10) {
    for (let point = 0; point < 300; point++) submit('getClaimTransaction', POINT)
    batches[next++]!.answer()
    await turn()
  }
  assert.ok(next <= 4, `${next} batches`)
})

test('each lane has a bound of its own: large pages, or pages, that wait have no other request refused', async () => {
  const { offer, turn } = heldDispatcher(1, 20)
  const taken = (operation: 'getBridges' | 'getClaims', query: typeof PAGE): number =>
    Array.from({ length: 40 }, () => offer(operation, query)).filter(Boolean).length
  assert.deepEqual([taken('getBridges', PAGE), taken('getClaims', USUAL_PAGE)], [20, 20])
  const points = Array.from({ length: 40 }, () => offer('getL1InfoTreeIndex', POINT))
  assert.equal(points.filter(Boolean).length, 20)
  await turn()
})

test('a request that nobody waits for any more is never worked on, and takes nobody the place', async () => {
  const { offer, submit, batches, answered, dispatcher, turn } = heldDispatcher(1, 20)
  const gone = new Set<number>()
  const leave = (operation: 'getBridges' | 'getClaims', query: typeof PAGE): void => {
    for (let client = 0; client < 20; client++) submit(operation, query, 'br', () => !gone.has(client))
  }
  leave('getBridges', PAGE)
  leave('getClaims', USUAL_PAGE)
  for (let client = 0; client < 20; client++) gone.add(client)
  // The lanes are full of them.
  assert.ok(offer('getBridges', PAGE))
  await turn()
  assert.ok(offer('getClaims', USUAL_PAGE))
  await turn()
  for (let at = 0; at < batches.length; at++) {
    batches[at]!.answer()
    await turn()
  }
  assert.deepEqual([answered.toSorted(), dispatcher.stats().waiting], [['getBridges', 'getClaims'], 0])
  // Nothing waits but for clients that have gone: the dispatcher ends.
  leave('getClaims', USUAL_PAGE)
  await dispatcher.close()
})

test('a batch waits from when it is sent until a worker begins it, or until it has failed', async () => {
  const memory = createSlotMemory(3)
  const slots = new BatchSlots(memory)
  const { slot } = slots.putQueries(1, Uint8Array.of(1, 2, 3))
  assert.equal(slots.isAnyWaiting(), true)
  slots.takeQueries({ slot })
  assert.equal(slots.isAnyWaiting(), false)
  const { submit, batches, turn, slots: ofDispatcher } = heldDispatcher(1)
  submit('getBridges', PAGE)
  submit('getL1InfoTreeIndex', POINT)
  await turn()
  batches[0]!.dieBefore()
  assert.equal(ofDispatcher.isAnyWaiting(), true)
  await turn()
  assert.equal(batches.length, 2, 'the page is asked again only when nothing else is in flight')
  assert.equal(ofDispatcher.isAnyWaiting(), false)
})
