import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { classifyLogsFailure } from '../../../../src/chain/rpc/rangeErrors.js'
import { RpcFailure } from '../../../../src/chain/rpc/rpcFailure.js'
import { createRpcTransport, type RpcTransportOptions } from '../../../../src/chain/rpc/rpcTransport.js'
import { PackedLogs } from '../../../../src/events/packedLogs.js'
import { compileMerkleModule, createLogScanner } from '../../../../src/wasm/wasmModule.js'
import { contracts, l1Filter } from '../../../support/encodedLogs.js'
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
const NOON_MS = Date.UTC(2026, 0, 1, 12)
type Answer = Parameters<typeof serveScript>[0]

async function withTransport<T>(
  answer: Answer,
  body: (transport: ReturnType<typeof createRpcTransport>) => Promise<T>,
  options: Partial<Pick<RpcTransportOptions, 'maxBodyBytes' | 'logs'>> = {},
): Promise<T> {
  const rpc = await serveScript(answer)
  try {
    return await body(
      createRpcTransport({
        url: rpc.url,
        alias: 'alpha',
        timeoutMs: ENDLESS_MS,
        maxBodyBytes: 100_000,
        ...options,
      }),
    )
  } finally {
    await rpc.close()
  }
}

/** The failure of one call that gets one answer. */
async function failureOf(answer: WireAnswer | (() => WireAnswer), options = {}): Promise<RpcFailure> {
  return withTransport(
    typeof answer === 'function' ? answer : () => answer,
    async (transport) => {
      try {
        await transport.request({ method: 'eth_test', params: [] }, signal)
      } catch (error) {
        assert.ok(error instanceof RpcFailure, String(error))
        return error
      }
      throw new Error('no failure')
    },
    options,
  )
}

const rpcError = (code: number, message: string, data?: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message, ...(data === undefined ? {} : { data }) } })

test('a call returns its result, null included', async () => {
  const results = await withTransport(
    byMethod((call) => (call.method === 'eth_null' ? null : { got: call.params })),
    async (transport) => [
      await transport.request({ method: 'eth_null', params: [] }, signal),
      await transport.request({ method: 'eth_some', params: ['0x1', true] }, signal),
    ],
  )
  assert.deepEqual(results, [null, { got: ['0x1', true] }])
})

test('each kind of failure has an error kind of its own', async () => {
  const cases: readonly (readonly [WireAnswer, RpcFailure['kind'], object])[] = [
    [{ body: rpcError(-32000, 'nope') }, 'rpc', { code: -32000, text: 'nope' }],
    [
      { body: rpcError(-32602, 'invalid params', { payload: 'range limit 5' }) },
      'rpc',
      { code: -32602, text: 'invalid params {"payload":"range limit 5"}' },
    ],
    [{ status: 413, body: rpcError(-32614, 'too wide') }, 'rpc', { status: 413, code: -32614 }],
    [{ status: 413, body: 'Request Entity Too Large' }, 'http', { status: 413 }],
    [{ status: 503, headers: { 'content-type': 'text/plain' }, body: 'down' }, 'http', { status: 503 }],
    [{ status: 429, body: 'slow down' }, 'rateLimit', { status: 429 }],
    [
      { status: 429, body: rpcError(-32005, 'Too Many Requests') },
      'rateLimit',
      { status: 429, code: -32005 },
    ],
    [{ body: rpcError(-32005, 'Too Many Requests') }, 'rateLimit', { code: -32005 }],
    ['close', 'network', {}],
    [{ body: '{"jsonrpc":"2.0","id":1,"resu' }, 'body', {}],
    [{ body: 'no JSON' }, 'body', {}],
    [{ body: '{"jsonrpc":"2.0","id":1}' }, 'body', {}],
    [{ body: '[]' }, 'body', {}],
    [{ body: '7' }, 'body', {}],
  ]
  for (const [answer, kind, words] of cases) {
    const failure = await failureOf(answer)
    const title = inspect(answer)
    assert.equal(failure.kind, kind, title)
    const told = failure.providerWords() as unknown as Record<string, unknown>
    for (const [name, value] of Object.entries(words)) assert.equal(told[name], value, title)
  }
})

