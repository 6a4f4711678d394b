import assert from 'node:assert/strict'
import test from 'node:test'
import type { AnswerVersion } from '../../../src/board/version.js'
import { decodeReplies, type QueryReply } from '../../../src/pool/batchMessages.js'
import { type ContentCoding, contentCodings } from '../../../src/pool/contentCoding.js'
import { QueryWriter } from '../../../src/pool/queryCodec.js'
import { createBatchRunner, type QueryFunctions } from '../../../src/pool/runBatch.js'
import { asDepositCount, asNetworkId } from '../../../src/protocol/units.js'
import { success } from '../../../src/query/answers.js'
import type { BridgeRecord } from '../../../src/query/records.js'
import { bridgeRecord, pageOf } from '../../support/sampleRecords.js'

const ROWS = 1_000
const SLOT_BYTES = 2 ** 20

/** A runner over shards that a test can change, whose pages have as many rows as asked, each with the state as deposit count. */
function sharedRunner(rowOf: (at: number) => BridgeRecord | undefined = () => undefined, maxBytes?: number) {
  const version: AnswerVersion = { commits: 3, epoch: 2, halted: 0 }
  const world = { state: 0, version, tasks: 0, failsAt: 0, isOpen: false, nowMs: 0 }
  const shards = {
    withSnapshots: <T>(body: () => T): T => {
      assert.ok(!world.isOpen)
      world.isOpen = true
      world.tasks++
      try {
        if (world.tasks === world.failsAt) throw new RangeError('Array buffer allocation failed')
        return body()
      } finally {
        world.isOpen = false
      }
    },
    rememberSnapshots: () => {
      const seen = world.state
      return () => world.state === seen
    },
  }
  const pages = {
    getBridges: (_: unknown, { pageSize }: { readonly pageSize: number }) => {
      const usual = bridgeRecord({ depositCount: asDepositCount(world.state) })
      const rows = new Proxy(Array<BridgeRecord>(pageSize), {
        get: (target, key) =>
          typeof key === 'string' && /^\d+$/.test(key)
            ? (rowOf(Number(key)) ?? usual)
            : Reflect.get(target, key),
      })
      return success(pageOf(rows))
    },
  } as unknown as QueryFunctions<typeof shards>
  const now = (): number => world.nowMs
  const runner = createBatchRunner(shards, pages, () => world.version, undefined, maxBytes, undefined, now)
  const commit = (commits: number): void => {
    world.version = { ...version, commits }
  }
  return { world, commit, runner }
}

function batchOf(pageSize: number, coding: ContentCoding = 'identity'): Uint8Array {
  const writer = new QueryWriter()
  writer.append({
    operation: 'getBridges',
    query: { networkId: asNetworkId(1), pageNumber: 1, pageSize },
    coding,
  })
  return writer.take()
}

const newSlot = (): Uint8Array<SharedArrayBuffer> => new Uint8Array(new SharedArrayBuffer(SLOT_BYTES))
const replyIn = (slot: Uint8Array): QueryReply => decodeReplies(slot)[0]!
const statesIn = (slot: Uint8Array): number[] => {
  const { bridges } = JSON.parse(Buffer.from(replyIn(slot).body).toString()) as {
    bridges: { deposit_count: number }[]
  }
  assert.equal(bridges.length, ROWS)
  return [...new Set(bridges.map((each) => each.deposit_count))]
}
const always = (): boolean => true
const never = (): boolean => false
const turn = (): Promise<void> => new Promise(setImmediate)

test('a page of 1,000 while no batch waits is written in one go, under snapshots that are taken once', async () => {
  const { world, runner } = sharedRunner()
  const slot = newSlot()
  let turns = 0
  setImmediate(() => turns++)
  await runner.runInSlices(batchOf(ROWS), slot, never)
  assert.deepEqual([statesIn(slot), world.tasks, turns], [[0], 1, 0])
})

test('a page that gives way has the bytes, tag, life and version of one that does not, in each coding', async () => {
  for (const coding of contentCodings) {
    const { world, runner } = sharedRunner()
    const [whole, sliced] = [newSlot(), newSlot()]
    runner.run(batchOf(ROWS, coding), whole)
    const before = world.tasks
    await runner.runInSlices(batchOf(ROWS, coding), sliced, always)
    assert.ok(world.tasks - before >= 5, String(world.tasks))
    const [atOnce, inSlices] = [replyIn(whole), replyIn(sliced)]
    assert.equal(inSlices.coding, coding)
    assert.deepEqual(Buffer.from(inSlices.body), Buffer.from(atOnce.body))
    assert.deepEqual({ ...inSlices, body: 0 }, { ...atOnce, body: 0 })
  }
})

test('batches that come while a page is written are answered before it, and no snapshot is held meanwhile', async () => {
  const { world, runner } = sharedRunner()
  const slot = newSlot()
  let isWhole = false
  const page = Promise.resolve(runner.runInSlices(batchOf(ROWS), slot, always)).then(() => {
    isWhole = true
  })
  for (let batch = 0; batch < 4; batch++) {
    const other = newSlot()
    runner.runInSlices(batchOf(1), other, never)
    assert.deepEqual([replyIn(other).status, isWhole, world.isOpen], [200, false, false])
    await turn()
  }
  await page
  assert.deepEqual(statesIn(slot), [0])
})

