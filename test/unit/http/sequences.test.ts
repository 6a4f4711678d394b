import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createStatusBoard, statusRow } from '../../../src/board/statusBoard.js'
import { createVersionReader } from '../../../src/board/version.js'
import { refuseAlone, Sequences } from '../../../src/http/sequences.js'
import type { Exchange } from '../../../src/http/wire/exchange.js'
import type { Failure } from '../../../src/query/answers.js'

const DEADLINE_MS = 10_000

/** Networks 0 and 1, of which log 1 is stored up to 7, and what became of one request. */
function open(context: TestContext) {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const status = createStatusBoard([0, 1])
  const row = statusRow(status, 1)
  row.set('logSequence', 7)
  const state = { nowMs: 0 }
  const sequences = new Sequences(status, createVersionReader(status), DEADLINE_MS, () => state.nowMs)
  const pass = (ms: number) => {
    state.nowMs += ms
    context.mock.timers.tick(ms)
  }
  const ask = (rawQuery: string) => {
    const seen: (string | Failure['message'])[] = []
    const exchange = {
      isWaiting: true,
      hold: () => seen.push('held'),
      refuse: ({ code, message }: Failure) => seen.push(`${code} ${message}`),
    }
    sequences.whenStored(rawQuery, exchange as unknown as Exchange, () => seen.push('answered'))
    return { seen, exchange }
  }
  return { row, sequences, ask, pass }
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

test('a thousand requests may wait, one more is told to come again', (context) => {
  const { ask } = open(context)
  for (let count = 0; count < 1_000; count++) assert.deepEqual(ask('min_sequence=1:9').seen, ['held'])
  assert.deepEqual(ask('min_sequence=1:9').seen, ['SERVICE_UNAVAILABLE too many requests wait for a log'])
  assert.deepEqual(ask('min_sequence=1:7').seen, ['answered'])
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
