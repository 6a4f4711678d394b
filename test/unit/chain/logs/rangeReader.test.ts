import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChainDataError } from '../../../../src/errors/chainDataError.js'
import { FatalError, RetryableError } from '../../../../src/errors/chainErrors.js'
import { eventTopics } from '../../../../src/events/eventTopics.js'
import type { ChainEvent } from '../../../../src/protocol/chainEvent.js'
import { encodeHex } from '../../../../src/protocol/hex.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { account, userContract } from '../../../support/fakeState.js'
import { depositCounts, depositsInEveryBlock, fetchRange, numbers, withChain } from '../openChain.js'

const { signal } = new AbortController()

test('a range returns its last header and the blocks with events, in order', async () => {
  const network = depositsInEveryBlock(5)
  network.mineEmpty(3)
  await withChain(network, async (chain) => {
    const range = await fetchRange(chain, 2, 7)
    assert.equal(range.fromBlock, 2)
    const { number, hash, parentHash, timestampSec } = network.blocks[7]!
    assert.deepEqual(
      { ...range.head, hash: encodeHex(range.head.hash), parentHash: encodeHex(range.head.parentHash!) },
      { number, hash, parentHash, timestampSec },
    )
    assert.deepEqual(
      range.blocks.map(({ header }) => [
        header.number,
        encodeHex(header.hash),
        encodeHex(header.parentHash!),
      ]),
      network.blocks.slice(2, 6).map((block) => [block.number, block.hash, block.parentHash]),
    )
    assert.deepEqual(depositCounts(range.blocks), numbers(1, 4))
  })
})

test('a range ends at the head of the endpoint, and the endpoint counts as behind for blocks above its head', async () => {
  await withChain(depositsInEveryBlock(5), async (chain) => {
    assert.equal((await fetchRange(chain, 3, 900)).head.number, 5)
    await assert.rejects(fetchRange(chain, 6, 9), RetryableError)
  })
})

test('a range of the head alone costs one call, by block hash', async () => {
  const network = depositsInEveryBlock(5)
  await withChain(network, async (chain) => {
    const [endpoint] = chain.endpoints
    const head = await chain.client.getHead(signal)
    endpoint!.requests.length = 0
    const range = await fetchRange(chain, head.number, head.number)
    assert.deepEqual(depositCounts(range.blocks), [4])
    assert.deepEqual(
      endpoint!.requests.map(({ method }) => method),
      ['eth_getLogs'],
    )
    const filter = endpoint!.requests[0]!.params[0] as { blockHash?: string; fromBlock?: string }
    assert.equal(filter.blockHash, network.head.hash)
  })
})

/** How queries of logs by block hash are refused, by one node behind a balancer or by all. */
const refusalsByHash = [
  { type: 'error', code: -32602, message: 'invalid params: blockHash' },
  { type: 'error', code: -32601, message: 'the method is not available' },
  { type: 'http', status: 400, body: 'Bad Request' },
] as const

test('an endpoint that knows no logs by block hash is asked by number, and by hash again after a pause', async () => {
  for (const refusal of refusalsByHash)
    await withChain(depositsInEveryBlock(5), async (chain) => {
      const [endpoint] = chain.endpoints
      const fault = endpoint!.fail({
        ...refusal,
        methods: ['eth_getLogs'],
        when: ({ params }) => 'blockHash' in (params[0] as object),
      })
      const readTip = async () => {
        const head = await chain.client.getHead(signal)
        assert.deepEqual(depositCounts((await fetchRange(chain, head.number, head.number)).blocks), [4])
      }
      await readTip()
      await readTip()
      assert.equal(endpoint!.callCount('eth_getLogs'), 3, 'by hash, by number, by number')
      fault.off()
      chain.clock.advance(5_001)
      await readTip()
      assert.equal(endpoint!.callCount('eth_getLogs'), 4)
      assert.ok('blockHash' in (endpoint!.requests.at(-1)!.params[0] as object))
    })
})

test('a window that is refused becomes smaller, and the range ends early', async () => {
  await withChain(depositsInEveryBlock(200), async (chain) => {
    chain.endpoints[0]!.fail({ type: 'range', limit: 20 })
    const first = await fetchRange(chain, 0, 100)
    assert.equal(first.head.number, 19)
    assert.equal((await fetchRange(chain, 20, 100)).head.number, 39)
  })
})

test('logs and headers of two branches are never combined', async () => {
  const network = depositsInEveryBlock(10)
  network.reorg({ depth: 4, blocks: 'replay' })
  const abandoned = network.abandoned[0]!
  await withChain(network, async (chain) => {
    const orphans = chain.endpoints[0]!.fail({
      type: 'orphanLogs',
      blocks: abandoned,
      methods: ['eth_getLogs'],
    })
    await assert.rejects(fetchRange(chain, 0, 10), RetryableError)
    orphans.off()
    const range = await fetchRange(chain, 0, 10)
    for (const { header } of range.blocks)
      assert.equal(encodeHex(header.hash), network.blocks[header.number]!.hash)
  })
})

