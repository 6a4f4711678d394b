import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrustedProxies } from '../../../src/http/limits/trustedProxies.js'
import { RequestLog } from '../../../src/http/requestLog.js'
import type { WireRequest } from '../../../src/http/wire/wire.js'
import { createLogger, type RequestLines } from '../../../src/telemetry/logger.js'

/** @param lines which lines there are. */
function log(lines: RequestLines) {
  const proxies = new TrustedProxies([])
  const written: string[] = []
  const logger = createLogger({ level: 'debug', format: 'json' }, {}, (line) => written.push(line))
  const records = () =>
    written.map((line) => {
      const { ts: _, ...rest } = JSON.parse(line) as Record<string, unknown>
      return rest
    })
  return { subject: new RequestLog(() => lines, proxies, logger), proxies, written, records }
}

const ENDED = {
  ...{ requestId: 'abc', method: 'GET', route: 'getBridges', status: 200, durationMs: 1.23456 },
  client: '192.0.2.1',
}

test('a line has id, method, path of the route, status, time and client', () => {
  const { subject, records } = log('info')
  subject.write(ENDED)
  assert.deepEqual(records(), [
    {
      ...{ level: 'info', msg: 'request', request_id: 'abc', method: 'GET' },
      ...{ route: '/bridge/v1/bridges', status: 200, duration_ms: 1.23, client: '192.0.2.1' },
    },
  ])
})

test('a request whose client went away has no status', () => {
  const { subject, records } = log('debug')
  subject.write({ ...ENDED, status: undefined })
  const { status, aborted, level } = records()[0]!
  assert.deepEqual([status, aborted, level], [undefined, true, 'debug'])
})

test('where only failures are wanted, answers from 500 on have a line', () => {
  const { subject, records } = log('warn')
  for (const status of [200, 304, 404, 429, 499, 500, 503, undefined]) subject.write({ ...ENDED, status })
  assert.deepEqual(
    records().map(({ status }) => status),
    [500, 503],
  )
  assert.deepEqual([subject.isOn(), subject.isOfEach()], [true, false])
})

test('without lines nothing is on and nothing is written', () => {
  const { subject, written } = log(undefined)
  subject.write(ENDED)
  assert.deepEqual([written, subject.isOn(), subject.isOfEach()], [[], false, false])
})

test('nothing in a line is obeyed by a terminal or begins another line', () => {
  const { subject, written, records } = log('info')
  const evil = 'GE\u001b[2J\n{"level":"error"}\u202e'
  subject.write({ ...ENDED, method: evil, client: evil, requestId: evil })
  assert.equal(written.length, 1)
  assert.match(written[0]!, /^[\u0020-\u007e]+\n$/)
  assert.equal(records()[0]!.method, evil)
})

test('the client is the other end, or the last address in X-Forwarded-For that is no proxy of ours', () => {
  const request = (forwarded: string): WireRequest => ({
    getMethod: () => 'get',
    getUrl: () => '/',
    getQuery: () => undefined,
    getHeader: () => '',
    forEach: (take) => take('x-forwarded-for', forwarded),
  })
  const { subject, proxies } = log('info')
  const forged = request('198.51.100.9')
  assert.equal(subject.clientOf('203.0.113.7', forged), '203.0.113.7')
  assert.equal(subject.clientOf('::ffff:203.0.113.7', forged), '203.0.113.7')
  assert.equal(subject.clientOf(new Uint8Array([203, 0, 113, 7]).buffer, forged), '203.0.113.7')
  assert.equal(subject.clientOf('2001:DB8:0:0:0:0:0:1', forged), '2001:db8::1')
  proxies.replace(['203.0.113.0/24'])
  assert.equal(subject.clientOf('203.0.113.7', forged), '198.51.100.9')
  assert.equal(subject.clientOf('203.0.113.7', request('junk\u001b[2J, 198.51.100.9')), '198.51.100.9')
  assert.equal(subject.clientOf('203.0.113.7', request('junk\u001b[2J')), '203.0.113.7')
})
