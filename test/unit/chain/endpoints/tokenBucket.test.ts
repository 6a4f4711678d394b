import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenBucket } from '../../../../src/chain/endpoints/tokenBucket.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const { signal } = new AbortController()

test('a burst of one second passes at once, then the rate holds', async () => {
  const clock = new VirtualClock()
  const bucket = new TokenBucket(10, clock)
  const started = clock.now()
  for (let call = 0; call < 10; call++) await bucket.take(1, signal)
  assert.equal(clock.now(), started)
  for (let call = 0; call < 50; call++) await bucket.take(1, signal)
  assert.ok(Math.abs(clock.now() - started - 5_000) < 1, `${clock.now() - started} ms for 50 calls more`)
})

test('a batch takes one token per call', async () => {
  const clock = new VirtualClock()
  const bucket = new TokenBucket(10, clock)
  const started = clock.now()
  await bucket.take(30, signal)
  assert.ok(Math.abs(clock.now() - started - 2_000) < 1)
})

test('idle time earns at most one second of burst', async () => {
  const clock = new VirtualClock()
  const bucket = new TokenBucket(5, clock)
  await bucket.take(5, signal)
  clock.advance(60_000)
  const started = clock.now()
  await bucket.take(5, signal)
  assert.equal(clock.now(), started)
  await bucket.take(1, signal)
  assert.ok(clock.now() - started >= 199)
})

test('a rate below one call per second is possible', async () => {
  const clock = new VirtualClock()
  const bucket = new TokenBucket(0.5, clock)
  const started = clock.now()
  await bucket.take(1, signal)
  await bucket.take(1, signal)
  assert.ok(Math.abs(clock.now() - started - 2_000) < 1)
})
