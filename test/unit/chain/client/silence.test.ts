import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { Silence } from '../../../../src/chain/client/silence.js'
import type { HttpAnswer, HttpPost } from '../../../../src/chain/rpc/httpPost.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const ANSWER: HttpAnswer = { status: 503, statusText: '', headers: {}, body: Buffer.alloc(0) }

/** Posts whose answers the test gives, oldest first. */
function listen() {
  const clock = new VirtualClock()
  const silence = new Silence(clock)
  const open: { resolve: (answer: HttpAnswer) => void; reject: (error: Error) => void }[] = []
  const post: HttpPost = () =>
    new Promise((resolve, reject) => {
      open.push({ resolve, reject })
    })
  const watched = silence.around(() => post)({ url: '', timeoutMs: 0, maxBodyBytes: 0 })
  const { signal } = new AbortController()
  const ask = () => void watched('', signal).catch(() => undefined)
  const settle = async (answer: HttpAnswer | Error) => {
    const { resolve, reject } = open.shift()!
    if (answer instanceof Error) reject(answer)
    else resolve(answer)
    await new Promise(setImmediate)
  }
  return { clock, silence, ask, settle }
}

test('an endpoint that leaves a call unanswered for a second is silent, until any answer', async () => {
  const { clock, silence, ask, settle } = listen()
  clock.advance(60_000)
  assert.deepEqual([silence.awaitsAnswer, silence.isSilent], [false, false], 'nothing was asked')
  ask()
  clock.advance(900)
  assert.equal(silence.isSilent, false)
  clock.advance(200)
  assert.deepEqual([silence.awaitsAnswer, silence.isSilent], [true, true])
  await settle(ANSWER)
  clock.advance(60_000)
  assert.deepEqual([silence.awaitsAnswer, silence.isSilent], [false, false])
})

test('who waits for a call is told with the first one that awaits an answer, or when the signal aborts, and leaves no listener behind', async () => {
  const { silence, ask, settle } = listen()
  const stop = new AbortController()
  const asked = silence.untilAsked(stop.signal)
  ask()
  await asked
  await silence.untilAsked(stop.signal)
  await settle(ANSWER)
  const unasked = silence.untilAsked(stop.signal)
  stop.abort()
  await unasked
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
})

test('while other calls are answered a slow call is no silence, and its silence counts from the last answer', async () => {
  const { clock, silence, ask, settle } = listen()
  ask()
  ask()
  clock.advance(900)
  await settle(ANSWER)
  clock.advance(900)
  assert.equal(silence.isSilent, false)
  clock.advance(200)
  assert.equal(silence.isSilent, true)
})

test('a time-out and a failed connection do not end a silence', async () => {
  const { clock, silence, ask, settle } = listen()
  ask()
  clock.advance(900)
  await settle(new Error('reset'))
  clock.advance(200)
  assert.equal(silence.isSilent, true)
  ask()
  await settle(ANSWER)
  assert.equal(silence.isSilent, false)
})
