import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { ApiKeys } from '../../../../src/http/limits/client.js'
import { TokenBuckets } from '../../../../src/http/limits/tokenBuckets.js'

const allowed = (buckets: TokenBuckets, client: string, cost: number, nowMs: number): boolean =>
  buckets.take(client, cost, nowMs).isAllowed

test('a client may use its burst, then the requests that accrue per second', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 2, burst: 10 }, 100)
  const balances = [0, 0, 0, 500, 500, 1_000].map((nowMs) => buckets.take('a', 4, nowMs))
  const facts = balances.map(({ isAllowed, remaining, resetSec, retryAfterSec }) => [
    ...[isAllowed, remaining, resetSec, retryAfterSec],
  ])
  // The third one is refused, for which a tenth of a token goes: 1.9, and after half a second 2.9.
  assert.deepEqual(facts, [
    [true, 6, 2, 0],
    [true, 2, 4, 0],
    [false, 1, 5, 2],
    [false, 2, 4, 1],
    [false, 2, 4, 1],
    [false, 3, 4, 1],
  ])
})

test('who goes on asking against an empty bucket gets nothing of what comes back, and who waits does', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 5, burst: 10 }, 100)
  for (const client of ['eager', 'patient']) assert.ok(allowed(buckets, client, 10, 0))
  let served = 0
  for (let nowMs = 10; nowMs <= 10_000; nowMs += 10) if (allowed(buckets, 'eager', 1, nowMs)) served++
  assert.equal(served, 0)
  assert.equal(allowed(buckets, 'patient', 10, 10_000), true)
})

test('fractions add up: a bucket of ten serves a hundred tenths, and tells whole tokens that are there', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 1e-9, burst: 10 }, 100)
  for (let spent = 1; spent <= 100; spent++) {
    const { isAllowed, remaining } = buckets.take('a', 0.1, 0)
    assert.deepEqual([isAllowed, remaining], [true, Math.floor((100 - spent) / 10)], String(spent))
  }
  assert.equal(allowed(buckets, 'a', 0.1, 0), false)
})

test('a request that costs more than the burst is served from a full bucket', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 1, burst: 10 }, 100)
  const { isAllowed, remaining, needed } = buckets.take('a', 33, 0)
  assert.deepEqual([isAllowed, remaining, needed], [true, 0, 10])
})

test('what a request did not cost after all comes back, up to a full bucket', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 1e-9, burst: 100 }, 100)
  buckets.take('a', 51, 0)
  assert.deepEqual([buckets.settle('a', 51, 2).remaining, buckets.take('a', 98, 0).isAllowed], [98, true])
  buckets.take('b', 200, 0)
  assert.equal(buckets.settle('b', 200, 2).remaining, 98, 'the burst was taken')
  assert.equal(buckets.settle('b', 50, 2).remaining, 100)
})

test('what an answer costs more is a debt of one burst at most, which refusals do not change and time pays', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 1, burst: 10 }, 100)
  assert.ok(allowed(buckets, 'a', 8, 0))
  const { remaining, tokens, resetSec } = buckets.settle('a', 8, 257)
  assert.deepEqual([remaining, tokens, resetSec], [0, -10, 20])
  for (let asked = 0; asked < 100; asked++) assert.equal(allowed(buckets, 'a', 1, 0), false)
  const refused = buckets.take('a', 1, 0)
  assert.deepEqual([refused.remaining, refused.retryAfterSec], [0, 11])
  assert.equal(allowed(buckets, 'a', 1, 10_900), false)
  assert.equal(allowed(buckets, 'a', 1, 13_000), true)
})

test('a refused client that waits for its Retry-After is served', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 3, burst: 100 }, 100)
  assert.ok(allowed(buckets, 'a', 98, 0))
  const { isAllowed, retryAfterSec } = buckets.take('a', 50, 0)
  assert.deepEqual([isAllowed, retryAfterSec], [false, 17])
  assert.equal(allowed(buckets, 'a', 50, retryAfterSec * 1_000), true)
})

test('a bucket never holds more than its burst, and a clock that steps back takes nothing away', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 5, burst: 10 }, 100)
  assert.equal(buckets.take('a', 10, 0).remaining, 0)
  assert.equal(buckets.take('a', 10, 1e9).isAllowed, true)
  assert.equal(buckets.take('a', 0, 0).remaining, 0)
})

test('clients do not share a bucket', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 1, burst: 10 }, 100)
  assert.deepEqual(
    ['a', 'a', 'b'].map((client) => allowed(buckets, client, 10, 0)),
    [true, false, true],
  )
})

test('a flood of clients does not fill the memory, and active clients keep their buckets', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 1, burst: 10 }, 1_000)
  assert.ok(allowed(buckets, 'steady', 10, 0))
  for (let client = 0; client < 100_000; client++) {
    buckets.take(`client ${client}`, 1, 0)
    if (client % 500 === 0) assert.equal(allowed(buckets, 'steady', 10, 0), false)
  }
  assert.equal(buckets.size, 1_000)
})

test('a key is recognised by its hash, from X-API-Key or as a bearer token', () => {
  const hash = (key: string): string => createHash('sha256').update(key).digest('hex')
  const keys = new ApiKeys([hash('first'), hash('second')])
  for (const [apiKey, authorization, position] of [
    ['second', '', 1],
    ['', 'Bearer first', 0],
    ['', 'bearer  second', 1],
    ['', 'Basic first', -1],
    ['', 'Bearer ', -1],
    ['', '', -1],
    ['third', '', -1],
    // A key that is sent must be valid: a second header is not tried.
    ['third', 'Bearer first', -1],
    [hash('first'), '', -1],
    ['x'.repeat(4_000), '', -1],
  ] as const)
    assert.equal(keys.positionOf(apiKey, authorization), position, `${apiKey}|${authorization}`)
  assert.equal(new ApiKeys([]).positionOf('first', ''), -1)
})
