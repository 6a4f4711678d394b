import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Silence } from '../../../../src/chain/client/silence.js'
import type { HttpAnswer, HttpPost } from '../../../../src/chain/rpc/httpPost.js'
import { FakeClock } from '../../../support/fakeClock.js'

const ANSWER: HttpAnswer = { status: 503, statusText: '', headers: {}, body: Buffer.alloc(0) }

/** Posts whose answers the test gives, oldest first. */
function listen() {
  const clock = new FakeClock()
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

test('a question that nobody answers for a second is silence, any answer ends it', async () => {
  const { clock, silence, ask, settle } = listen()
  clock.advance(60_000)
  assert.equal(silence.isSilent, false, 'nothing was asked')
  ask()
  clock.advance(900)
  assert.equal(silence.isSilent, false)
  clock.advance(200)
  assert.equal(silence.isSilent, true)
  await settle(ANSWER)
  clock.advance(60_000)
  assert.equal(silence.isSilent, false)
})

test('while others are answered a slow question is no silence, and counts from the last answer on', async () => {
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

test('a time-out and a connection that fails end no silence', async () => {
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
