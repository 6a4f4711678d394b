import assert from 'node:assert/strict'
import test from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { AnswerVersion } from '../../../src/board/version.js'
import { AnswerCache } from '../../../src/http/cache.js'
import type { CachedAnswer } from '../../../src/http/packedAnswers.js'
import { collectGarbage, readProcessMemory } from '../../../src/telemetry/processMemory.js'

const V1: AnswerVersion = { commits: 1, epoch: 0, halted: 0 }
const COMMIT: AnswerVersion = { commits: 2, epoch: 0, halted: 0 }
const REORG: AnswerVersion = { commits: 3, epoch: 1, halted: 0 }
const HALT: AnswerVersion = { commits: 1, epoch: 0, halted: 2 }

function answer(life: CachedAnswer['life'], body = 'x'): CachedAnswer {
  return {
    status: 200,
    body: new TextEncoder().encode(body),
    cacheControl: 'no-cache',
    lines: '',
    bodyLines: '',
    etag: '"t"',
    life,
    tokens: 0,
  }
}

const find = (cache: AnswerCache, key: string, version: AnswerVersion): string | undefined => {
  const found = cache.find('getBridges', key, 'identity', version)
  return found && new TextDecoder().decode(found.body)
}

test('a kept answer is found under its own operation, query and version only', () => {
  const cache = new AnswerCache(1 << 20)
  cache.keep('getBridges', 'a', 'identity', answer('commit'), V1, V1)
  assert.equal(find(cache, 'a', V1), 'x')
  assert.equal(find(cache, 'b', V1), undefined)
  assert.equal(cache.find('getClaims', 'a', 'identity', V1), undefined)
})

for (const [what, version] of [
  ['a commit', COMMIT],
  ['a halt', HALT],
  ['a reorg', REORG],
] as const)
  test(`${what} voids the kept answers that it may have changed`, () => {
    const cache = new AnswerCache(1 << 20)
    cache.keep('getBridges', 'page', 'identity', answer('commit'), V1, V1)
    cache.keep('getBridges', 'proof', 'identity', answer('epoch'), V1, V1)
    assert.equal(find(cache, 'page', version), undefined)
    assert.equal(find(cache, 'proof', version), version === COMMIT ? 'x' : undefined)
  })

test('an answer from before the last commit is not kept, nor a final answer from before the last reorg', () => {
  const cache = new AnswerCache(1 << 20)
  cache.keep('getBridges', 'page', 'identity', answer('commit'), V1, COMMIT)
  cache.keep('getBridges', 'proof', 'identity', answer('epoch'), V1, COMMIT)
  assert.deepEqual([find(cache, 'page', COMMIT), find(cache, 'proof', COMMIT)], [undefined, 'x'])
  cache.keep('getBridges', 'late', 'identity', answer('epoch'), COMMIT, REORG)
  assert.equal(find(cache, 'late', REORG), undefined)
})

test('the cache keeps a copy of the answer, not its buffer', () => {
  const cache = new AnswerCache(1 << 20)
  const batch = new TextEncoder().encode('one|two')
  cache.keep('getBridges', 'k', 'identity', { ...answer('commit'), body: batch.subarray(4) }, V1, V1)
  batch.fill(0)
  const found = cache.find('getBridges', 'k', 'identity', V1)!
  assert.equal(new TextDecoder().decode(found.body), 'two')
  const long = new Uint8Array(20_000).fill(1)
  cache.keep('getBridges', 'long', 'identity', { ...answer('commit'), body: long.subarray(1) }, V1, V1)
  long.fill(0)
  const foundLong = cache.find('getBridges', 'long', 'identity', V1)!
  assert.deepEqual(new Set(foundLong.body), new Set([1]))
  // Nothing but the body, in whole pages.
  assert.equal(foundLong.body.buffer.byteLength, 20_480)
})

test("the cache's bytes are bounded: the oldest answer is evicted, and a single huge answer is not kept", () => {
  const cache = new AnswerCache(32_000)
  for (let key = 0; key < 1_000; key++)
    cache.keep(
      'getBridges',
      String(key),
      'identity',
      answer(key % 2 === 0 ? 'commit' : 'epoch', 'y'.repeat(700)),
      V1,
      V1,
    )
  assert.ok(cache.stats().bytes <= 32_000 && cache.stats().bytes > 30_000, String(cache.stats().bytes))
  assert.equal(find(cache, '999', V1), 'y'.repeat(700))
  assert.equal(find(cache, '1', V1), undefined)
  cache.keep('getBridges', 'huge', 'identity', answer('commit', 'z'.repeat(1_500)), V1, V1)
  assert.equal(find(cache, 'huge', V1), undefined)
  find(cache, 'x', REORG)
  assert.equal(cache.stats().bytes, 0)
})

