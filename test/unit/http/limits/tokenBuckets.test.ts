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
  assert.deepEqual(balances, [
    { isAllowed: true, remaining: 6, resetSec: 2, retryAfterSec: 0 },
    { isAllowed: true, remaining: 2, resetSec: 4, retryAfterSec: 0 },
    { isAllowed: false, remaining: 2, resetSec: 4, retryAfterSec: 1 },
    { isAllowed: false, remaining: 3, resetSec: 4, retryAfterSec: 1 },
    { isAllowed: false, remaining: 3, resetSec: 4, retryAfterSec: 1 },
    { isAllowed: true, remaining: 0, resetSec: 5, retryAfterSec: 0 },
  ])
})

test('a refused client that waits for its Retry-After is served', () => {
  const buckets = new TokenBuckets({ tokensPerSec: 3, burst: 100 }, 100)
  assert.ok(allowed(buckets, 'a', 98, 0))
  const { isAllowed, retryAfterSec } = buckets.take('a', 50, 0)
  assert.deepEqual([isAllowed, retryAfterSec], [false, 16])
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
