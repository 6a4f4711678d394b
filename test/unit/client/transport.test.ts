import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { inspect } from 'node:util'
import {
  BridgeApiError,
  BridgeNetworkError,
  BridgeResponseError,
  createBridgeClient,
} from '../../../src/client/bridgeClient.js'
import { freePort } from '../../support/freePort.js'
import {
  ALIVE,
  answer,
  apiError,
  type Step,
  scriptedServer,
  testClock,
  watchedClock,
} from './scriptedServer.js'

const HTML = '<html><h1>Bad gateway</h1></html>'

/** How often an answer is asked for, of four times at most, and what is thrown then. */
const refusals: readonly (readonly [
  name: string,
  step: Step,
  error: readonly unknown[],
  requests: number,
])[] = [
  ['400', apiError(400, 'INVALID_PARAMETER'), [BridgeApiError, 'INVALID_PARAMETER', 400], 1],
  ['400 of a network', apiError(400, 'INVALID_NETWORK_ID'), [BridgeApiError, 'INVALID_NETWORK_ID', 400], 1],
  ['404', apiError(404, 'BRIDGE_NOT_FOUND'), [BridgeApiError, 'BRIDGE_NOT_FOUND', 404], 1],
  ['404 of a proof', apiError(404, 'PROOF_NOT_AVAILABLE'), [BridgeApiError, 'PROOF_NOT_AVAILABLE', 404], 1],
  ['404 of a route', apiError(404, 'NOT_FOUND'), [BridgeApiError, 'NOT_FOUND', 404], 1],
  ['405', apiError(405, 'METHOD_NOT_ALLOWED'), [BridgeApiError, 'METHOD_NOT_ALLOWED', 405], 1],
  ['414', apiError(414, 'URI_TOO_LONG'), [BridgeApiError, 'URI_TOO_LONG', 414], 1],
  ['429', apiError(429, 'RATE_LIMIT_EXCEEDED'), [BridgeApiError, 'RATE_LIMIT_EXCEEDED', 429], 4],
  ['500', apiError(500, 'INTERNAL_ERROR'), [BridgeApiError, 'INTERNAL_ERROR', 500], 1],
  ['503', apiError(503, 'SERVICE_UNAVAILABLE'), [BridgeApiError, 'SERVICE_UNAVAILABLE', 503], 4],
  ['504', apiError(504, 'DEADLINE_EXCEEDED'), [BridgeApiError, 'DEADLINE_EXCEEDED', 504], 4],
  ['429 of a proxy', answer(429, HTML), [BridgeResponseError, 'UNKNOWN_ERROR', 429], 4],
  ['502 of a proxy', answer(502, HTML), [BridgeResponseError, 'UNKNOWN_ERROR', 502], 4],
  ['503 of a proxy', answer(503, ''), [BridgeResponseError, 'UNKNOWN_ERROR', 503], 4],
  ['504 of a proxy', answer(504, HTML), [BridgeResponseError, 'UNKNOWN_ERROR', 504], 4],
  ['404 of a proxy', answer(404, HTML), [BridgeResponseError, 'UNKNOWN_ERROR', 404], 1],
  ['a code that a newer service has', apiError(410, 'GONE'), [BridgeResponseError, 'UNKNOWN_ERROR', 410], 1],
  ['204', answer(204, ''), [BridgeResponseError, 'UNKNOWN_ERROR', 204], 1],
  ['a page', answer(200, HTML), [BridgeResponseError, 'NOT_JSON', 200], 1],
  ['nothing', answer(200, ''), [BridgeResponseError, 'NOT_JSON', 200], 1],
  ['JSON that is cut', answer(200, '{"status":"ali'), [BridgeResponseError, 'NOT_JSON', 200], 4],
  ['null', answer(200, 'null'), [BridgeResponseError, 'WRONG_SHAPE', 200], 1],
  ['a list', answer(200, '[]'), [BridgeResponseError, 'WRONG_SHAPE', 200], 1],
  ['another answer', answer(200, '{"bridges":[]}'), [BridgeResponseError, 'WRONG_SHAPE', 200], 1],
  [
    'a redirect',
    answer(301, '', { location: 'http://127.0.0.1:1/' }),
    [BridgeResponseError, 'UNKNOWN_ERROR', 301],
    1,
  ],
]

