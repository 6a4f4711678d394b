import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startPulse } from '../../../src/telemetry/clocks.js'

const EVERY_MS = 100

/** A pulse whose clock, timers and turns of the event loop the test plays. */
function pulse(context: TestContext) {
  const { timers } = context.mock
  timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const state = { nowMs: 0, looks: 0, isBusy: true }
  context.mock.method(performance, 'now', () => state.nowMs)
  const immediates = new Set<() => void>()
  context.mock.method(globalThis, 'setImmediate', (task: () => void) => {
    immediates.add(task)
    return { unref: () => task }
  })
  context.mock.method(globalThis, 'clearImmediate', (task: () => void) => immediates.delete(task))
  const stop = startPulse(EVERY_MS, () => {
    state.looks++
    return state.isBusy
  })
  context.after(stop)
  /** @returns how many looks there were meanwhile. */
  const pass = (ms: number): number => {
    const { looks } = state
    for (let passed = 0; passed < ms; passed++) {
      state.nowMs++
      timers.tick(1)
    }
    return state.looks - looks
  }
  /** The event loop has turned, for whatever reason. @returns as `pass`. */
  const turn = (): number => {
    const { looks } = state
    const due = [...immediates]
    immediates.clear()
    for (const task of due) task()
    return state.looks - looks
  }
  return { state, stop, pass, turn, waiting: () => immediates.size }
}

test('looks go on while there is something to watch, however often the event loop turns', (context) => {
  const { pass, turn } = pulse(context)
  assert.equal(pass(1_000), 10)
  assert.deepEqual([turn(), turn()], [0, 0])
  assert.equal(pass(1_000), 10)
})

test('at rest there is a look once a second, and one at the next turn of the event loop', (context) => {
  const { state, pass, turn } = pulse(context)
  state.isBusy = false
  pass(EVERY_MS)
  assert.equal(pass(10_000), 10)
  pass(EVERY_MS)
  assert.equal(turn(), 1)
  state.isBusy = true
  pass(EVERY_MS)
  assert.equal(turn(), 1)
  assert.equal(pass(1_000), 10)
})

test('the turn that the look of each second brings is no reason for a second look', (context) => {
  const { state, pass, turn } = pulse(context)
  state.isBusy = false
  pass(900)
  const { looks } = state
  for (let second = 0; second < 10; second++) {
    pass(99)
    state.nowMs++
    // The loop looks for immediates before its timers.
    turn()
    context.mock.timers.tick(1)
    pass(900)
  }
  assert.equal(state.looks - looks, 10)
})

test('turns that follow each other at once cause no more looks than a busy thread has', (context) => {
  const { state, pass, turn } = pulse(context)
  state.isBusy = false
  pass(EVERY_MS)
  let looks = 0
  for (let ms = 0; ms < 1_000; ms++) looks += turn() + pass(1)
  assert.ok(looks >= 9 && looks <= 11, `${looks}`)
})

test('after its end there is no look, and nothing waits, whether it was busy or at rest', (context) => {
  const { state, stop, pass, turn, waiting } = pulse(context)
  state.isBusy = false
  pass(EVERY_MS)
  assert.equal(waiting(), 1)
  stop()
  assert.equal(waiting(), 0)
  assert.equal(pass(2_000) + turn(), 0)
})