test('a route with hardly any hits is not cached for a while, other routes are', () => {
  const cache = new AnswerCache(1 << 20)
  let lookups = 0
  while (cache.isWorthwhile('getBridges')) find(cache, String(lookups++), V1)
  assert.equal(lookups, 2_048)
  assert.equal(cache.isWorthwhile('getClaims'), true)
  let pause = 1
  while (!cache.isWorthwhile('getBridges')) pause++
  assert.equal(pause, 32_768)
})

test('a query is found by an earlier spelling until its entry is evicted', () => {
  const cache = new AnswerCache(1 << 20)
  const spelled = (version: AnswerVersion) => cache.findSpelling('getBridges', 'b=1&a=2', 'identity', version)
  cache.keep('getBridges', '2;1;', 'identity', answer('commit'), V1, V1)
  assert.equal(spelled(V1), undefined)
  cache.addSpelling('getBridges', 'b=1&a=2', 'identity', '2;1;')
  assert.equal(new TextDecoder().decode(spelled(V1)?.body), 'x')
  assert.equal(cache.findSpelling('getBridges', 'b=1&a=2', 'gzip', V1), undefined)
  assert.equal(cache.findSpelling('getClaims', 'b=1&a=2', 'identity', V1), undefined)
  assert.equal(spelled(COMMIT), undefined)
  assert.equal(cache.stats().hits, 1)
})

test('a spelling never leads to an answer that was evicted or replaced', () => {
  const cache = new AnswerCache(32_000)
  const keep = (key: string) => cache.keep('getBridges', key, 'identity', answer('commit', key), V1, V1)
  const spelled = () => {
    const found = cache.findSpelling('getBridges', 'spelled', 'identity', V1)
    return found && new TextDecoder().decode(found.body)
  }
  keep('first')
  cache.addSpelling('getBridges', 'spelled', 'identity', 'first')
  assert.equal(spelled(), 'first')
  keep('first')
  assert.equal(spelled(), undefined)
  cache.addSpelling('getBridges', 'spelled', 'identity', 'first')
  for (let key = 0; find(cache, 'first', V1) !== undefined; key++) keep(String(key))
  assert.equal(spelled(), undefined)
})

test('a cache of zero bytes is never consulted', () => {
  assert.equal(new AnswerCache(0).isWorthwhile('getBridges'), false)
})

test('the budget counts keys, and long ones are kept as a digest: memory stays near the budget whatever clients ask', () => {
  const budget = 8 << 20
  const cache = new AnswerCache(budget)
  const before = usedBytes().all
  for (let at = 0; at < 40_000; at++) {
    const key = `${at};${'0x'.padEnd(2_000, 'f')}`
    cache.keep('getClaims', key, 'identity', answer('commit'), V1, V1)
    cache.addSpelling('getClaims', `from_address=${key}`, 'identity', key)
  }
  const grown = usedBytes().all - before
  assert.ok(cache.stats().bytes <= budget)
  assert.ok(grown < 1.5 * budget, `${grown} bytes for a budget of ${budget}`)
})

test('a key takes room by its length, and a long one that of its digest', () => {
  const keptWith = (length: number): number => {
    const cache = new AnswerCache(1 << 16)
    const keyOf = (at: number): string => String(at).padStart(length, 'k')
    for (let at = 0; at < 2_000; at++)
      cache.keep('getBridges', keyOf(at), 'identity', answer('commit'), V1, V1)
    assert.ok(cache.stats().bytes <= 1 << 16)
    return Array.from({ length: 2_000 }, (_, at) => find(cache, keyOf(at), V1)).filter((body) => body === 'x')
      .length
  }
  const [short, long, digest, hashed] = [10, 120, 44, 3_000].map(keptWith) as [number, number, number, number]
  assert.ok(short > 1.8 * long, `${short} and ${long}`)
  assert.equal(hashed, digest)
})