test('headers of two branches are never combined, even without logs between them', async () => {
  const network = depositsInEveryBlock(5)
  network.mineEmpty(6)
  const before = network.blocks
  network.reorg({ depth: 4, blocks: 'replay', extra: 0 })
  await withChain(network, async (chain) => {
    chain.endpoints[0]!.fail({
      type: 'branch',
      blocks: before,
      methods: ['eth_getBlockByNumber'],
      when: ({ params }) => params[0] === '0x9',
    })
    await assert.rejects(fetchRange(chain, 0, 11), RetryableError)
  })
})

test('the logs of a node that lacks the last blocks are not believed for those blocks, with blooms or without', async () => {
  await withChain(depositsInEveryBlock(20), async (chain) => {
    const [endpoint] = chain.endpoints
    await chain.client.getHead(signal)
    endpoint!.fail({ type: 'zeroBloom' })
    // One batch: headers 0 to 20 and the logs.
    endpoint!.fail({ type: 'lag', blocks: 5, methods: ['eth_getBlockByNumber', 'eth_getLogs'], times: 22 })
    assert.deepEqual(depositCounts((await fetchRange(chain, 0, 20)).blocks), numbers(0, 19))
  })
})

test('where every call may meet another node, a node that lacks the last blocks hides none of their logs', async () => {
  await withChain(
    depositsInEveryBlock(20),
    async (chain) => {
      const [endpoint] = chain.endpoints
      await chain.client.getHead(signal)
      endpoint!.fail({ type: 'zeroBloom' })
      endpoint!.fail({ type: 'lag', blocks: 5, methods: ['eth_getLogs'], times: 1 })
      assert.deepEqual(depositCounts((await fetchRange(chain, 0, 20)).blocks), numbers(0, 19))
    },
    { rpc: [{ maxBatch: 1 }] },
  )
})

test('a query by block hash never returns the block of the other branch at the tip', async () => {
  const network = depositsInEveryBlock(10)
  await withChain(network, async (chain) => {
    const old = await chain.client.getHead(signal)
    network.reorg({ depth: 2, blocks: 'replay', extra: 0 })
    const range = await fetchRange(chain, old.number, old.number)
    assert.equal(encodeHex(range.head.hash), network.head.hash)
    assert.equal(encodeHex(range.blocks[0]!.header.hash), network.head.hash)
  })
})

test('the exit root that AddExistingRollup sets without an event is read from the manager', async () => {
  const root = `0x${'5e'.repeat(32)}` as const
  const l1 = createFakeWorld({ networks: [1] }).network(0)
  l1.mine((block) => {
    const tx = block.tx({ to: userContract(9) })
    tx.createRollup(1, 1001)
    tx.addExistingRollup(2, 1002, root)
  })
  const rollups = (events: readonly ChainEvent[]) =>
    events.flatMap((event) =>
      event.type === 'rollupAdded' ? [[event.networkId, encodeHex(event.initialLocalExitRoot)]] : [],
    )
  await withChain(l1, async (chain) => {
    const { blocks } = await fetchRange(chain, 0, 1)
    assert.deepEqual(rollups(blocks[0]!.events), [
      [1, `0x${'00'.repeat(32)}`],
      [2, root],
    ])
    chain.endpoints[0]!.fail({
      type: 'error',
      code: -32000,
      message: 'missing trie node ab (path )',
      methods: ['eth_call'],
    })
    await assert.rejects(
      fetchRange(chain, 0, 1),
      (error) => error instanceof FatalError && error.reason === 'pruned_history',
    )
  })
})

test('a gateway that answers with the newest state is not believed about the initial exit root of a rollup', async () => {
  const root = `0x${'5e'.repeat(32)}` as const
  const l1 = createFakeWorld({ networks: [1] }).network(0)
  l1.mine()
  l1.mine((block) => block.tx({ to: userContract(9) }).addExistingRollup(1, 1002, root))
  l1.mine((block) => block.tx().settle(1, `0x${'77'.repeat(32)}`))
  const initial = async (chain: Parameters<typeof fetchRange>[0]) => {
    const { blocks } = await fetchRange(chain, 0, 2)
    return blocks[0]!.events.flatMap((event) =>
      event.type === 'rollupAdded' ? [encodeHex(event.initialLocalExitRoot)] : [],
    )
  }
  await withChain(
    l1,
    async (chain) => {
      chain.endpoints[0]!.fail({ type: 'newestState' })
      assert.deepEqual(await initial(chain), [root])
    },
    { endpoints: 2 },
  )
})

test("a known event that does not decode is a fault with the event's name after every endpoint was asked", async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mine((block) => {
    const tx = block.tx({ from: account(1), to: userContract(1) })
    tx.emitRaw(network.contracts.bridge, { topics: [eventTopics.BridgeEvent], data: '0x1234' })
  })
  await withChain(
    network,
    async (chain) => {
      await assert.rejects(
        fetchRange(chain, 0, 1),
        (error) => error instanceof ChainDataError && error.reason === 'undecodable_event',
      )
      for (const endpoint of chain.endpoints) assert.ok(endpoint.callCount('eth_getLogs') > 0)
    },
    { endpoints: 2 },
  )
})