test('a page rests after each slice while other batches are run, and then goes on at once', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { world, runner } = sharedRunner()
  let waiting = true
  const page = runner.runInSlices(batchOf(ROWS), newSlot(), () => waiting)
  runner.runInSlices(batchOf(1), newSlot(), never)
  await turn()
  const rested = world.tasks
  assert.equal(rested, 3, 'the first slice, the batch, and the slice behind it')
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.equal(world.tasks, rested)
  waiting = false
  world.nowMs = 4.9
  context.mock.timers.tick(1)
  for (let turns = 0; turns < 10; turns++) await turn()
  assert.equal(world.tasks, rested + 1, 'a batch was run less than 5 ms ago')
  world.nowMs = 5
  context.mock.timers.tick(1)
  await page
  assert.equal(world.tasks, rested + 2, 'all the rest in one go')
})

test('while others ask, a page looks every 50 rows whether a batch waits and rests every 200; else it looks every 200', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  let written = 0
  const { runner } = sharedRunner((at) => {
    written = at + 1
    return undefined
  })
  const looks: number[] = []
  const look = (): boolean => {
    if (looks.at(-1) !== written) looks.push(written)
    return false
  }
  await runner.runInSlices(batchOf(ROWS), newSlot(), look)
  assert.deepEqual(looks.splice(0), [200, 400, 600, 800, 1_000])
  runner.runInSlices(batchOf(1), newSlot(), never)
  const page = runner.runInSlices(batchOf(ROWS), newSlot(), look)
  for (const rest of [200, 400, 600, 800]) {
    for (let turns = 0; turns < 10; turns++) await turn()
    assert.equal(written, rest)
    context.mock.timers.tick(1)
  }
  await page
  assert.deepEqual(
    looks,
    Array.from({ length: 20 }, (_, at) => 50 * (at + 1)),
  )
})

test('a batch that waits when all rows are written is run before the tag is made, and before the page is copied', async () => {
  let written = 0
  const { runner } = sharedRunner((at) => {
    written = at + 1
    return undefined
  })
  const slot = newSlot()
  const page = runner.runInSlices(batchOf(ROWS), slot, () => written === ROWS)
  const seen: boolean[] = []
  for (let turns = 0; turns < 3; turns++) {
    seen.push(replyIn(slot) !== undefined)
    await turn()
  }
  assert.deepEqual(seen, [false, false, true])
  await page
})

test('a page whose shards change between two slices is made anew from one state, without giving way again', async () => {
  const { world, commit, runner } = sharedRunner()
  const slot = newSlot()
  const page = runner.runInSlices(batchOf(ROWS), slot, always)
  world.state = 1
  commit(4)
  await page
  assert.deepEqual([statesIn(slot), world.tasks, replyIn(slot).version.commits], [[1], 3, 4])
})

test('a page that can not be made anew fails, and its memory serves one page at a time afterwards', async () => {
  const { world, runner } = sharedRunner()
  const failing = runner.runInSlices(batchOf(ROWS), newSlot(), always)
  world.state = 1
  world.failsAt = 3
  await assert.rejects(Promise.resolve(failing), { message: 'Array buffer allocation failed' })
  const slots = [newSlot(), newSlot()]
  await Promise.all(slots.map((slot) => runner.runInSlices(batchOf(ROWS), slot, always)))
  assert.deepEqual(slots.map(statesIn), [[1], [1]])
})

test('a page has the version that was read before its first slice', async () => {
  const { commit, runner } = sharedRunner()
  const slot = newSlot()
  const page = runner.runInSlices(batchOf(ROWS), slot, always)
  // It touches nothing that the page has read.
  commit(9)
  await page
  assert.equal(replyIn(slot).version.commits, 3)
})

test('an error in a late slice fails the page alone, as a fault that names it', async () => {
  const { runner } = sharedRunner((at) => {
    if (at < ROWS - 1) return undefined
    throw new TypeError('a late row')
  })
  const [slot, other] = [newSlot(), newSlot()]
  const page = runner.runInSlices(batchOf(ROWS), slot, always)
  await page
  assert.deepEqual([replyIn(slot).status, replyIn(slot).fault?.message], [500, 'a late row'])
  await runner.runInSlices(batchOf(ROWS - 1), other, always)
  assert.equal(replyIn(other).status, 200)
})

test('a page that grows too long in a late slice is refused, and the next one is answered', async () => {
  const { runner } = sharedRunner(
    (at) => (at === ROWS - 1 ? bridgeRecord({ metadata: new Uint8Array(2_000_000) }) : undefined),
    2_000_000,
  )
  const [slot, other] = [newSlot(), newSlot()]
  await runner.runInSlices(batchOf(ROWS), slot, always)
  assert.equal(replyIn(slot).status, 400)
  assert.match(Buffer.from(replyIn(slot).body).toString(), /more than 2000000 bytes/)
  await runner.runInSlices(batchOf(ROWS - 1), other, always)
  assert.equal(replyIn(other).status, 200)
})

test('a trap of WebAssembly in a late slice is no answer: it is thrown, so that the thread ends', async () => {
  const { runner } = sharedRunner((at) => {
    if (at < ROWS - 1) return undefined
    throw Object.assign(new Error('unreachable'), { name: 'RuntimeError' })
  })
  await assert.rejects(Promise.resolve(runner.runInSlices(batchOf(ROWS), newSlot(), always)), {
    name: 'RuntimeError',
  })
})

test('two pages that give way to one another are both whole', async () => {
  const { runner } = sharedRunner()
  const slots = [newSlot(), newSlot()]
  await Promise.all(slots.map((slot) => runner.runInSlices(batchOf(ROWS, 'identity'), slot, always)))
  assert.deepEqual(slots.map(statesIn), [[0], [0]])
})
