import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SenderQuestion } from '../../../../src/chain/chainClient.types.js'
import { RetryableError } from '../../../../src/errors/chainErrors.js'
import { decodeHex } from '../../../../src/protocol/hex.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import type { FakeCall, FakeEndpoint } from '../../../support/fakeEndpoint.js'
import { openSimulated } from '../../../support/simulatedPosts.js'
import { VirtualClock } from '../../../support/virtualClock.js'

const { signal } = new AbortController()
const DEPOSITS = 40
const TIMEOUT_MS = 10_000
const BY_HASH = 'eth_getTransactionByHash'
const RECEIPTS = 'eth_getBlockReceipts'
const isWholeBlock = ({ method, params }: FakeCall) => method === 'eth_getBlockByNumber' && params[1] === true
const isAboutTransactions = (call: FakeCall) =>
  call.method === BY_HASH || call.method === RECEIPTS || isWholeBlock(call)

/** Endpoints of a network with a deposit in each block, in virtual time, and questions about all of its senders. */
function open(endpointCount: number, perBlock = 1) {
  const network = createFakeWorld().network(0)
  for (let block = 0; block < DEPOSITS / perBlock; block++)
    network.mine((builder) => {
      for (let at = 0; at < perBlock; at++) builder.tx().deposit()
    })
  const clock = new VirtualClock()
  const config = { rpcTimeoutMs: TIMEOUT_MS, callTraces: 'off' } as const
  const { client, endpoints, posts } = openSimulated(network, clock, { endpoints: endpointCount, config })
  const deposits = network.deposits()
  const questions = deposits.map(({ transactionHash, blockNumber, ...log }): SenderQuestion => {
    const { logIndex, leafType, depositCount } = log as unknown as SenderQuestion['logs'][number]
    return {
      transactionHash: decodeHex(transactionHash)!,
      blockNumber: asBlockNumber(Number(blockNumber)),
      logs: [{ kind: 'deposit', logIndex, ...{ leafType, depositCount } } as SenderQuestion['logs'][number]],
    }
  })
  const resolve = async (asked = questions, isThorough = false) => {
    const fromMs = clock.now()
    const budget = { totalMs: TIMEOUT_MS, eachMs: TIMEOUT_MS, isThorough }
    const { size } = await client.resolveSenders(asked, signal, budget)
    return { known: size, ms: clock.now() - fromMs }
  }
  return { client, endpoints, posts, questions, deposits, resolve, hash: deposits[7]!.transactionHash }
}

/** Calls that ask for these deposits' transactions in some way. */
function isAbout(deposits: readonly { readonly transactionHash: string; readonly blockNumber: unknown }[]) {
  const hashes = new Set<unknown>(deposits.map(({ transactionHash }) => transactionHash))
  const blocks = new Set<unknown>(deposits.map(({ blockNumber }) => `0x${Number(blockNumber).toString(16)}`))
  return (call: FakeCall) =>
    call.method === BY_HASH
      ? hashes.has(call.params[0])
      : (call.method === RECEIPTS || isWholeBlock(call)) && blocks.has(call.params[0])
}

const hang = (endpoint: FakeEndpoint, when: (call: FakeCall) => boolean) =>
  endpoint.fail({ type: 'silent', when })
const lack = (endpoint: FakeEndpoint) =>
  endpoint.fail({
    ...{ type: 'error', code: -32601, message: 'the method does not exist' },
    when: (call) => call.method === RECEIPTS || isWholeBlock(call),
  })

test('where one endpoint hangs whenever it is asked for transactions, the next one is asked within three time-outs, with batches and without', async () => {
  for (const limit of [undefined, 1]) {
    const { endpoints, resolve } = open(2)
    const [first] = endpoints
    hang(first!, isAboutTransactions)
    if (limit !== undefined) first!.limitBatches(limit, { status: 413, headers: {}, body: 'batch too large' })
    const { known, ms } = await resolve()
    assert.equal(known, DEPOSITS)
    assert.ok(ms <= 3 * TIMEOUT_MS, `${ms} ms`)
  }
})

