import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RetryableError } from '../../../../src/errors/chainErrors.js'
import { asBlockNumber, asNetworkId } from '../../../../src/protocol/units.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { account, userContract } from '../../../support/fakeState.js'
import { openChain } from '../openChain.js'

const { signal } = new AbortController()
const zero = asBlockNumber(0)

/** Methods that each endpoint was asked, without the chain id, which every endpoint is asked. */
function asked({ endpoints }: Awaited<ReturnType<typeof openChain>>, methods: readonly string[]): string[][] {
  return endpoints.map((endpoint) => methods.filter((method) => endpoint.callCount(method) > 0))
}

test('an endpoint is asked only for what its role allows', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mine((block) => block.tx({ from: account(5), to: userContract(1) }).deposit())
  const rpc = [{ role: 'trace' }, { role: 'state' }, { role: 'logs' }] as const
  const chain = await openChain(network, { endpoints: 3, rpc })
  const { client } = chain
  await client.verifyIdentity(signal)
  const head = await client.getHead(signal)
  const { blocks } = await client.fetchRange(zero, head.number, signal)
  const [event] = blocks.flatMap(({ events }) => events)
  assert.ok(event?.type === 'deposit')
  const { transactionHash, blockNumber } = event
  const question = { transactionHash, blockNumber, logs: [{ kind: 'deposit' as const, ...event }] }
  const [sender] = (await client.resolveSenders([question], signal)).values()
  assert.equal(`0x${Buffer.from(sender!.caller).toString('hex')}`, userContract(1))
  assert.equal(await client.getContractDepositCount(head.number, signal), 1)
  assert.deepEqual(
    await client.getClaimedWords([{ sourceNetwork: asNetworkId(0), word: 0 }], head.number, signal),
    [0n],
  )
  const methods = ['debug_traceTransaction', 'eth_call', 'eth_getLogs', 'eth_getTransactionByHash']
  assert.deepEqual(asked(chain, methods), [
    ['debug_traceTransaction'],
    ['eth_call'],
    ['eth_getLogs', 'eth_getTransactionByHash'],
  ])
  await chain.close()
})

test('the initial exit root of an existing rollup is asked of an endpoint with the role state', async () => {
  const root = `0x${'5e'.repeat(32)}` as const
  const l1 = createFakeWorld({ networks: [1] }).network(0)
  l1.mine()
  l1.mine((block) => block.tx({ to: userContract(9) }).addExistingRollup(1, 1001, root))
  const chain = await openChain(l1, { endpoints: 2, rpc: [{ role: 'logs' }, { role: 'state' }] })
  const { blocks } = await chain.client.fetchRange(zero, asBlockNumber(2), signal)
  const [event] = blocks.flatMap(({ events }) => events)
  assert.ok(event?.type === 'rollupAdded')
  assert.equal(`0x${Buffer.from(event.initialLocalExitRoot).toString('hex')}`, root)
  assert.deepEqual(asked(chain, ['eth_call', 'eth_getLogs']), [['eth_getLogs'], ['eth_call']])
  await chain.close()
})

test('a network counts as down when no endpoint for logs answers, although another endpoint does', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  const rpc = [{ role: 'logs' }, { role: 'state' }] as const
  const chain = await openChain(network, { endpoints: 2, rpc })
  chain.endpoints[0]!.fail({ type: 'http', status: 503 })
  await assert.rejects(chain.client.getHead(signal), RetryableError)
  assert.equal(await chain.client.getContractDepositCount(zero, signal), 0)
  assert.equal(chain.client.isDown(), true)
  await chain.close()
})

test('the endpoint with the larger weight is preferred, the others replace it while it fails', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  const rpc = [{ weight: 0.5 }, { weight: 3 }, {}]
  const chain = await openChain(network, { endpoints: 3, rpc })
  const heads = () => chain.endpoints.map((endpoint) => endpoint.callCount('eth_getBlockByNumber'))
  await chain.client.getHead(signal)
  assert.deepEqual(heads(), [0, 1, 0])
  chain.endpoints[1]!.fail({ type: 'close' })
  await chain.client.getHead(signal)
  assert.equal(heads()[2], 1, 'the one of weight 1 comes next')
  assert.equal(heads()[0], 0)
  await chain.close()
})
