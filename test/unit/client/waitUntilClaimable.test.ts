import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Bridge,
  BridgeApiError,
  BridgeNetworkError,
  BridgeResponseError,
  type BridgesParameters,
  type ClaimablePoll,
  type HealthResponse,
  NotClaimableError,
  type WaitOptions,
} from '../../../src/client/bridgeClient.js'
import type { EventFilter, EventsOptions } from '../../../src/client/readEvents.js'
import { waitUntilClaimable } from '../../../src/client/waitUntilClaimable.js'
import { testClock, watchedClock } from './scriptedServer.js'

const HASH = `0x${'1a'.repeat(32)}` as const
const OTHER_HASH = `0x${'2b'.repeat(32)}` as const

function bridgeWith(fields: Partial<Bridge> = {}): Bridge {
  return {
    txHash: HASH,
    depositCount: 7,
    originNetwork: 1,
    destinationNetwork: 2,
    originAddress: null,
    destinationAddress: '0x',
    amount: 1n,
    blockTimestamp: 1,
    readyForClaim: false,
    blockNumber: 1,
    logIndex: 1,
    leafType: 0,
    tokenNetwork: 0,
    tokenAddress: '0x',
    metadata: '0x',
    txSender: null,
    globalIndex: 7n,
    claimTxHash: null,
    l1InfoTreeIndex: null,
    ...fields,
  }
}

const health: HealthResponse = {
  status: 'healthy',
  version: '1.0.0',
  networkId: 1,
  uptime: '1h0m0s',
  lastProcessedBlock: 1,
  supportedNetworks: [0, 1, 2],
  build: '',
}

type Look = Bridge | Error | undefined

/** A service that shows a bridge as told, look by look. */
function serviceWith(...looks: readonly Look[]) {
  const asked: BridgesParameters[] = []
  let healths = 0
  return {
    asked,
    healths: () => healths,
    async getBridges(parameters: BridgesParameters) {
      asked.push(parameters)
      assert.ok(asked.length <= looks.length, 'one look too many')
      const look = looks[asked.length - 1]
      if (look instanceof Error) throw look
      return {
        bridges: look === undefined ? [] : [look],
        pagination: { page: 1, limit: 100, total: 1, nextCursor: null },
      }
    },
    async getHealth() {
      healths += 1
      return health
    },
  }
}

const name = { originNetwork: 1, depositCount: 7, txHash: HASH }
const ready = bridgeWith({ readyForClaim: true })
const facts = { attempts: 4, retryAfterMs: undefined }

test('the bridge is returned at the first look that finds it ready', async () => {
  const service = serviceWith(undefined, bridgeWith(), bridgeWith(), ready)
  const clock = testClock()
  assert.equal(await waitUntilClaimable(service, clock, name), ready)
  assert.equal(clock.sleeps.length, 3)
  assert.deepEqual(service.asked[3], { networkId: 1, depositCount: 7 })
})

for (const [random, waits] of [
  [0, [1_000, 1_500, 2_250, 3_375, 5_000, 5_000]],
  [1, [2_000, 3_000, 4_500, 6_750, 10_000, 10_000]],
] as const)
  test(`intervals grow by half from two seconds up to the longest one, the random part of each being ${random}`, async () => {
    const looks = Array.from({ length: 6 }, () => bridgeWith())
    const clock = testClock(random)
    await waitUntilClaimable(serviceWith(...looks, ready), clock, name, { maxIntervalMs: 10_000 })
    assert.deepEqual(clock.sleeps, waits)
  })

const hopeless: readonly (readonly [NotClaimableError['code'], Partial<Bridge>])[] = [
  ['ALREADY_CLAIMED', { claimTxHash: OTHER_HASH }],
  ['BLOCKED', { claimTxHash: OTHER_HASH, claimMatches: false }],
  ['REPLACED', { txHash: OTHER_HASH, readyForClaim: true }],
  ['DESTINATION_NOT_SERVED', { destinationNetwork: 3 }],
]

for (const [code, fields] of hopeless)
  test(`a bridge that can not become claimable ends the wait: ${code}`, async () => {
    const bridge = bridgeWith(fields)
    const service = serviceWith(undefined, bridge)
    const error = await waitUntilClaimable(service, testClock(), name).catch((caught: unknown) => caught)
    assert.ok(error instanceof NotClaimableError)
    assert.deepEqual([error.code, error.bridge], [code, bridge])
  })

