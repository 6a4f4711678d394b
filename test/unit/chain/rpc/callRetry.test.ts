import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallRetry } from '../../../../src/chain/rpc/callRetry.js'
import { type ProviderWords, RpcFailure, type RpcFailureKind } from '../../../../src/chain/rpc/rpcFailure.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const { signal } = new AbortController()

/** A call that fails `failures` times before it is answered, at an endpoint that has answered before, or not. */
async function tries(
  kind: RpcFailureKind,
  options: {
    failures?: number
    words?: Partial<ProviderWords>
    retryAfterMs?: number
    silentForMs?: number
    isAlone?: boolean
  } = {},
): Promise<{ asked: number; isAnswered: boolean; sleptMs: number }> {
  const { failures = 2, words = {}, retryAfterMs, silentForMs = 0, isAlone = false } = options
  const clock = new VirtualClock()
  const retry = new CallRetry(clock, isAlone)
  if (silentForMs < Number.POSITIVE_INFINITY) await retry.run(async () => 'before', signal)
  clock.advance(Math.min(silentForMs, 1e9))
  let asked = 0
  const ask = async () => {
    if (asked++ < failures) throw new RpcFailure(kind, 'no', { text: '', ...words }, retryAfterMs)
    return 'answer'
  }
  const answer = await retry.run(ask, signal).catch((error: unknown) => {
    assert.ok(error instanceof RpcFailure)
  })
  const sleptMs = clock.sleeps.reduce((sum, ms) => sum + ms, 0)
  return { asked, isAnswered: answer === 'answer', sleptMs }
}

test('a call that fails by chance is sent again twice', async () => {
  const chances: [RpcFailureKind, Partial<ProviderWords>][] = [
    ['network', {}],
    ['body', {}],
    ['http', { status: 502 }],
    ['rpc', { status: 503, code: -32603 }],
    ['rateLimit', { status: 429 }],
  ]
  for (const [kind, words] of chances) {
    const cured = await tries(kind, { words })
    assert.deepEqual([cured.asked, cured.isAnswered], [3, true], kind)
    const stubborn = await tries(kind, { words, failures: 3 })
    assert.deepEqual([stubborn.asked, stubborn.isAnswered], [3, false], kind)
  }
})

test('a call about a block that the node does not know yet is sent up to four times more, since another node may answer', async () => {
  for (const message of ['header not found', 'unknown block', 'transaction not found']) {
    const words = { code: -32000, text: message }
    assert.deepEqual(await tries('rpc', { words, failures: 4 }).then(({ asked }) => asked), 5, message)
    assert.equal((await tries('rpc', { words, failures: 9 })).isAnswered, false, message)
  }
})

test('a refusal, a time-out, an overlong answer and a pruned block are not asked again', async () => {
  const refusals: [RpcFailureKind, Partial<ProviderWords>][] = [
    ['rpc', { code: -32000 }],
    ['rpc', { status: 500, code: -32005 }],
    ['http', { status: 404 }],
    ['timeout', {}],
    ['behind', {}],
    ['gone', {}],
    ['body', { text: 'response too large' }],
  ]
  for (const [kind, words] of refusals) assert.equal((await tries(kind, { words })).asked, 1, kind)
})

test('an endpoint that has answered nothing for ten seconds is not asked again, since another may answer', async () => {
  assert.equal((await tries('network', { silentForMs: 10_001 })).asked, 1)
  assert.equal((await tries('network', { silentForMs: Number.POSITIVE_INFINITY })).asked, 1)
  assert.equal((await tries('network', { silentForMs: 9_000 })).asked, 3)
})

test('a short Retry-After is waited for, a long one is left to the caller', async () => {
  const kept = await tries('rateLimit', { retryAfterMs: 1_000, failures: 1 })
  assert.equal(kept.asked, 2)
  assert.ok(kept.sleptMs >= 1_000)
  assert.equal((await tries('rateLimit', { retryAfterMs: 1_001 })).asked, 1)
})

test('a call that timed out is sent once more where there is no other endpoint', async () => {
  assert.equal((await tries('timeout', { isAlone: true })).asked, 2)
  assert.equal((await tries('timeout', { isAlone: true, silentForMs: 10_001 })).asked, 1)
  assert.equal((await tries('timeout', { isAlone: false })).asked, 1)
})

test('any other error passes through', async () => {
  const retry = new CallRetry(new VirtualClock(), true)
  await assert.rejects(
    retry.run(() => Promise.reject(new TypeError('ours')), signal),
    TypeError,
  )
})