for (const [name, step, expected, requests] of refusals)
  test(`${name} is ${expected[1]}, after ${requests} requests`, async (t) => {
    const server = await scriptedServer(t, step)
    const client = createBridgeClient({ baseUrl: server.url, clock: testClock() })
    const error = await client.getLiveness().catch((caught: unknown) => caught)
    assert.ok(error instanceof BridgeApiError || error instanceof BridgeResponseError, inspect(error))
    assert.deepEqual([error.constructor, error.code, error.status], expected)
    assert.equal(server.requests.length, requests)
    assert.equal(error.attempts, requests)
    // A body of 204 or of a HEAD would hang; here every request was a GET of the one path.
    assert.deepEqual([...new Set(server.requests)], ['GET /livez'])
  })

test('an answer after failures that pass is the answer', async (t) => {
  const server = await scriptedServer(
    t,
    apiError(503, 'SERVICE_UNAVAILABLE'),
    (response) => response.destroy(),
    answer(502, HTML),
    ALIVE,
  )
  const client = createBridgeClient({ baseUrl: server.url, clock: testClock() })
  assert.deepEqual(await client.getLiveness(), { status: 'alive' })
  assert.equal(server.requests.length, 4)
})

const retryAfters: readonly (readonly [string, Readonly<Record<string, string>>, number | undefined])[] = [
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['none', { 'retry-after': '0' }, 0],
  // The service's clock is a year ahead of ours.
  [
    'a date beside the date of the answer',
    { date: 'Fri, 01 Jan 2027 12:00:00 GMT', 'retry-after': 'Fri, 01 Jan 2027 12:00:09 GMT' },
    9_000,
  ],
  // The test's clock stands at 12:00:01.
  ['a date alone', { 'retry-after': 'Thu, 01 Jan 2026 12:00:06 GMT' }, 5_000],
  ['a date that is over', { 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }, 0],
  ['what is no time', { 'retry-after': 'soon' }, undefined],
  ['no header', {}, undefined],
]

for (const [name, headers, retryAfterMs] of retryAfters)
  test(`Retry-After as ${name} is waited for, and half of the first 250 ms of jitter`, async (t) => {
    const server = await scriptedServer(t, apiError(429, 'RATE_LIMIT_EXCEEDED', headers), ALIVE)
    const clock = testClock(0.5)
    await createBridgeClient({ baseUrl: server.url, clock }).getLiveness()
    assert.deepEqual(clock.sleeps, [(retryAfterMs ?? 0) + 125])

    const once = createBridgeClient({ baseUrl: server.url, clock: testClock(), attempts: 1 })
    const refusing = await scriptedServer(t, apiError(429, 'RATE_LIMIT_EXCEEDED', headers))
    await assert.rejects(
      createBridgeClient({ baseUrl: refusing.url, clock: testClock(), attempts: 1 }).getLiveness(),
      { code: 'RATE_LIMIT_EXCEEDED', retryAfterMs, attempts: 1 },
    )
    assert.deepEqual(await once.getLiveness(), { status: 'alive' })
  })

