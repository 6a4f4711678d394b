import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createQueryThreadTimes,
  QueryThreadTimes,
  queryThreadTimesReader,
} from '../../../../src/telemetry/counts/queryThreadTimes.js'
import { collectGarbage } from '../../../../src/telemetry/processMemory.js'

/** Two query threads whose clock the test moves. */
function counted() {
  const time = { ms: 1_000 }
  const now = () => time.ms
  const handle = createQueryThreadTimes(2, now)
  return { time, read: queryThreadTimesReader(handle, now), open: () => new QueryThreadTimes(handle, now) }
}

test('query threads are active from the begin of a task to the end of the last one that runs, and idle else', () => {
  const { time, read, open } = counted()
  const [one, two] = [open(), open()]
  one.begin()
  time.ms += 200
  // A batch between two slices of a page.
  one.begin()
  time.ms += 100
  one.end()
  time.ms += 300
  one.end()
  two.begin()
  time.ms += 400
  two.end()
  const { activeSec, idleSec } = read()
  assert.ok(Math.abs(activeSec - 1) < 1e-9, String(activeSec))
  assert.ok(Math.abs(idleSec - 1) < 1e-9, String(idleSec))
})

test('collections of a thread that never turns its event loop are counted, once each', () => {
  const { time, read, open } = counted()
  const thread = open()
  thread.begin()
  collectGarbage()
  thread.end()
  assert.equal(read().collections, 0, 'they are looked for once a second at most')
  time.ms += 1_000
  thread.begin()
  thread.end()
  const first = read()
  assert.ok(first.collections > 0)
  assert.ok(first.collectingSec > 0 && first.collectingSec < 60, String(first.collectingSec))
  time.ms += 1_000
  thread.begin()
  collectGarbage()
  thread.end()
  const second = read()
  assert.ok(second.collections > first.collections)
})

test('threads that die and are replaced lose no time, and more of them than are foreseen break nothing', () => {
  const { time, read, open } = counted()
  for (let start = 0; start < 100; start++) {
    const thread = open()
    thread.begin()
    time.ms += 10
    thread.end()
  }
  assert.ok(Math.abs(read().activeSec - 0.66) < 1e-9, String(read().activeSec))
})
