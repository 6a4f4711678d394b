import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChainDataError } from '../../../../src/errors/chainDataError.js'
import { eventTopics } from '../../../../src/events/eventTopics.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { userContract } from '../../../support/fakeState.js'
import { depositCounts, depositsInEveryBlock, fetchRange, numbers, withChain } from '../openChain.js'

test('a hidden log near the head is found by the bloom', async () => {
  await withChain(depositsInEveryBlock(20), async (chain) => {
    chain.endpoints[0]!.fail({ type: 'hideLogs', match: { blockNumber: 15 }, by: 'range' })
    assert.deepEqual(depositCounts((await fetchRange(chain, 0, 20)).blocks), numbers(0, 19))
    const [endpoint] = chain.counted.endpoints(0)
    assert.equal(endpoint!.recoveredLogs, 1, 'and it is counted')
  })
})

test('a log that one endpoint hides for ever comes from the other', async () => {
  await withChain(
    depositsInEveryBlock(20),
    async (chain) => {
      chain.endpoints[0]!.fail({ type: 'hideLogs', match: { blockNumber: 15 } })
      assert.deepEqual(depositCounts((await fetchRange(chain, 0, 20)).blocks), numbers(0, 19))
      assert.ok(chain.lines.some(({ text }) => text === 'endpoint contradicts itself'))
    },
    { endpoints: 2 },
  )
})

test('a log that every endpoint hides is the fault missing_log, with the name of its event', async () => {
  await withChain(depositsInEveryBlock(20), async (chain) => {
    chain.endpoints[0]!.fail({ type: 'hideLogs', match: { blockNumber: 15 } })
    await assert.rejects(
      fetchRange(chain, 0, 20),
      (error) => error instanceof ChainDataError && error.reason === 'missing_log',
    )
    assert.equal(chain.endpoints[0]!.callCount('eth_getLogs'), 3, 'one range, twice by hash')
  })
})

test('a log hidden in far history is found when the range is read carefully', async () => {
  await withChain(depositsInEveryBlock(300), async (chain) => {
    const [endpoint] = chain.endpoints
    endpoint!.fail({ type: 'hideLogs', match: { blockNumber: 100 }, by: 'range' })
    const careless = await fetchRange(chain, 50, 150)
    assert.equal(depositCounts(careless.blocks).includes(99 as never), false)
    chain.client.readCarefully(asBlockNumber(50), asBlockNumber(150))
    const seen: number[] = []
    let from = 50
    while (from <= 150) {
      const range = await fetchRange(chain, from, 150)
      seen.push(...depositCounts(range.blocks))
      from = range.head.number + 1
    }
    assert.deepEqual(seen, numbers(49, 149))
    endpoint!.requests.length = 0
    await fetchRange(chain, 151, 200)
    assert.ok(endpoint!.callCount('eth_getBlockByNumber') <= 50, 'and what follows is read as before')
  })
})

test('reading a range carefully uses another endpoint where there is one', async () => {
  await withChain(
    depositsInEveryBlock(100),
    async (chain) => {
      const [first, second] = chain.endpoints
      await fetchRange(chain, 0, 30)
      assert.equal(second!.requests.length, 0)
      chain.client.readCarefully(asBlockNumber(0), asBlockNumber(30))
      first!.requests.length = 0
      await fetchRange(chain, 0, 30)
      assert.equal(first!.requests.length, 0)
    },
    { endpoints: 2 },
  )
})

test('blooms that are empty in spite of a log are not used any more', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mine((block) => block.tx().deposit())
  await withChain(network, async (chain) => {
    chain.endpoints[0]!.fail({ type: 'zeroBloom' })
    assert.deepEqual(depositCounts((await fetchRange(chain, 0, 1)).blocks), [0])
    assert.equal(chain.endpoints[0]!.callCount('eth_getBlockReceipts'), 0)
  })
})

/**
 * A foreign contract with the bridge's topic, and a call of the bridge that emits another event: both set their
 * bits in the bloom.
 */
function falseClaim() {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mine((block) => {
    const tx = block.tx({ to: userContract(1) })
    tx.emitRaw(userContract(1), { topics: [eventTopics.ForwardLET], data: '0x' })
    tx.deposit()
  })
  return network
}

test('a bloom that shows a log which no answer has is checked against the receipts of the block', async () => {
  await withChain(falseClaim(), async (chain) => {
    const [endpoint] = chain.endpoints
    assert.deepEqual(depositCounts((await fetchRange(chain, 0, 1)).blocks), [0])
    assert.equal(endpoint!.callCount('eth_getBlockReceipts'), 1)
    endpoint!.fail({
      type: 'error',
      code: -32601,
      message: 'no such method',
      methods: ['eth_getBlockReceipts'],
    })
    assert.deepEqual(depositCounts((await fetchRange(chain, 0, 1)).blocks), [0])
    assert.equal(endpoint!.callCount('eth_getTransactionReceipt'), 1)
  })
})

test('a bloom that shows a log which no answer has is checked against receipts also where the endpoint knows no logs by block hash', async () => {
  const refusals = [
    { type: 'error', code: -32602, message: 'invalid argument 0: blockHash' },
    { type: 'http', status: 400, body: 'Bad Request' },
  ] as const
  for (const refusal of refusals)
    await withChain(falseClaim(), async (chain) => {
      chain.endpoints[0]!.fail({
        ...refusal,
        methods: ['eth_getLogs'],
        when: ({ params }) => 'blockHash' in (params[0] as object),
      })
      assert.deepEqual(depositCounts((await fetchRange(chain, 0, 1)).blocks), [0])
    })
})

test('an endpoint without receipts of whole blocks is asked for them again after a pause', async () => {
  const refusals = [
    { type: 'error', code: -32601, message: 'no such method' },
    { type: 'http', status: 403, body: 'method not in your plan' },
  ] as const
  for (const refusal of refusals)
    await withChain(falseClaim(), async (chain) => {
      const [endpoint] = chain.endpoints
      const fault = endpoint!.fail({ ...refusal, methods: ['eth_getBlockReceipts'] })
      const read = async () => assert.deepEqual(depositCounts((await fetchRange(chain, 0, 1)).blocks), [0])
      await read()
      await read()
      assert.equal(endpoint!.callCount('eth_getBlockReceipts'), 1)
      fault.off()
      chain.clock.advance(5_001)
      await read()
      assert.equal(endpoint!.callCount('eth_getBlockReceipts'), 2)
      assert.equal(endpoint!.callCount('eth_getTransactionReceipt'), 2, 'of the first two')
    })
})