test('waits are anything from nothing to a limit that doubles up to ten seconds', async (t) => {
  const server = await scriptedServer(t, answer(502, HTML))
  const waits = async (random: number): Promise<readonly number[]> => {
    const clock = testClock(random)
    const client = createBridgeClient({ baseUrl: server.url, clock, attempts: 9, timeoutMs: 3_600_000 })
    await assert.rejects(client.getLiveness(), { attempts: 9 })
    return clock.sleeps
  }
  assert.deepEqual(await waits(0), [0, 0, 0, 0, 0, 0, 0, 0])
  assert.deepEqual(await waits(1), [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
})

test('a wait that would go beyond the time of the call is not begun', async (t) => {
  const server = await scriptedServer(t, apiError(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '60' }))
  const clock = testClock()
  const client = createBridgeClient({ baseUrl: server.url, clock })
  await assert.rejects(client.getLiveness(), { retryAfterMs: 60_000, attempts: 1 })
  await assert.rejects(client.getLiveness({ timeoutMs: 130_000 }), { attempts: 3 })
  assert.equal(clock.sleeps.length, 2)
})

test('a call may be tried more or less often than the client says', async (t) => {
  const server = await scriptedServer(t, answer(502, HTML))
  const client = createBridgeClient({ baseUrl: server.url, clock: testClock(), attempts: 2 })
  await assert.rejects(client.getLiveness(), { attempts: 2 })
  await assert.rejects(client.getLiveness({ attempts: 3 }), { attempts: 3 })
})

test('an address where nobody listens is CONNECTION_FAILED with the code of the system', async () => {
  const client = createBridgeClient({ baseUrl: `http://127.0.0.1:${await freePort()}`, clock: testClock() })
  const error = await client.getLiveness().catch((caught: unknown) => caught)
  assert.ok(error instanceof BridgeNetworkError)
  assert.deepEqual([error.code, error.systemCode, error.attempts], ['CONNECTION_FAILED', 'ECONNREFUSED', 4])
})

const brokenBodies: readonly (readonly [string, Step])[] = [
  ['before the head', (response) => response.destroy()],
  [
    'within a body of known length',
    (response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"status":', () => response.destroy())
    },
  ],
  [
    'within a body in chunks',
    (response) => {
      response.writeHead(200).write('{"status":', () => response.destroy())
    },
  ],
]

for (const [name, step] of brokenBodies)
  test(`a connection that is reset ${name} is tried again`, async (t) => {
    const server = await scriptedServer(t, step, ALIVE)
    const client = createBridgeClient({ baseUrl: server.url, clock: testClock() })
    assert.deepEqual(await client.getLiveness(), { status: 'alive' })
    const broken = await scriptedServer(t, step)
    const never = createBridgeClient({ baseUrl: broken.url, clock: testClock() })
    await assert.rejects(never.getLiveness(), {
      name: 'BridgeNetworkError',
      code: 'CONNECTION_FAILED',
      attempts: 4,
    })
  })

/** Some weeks: as long as a timer can be. */
const WITHOUT_LIMIT = { attemptTimeoutMs: 2 ** 31 - 1, timeoutMs: 2 ** 31 - 1 }

const silences: readonly (readonly [string, Step])[] = [
  ['no head', () => undefined],
  ['no end of the body', (response) => void response.writeHead(200).write('{"status":')],
]

for (const [name, step] of silences)
  test(`${name} within the time of an attempt is TIMEOUT`, async (t) => {
    const server = await scriptedServer(t, step)
    const client = createBridgeClient({ baseUrl: server.url, clock: testClock(), attemptTimeoutMs: 20 })
    await assert.rejects(client.getLiveness({ attempts: 2 }), {
      name: 'BridgeNetworkError',
      code: 'TIMEOUT',
      attempts: 2,
    })
  })

test('an aborted signal asks nothing', async (t) => {
  const server = await scriptedServer(t, ALIVE)
  const reason = new Error('not wanted')
  const client = createBridgeClient({ baseUrl: server.url })
  await assert.rejects(client.getLiveness({ signal: AbortSignal.abort(reason) }), reason)
  assert.deepEqual(server.requests, [])
})

for (const [name, step] of silences)
  test(`an abort while there is ${name} ends the call at once, with the signal's reason`, async (t) => {
    const reason = new Error('not wanted')
    const stop = new AbortController()
    const server = await scriptedServer(t, (response, request) => {
      step(response, request)
      setImmediate(() => stop.abort(reason))
    })
    // One attempt, so that the reason does not come from the wait behind it. Only the abort ends that one today.
    const client = createBridgeClient({ baseUrl: server.url, attempts: 1, ...WITHOUT_LIMIT })
    await assert.rejects(client.getLiveness({ signal: stop.signal }), reason)
    assert.equal(server.requests.length, 1)
    assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
  })

test('an abort during a wait ends the call at once, with the signal’s reason', async (t) => {
  const server = await scriptedServer(t, apiError(503, 'SERVICE_UNAVAILABLE', { 'retry-after': '1000000' }))
  const reason = new Error('not wanted')
  const stop = new AbortController()
  const clock = watchedClock(() => stop.abort(reason))
  const client = createBridgeClient({ baseUrl: server.url, clock, ...WITHOUT_LIMIT })
  await assert.rejects(client.getLiveness({ signal: stop.signal }), reason)
  assert.equal(server.requests.length, 1)
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
})

test('a call that ends well leaves no listener on its signal', async (t) => {
  const server = await scriptedServer(t, apiError(503, 'SERVICE_UNAVAILABLE'), ALIVE)
  const { signal } = new AbortController()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = watchedClock(() => setImmediate(() => t.mock.timers.tick(60_000)))
  await createBridgeClient({ baseUrl: server.url, clock }).getLiveness({ signal })
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

for (const [base, target] of [
  ['', '/bridge/v1/bridges'],
  ['/', '/bridge/v1/bridges'],
  ['/some/path', '/some/path/bridge/v1/bridges'],
  ['/some/path//', '/some/path/bridge/v1/bridges'],
] as const)
  test(`a base URL that ends with "${base}" leads to ${target}`, async (t) => {
    const server = await scriptedServer(t, answer(503, ''))
    const client = createBridgeClient({ baseUrl: new URL(server.url + base), attempts: 1 })
    await assert.rejects(client.getBridges({ networkId: 1 }))
    assert.deepEqual(server.requests, [`GET ${target}?network_id=1`])
  })

test('parameters go under the names of the wire: lists with commas, big integers whole, what is undefined not at all', async (t) => {
  const server = await scriptedServer(t, answer(503, ''))
  const client = createBridgeClient({ baseUrl: server.url, attempts: 1 })
  await assert.rejects(
    client.getBridges({
      networkId: 0,
      depositCount: [1, 2],
      networkIds: 3,
      readyForClaim: false,
      fromAddress: undefined,
      order: 'asc',
      fromTimestamp: 2 ** 48 - 1,
    }),
  )
  await assert.rejects(client.getClaims({ networkId: 1, globalIndex: 2n ** 64n + 5n }))
  await assert.rejects(client.getTokenMappings())
  assert.deepEqual(server.requests, [
    'GET /bridge/v1/bridges?network_id=0&deposit_count=1%2C2&network_ids=3&ready_for_claim=false&order=asc&from_timestamp=281474976710655',
    'GET /bridge/v1/claims?network_id=1&global_index=18446744073709551621',
    'GET /bridge/v1/token-mappings',
  ])
})

test('data endpoints are asked for the places of logs that a call names, and probes are not', async (t) => {
  const server = await scriptedServer(t, answer(503, ''))
  const client = createBridgeClient({ baseUrl: server.url, attempts: 1 })
  const call = { minSequence: { 1: 900, 0: 7 } }
  await assert.rejects(client.getBridges({ networkId: 1 }, call))
  await assert.rejects(client.bridges({ networkId: 1 }, call).next())
  await assert.rejects(client.getClaims({ networkId: 1 }, { minSequence: {} }))
  await assert.rejects(client.getSyncStatus(call))
  assert.deepEqual(server.requests, [
    'GET /bridge/v1/bridges?network_id=1&min_sequence=0%3A7%2C1%3A900',
    'GET /bridge/v1/bridges?network_id=1&order=asc&min_sequence=0%3A7%2C1%3A900',
    'GET /bridge/v1/claims?network_id=1',
    'GET /bridge/v1/sync-status',
  ])
})

test('key and headers are sent with each request', async (t) => {
  const server = await scriptedServer(t, ALIVE)
  const client = createBridgeClient({ baseUrl: server.url, apiKey: 'k', headers: { 'X-Request-Id': 'mine' } })
  await client.getLiveness()
  const [sent] = server.headers
  assert.deepEqual(
    [sent?.['x-api-key'], sent?.['x-request-id'], sent?.accept],
    ['k', 'mine', 'application/json'],
  )
})

const SECRET = 'hunter2'

test('no error shows the path of the base URL or a key', async (t) => {
  const steps: readonly Step[] = [answer(502, HTML), answer(200, HTML), (response) => response.destroy()]
  for (const step of steps) {
    const server = await scriptedServer(t, step)
    const client = createBridgeClient({
      baseUrl: `${server.url}/${SECRET}`,
      apiKey: SECRET,
      attempts: 1,
    })
    const error = await client.getLiveness().catch((caught: unknown) => caught)
    assert.ok(error instanceof BridgeNetworkError || error instanceof BridgeResponseError)
    assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), new RegExp(SECRET))
  }
})

const badOptions: readonly (readonly [string, Parameters<typeof createBridgeClient>[0]])[] = [
  ['no URL', { baseUrl: SECRET }],
  ['another scheme', { baseUrl: `ftp://example.org/${SECRET}` }],
  ['a user', { baseUrl: `https://${SECRET}@example.org` }],
  ['a password', { baseUrl: `https://:${SECRET}@example.org` }],
  ['a query', { baseUrl: `https://example.org/?key=${SECRET}` }],
  ['a fragment', { baseUrl: `https://example.org/#${SECRET}` }],
  ['a key with a line break', { baseUrl: 'https://example.org', apiKey: `${SECRET}\nb` }],
  ['a header with a line break', { baseUrl: 'https://example.org', headers: { 'x-a': `${SECRET}\r\nb: c` } }],
]

for (const [name, options] of badOptions)
  test(`options with ${name} are a TypeError that does not show them`, () => {
    assert.throws(
      () => createBridgeClient(options),
      (error) => error instanceof TypeError && !inspect(error).includes(SECRET),
    )
  })

const HEALTH = {
  status: 'starting',
  version: '1.0.0',
  network_id: 1,
  uptime: '0h0m1s',
  last_processed_block: 7,
  supported_networks: [0, 1],
  reasons: ['starting'],
  build: '0.1.0',
}

test('a health record with 503 is an answer, the 503 of a proxy in its place is tried again', async (t) => {
  const server = await scriptedServer(t, answer(503, HTML), answer(503, JSON.stringify(HEALTH)))
  const client = createBridgeClient({ baseUrl: server.url, clock: testClock() })
  assert.deepEqual(await client.getHealth(), {
    status: 'starting',
    version: '1.0.0',
    networkId: 1,
    uptime: '0h0m1s',
    lastProcessedBlock: 7,
    supportedNetworks: [0, 1],
    reasons: ['starting'],
    build: '0.1.0',
  })
  assert.deepEqual(server.requests, ['GET /bridge/v1', 'GET /bridge/v1'])
})

test('a service that says it is not ready is believed at once', async (t) => {
  const server = await scriptedServer(t, apiError(503, 'SERVICE_UNAVAILABLE'))
  const client = createBridgeClient({ baseUrl: server.url, clock: testClock() })
  await assert.rejects(client.getReadiness(), { code: 'SERVICE_UNAVAILABLE', attempts: 1 })
})