test('an error whose data are nested thousands deep is reported like any other', async () => {
  const deep = '['.repeat(10_000) + ']'.repeat(10_000)
  const answer = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"busy","data":${deep}}}`
  assert.equal((await failureOf({ body: answer })).kind, 'rpc')
  const page = `{"error":{"text":${deep}}}`
  assert.equal((await failureOf({ status: 500, body: page })).kind, 'http')
})

test('an endpoint that is silent, or whose body trickles, ends with the time-out', async (t) => {
  assert.equal((await failureOf(endlessSilence(t))).kind, 'timeout')
  function* trickle() {
    yield '{"jsonrpc":"2.0",'
    for (let piece = 0; ; piece++) {
      // One that comes in between begins no new time.
      if (piece % 10 === 9) t.mock.timers.tick(ENDLESS_MS / 2)
      yield ' '
    }
  }
  assert.equal((await failureOf({ body: trickle() })).kind, 'timeout')
})

test('a body longer than the limit is not read to its end', async () => {
  const long = JSON.stringify({ jsonrpc: '2.0', id: 1, result: 'x'.repeat(200_000) })
  const told = await failureOf({ headers: { 'content-length': String(long.length) }, body: long })
  const untold = await failureOf({ body: [long.slice(0, 90_000), long.slice(90_000)] })
  for (const failure of [told, untold]) assert.equal(failure.kind, 'body')
})

test('the answer to a head or a call has 4 MiB at most for each call, that to logs as much as the limit says', async () => {
  const options = { maxBodyBytes: 64 * 1024 ** 2 }
  const answer = byMethod(({ params }) => 'x'.repeat(Number(params[0])))
  const lengthOf = (method: string, length: number, calls = 1, ...more: unknown[]): Promise<number> =>
    withTransport(
      answer,
      async (transport) => {
        const call = { method, params: [length, ...more] }
        if (calls === 1) return String(await transport.request(call, signal)).length
        const outcomes = await transport.requestBatch(Array(calls).fill(call), signal)
        return outcomes.reduce((sum, outcome) => sum + (outcome.ok ? String(outcome.result).length : 0), 0)
      },
      options,
    )
  const MIB = 1024 ** 2
  const tooLong = { kind: 'body', message: /the answer to \S+( of 2)? is too long/ }
  for (const method of ['eth_getBlockByNumber', 'eth_call', 'eth_chainId', 'eth_unheard']) {
    assert.equal(await lengthOf(method, 3 * MIB), 3 * MIB)
    await assert.rejects(lengthOf(method, 5 * MIB), tooLong, method)
  }
  // A block with its transactions is as long as their calldata.
  assert.equal(await lengthOf('eth_getBlockByNumber', 5 * MIB, 1, true), 5 * MIB)
  assert.equal(await lengthOf('eth_call', 3 * MIB, 2), 6 * MIB)
  await assert.rejects(lengthOf('eth_call', 5 * MIB, 2), tooLong)
  for (const method of [
    'eth_getLogs',
    'eth_getBlockReceipts',
    'eth_getTransactionReceipt',
    'eth_getTransactionByHash',
    'debug_traceTransaction',
  ])
    assert.equal(await lengthOf(method, 5 * MIB), 5 * MIB, method)
})

test('an answer of nothing but brackets is a failure that says so, whatever its status and its call', async () => {
  const options = { maxBodyBytes: 2_000_000 }
  const brackets = '['.repeat(1_000_000)
  assert.equal(
    (await failureOf({ body: brackets }, options)).message,
    'alpha: the answer to eth_test has too many or too deep values',
  )
  const refused = await failureOf({ status: 500, body: brackets }, options)
  assert.deepEqual([refused.kind, refused.providerWords().text.length], ['http', 16_384])
  const error = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"${'m'.repeat(1_000_000)}"}}`
  assert.equal((await failureOf({ body: error }, options)).providerWords().text, 'm'.repeat(16_384))
})

test('logs that are too heavy are refused in the words of a provider that asks for less, and are not asked for again as they are', async () => {
  for (const body of ['['.repeat(100_000), `{"result":[${'{},'.repeat(100_000)}{}]}`]) {
    const failure = await failureOf({ body }, { maxBodyBytes: 2_000_000 })
    assert.deepEqual(classifyLogsFailure(failure, 8), { type: 'tooMany' })
  }
})

test('logs that are parsed as JSON, or a text in their place, may take 80 MB with all that is made of them, and other answers more', async () => {
  const logs = { scanner: createLogScanner(compileMerkleModule()), filter: l1Filter }
  const body = `{"jsonrpc":"2.0","id":1,"result":"${'a'.repeat(27_000_000)}"}`
  const ask = (method: string) =>
    withTransport(
      () => ({ body }),
      (transport) => transport.request({ method, params: [] }, signal),
      { maxBodyBytes: 30_000_000, logs },
    )
  await assert.rejects(ask('eth_getLogs'), { message: /too many or too deep values$/ })
  assert.equal(String(await ask('debug_traceTransaction')).length, 27_000_000)
})

test('many small values in an answer to logs are as heavy as a large one', async () => {
  const logs = { scanner: createLogScanner(compileMerkleModule()), filter: l1Filter }
  const fields = Array.from({ length: 40 }, (_, at) => `"${at}":[${'{},'.repeat(20_000)}{}]`)
  const replies = Array(400_000).fill('{"":0}')
  for (const body of [`{${fields.join()}}`, `[${replies.join()}]`])
    await withTransport(
      () => ({ body }),
      (transport) =>
        assert.rejects(transport.request({ method: 'eth_getLogs', params: [] }, signal), {
          message: 'alpha: the answer to eth_getLogs has too many or too deep values',
        }),
      { maxBodyBytes: 10_000_000, logs },
    )
})

