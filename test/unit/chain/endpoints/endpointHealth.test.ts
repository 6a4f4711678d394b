import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EndpointHealth } from '../../../../src/chain/endpoints/endpointHealth.js'
import { RpcFailure, type RpcFailureKind } from '../../../../src/chain/rpc/rpcFailure.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const failure = (kind: RpcFailureKind, retryAfterMs?: number) =>
  new RpcFailure(kind, 'test', { text: '' }, retryAfterMs)

/** Pauses after failures in a row, in ms. */
function pauses(kind: RpcFailureKind, count: number, chance: number): number[] {
  const clock = new VirtualClock({ random: () => chance })
  const health = new EndpointHealth(clock)
  return Array.from({ length: count }, () => {
    health.failed(failure(kind))
    const pause = health.pausedUntil - clock.now()
    clock.advance(pause)
    return pause
  })
}

test('pauses double from failure to failure, up to a cap', () => {
  assert.deepEqual(pauses('network', 9, 1), [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
  assert.deepEqual(pauses('rateLimit', 7, 1), [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
})

test('jitter shortens a pause to no less than half', () => {
  assert.deepEqual(pauses('timeout', 3, 0), [125, 250, 500])
})

test('Retry-After is honoured when it is longer, and pauses start small again after a success', () => {
  const clock = new VirtualClock()
  const health = new EndpointHealth(clock)
  health.failed(failure('rateLimit', 120_000))
  assert.equal(health.pausedUntil - clock.now(), 120_000)
  assert.equal(health.isReady, false)
  clock.advance(120_000)
  assert.equal(health.isReady, true)
  health.succeeded()
  health.failed(failure('network'))
  assert.ok(health.pausedUntil - clock.now() <= 250)
})

test('errors lower the standing of an endpoint and fade with time; slow answers lower it too', () => {
  const clock = new VirtualClock()
  const health = new EndpointHealth(clock)
  assert.equal(health.score, 0)
  health.failed(failure('network'))
  assert.equal(health.score, 1.5)
  clock.advance(60_000)
  assert.equal(health.score, 0.75)
  const slow = new EndpointHealth(clock)
  for (let call = 0; call < 50; call++) slow.measured(1_000)
  assert.ok(slow.score > 1.9 && slow.score <= 2)
})

test('a node that is behind rests for less than a second and does not count as failing', () => {
  const clock = new VirtualClock()
  const health = new EndpointHealth(clock)
  health.failed(failure('behind'))
  assert.equal(health.isFailing, false)
  assert.equal(health.pausedUntil - clock.now(), 500)
  assert.ok(health.score > 0.5, 'another endpoint is preferred for a while')
})