test('two long keys that differ in one letter have answers of their own', () => {
  const cache = new AnswerCache(1 << 20)
  const long = 'a'.repeat(3_000)
  cache.keep('getBridges', `${long}1`, 'identity', answer('commit', 'one'), V1, V1)
  cache.keep('getBridges', `${long}2`, 'identity', answer('commit', 'two'), V1, V1)
  assert.deepEqual([find(cache, `${long}1`, V1), find(cache, `${long}2`, V1)], ['one', 'two'])
  assert.equal(find(cache, long, V1), undefined)
})

test('short answers lie outside the JavaScript heap, where garbage grows to several times what is alive', () => {
  const bytesPerAnswer = (): number => {
    const cache = new AnswerCache(8 << 20)
    const keep = (from: number): void => {
      for (let at = from; at < from + 10_000; at++)
        cache.keep('getBridges', `${at};`, 'identity', answer('commit', 'y'.repeat(300)), V1, V1)
    }
    keep(0)
    find(cache, '', COMMIT)
    find(cache, '', V1)
    const before = usedBytes().heap
    keep(10_000)
    const grown = usedBytes().heap - before
    assert.equal(find(cache, '19999;', V1), 'y'.repeat(300))
    return grown / 10_000
  }
  // Code that the engine compiles meanwhile counts as heap: one run in many has half a megabyte more in one round.
  const rounds = Array.from({ length: 5 }, bytesPerAnswer).toSorted((one, other) => one - other)
  assert.ok((rounds[2] ?? Number.NaN) < 20, `${rounds} bytes`)
})

test('each key has its own answer or none, while others come and the oldest are written over', () => {
  const cache = new AnswerCache(1 << 16)
  const bodies = Array.from({ length: 3_000 }, (_, at) => `${at} ${'z'.repeat(at % 90)}`)
  for (const [at, body] of bodies.entries()) {
    cache.keep('getBridges', `${at}`, 'identity', answer(at % 3 === 0 ? 'epoch' : 'commit', body), V1, V1)
    for (const back of [0, 1, 7, 200, 700].filter((each) => each <= at)) {
      const found = find(cache, `${at - back}`, V1)
      assert.ok(found === undefined ? back > 0 : found === bodies[at - back], `${at - back}: ${found}`)
    }
  }
  find(cache, '0', REORG)
  cache.keep('getBridges', 'new', 'identity', answer('commit', 'new'), REORG, REORG)
  for (const at of bodies.keys()) assert.equal(find(cache, `${at}`, REORG), undefined)
  assert.equal(find(cache, 'new', REORG), 'new')
})

test('an answer comes back with its status, headers, tag and tokens', () => {
  const cache = new AnswerCache(1 << 20)
  const kept = [
    { ...answer('commit', 'one'), etag: '"a"', bodyLines: '\r\nContent-Type: a', tokens: 2.5 },
    { ...answer('epoch', ''), etag: '', status: 404, cacheControl: 'public', lines: '\r\nVary: b' },
    { ...answer('epoch', 'ä€😀'), etag: 'W/"c"' },
  ]
  for (const [at, one] of kept.entries()) cache.keep('getBridges', `€${at}`, 'br', one, V1, V1)
  for (const [at, { body, ...one }] of kept.entries()) {
    const { body: foundBody, isLent, ...found } = cache.find('getBridges', `€${at}`, 'br', V1)!
    assert.deepEqual(found, one)
    assert.deepEqual([...foundBody], [...body])
    assert.equal(isLent, true)
  }
})

for (const [what, length] of [
  ['short', 300],
  ['long', 20_000],
] as const)
  test(`${what} answers are dropped after a while, and their memory is given back within a minute`, () => {
    let nowMs = 0
    let collected = 0
    const budget = 8 << 20
    const cache = new AnswerCache(
      budget,
      () => nowMs,
      () => collected++,
    )
    for (let at = 0; at < budget / length; at++)
      cache.keep('getBridges', `${at}`, 'identity', answer('epoch', 'y'.repeat(length)), V1, V1)
    assert.ok(cache.stats().bytes > 0.9 * budget)
    const last = `${Math.floor(budget / length) - 1}`
    for (; nowMs < 15_000; nowMs += 1_000) cache.expire()
    assert.equal(find(cache, last, V1), 'y'.repeat(length))
    for (; nowMs < 60_000; nowMs += 1_000) cache.expire()
    assert.equal(find(cache, last, V1), undefined)
    assert.equal(cache.stats().bytes, 0)
    assert.equal(collected, 1)
  })