test('without a transaction hash any bridge with the deposit count will do, and a hash in capitals is the same hash', async () => {
  const other = bridgeWith({ txHash: OTHER_HASH, readyForClaim: true })
  const { txHash, ...nameless } = name
  assert.equal(await waitUntilClaimable(serviceWith(other), testClock(), nameless), other)
  const capitals = { ...name, txHash: `0x${txHash.slice(2).toUpperCase()}` }
  assert.equal(await waitUntilClaimable(serviceWith(ready), testClock(), capitals), ready)
})

test('which networks are served is asked once', async () => {
  const service = serviceWith(bridgeWith(), bridgeWith(), ready)
  await waitUntilClaimable(service, testClock(), name)
  assert.equal(service.healths(), 1)
})

test('failures that pass are told and outlived, and Retry-After is waited for', async () => {
  const failures = [
    new BridgeNetworkError('CONNECTION_FAILED', '', 4, undefined),
    new BridgeApiError('SERVICE_UNAVAILABLE', '', { status: 503, attempts: 1, retryAfterMs: 60_000 }),
    new BridgeApiError('RATE_LIMIT_EXCEEDED', '', { status: 429, ...facts }),
    new BridgeResponseError('UNKNOWN_ERROR', '', { status: 502, ...facts }),
  ]
  const polls: ClaimablePoll[] = []
  const options: WaitOptions = { onPoll: (poll) => polls.push(poll) }
  assert.equal(await waitUntilClaimable(serviceWith(...failures, ready), testClock(0), name, options), ready)
  assert.deepEqual(
    polls.map(({ error }) => error),
    failures,
  )
  assert.deepEqual(
    polls.map(({ waitMs }) => waitMs),
    [1_000, 60_000, 2_250, 3_375],
  )
})

const lasting: readonly Error[] = [
  new BridgeApiError('INVALID_NETWORK_ID', '', { status: 400, ...facts }),
  new BridgeApiError('INTERNAL_ERROR', '', { status: 500, ...facts }),
  new BridgeResponseError('NOT_JSON', '', { status: 200, ...facts }),
  new Error('of another kind'),
]

for (const error of lasting)
  test(`${error.name} ${error.message} ends the wait`, async () => {
    await assert.rejects(waitUntilClaimable(serviceWith(error), testClock(), name), error)
  })

test('an event of the bridge ends the wait between two looks, and events end with the wait', async () => {
  const service = serviceWith(bridgeWith(), bridgeWith(), bridgeWith(), ready)
  const asked: (readonly [EventFilter, EventsOptions])[] = []
  let tell = (): void => undefined
  const events = async function* (filter: EventFilter, options: EventsOptions) {
    asked.push([filter, options])
    await options.onStart?.('1.00000000aaaa:1')
    for (;;) {
      await new Promise<void>((resolve) => {
        tell = resolve
      })
      yield { type: 'claimable' }
    }
  }
  // The first look after the events began, and one for each event.
  let sleeps = 0
  const clock = watchedClock(() => {
    sleeps += 1
    setImmediate(() => tell())
  })
  const wait = { minIntervalMs: 3_600_000, maxIntervalMs: 3_600_000 }
  assert.equal(await waitUntilClaimable({ ...service, events }, clock, name, wait), ready)
  assert.equal(sleeps, 2)
  const [filter, { signal }] = asked[0]!
  assert.deepEqual(
    [asked.length, filter.originNetwork, filter.depositCount, filter.types?.includes('claimable')],
    [1, 1, 7, true],
  )
  assert.equal(signal?.aborted, true)
})

test('without events the bridge is looked at all the same', async () => {
  const events = () => {
    throw new BridgeApiError('NOT_FOUND', '', { status: 404, ...facts })
  }
  const clock = testClock()
  const service = serviceWith(bridgeWith(), bridgeWith(), ready)
  assert.equal(await waitUntilClaimable({ ...service, events }, clock, name), ready)
  assert.equal(clock.sleeps.length, 2)
})

test('an abort ends the wait at once', async () => {
  const reason = new Error('not wanted')
  const stop = new AbortController()
  const clock = watchedClock(() => stop.abort(reason))
  const waiting = waitUntilClaimable(serviceWith(undefined), clock, name, {
    signal: stop.signal,
    minIntervalMs: 100_000,
    maxIntervalMs: 100_000,
  })
  await assert.rejects(waiting, reason)
})
