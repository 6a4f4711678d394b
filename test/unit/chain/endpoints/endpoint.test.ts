import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Endpoint } from '../../../../src/chain/endpoints/endpoint.js'
import type { RpcOutcome } from '../../../../src/chain/rpc/rpcTransport.js'
import {
  createIndexerCounts,
  IndexerCounts,
  IndexerCountsReader,
} from '../../../../src/telemetry/counts/indexerCounts.js'
import { createKeepingLogger, type KeptLine } from '../../../support/keepingLogger.js'
import { VirtualClock } from '../../../support/virtualClock.js'
import type { WireAnswer } from '../../../support/wireServer.js'
import {
  byMethod,
  ENDLESS_MS,
  endlessSilence,
  type ScriptedCall,
  SECRET,
  serveScript,
} from '../wireScripts.js'

const { signal } = new AbortController()
const echo = byMethod((call) => call.params[0])
const calls = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ method: 'eth_echo', params: [index] }))
const results = (outcomes: readonly RpcOutcome[]) => outcomes.map((outcome) => outcome.ok && outcome.result)
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

async function withEndpoint(
  answer: (body: ScriptedCall | readonly ScriptedCall[]) => WireAnswer,
  body: (
    endpoint: Endpoint,
    tools: {
      clock: VirtualClock
      requests: readonly unknown[]
      lines: readonly KeptLine[]
      counted: IndexerCountsReader
    },
  ) => Promise<void>,
  { maxRps }: { readonly maxRps?: number } = {},
): Promise<void> {
  const rpc = await serveScript(answer)
  const clock = new VirtualClock()
  const { logger, lines } = createKeepingLogger()
  const handle = createIndexerCounts([0])
  const [counts] = new IndexerCounts(handle, 0).endpoints(['alpha'])
  const endpoint = new Endpoint({
    counts,
    config: { url: rpc.url, alias: 'alpha', ...(maxRps === undefined ? {} : { maxRps }) },
    timeoutMs: ENDLESS_MS,
    maxBodyBytes: 2 ** 26,
    logRange: 1000,
    clock,
    logger,
  })
  try {
    const counted = new IndexerCountsReader(handle, 0)
    await body(endpoint, { clock, requests: rpc.requests, lines, counted })
  } finally {
    await rpc.close()
  }
}

test('many calls go in batches of fifty, and their results come back in the order of the calls', async () => {
  await withEndpoint(echo, async (endpoint, { requests }) => {
    assert.deepEqual(results(await endpoint.callAll(calls(120), signal)), numbers(120))
    assert.deepEqual(
      requests.map((body) => (body as readonly unknown[]).length),
      [20, 50, 50],
    )
  })
})

test('a call that a batch reply leaves out is sent again by itself', async () => {
  const answer = (body: ScriptedCall | readonly ScriptedCall[]) => {
    if (!Array.isArray(body)) return echo(body)
    const replies = body.map(({ id, params }: ScriptedCall) => ({ id, result: params[0] }))
    // A reply as long as the batch, in which the second call is missing and the first comes twice.
    replies[1] = replies[0]!
    return { body: JSON.stringify(replies) }
  }
  await withEndpoint(answer, async (endpoint, { requests }) => {
    assert.deepEqual(results(await endpoint.callAll(calls(4), signal)), numbers(4))
    assert.equal(requests.length, 2)
    assert.equal(endpoint.batchSize.size, 50)
  })
})

test('without batches only a few calls are in flight at once', async () => {
  let inFlight = 0
  let most = 0
  const release: (() => void)[] = []
  const answer = (body: ScriptedCall | readonly ScriptedCall[]): WireAnswer => {
    if (Array.isArray(body)) return { status: 400, body: '' }
    most = Math.max(most, ++inFlight)
    release.push(() => inFlight--)
    for (const done of release.splice(0)) done()
    return echo(body)
  }
  await withEndpoint(answer, async (endpoint, { requests }) => {
    assert.deepEqual(results(await endpoint.callAll(calls(40), signal)), numbers(40))
    // One batch that is refused, one single call, and one batch of two that is refused.
    assert.equal(requests.length, 42)
    assert.ok(most <= 6)
  })
})

test('a lost connection and a rate limit fail the whole question', async () => {
  const answers: readonly (readonly [WireAnswer, string])[] = [
    ['close', 'network'],
    [{ status: 429, body: '' }, 'rateLimit'],
    [{ status: 503, body: '' }, 'http'],
  ]
  for (const [answer, kind] of answers)
    await withEndpoint(
      () => answer,
      async (endpoint) => {
        await assert.rejects(endpoint.callAll(calls(3), signal), { kind })
      },
    )
})

