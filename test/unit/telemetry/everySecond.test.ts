import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everySecond } from '../../../src/telemetry/clocks.js'

test('all tasks of a thread share one timer, which ends with the last of them and begins anew with the next', (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const started = context.mock.method(globalThis, 'setInterval')
  const ended = context.mock.method(globalThis, 'clearInterval')
  const calls: string[] = []
  const stopFirst = everySecond(() => calls.push('first'))
  const stopSecond = everySecond(() => calls.push('second'))
  context.mock.timers.tick(999)
  assert.equal(calls.length, 0)
  context.mock.timers.tick(1)
  assert.deepEqual(calls, ['first', 'second'])
  stopFirst()
  context.mock.timers.tick(1_000)
  assert.deepEqual(calls, ['first', 'second', 'second'])
  assert.equal(ended.mock.callCount(), 0)
  stopSecond()
  assert.deepEqual([started.mock.callCount(), ended.mock.callCount()], [1, 1])
  const stopThird = everySecond(() => calls.push('third'))
  context.mock.timers.tick(1_000)
  stopThird()
  assert.equal(calls.at(-1), 'third')
})
