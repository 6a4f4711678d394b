import assert from 'node:assert/strict'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { QueryReply } from '../../../src/pool/batchMessages.js'
import { threadFlags } from '../../../src/pool/queryPool.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../../../src/protocol/units.js'
import { ask, askIndex, type FakePool, jsonOf, startFakePool } from '../../support/fakePool.js'
import { arrivalAt, faultCounts, HEAVY_PAGE, letGo } from '../../support/fakeQueryFaults.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { tempFolder } from '../../support/tempFolder.js'

async function poolFor(context: TestContext, pool = { workers: 1, maxQueue: 1000 }): Promise<FakePool> {
  const fake = await startFakePool(loadedConfig(tempFolder(context), { pool }))
  context.after(() => fake.pool.close())
  return fake
}

const timestampOf = (value: unknown): number => (value as { timestamp: number }).timestamp
const network = asNetworkId(1)

test('requests of one event loop turn travel as one batch, and each gets its own answer', async (context) => {
  const { pool, batchSizes } = await poolFor(context)
  const asked = Array.from({ length: 100 }, (_, count) => count)
  const replies = await Promise.all(asked.map((count) => askIndex(pool, count)))
  assert.deepEqual(
    replies.map((reply) => timestampOf(jsonOf(reply))),
    asked,
  )
  assert.deepEqual(batchSizes, [100])
})

test('a batch has at most 256 requests', async (context) => {
  const { pool, batchSizes } = await poolFor(context)
  await Promise.all(Array.from({ length: 600 }, (_, count) => askIndex(pool, count)))
  assert.deepEqual(batchSizes, [256, 256, 88])
})

test('a batch has only as many pages as its byte budget allows, and a large page travels alone', async (context) => {
  const { pool, batchSizes } = await poolFor(context)
  const page = (pageSize: number) => ask(pool, 'getBridges', { networkId: network, pageNumber: 1, pageSize })
  const sizes = [100, 1000, 100, 100, 100, 100, 100, 100]
  const replies = await Promise.all([...sizes.map(page), askIndex(pool, 1)])
  assert.deepEqual(
    replies.slice(0, -1).map((reply) => (jsonOf(reply) as { bridges: unknown[] }).bridges.length),
    sizes,
  )
  // The point travels with the first six pages, though it came after seven of them.
  assert.deepEqual(
    batchSizes.toSorted((left, right) => left - right),
    [1, 1, 7],
  )
})

test('all operations in one batch are answered, failures beside successes', async (context) => {
  const { pool } = await poolFor(context)
  const deposit = { networkId: network, depositCount: asDepositCount(7) }
  const missing = { networkId: network, depositCount: asDepositCount(faultCounts.notFound) }
  const waiting = {
    networkId: network,
    depositCount: asDepositCount(faultCounts.notYet),
    leafIndex: asL1InfoTreeIndex(1),
  }
  const replies = await Promise.all([
    ask(pool, 'getBridges', { networkId: network, pageNumber: 1, pageSize: 2 }),
    ask(pool, 'getClaims', { networkId: network, pageNumber: 1, pageSize: 2 }),
    ask(pool, 'getTokenMappings', { pageNumber: 1, pageSize: 2 }),
    ask(pool, 'getClaimProof', { ...deposit, leafIndex: asL1InfoTreeIndex(0) }),
    ask(pool, 'getClaimProof', { ...deposit, leafIndex: asL1InfoTreeIndex(1) }),
    ask(pool, 'getL1InfoTreeIndex', deposit),
    ask(pool, 'getL1InfoTreeIndex', missing),
    ask(pool, 'getClaimProof', waiting),
    ask(pool, 'getClaimTransaction', deposit),
    askIndex(pool, faultCounts.unavailable),
  ])
  assert.deepEqual(
    replies.map(({ status, life, retryAfterSec }) => [status, life, retryAfterSec]),
    [
      [200, 'commit', 0],
      [200, 'commit', 0],
      [200, 'commit', 0],
      [200, 'epoch', 0],
      [200, 'commit', 0],
      [200, 'commit', 0],
      [404, 'commit', 0],
      [404, 'commit', 12],
      [200, 'commit', 0],
      [503, undefined, 5],
    ],
  )
  assert.deepEqual(jsonOf(replies[6]!), {
    error: { code: 'BRIDGE_NOT_FOUND', message: 'deposit 5 of network 1 is not indexed' },
  })
})