test('every call of a batch takes one token of the rate limit', async () => {
  await withEndpoint(
    echo,
    async (endpoint, { clock }) => {
      await endpoint.callAll(calls(40), signal)
      assert.ok(clock.sleeps.reduce((sum, ms) => sum + ms, 0) >= 2_999, String(clock.sleeps))
    },
    { maxRps: 10 },
  )
})

test('contract calls of a batch that met a node which is behind are sent again, headers are not', async () => {
  const unknown = ({ id }: ScriptedCall) => ({ id, error: { code: -32000, message: 'header not found' } })
  const answer = (body: ScriptedCall | readonly ScriptedCall[]): WireAnswer =>
    'length' in body
      ? { body: JSON.stringify(body.map(unknown)) }
      : { body: JSON.stringify({ id: body.id, result: body.params[0] }) }
  const ask = (method: string) => [0, 1].map((index) => ({ method, params: [index] }))
  await withEndpoint(answer, async (endpoint) => {
    assert.deepEqual(results(await endpoint.callAll(ask('eth_call'), signal)), [0, 1])
    assert.deepEqual(results(await endpoint.callAll(ask('eth_getBlockByNumber'), signal)), [false, false])
  })
})

test('a look-up that is never answered fails with its request alone, and batches keep their size', async (t) => {
  const silent = endlessSilence(t)
  const isHeld = ({ params }: ScriptedCall) => params[0] === 2
  const answer = (body: ScriptedCall | readonly ScriptedCall[]): WireAnswer =>
    [body].flat().some(isHeld) ? silent() : echo(body)
  await withEndpoint(answer, async (endpoint, { requests }) => {
    const outcomes = await endpoint.lookUp(calls(5), signal)
    assert.deepEqual(
      outcomes.map((outcome) => !outcome.ok && outcome.failure.kind),
      new Array(5).fill('timeout'),
    )
    assert.equal(requests.length, 1)
    assert.equal(endpoint.batchSize.size, 50)
  })
})

test('calls, failures, requests, bytes and waits for the budget are counted, and told at level debug without the address', async () => {
  const answer = byMethod(({ method, params }) => {
    if (method === 'eth_call') throw { code: 3, message: 'execution reverted' }
    return params[0]
  })
  await withEndpoint(
    answer,
    async (endpoint, { requests, lines, counted }) => {
      await endpoint.call('eth_blockNumber', [7], signal)
      await endpoint.callAll(
        ['eth_getLogs', 'eth_call', 'eth_call'].map((method) => ({ method, params: [1] })),
        signal,
      )
      const [view] = counted.endpoints(0)
      const calls = [...view!.requests].filter(([, count]) => count > 0)
      assert.deepEqual(calls.toSorted(), [
        ['eth_blockNumber', 1],
        ['eth_call', 2],
        ['eth_getLogs', 1],
      ])
      assert.deepEqual(
        view!.errors.filter(({ count }) => count > 0),
        [{ method: 'eth_call', kind: 'rpc', count: 2 }],
      )
      assert.equal(requests.length, 2)
      assert.equal(view!.batches.sum, 4)
      assert.equal(
        view!.durations.buckets.reduce((sum, count) => sum + count),
        2,
      )
      const sent = requests.map((body) => JSON.stringify(body).length).reduce((sum, bytes) => sum + bytes)
      assert.equal(view!.sentBytes, sent)
      const answers = requests.map((body) => {
        const told = answer(body as ScriptedCall)
        return typeof told === 'object' && 'body' in told ? String(told.body).length : 0
      })
      assert.equal(
        view!.receivedBytes,
        answers.reduce((sum, bytes) => sum + bytes),
      )
      assert.deepEqual([view!.windowBlocks, view!.batchCalls], [1000, 50])
      // A budget of two calls, and two more on credit.
      assert.deepEqual([view!.waits, view!.waitedSec], [1, 1])
      const told = lines.filter(({ text }) => text === 'endpoint was asked')
      assert.deepEqual(
        told.map(({ level, fields: { durationMs, ...fields } }) => [level, fields]),
        [
          ['debug', { endpoint: 'alpha', method: 'eth_blockNumber', calls: 1 }],
          ['debug', { endpoint: 'alpha', method: 'eth_getLogs', calls: 3, failed: 2, kind: 'rpc' }],
        ],
      )
      assert.ok(!JSON.stringify(lines).includes(SECRET))
    },
    { maxRps: 2 },
  )
})

test('a request without an answer counts as a failure of each of its calls', async () => {
  await withEndpoint(
    () => 'close',
    async (endpoint, { requests, counted }) => {
      await assert.rejects(endpoint.callAll(calls(3), signal))
      const [view] = counted.endpoints(0)
      assert.deepEqual(
        view!.errors.filter(({ count }) => count > 0),
        [{ method: 'other', kind: 'network', count: requests.flat().length }],
      )
      assert.ok(requests.flat().length >= 3)
      assert.equal(view!.receivedBytes, 0)
    },
  )
})