test('logs behind the long heads of their batch are still read packed', async () => {
  const log = {
    ...{ address: contracts.bridge, topics: [`0x${'11'.repeat(32)}`], data: '0x', logIndex: '0x0' },
    ...{ blockNumber: '0x1', blockHash: `0x${'bb'.repeat(32)}`, transactionHash: `0x${'77'.repeat(32)}` },
  }
  const head = { number: '0x1', transactions: Array(200).fill(`0x${'77'.repeat(32)}`) }
  const calls = [...Array(20).fill('eth_getBlockByNumber'), 'eth_getLogs'].map((method) => ({
    method,
    params: [],
  }))
  const outcomes = await withTransport(
    byMethod(({ method }) => (method === 'eth_getLogs' ? [log] : head)),
    (transport) => transport.requestBatch(calls, signal),
    {
      maxBodyBytes: 10_000_000,
      logs: { scanner: createLogScanner(compileMerkleModule()), filter: l1Filter },
    },
  )
  const last = outcomes.at(-1)!
  assert.ok(last.ok && last.result instanceof PackedLogs)
  assert.deepEqual(outcomes[0], { ok: true, result: head })
})

test('replies whose ids are no numbers and no texts answer no call of a batch', async () => {
  const ids = [
    '{"toString":null,"valueOf":null}',
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
    'null',
    'true',
  ]
  const replies = ids.map((id) => `{"id":${id},"result":1}`)
  const outcomes = await withTransport(
    (body) => {
      const [first] = body as readonly ScriptedCall[]
      return { body: `[${replies.join()},7,null,[],{"id":"${first!.id}","result":2}]` }
    },
    (transport) => transport.requestBatch(Array(2).fill({ method: 'eth_echo', params: [] }), signal),
  )
  assert.deepEqual(outcomes[0], { ok: true, result: 2 })
  assert.ok(outcomes[1]?.ok === false && outcomes[1].failure.kind === 'body')
})

test('a Retry-After date is measured by the Date header of the same answer', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOON_MS })
  for (const hours of [0, 24, -24]) {
    const thereMs = NOON_MS + hours * 3_600_000
    const headers = {
      date: new Date(thereMs).toUTCString(),
      'retry-after': new Date(thereMs + 5_000).toUTCString(),
    }
    assert.equal((await failureOf({ status: 429, headers, body: '' })).retryAfterMs, 5_000, `${hours} h`)
  }
})

test('Retry-After is read as seconds and as a date, and has a maximum', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOON_MS })
  const after = async (value: string, date = 'of no use') =>
    (await failureOf({ status: 429, headers: { date, 'retry-after': value }, body: '' })).retryAfterMs
  assert.equal(await after('7'), 7_000)
  assert.equal(await after(new Date(NOON_MS + 60_000).toUTCString()), 60_000)
  assert.equal(await after(new Date(NOON_MS - 60_000).toUTCString()), 0)
  assert.equal(await after('999999'), 900_000)
  assert.equal(await after('soon'), undefined)
  assert.equal((await failureOf({ status: 503, body: '' })).retryAfterMs, undefined)
})

test('an empty error beside a result is ignored, and without a result it is a failure', async () => {
  for (const error of ['null', '{}', '[]', 'false', '""', '{"code":0,"message":""}'])
    for (const result of ['"0x1"', 'null', '[]']) {
      const body = `{"jsonrpc":"2.0","id":1,"result":${result},"error":${error}}`
      const told = await withTransport(
        () => ({ body }),
        (transport) => transport.request({ method: 'eth_test', params: [] }, signal),
      )
      assert.deepEqual(told, JSON.parse(result), body)
    }
  for (const body of [
    '{"jsonrpc":"2.0","id":1,"error":{}}',
    '{"jsonrpc":"2.0","id":1,"result":"0x1","error":{"code":-32000,"message":""}}',
    '{"jsonrpc":"2.0","id":1,"result":"0x1","error":"busy"}',
  ])
    assert.ok(await failureOf({ body }), body)
})

test('a byte order mark in front of an answer is skipped', async () => {
  const results = await withTransport(
    () => ({ body: '\ufeff{"jsonrpc":"2.0","id":1,"result":"0x1"}' }),
    (transport) => transport.request({ method: 'eth_test', params: [] }, signal),
  )
  assert.equal(results, '0x1')
  const refused = await failureOf({ status: 500, body: `\ufeff${rpcError(-32005, 'limit')}` })
  assert.equal(refused.providerWords().code, -32005)
})

