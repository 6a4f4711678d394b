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
function open(endpointCount: number) {
  const network = createFakeWorld().network(0)
  for (let block = 0; block < DEPOSITS; block++) network.mine((builder) => builder.tx().deposit())
  const clock = new VirtualClock()
  const config = { rpcTimeoutMs: TIMEOUT_MS, callTraces: 'off' } as const
  const { client, endpoints } = openSimulated(network, clock, { endpoints: endpointCount, config })
  const deposits = network.deposits()
  const questions = deposits.map(({ transactionHash, blockNumber, ...log }): SenderQuestion => {
    const { logIndex, leafType, depositCount } = log as unknown as SenderQuestion['logs'][number]
    return {
      transactionHash: decodeHex(transactionHash)!,
      blockNumber: asBlockNumber(Number(blockNumber)),
      logs: [{ kind: 'deposit', logIndex, ...{ leafType, depositCount } } as SenderQuestion['logs'][number]],
    }
  })
  const resolve = async () => {
    const fromMs = clock.now()
    const { size } = await client.resolveSenders(questions, signal)
    return { known: size, ms: clock.now() - fromMs }
  }
  return { endpoints, resolve, hash: deposits[7]!.transactionHash }
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