test('while an endpoint hangs, no transaction counts as unknown', async () => {
  const { endpoints, resolve } = open(1)
  lack(endpoints[0]!)
  hang(endpoints[0]!, ({ method }) => method === BY_HASH)
  await assert.rejects(resolve(), RetryableError)
  await assert.rejects(resolve(), RetryableError, 'nor when it was not asked again')
})

test('beside one look-up that hangs all others are known, also where no block is served', async () => {
  const { endpoints, resolve, hash } = open(1)
  lack(endpoints[0]!)
  hang(endpoints[0]!, ({ method, params }) => method === BY_HASH && params[0] === hash)
  assert.equal((await resolve()).known, DEPOSITS - 1)
})

for (const count of [1, 2, 3])
  test(`one transaction that hangs in every way is given up within nine time-outs, all others are known: ${count} endpoints`, async () => {
    const { endpoints, resolve, deposits } = open(count)
    for (const endpoint of endpoints) hang(endpoint, isAbout([deposits[7]!]))
    const { known, ms } = await resolve()
    assert.equal(known, DEPOSITS - 1)
    assert.ok(ms <= 9 * TIMEOUT_MS, `${ms} ms`)
  })

test('several transactions that hang in every way are waited for side by side', async () => {
  const { endpoints, resolve, deposits } = open(1)
  hang(endpoints[0]!, isAbout([3, 13, 23, 33].map((count) => deposits[count]!)))
  const { known, ms } = await resolve()
  assert.equal(known, DEPOSITS - 4)
  assert.ok(ms <= 10 * TIMEOUT_MS, `${ms} ms`)
})

const refusals = [
  { status: 504, body: '' },
  { status: 504, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"backend failed"}}' },
]

for (const refusal of refusals)
  test(`a gateway that gives up on one transaction after six seconds holds up the others as little: ${JSON.stringify(refusal)}`, async () => {
    const { endpoints, posts, resolve, deposits } = open(2)
    posts.errorMs = 6_000
    for (const endpoint of endpoints)
      endpoint.fail({ type: 'http', ...refusal, when: isAbout([deposits[7]!]) })
    const { known, ms } = await resolve()
    assert.equal(known, DEPOSITS - 1)
    assert.ok(ms <= 6 * TIMEOUT_MS, `${ms} ms`)
  })

test('a transaction is not given up for the sake of another one in its block', async () => {
  const { endpoints, resolve, deposits } = open(2, 8)
  for (const endpoint of endpoints) hang(endpoint, isAbout([deposits[0]!]))
  assert.equal((await resolve()).known, DEPOSITS - 1)
})

test('a healthy endpoint is asked for transactions that hang at all others', async () => {
  const { endpoints, resolve, deposits } = open(4)
  for (const endpoint of endpoints.slice(0, 3)) hang(endpoint, isAbout([deposits[7]!, deposits[8]!]))
  assert.equal((await resolve()).known, DEPOSITS)
})

test('a thorough look finds a transaction that only the last endpoint has, in its block', async () => {
  const { endpoints, resolve, deposits, questions } = open(2)
  const [first, last] = endpoints
  hang(first!, isAbout([deposits[7]!]))
  hang(last!, ({ method, params }) => method === BY_HASH && params[0] === deposits[7]!.transactionHash)
  assert.equal((await resolve([questions[7]!], true)).known, 1)
})

test('a transaction that hangs alone is unknown where other calls are answered, but not in an outage', async () => {
  const { client, endpoints, resolve, questions } = open(1)
  hang(endpoints[0]!, isAboutTransactions)
  // The chain id is asked for once.
  await client.getHead(signal)
  await assert.rejects(resolve([questions[7]!]), RetryableError)
  const asked = resolve([questions[7]!])
  await client.getHead(signal)
  assert.equal((await asked).known, 0)
})