test('a redirect is not followed, and its error has the host and no other part of the address', async () => {
  const movedTo = async (status: number, location: string) =>
    (await failureOf({ status, headers: { location }, body: '' })).message
  assert.equal(
    await movedTo(308, 'https://me:pass@other.example:8443/v3/k3y?token=t'),
    'alpha: eth_test failed, it is redirected to host other.example:8443 (https): HTTP 308',
  )
  assert.equal(
    await movedTo(301, '/login?next=k3y'),
    'alpha: eth_test failed, it is redirected to another path of the same host: HTTP 301',
  )
  assert.equal(await movedTo(302, 'http://['), 'alpha: eth_test failed: HTTP 302')
  const rpc = await serveScript(() => ({
    status: 307,
    headers: { location: rpc.url.replace('http', 'https') },
    body: '',
  }))
  const transport = createRpcTransport({
    url: rpc.url,
    alias: 'alpha',
    timeoutMs: ENDLESS_MS,
    maxBodyBytes: 1000,
  })
  await assert.rejects(transport.request({ method: 'eth_test', params: [] }, signal), {
    kind: 'http',
    message: 'alpha: eth_test failed, it is redirected to https: HTTP 307',
  })
  assert.equal(rpc.requests.length, 1)
  await rpc.close()
})

test("no error has the address, the request or the provider's text", async (t) => {
  const words = 'words of the provider'
  const answers: readonly Parameters<typeof failureOf>[0][] = [
    { body: rpcError(-32000, words) },
    { status: 500, body: words },
    { status: 429, body: words },
    { body: `${words} {` },
    'close',
    endlessSilence(t),
  ]
  for (const answer of answers) {
    const failure = await failureOf(answer)
    const shown = [
      failure.message,
      failure.stack,
      inspect(failure, { depth: 9, showHidden: true }),
      JSON.stringify(failure),
    ].join('\n')
    for (const secret of [SECRET, '127.0.0.1', words, '"params"'])
      assert.ok(!shown.includes(secret), `${secret} in ${shown}`)
    assert.ok(failure.message.startsWith('alpha: '), failure.message)
  }
})

test('a refused connection is reported by its system code without the address', async () => {
  const rpc = await serveScript(() => 'close')
  await rpc.close()
  const transport = createRpcTransport({
    url: rpc.url,
    alias: 'alpha',
    timeoutMs: ENDLESS_MS,
    maxBodyBytes: 1000,
  })
  await assert.rejects(transport.request({ method: 'eth_test', params: [] }, signal), {
    kind: 'network',
    message: 'alpha: no connection for eth_test (ECONNREFUSED)',
  })
})

test('the replies of a batch are matched by id, in any order', async () => {
  const answer: Answer = (body) => {
    const calls = body as readonly ScriptedCall[]
    const replies = calls.map(({ id, params }) => ({ jsonrpc: '2.0', id, result: params[0] }))
    return { body: JSON.stringify(replies.reverse()) }
  }
  const outcomes = await withTransport(answer, (transport) =>
    transport.requestBatch(
      [1, 2, 3].map((value) => ({ method: 'eth_echo', params: [value] })),
      signal,
    ),
  )
  assert.deepEqual(
    outcomes,
    [1, 2, 3].map((result) => ({ ok: true, result })),
  )
})

test('a failed call of a batch is an outcome among the others', async () => {
  const answer = byMethod((call) => {
    if (call.params[0] === 2) throw { code: 3, message: 'execution reverted' }
    return call.params[0]
  })
  const outcomes = await withTransport(answer, (transport) =>
    transport.requestBatch(
      [1, 2].map((value) => ({ method: 'eth_echo', params: [value] })),
      signal,
    ),
  )
  assert.deepEqual(outcomes[0], { ok: true, result: 1 })
  assert.ok(outcomes[1]?.ok === false && outcomes[1].failure.providerWords().code === 3)
})

test("an abort ends a call with the abort's own reason", async () => {
  const reason = new Error('stopping')
  await withTransport(
    () => 'silent',
    async (transport) => {
      const stop = new AbortController()
      const call = transport.request({ method: 'eth_test', params: [] }, stop.signal)
      stop.abort(reason)
      await assert.rejects(call, (error) => error === reason)
    },
  )
})

test('an answer of 300,000 logs is read', async () => {
  const log = { address: `0x${'b1'.repeat(20)}`, topics: [], data: '0x', logIndex: '0x0' }
  const body = `{"jsonrpc":"2.0","id":1,"result":[${`${JSON.stringify(log)},`.repeat(299_999)}${JSON.stringify(log)}]}`
  const result = await withTransport(
    () => ({ body }),
    (transport) => transport.request({ method: 'eth_getLogs', params: [] }, signal),
    { maxBodyBytes: 64 * 1024 * 1024 },
  )
  assert.equal((result as unknown[]).length, 300_000)
})
