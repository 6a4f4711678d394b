import assert from 'node:assert/strict'
import { getEventListeners, once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { AwakeClock, monotonicMs, systemClock } from '../../../src/telemetry/clocks.js'

test('all threads share one monotonic clock, whenever they were started', async () => {
  const module = JSON.stringify(new URL('../../../src/telemetry/clocks.js', import.meta.url).href)
  const body = `import(${module}).then(({ monotonicMs }) => require('node:worker_threads').parentPort.postMessage(monotonicMs()))`
  const before = monotonicMs()
  const [there] = (await once(new Worker(body, { eval: true }), 'message')) as [number]
  assert.ok(there >= before && there <= monotonicMs(), `${before} ${there} ${monotonicMs()}`)
})

test('time during which the process was suspended does not count as awake', () => {
  let nowMs = 5_000
  const clock = new AwakeClock(250, () => nowMs)
  const pass = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 250) {
      nowMs += 250
      clock.tick()
    }
  }
  pass(60_000)
  assert.equal(clock.now(), 60_000)
  nowMs += 86_400_000
  assert.equal(clock.now(), 60_500)
  clock.tick()
  assert.equal(clock.now(), 60_500)
  pass(1_000)
  assert.equal(clock.now(), 61_500)
})

test('while a process gets no core most of the time, half a second of each late tick counts, and time never goes back', () => {
  let nowMs = 0
  const clock = new AwakeClock(1_000, () => nowMs)
  let told = 0
  const look = (): number => {
    assert.ok(clock.now() >= told)
    told = clock.now()
    return told
  }
  nowMs += 1_200
  clock.tick()
  assert.equal(look(), 1_200)
  for (let late = 0; late < 10; late++) {
    nowMs += 1_100
    look()
    nowMs += 1_900
    look()
    clock.tick()
    look()
  }
  nowMs += 1_000
  clock.tick()
  assert.equal(look(), 1_200 + 10 * 500 + 1_000)
})

test('awake time passes between two ticks', () => {
  let nowMs = 0
  const clock = new AwakeClock(250, () => nowMs)
  nowMs += 120
  assert.equal(clock.now(), 120)
  clock.tick()
  nowMs += 130
  assert.equal(clock.now(), 250)
})

test('a sleep lasts its time, or until the signal aborts, whose reason it throws, and it leaves no listener behind', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const stop = new AbortController()
  let isOver = false
  const slept = systemClock.sleep(20, stop.signal).then(() => {
    isOver = true
  })
  t.mock.timers.tick(19)
  await new Promise(setImmediate)
  assert.equal(isOver, false)
  t.mock.timers.tick(1)
  await slept
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
  const reason = new Error('enough')
  const sleeping = systemClock.sleep(60_000, stop.signal)
  stop.abort(reason)
  await assert.rejects(sleeping, reason)
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
  await assert.rejects(systemClock.sleep(60_000, stop.signal), reason)
})
