import assert from 'node:assert/strict'
import test from 'node:test'
import { AnswerCache, type CachedAnswer } from '../../../src/http/cache.js'
import type { ShardVersion } from '../../../src/pool/shardVersion.js'

const V1: ShardVersion = { tip: 1, epoch: 0, halted: 0 }
const COMMIT: ShardVersion = { tip: 2, epoch: 0, halted: 0 }
const REORG: ShardVersion = { tip: 3, epoch: 1, halted: 0 }
const HALT: ShardVersion = { tip: 1, epoch: 0, halted: 2 }

function answer(life: CachedAnswer['life'], body = 'x'): CachedAnswer {
  return { status: 200, body: new TextEncoder().encode(body), retryAfterSec: 0, life }
}

const find = (cache: AnswerCache, key: string, version: ShardVersion): string | undefined => {
  const found = cache.find('getBridges', key, version)
  return found && new TextDecoder().decode(found.body)
}

test('an answer is found under its own operation, query and version only', () => {
  const cache = new AnswerCache(1 << 20)
  cache.keep('getBridges', 'a', answer('version'), V1, V1)
  assert.equal(find(cache, 'a', V1), 'x')
  assert.equal(find(cache, 'b', V1), undefined)
  assert.equal(cache.find('getClaims', 'a', V1), undefined)
})

for (const [what, version] of [
  ['a commit', COMMIT],
  ['a halt', HALT],
  ['a reorg', REORG],
] as const)
  test(`${what} voids what it may have changed`, () => {
    const cache = new AnswerCache(1 << 20)
    cache.keep('getBridges', 'page', answer('version'), V1, V1)
    cache.keep('getBridges', 'proof', answer('epoch'), V1, V1)
    assert.equal(find(cache, 'page', version), undefined)
    assert.equal(find(cache, 'proof', version), version === COMMIT ? 'x' : undefined)
  })

test('an answer made before the last commit is not kept, a final one made before the last reorg neither', () => {
  const cache = new AnswerCache(1 << 20)
  cache.keep('getBridges', 'page', answer('version'), V1, COMMIT)
  cache.keep('getBridges', 'proof', answer('epoch'), V1, COMMIT)
  assert.deepEqual([find(cache, 'page', COMMIT), find(cache, 'proof', COMMIT)], [undefined, 'x'])
  cache.keep('getBridges', 'late', answer('epoch'), COMMIT, REORG)
  assert.equal(find(cache, 'late', REORG), undefined)
})

test('the cache keeps a copy, not the buffer that the answer came in', () => {
  const cache = new AnswerCache(1 << 20)
  const batch = new TextEncoder().encode('one|two')
  cache.keep('getBridges', 'k', { ...answer('version'), body: batch.subarray(4) }, V1, V1)
  batch.fill(0)
  const found = cache.find('getBridges', 'k', V1)!
  assert.equal(new TextDecoder().decode(found.body), 'two')
  assert.equal(found.body.buffer.byteLength, 3)
})

test('bytes are bounded: the oldest goes, a single huge answer is not taken', () => {
  const cache = new AnswerCache(16_000)
  for (let key = 0; key < 1_000; key++)
    cache.keep(
      'getBridges',
      String(key),
      answer(key % 2 === 0 ? 'version' : 'epoch', 'y'.repeat(700)),
      V1,
      V1,
    )
  assert.ok(cache.stats().bytes <= 16_000 && cache.stats().bytes > 14_000, String(cache.stats().bytes))
  assert.equal(find(cache, '999', V1), 'y'.repeat(700))
  assert.equal(find(cache, '1', V1), undefined)
  cache.keep('getBridges', 'huge', answer('version', 'z'.repeat(1_500)), V1, V1)
  assert.equal(find(cache, 'huge', V1), undefined)
  find(cache, 'x', REORG)
  assert.equal(cache.stats().bytes, 0)
})

test('a route that hardly ever hits is switched off for a while, others are not', () => {
  const cache = new AnswerCache(1 << 20)
  let lookups = 0
  while (cache.isWorthwhile('getBridges')) find(cache, String(lookups++), V1)
  assert.equal(lookups, 2_048)
  assert.equal(cache.isWorthwhile('getClaims'), true)
  let pause = 1
  while (!cache.isWorthwhile('getBridges')) pause++
  assert.equal(pause, 32_768)
})
