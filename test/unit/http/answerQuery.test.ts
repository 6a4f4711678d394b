import assert from 'node:assert/strict'
import test from 'node:test'
import type { VersionNow } from '../../../src/board/version.js'
import { answerQuery, type QueryContext } from '../../../src/http/answerQuery.js'
import { AnswerCache } from '../../../src/http/cache.js'
import type { Exchange } from '../../../src/http/wire/exchange.js'
import type { WireRequest } from '../../../src/http/wire/wire.js'
import type { PoolRequest } from '../../../src/pool/requestLanes.js'
import { success } from '../../../src/query/answers.js'

const VERSION = { commits: 1, epoch: 0, halted: 0, isChanging: false }

/** A context whose pool answers at once, and what was seen of it. */
function contextWith(version: { now: VersionNow }) {
  const parsed: string[] = []
  const hits: string[] = []
  const etags: string[] = []
  const parse = (raw: string) => {
    parsed.push(raw)
    return success({ query: { networkId: 1 }, key: '1;' })
  }
  let asked = 0
  const context = {
    parsers: { getTokenMappings: parse },
    cache: new AnswerCache(1 << 20),
    pool: {
      submit: (request: PoolRequest) => {
        asked += 1
        const body = new TextEncoder().encode('{}')
        request.deliver({
          ...{ status: 200, body, coding: 'identity', tag: Buffer.from(`t${asked}`), retryAfterSec: 0 },
          ...{ life: 'commit', version: version.now, fault: undefined },
        })
        return true
      },
    },
    mayCompress: true,
    readPosition: () => '',
    readVersion: () => version.now,
    metrics: { cacheHit: (route: string) => hits.push(route) },
  } as unknown as QueryContext
  const exchange = {
    send: ({ etag }: { readonly etag: string }) => etags.push(etag),
    hold: () => undefined,
    isPlain: () => false,
    needsNoBody: () => false,
    needsNoTag: () => false,
  } as unknown as Exchange
  const ask = (raw: string): void =>
    answerQuery(context, exchange, 'getTokenMappings', raw, 'identity', {} as WireRequest)
  return { ask, parsed, hits, etags, context }
}

test('a query whose spelling was answered before is answered without parsing, and counted as a hit', () => {
  const { ask, parsed, hits, etags } = contextWith({ now: VERSION })
  for (const raw of ['network_id=1', 'network_id=1', 'network_id=1', 'network_id=1&x=2', 'network_id=1&x=2'])
    ask(raw)
  assert.deepEqual(etags, Array(5).fill('"t1"'))
  // The first request needs the pool, the second one learns the spelling, later ones need neither.
  assert.deepEqual(parsed, ['network_id=1', 'network_id=1', 'network_id=1&x=2'])
  assert.equal(hits.length, 4)
})

test('while a commit is under way no kept answer is given, since another reader may have seen the commit', () => {
  const version = { now: VERSION }
  const { ask, etags } = contextWith(version)
  ask('network_id=1')
  ask('network_id=1')
  version.now = { ...VERSION, isChanging: true }
  ask('network_id=1')
  ask('network_id=1')
  version.now = { ...VERSION, commits: 2 }
  ask('network_id=1')
  ask('network_id=1')
  assert.deepEqual(etags, ['"t1"', '"t1"', '"t2"', '"t3"', '"t4"', '"t4"'])
})

test('an answer for which there is no memory in the cache is sent all the same', () => {
  const { ask, etags, context } = contextWith({ now: VERSION })
  context.cache.keep = () => {
    throw new RangeError('Array buffer allocation failed')
  }
  assert.throws(() => ask('network_id=1'), RangeError)
  assert.deepEqual(etags, ['"t1"'])
})
