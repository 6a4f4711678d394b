import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStatusBoard, statusRow } from '../../../src/board/statusBoard.js'
import { createVersionReader } from '../../../src/board/version.js'
import { TrustedProxies } from '../../../src/http/limits/trustedProxies.js'
import { refuseAlone, Sequences } from '../../../src/http/sequences.js'
import type { Exchange } from '../../../src/http/wire/exchange.js'
import type { WireRequest } from '../../../src/http/wire/wire.js'
import type { Failure } from '../../../src/query/answers.js'

const DEADLINE_MS = 10_000

/** Networks 0 and 1, of which log 1 is stored up to 7, and what became of one request. */
function open(context: TestContext) {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const status = createStatusBoard([0, 1])
  const row = statusRow(status, 1)
  row.set('logSequence', 7)
  const state = { nowMs: 0 }
  const version = createVersionReader(status)
  const sequences = new Sequences(status, version, DEADLINE_MS, new TrustedProxies([]), () => state.nowMs)
  const pass = (ms: number) => {
    state.nowMs += ms
    context.mock.timers.tick(ms)
  }
  const ask = (rawQuery: string, client = '192.0.2.1') => {
    const seen: (string | Failure['message'])[] = []
    const exchange = {
      isWaiting: true,
      hold: () => seen.push('held'),
      peerAddress: () => client,
      refuse: ({ code, message }: Failure) => seen.push(`${code} ${message}`),
    }
    const request = {} as WireRequest
    sequences.whenStored(rawQuery, exchange as unknown as Exchange, request, () => seen.push('answered'))
    return { seen, exchange }
  }
  return { status, row, sequences, ask, pass }
}

test('a request for what is stored is answered at once, one for more when the log was stored so far', (context) => {
  const { row, ask, pass } = open(context)
  assert.deepEqual(ask('network_id=1&min_sequence=1:7').seen, ['answered'])
  const { seen } = ask('min_sequence=0:0,1:9')
  pass(100)
  row.set('logSequence', 8)
  pass(100)
  assert.deepEqual(seen, ['held'])
  row.set('logSequence', 9)
  pass(5)
  assert.deepEqual(seen, ['held', 'answered'])
})

test('when the log is not stored so far shortly before the deadline, the request is refused with what is there', (context) => {
  const { ask, pass } = open(context)
  const { seen } = ask('min_sequence=1:9')
  pass(7_990)
  assert.deepEqual(seen, ['held'])
  pass(20)
  assert.deepEqual(seen, [
    'held',
    'SERVICE_UNAVAILABLE the log of network 1 is stored up to 7 here, min_sequence asks for 9',
  ])
})

test('whoever has gone is not answered', (context) => {
  const { row, ask, pass } = open(context)
  const { seen, exchange } = ask('min_sequence=1:9')
  exchange.isWaiting = false
  row.set('logSequence', 9)
  pass(1_000)
  assert.deepEqual(seen, ['held'])
})

test('what is no place in a log of this service is refused', (context) => {
  const { ask } = open(context)
  const refusalOf = (value: string) => ask(`min_sequence=${value}`).seen[0]
  for (const value of ['', '1', '1:', ':1', '1:-1', '01:1', '1:1.0', '1:1,', '1:9999999999999999', 'a:1'])
    assert.match(refusalOf(value)!, /^INVALID_PARAMETER min_sequence ".*" is not network:sequence$/, value)
  assert.equal(refusalOf('2:1'), 'INVALID_NETWORK_ID Network ID 2 is not supported')
  assert.match(refusalOf(Array(54).fill('1:1').join(','))!, /54 items, at most 53/)
})

test('a place is found wherever it stands in a query, and however it is encoded', () => {
  const NO_LOG = /is for services of a cluster/
  const NO_PLACE = /is not network:sequence/
  for (const [query, refusal] of [
    ['a=1&min_sequence=1:7', NO_LOG],
    ['min_sequence=0:0,4294967295:999999999999999&a', NO_LOG],
    ['min_sequence=1%3A7', NO_LOG],
    ['min%5Fsequence=1:7', NO_LOG],
    ['min%5Fsequence=1&min_sequence=1:7', NO_PLACE],
    ['min_sequence=1:7&min_sequence', NO_PLACE],
    ['min_sequence=1:7,&min_sequence=1:8', NO_PLACE],
    ['min_sequence=1,2:3', NO_PLACE],
    ['min_sequence=1:7=', NO_PLACE],
    ['a=min_sequence=1:7', undefined],
    ['min_sequences=1:7&xmin_sequence=1:7', undefined],
    ['min_sequencemin_sequence=1:7', undefined],
  ] as const) {
    const refused = refuseAlone(query)
    if (refusal === undefined) assert.equal(refused, undefined, query)
    else assert.match(refused!.message, refusal, query)
  }
})

const TOO_MANY = ['SERVICE_UNAVAILABLE too many requests wait for a log']

test('a thousand requests may wait, one more is told to come again', (context) => {
  const { ask } = open(context)
  for (let count = 0; count < 1_000; count++)
    assert.deepEqual(ask('min_sequence=1:9', `192.0.2.${count % 20}`).seen, ['held'])
  assert.deepEqual(ask('min_sequence=1:9', '203.0.113.1').seen, TOO_MANY)
  assert.deepEqual(ask('min_sequence=1:7').seen, ['answered'])
})

test('one client that has many requests wait for what never comes keeps nobody else from waiting, and may wait again when they are over', (context) => {
  const { row, ask, pass } = open(context)
  const waiting = Array.from({ length: 1_000 }, () => ask('min_sequence=1:999').seen)
  assert.equal(waiting.filter(([first]) => first === 'held').length, 500)
  const others = Array.from({ length: 50 }, (_, at) => ask('min_sequence=1:8', `203.0.113.${at}`).seen)
  row.set('logSequence', 8)
  pass(5)
  assert.ok(others.every((seen) => seen.join() === 'held,answered'))
  pass(8_000)
  assert.match(waiting[0]![1]!, /is stored up to 8 here/)
  assert.deepEqual(ask('min_sequence=1:9').seen, ['held'])
})

test('a look at a thousand requests that wait takes less than a millisecond, however many places they name', (context) => {
  const { ask, pass } = open(context)
  const items = Array(52).fill('0:0').join(',')
  for (let at = 0; at < 1_000; at++) ask(`min_sequence=${items},1:999`, `192.0.2.${at % 20}`)
  let leastUs = Number.POSITIVE_INFINITY
  for (let look = 0; look < 50; look++) {
    const before = process.cpuUsage()
    pass(5)
    const { user, system } = process.cpuUsage(before)
    leastUs = Math.min(leastUs, user + system)
  }
  assert.ok(leastUs < 1_000, `${leastUs} µs`)
})

test('the header names the newest stored block of each network that has one, as of the newest commit', (context) => {
  const { row, sequences } = open(context)
  assert.equal(sequences.blocksLine(), '')
  row.set('syncedBlock', 45)
  row.add('commits', 1)
  assert.equal(sequences.blocksLine(), '\r\nX-Data-Block: 1=45')
  row.set('syncedBlock', 46)
  row.add('commits', 1)
  assert.equal(sequences.blocksLine(), '\r\nX-Data-Block: 1=46')
})

test('a service that is alone refuses to wait for a log, and nothing else', () => {
  assert.match(refuseAlone('min_sequence=1:7')!.message, /is for services of a cluster/)
  assert.match(refuseAlone('min_sequence=x')!.message, /is not network:sequence/)
  assert.equal(refuseAlone('x_min_sequence_y=1'), undefined)
})