test('answers are kept after however many commits, each of which gives them other headers', () => {
  const cache = new AnswerCache(1 << 20)
  for (let commits = 1; commits <= 2_000; commits++) {
    const version: AnswerVersion = { commits, epoch: 0, halted: 0 }
    for (const life of ['commit', 'epoch'] as const) {
      const lines = `\r\nX-Data-Position: ${commits}`
      cache.keep('getBridges', `${life} ${commits}`, 'identity', { ...answer(life), lines }, version, version)
      const found = cache.find('getBridges', `${life} ${commits}`, 'identity', version)
      assert.equal(found?.lines, lines)
    }
  }
})

test('garbage is collected once nobody asks any more', () => {
  let nowMs = 0
  let collected = 0
  const cache = new AnswerCache(
    8 << 20,
    () => nowMs,
    () => collected++,
  )
  const keep = (): void => {
    for (let at = 0; at < 7; at++)
      cache.keep('getBridges', `${at}`, 'identity', answer('commit', 'y'.repeat(500_000)), V1, V1)
  }
  const pass = (isAsked: boolean): void => {
    for (const end = nowMs + 60_000; nowMs < end; nowMs += 1_000) {
      cache.expire()
      if (isAsked) find(cache, 'other', V1)
    }
  }
  for (let times = 0; times < 2; times++) {
    keep()
    pass(true)
  }
  assert.equal(collected, 0)
  pass(false)
  assert.equal(collected, 1)
})

for (const length of [20_000, 100_000])
  test(`the memory of answers of ${length} bytes is back 50 seconds later, before garbage is collected`, async () => {
    const budget = 64 << 20
    const one = answer('epoch', 'y'.repeat(length))
    collectGarbage()
    const before = readProcessMemory()!.anonymousBytes
    const grown = (): number => readProcessMemory()!.anonymousBytes - before
    let nowMs = 0
    const cache = new AnswerCache(
      budget,
      () => nowMs,
      () => undefined,
    )
    for (let at = 0; at < budget / length; at++) cache.keep('getBridges', `${at}`, 'identity', one, V1, V1)
    assert.ok(grown() > 0.8 * budget, `${grown()} bytes`)
    for (; nowMs < 50_000; nowMs += 1_000) {
      cache.expire()
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
    }
    assert.ok(grown() < 0.25 * budget, `${grown()} bytes`)
  })

test('memory of short answers goes back when it was not needed for a while, before garbage is collected', () => {
  let nowMs = 0
  const cache = new AnswerCache(
    8 << 20,
    () => nowMs,
    () => assert.fail('garbage was collected'),
  )
  cache.keep('getBridges', 'k', 'identity', answer('commit', 'y'.repeat(300)), V1, V1)
  const { buffer } = cache.find('getBridges', 'k', 'identity', V1)!.body
  assert.equal(buffer.byteLength, (8 << 20) / 64)
  for (; nowMs < 50_000; nowMs += 1_000) cache.expire()
  assert.equal(buffer.byteLength, 0)
})

test('memory that could not be had takes no room from answers that come later', (context) => {
  const cache = new AnswerCache(1 << 19)
  const keep = (key: string) =>
    cache.keep('getBridges', key, 'identity', answer('commit', 'y'.repeat(700)), V1, V1)
  const refuse = (): never => {
    throw new RangeError('Array buffer allocation failed')
  }
  const refused = [
    context.mock.method(globalThis, 'ArrayBuffer', refuse),
    context.mock.method(Buffer, 'allocUnsafeSlow', refuse),
  ]
  // So many segments there are; beyond them the cache would look for one that it can drop for ever.
  for (let times = 0; times < 63; times++) assert.throws(() => keep('refused'), RangeError)
  for (const { mock } of refused) mock.restore()
  for (let at = 0; at < 300; at++) keep(`${at}`)
  assert.equal(find(cache, '0', V1), 'y'.repeat(700))
})

/** Bytes in use once all garbage is gone. */
function usedBytes(): { readonly heap: number; readonly all: number } {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return { heap: heapUsed, all: heapUsed + external }
}