test('an answer has the version that was read before its first row', async (context) => {
  const { pool } = await poolFor(context)
  const [before] = await Promise.all([askIndex(pool, faultCounts.commitWhileReading)])
  const after = await askIndex(pool, 1)
  assert.deepEqual([before.version.commits, after.version.commits], [0, 1])
})

test('a full queue refuses at once, and requests that it took are answered', async (context) => {
  const { pool, gate } = await poolFor(context, { workers: 1, maxQueue: 5 })
  const held = askIndex(pool, faultCounts.hold)
  await arrivalAt(gate)
  const taken = Array.from({ length: 5 }, (_, count) => askIndex(pool, count))
  await assert.rejects(askIndex(pool, 9), /refused/)
  letGo(gate)
  await Promise.all([held, ...taken])
  assert.equal((await askIndex(pool, 10)).status, 200)
})

test('an exception fails its own query, and the worker continues', async (context) => {
  const { pool, restarts } = await poolFor(context)
  const [good, bad, other] = await Promise.all([
    askIndex(pool, 1),
    askIndex(pool, faultCounts.throw),
    askIndex(pool, 2),
  ])
  assert.deepEqual([good.status, bad.status, other.status], [200, 500, 200])
  assert.equal(bad.body.length, 0)
  assert.deepEqual(
    [bad.fault?.name, bad.fault?.message, bad.fault?.isInvariant, bad.fault?.networkId],
    ['TypeError', 'thrown on purpose', false, 1],
  )
  assert.equal(restarts(), 0)
})

test('an exception in the middle of an answer leaves no part of that answer behind', async (context) => {
  const { pool } = await poolFor(context)
  const proof = (count: number) =>
    ask(pool, 'getClaimProof', {
      networkId: network,
      depositCount: asDepositCount(count),
      leafIndex: asL1InfoTreeIndex(1),
    })
  const [before, bad, after] = await Promise.all([proof(1), proof(faultCounts.halfWritten), proof(2)])
  assert.deepEqual([before.status, bad.status, after.status], [200, 500, 200])
  assert.equal(bad.fault?.name, 'TypeError')
  assert.deepEqual(jsonOf(after), jsonOf(before))
})

test('a store that contradicts itself is reported with its network', async (context) => {
  const { pool, corrupt } = await poolFor(context)
  const reply = await askIndex(pool, faultCounts.invariant)
  assert.equal(reply.status, 500)
  assert.deepEqual(corrupt, [[2, 'root 0xaa stored, 0xbb computed']])
})

for (const [name, fault] of [
  ['exits', faultCounts.exit],
  ['meets a wasm trap', faultCounts.trap],
] as const)
  test(`a worker that ${name} costs the query that caused it, and no other`, async (context) => {
    const { pool, restarts } = await poolFor(context)
    const replies = await Promise.all([1, 2, fault, 3, 4].map((count) => askIndex(pool, count)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 500, 200, 200],
    )
    assert.match(replies[2]!.fault!.message, /worker died twice on this query/)
    assert.equal(restarts(), 2)
    assert.equal((await askIndex(pool, 5)).status, 200)
    assert.equal(pool.isAlive(), true)
  })

test('with two workers, only the query that kills a worker fails', async (context) => {
  const { pool } = await poolFor(context, { workers: 2, maxQueue: 1000 })
  const counts = Array.from({ length: 60 }, (_, count) =>
    count === 20 || count === 50 ? faultCounts.exit : count,
  )
  const replies = await Promise.all(counts.map((count) => askIndex(pool, count)))
  assert.deepEqual(
    replies.map(({ status }) => status),
    counts.map((count) => (count === faultCounts.exit ? 500 : 200)),
  )
})

