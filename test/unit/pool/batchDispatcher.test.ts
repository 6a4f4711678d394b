import assert from 'node:assert/strict'
import test from 'node:test'
import { routes } from '../../../src/api/routes.js'
import { BatchDispatcher } from '../../../src/pool/batchDispatcher.js'
import { ReplyHead, replyHeadBytes } from '../../../src/pool/batchMessages.js'
import { BatchSlots, createSlotMemory } from '../../../src/pool/batchSlots.js'
import { decodeQueries } from '../../../src/pool/queryCodec.js'
import { asDepositCount, asNetworkId } from '../../../src/protocol/units.js'
import type { OperationId, QueryByOperation } from '../../../src/query/queries.js'
import { createLogger } from '../../../src/telemetry/logger.js'

const networkId = asNetworkId(1)
const PAGE = { networkId, pageNumber: 1, pageSize: 1_000 }
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
function heldDispatcher(workers: number) {
  const batches: { readonly isLarge: boolean; answer(): void }[] = []
  const memory = createSlotMemory(2 * workers + 1)
  const slots = new BatchSlots(memory)
  const dispatcher = new BatchDispatcher({
    now: () => performance.now(),
    run: (task) =>
      new Promise((resolve) => {
        const queries = decodeQueries(slots.queriesOf(task))
        batches.push({
          isLarge: queries[0]!.operation === 'getBridges',
          answer: () => {
            putEmptyReply(queries.length, slots.replyOf(task.slot))
            resolve(undefined)
          },
        })
      }),
    slots: memory,
    workers,
    maxInFlight: 2 * workers,
    maxWaiting: 10_000,
    logger: createLogger({ level: 'error', format: 'json' }, {}, () => undefined),
    metrics: { batchFinished: () => undefined, workerRestarted: () => undefined, rejected: () => undefined },
    onCorruptStore: () => undefined,
  })
  const answered: OperationId[] = []
  const submit = <K extends OperationId>(operation: K, query: QueryByOperation[K]): void => {
    const estimate = routes[operation].estimateBytes as (query: QueryByOperation[K]) => number
    const isTaken = dispatcher.submit(
      { operation, query, coding: 'identity', deliver: () => answered.push(operation) },
      estimate(query),
    )
    assert.ok(isTaken)
  }
  return { submit, batches, answered, turn: () => new Promise<void>(setImmediate) }
}

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
