import assert from 'node:assert/strict'
import test from 'node:test'
import { success } from '../../../src/errors/answers.js'
import { answerQuery, type QueryDesk } from '../../../src/http/answerQuery.js'
import { AnswerCache } from '../../../src/http/cache.js'
import type { Exchange } from '../../../src/http/respond.js'
import type { PoolRequest } from '../../../src/pool/requestLanes.js'

const VERSION = { tip: 1, epoch: 0, halted: 0 }

test('a query that was spelled like this before is answered without parsing it, and counted as a hit', () => {
  const parsed: string[] = []
  const hits: string[] = []
  const parse = (raw: string) => {
    parsed.push(raw)
    return success({ query: { networkId: 1 }, key: '1;' })
  }
  const desk = {
    parsers: { getTokenMappings: parse },
    cache: new AnswerCache(1 << 20),
    pool: {
      submit: (request: PoolRequest) => {
        const body = new TextEncoder().encode('{}')
        request.settle({
          ...{ status: 200, body, coding: 'identity', tag: Buffer.from('t'), retryAfterSec: 0 },
          ...{ life: 'version', version: VERSION, fault: undefined },
        })
        return true
      },
    },
    isCoding: true,
    readVersion: () => VERSION,
    metrics: { cacheHit: (route: string) => hits.push(route) },
  } as unknown as QueryDesk
  const etags: string[] = []
  const exchange = {
    send: ({ etag }: { readonly etag: string }) => etags.push(etag),
    hold: () => undefined,
  } as unknown as Exchange
  for (const raw of ['network_id=1', 'network_id=1', 'network_id=1', 'network_id=1&x=2', 'network_id=1&x=2'])
    answerQuery(desk, exchange, 'getTokenMappings', raw, 'identity')
  assert.deepEqual(etags, Array(5).fill('"t"'))
  // The first time for the pool, the second time to learn the spelling; then no more.
  assert.deepEqual(parsed, ['network_id=1', 'network_id=1', 'network_id=1&x=2'])
  assert.equal(hits.length, 4)
})