test('idle workers share the requests of one event loop turn', async (context) => {
  const { pool, batchSizes } = await poolFor(context, { workers: 2, maxQueue: 1000 })
  await Promise.all(Array.from({ length: 64 }, (_, count) => askIndex(pool, count)))
  assert.deepEqual(batchSizes, [32, 32])
})

test('closing the pool answers waiting requests and refuses later ones', async (context) => {
  const { pool, gate } = await poolFor(context)
  const held = askIndex(pool, faultCounts.hold)
  await arrivalAt(gate)
  const waiting = [1, 2, 3].map((count) => askIndex(pool, count))
  const closed = pool.close()
  await assert.rejects(askIndex(pool, 4), /refused/)
  letGo(gate)
  const replies = await Promise.all([held, ...waiting])
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200, 200],
  )
  await closed
})

test('answers and queries too long for the shared memory arrive whole', async (context) => {
  const { pool, batchSizes } = await poolFor(context)
  // 100 rows with 8 KB of metadata each are 1.7 MB of JSON.
  const heavy = ask(pool, 'getBridges', { networkId: network, pageNumber: HEAVY_PAGE, pageSize: 100 })
  assert.equal((jsonOf(await heavy) as { bridges: unknown[] }).bridges.length, 100)
  // 256 lists of 100 numbers are 102 KB.
  const depositCounts = Array.from({ length: 100 }, (_, count) => asDepositCount(count))
  const listed = Array.from({ length: 256 }, (_, pageNumber) =>
    ask(pool, 'getBridges', { networkId: network, pageNumber, pageSize: 1, depositCounts }),
  )
  const pages = (await Promise.all(listed)).map(
    (reply) => (jsonOf(reply) as { pagination: { page: number } }).pagination.page,
  )
  assert.deepEqual(
    pages,
    Array.from({ length: 256 }, (_, pageNumber) => pageNumber),
  )
  assert.deepEqual(batchSizes, [1, 256])
})

test('no batch overwrites answers that are being delivered', async (context) => {
  const { pool } = await poolFor(context)
  const isRight: boolean[] = []
  await new Promise<void>((resolve) => {
    const submit = (depositCount: number): void => {
      const deliver = (reply: QueryReply): void => {
        // The answers of one batch are delivered in a row, while the worker already has the next batches.
        const { timestamp } = jsonOf(reply) as { timestamp: number }
        isRight.push(timestamp === depositCount)
        if (isRight.length === 20_000) resolve()
        if (isRight.length <= 19_000) submit(depositCount + 100_000)
      }
      const query = { networkId: network, depositCount: asDepositCount(depositCount) }
      const isWanted = (): boolean => true
      pool.submit({ operation: 'getL1InfoTreeIndex', query, coding: 'identity', isWanted, deliver })
    }
    for (let count = 0; count < 1_000; count++) submit(count)
  })
  assert.deepEqual([isRight.length, isRight.indexOf(false)], [20_000, -1])
})

test('a pool whose worker cannot start fails to start', async (context) => {
  const config = loadedConfig(tempFolder(context))
  await assert.rejects(
    startFakePool(config, { workerFile: new URL('./noSuchWorker.js', import.meta.url) }),
    /noSuchWorker/,
  )
})

test('query threads start under every flag of Node, and get those that load code', async () => {
  assert.deepEqual(
    threadFlags(['--max-old-space-size=500', '--require', 'trace', '--import=./a.js', '--secure-heap=4096']),
    ['--require', 'trace', '--import=./a.js'],
  )
  const flags = threadFlags(['--max-old-space-size=500', '--secure-heap=4096', '--enable-source-maps'])
  const [code] = (await once(new Worker('', { eval: true, execArgv: flags }), 'exit')) as [number]
  assert.equal(code, 0)
})
