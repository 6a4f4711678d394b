import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChainDataError } from '../../../src/errors/chainDataError.js'
import { FatalError, RetryableError } from '../../../src/errors/chainErrors.js'
import type { ChainEvent, IndexedBlock } from '../../../src/protocol/chainEvent.js'
import { eventTopics } from '../../../src/protocol/eventTopics.js'
import { encodeHex } from '../../../src/protocol/hex.js'
import { asBlockNumber } from '../../../src/protocol/units.js'
import { createFakeWorld, type FakeNetwork } from '../../support/fakeChain.js'
import { account, userContract } from '../../support/fakeChainTransaction.js'
import { type OpenChain, openChain } from '../../support/openChain.js'

const { signal } = new AbortController()

async function withChain(
  network: FakeNetwork,
  body: (chain: OpenChain) => Promise<void>,
  options: Parameters<typeof openChain>[1] = {},
): Promise<void> {
  const chain = await openChain(network, options)
  try {
    await body(chain)
  } finally {
    await chain.close()
  }
}

/** Network 1 with one deposit in each of its blocks but the first. */
function depositsInEveryBlock(count: number): FakeNetwork {
  const network = createFakeWorld({ networks: [1] }).network(1)
  for (let block = 0; block < count; block++) network.mine((builder) => builder.tx().deposit())
  return network
}

const fetch = ({ client }: OpenChain, from: number, to: number) =>
  client.fetchRange(asBlockNumber(from), asBlockNumber(to), signal)

const depositCounts = (blocks: readonly IndexedBlock[]) =>
  blocks.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'deposit' ? [event.depositCount] : [])),
  )
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('a range has its last header and the blocks with events, in order', async () => {
  const network = depositsInEveryBlock(5)
  network.mineEmpty(3)
  await withChain(network, async (chain) => {
    const range = await fetch(chain, 2, 7)
    assert.equal(range.fromBlock, 2)
    const { number, hash, parentHash, timestampSec } = network.blocks[7]!
    assert.deepEqual(
      { ...range.head, hash: encodeHex(range.head.hash), parentHash: encodeHex(range.head.parentHash) },
      { number, hash, parentHash, timestampSec },
    )
    assert.deepEqual(
      range.blocks.map(({ header }) => [header.number, encodeHex(header.hash), encodeHex(header.parentHash)]),
      network.blocks.slice(2, 6).map((block) => [block.number, block.hash, block.parentHash]),
    )
    assert.deepEqual(depositCounts(range.blocks), numbers(1, 4))
  })
})

test('the answer ends at the head of the endpoint, and past it the endpoint is behind', async () => {
  await withChain(depositsInEveryBlock(5), async (chain) => {
    assert.equal((await fetch(chain, 3, 900)).head.number, 5)
    await assert.rejects(fetch(chain, 6, 9), RetryableError)
  })
})

test('the head alone costs one call, by its hash', async () => {
  const network = depositsInEveryBlock(5)
  await withChain(network, async (chain) => {
    const [endpoint] = chain.endpoints
    const head = await chain.client.getHead(signal)
    endpoint!.resetCounters()
    const range = await fetch(chain, head.number, head.number)
    assert.deepEqual(depositCounts(range.blocks), [4])
    assert.deepEqual([...endpoint!.calls], [['eth_getLogs', 1]])
    const filter = endpoint!.requests[0]!.params[0] as { blockHash?: string; fromBlock?: string }
    assert.equal(filter.blockHash, network.head.hash)
  })
})

test('an endpoint that knows no logs by hash is asked by number instead, for good', async () => {
  const network = depositsInEveryBlock(5)
  await withChain(network, async (chain) => {
    const [endpoint] = chain.endpoints
    endpoint!.fail({
      type: 'error',
      code: -32602,
      message: 'invalid params: blockHash',
      methods: ['eth_getLogs'],
      when: ({ params }) => 'blockHash' in (params[0] as object),
    })
    for (let round = 0; round < 2; round++) {
      const head = await chain.client.getHead(signal)
      assert.deepEqual(depositCounts((await fetch(chain, head.number, head.number)).blocks), [4])
    }
    assert.equal(endpoint!.callCount('eth_getLogs'), 3)
  })
})

test('history costs one getLogs and one header for each window once block times are trusted', async () => {
  const network = depositsInEveryBlock(600)
  await withChain(
    network,
    async (chain) => {
      const [endpoint] = chain.endpoints
      // The fake node tells no block times in logs: it is taught to.
      tellBlockTimes(network, endpoint!, () => 0)
      let from = 0
      const seen: number[] = []
      const costs: number[] = []
      while (from < 500) {
        endpoint!.resetCounters()
        const range = await fetch(chain, from, 600)
        seen.push(...depositCounts(range.blocks))
        for (const { header } of range.blocks)
          assert.equal(header.timestampSec, network.blocks[header.number]!.timestampSec)
        costs.push(endpoint!.totalCalls())
        from = range.head.number + 1
      }
      assert.deepEqual(seen, numbers(0, from - 2))
      // The first windows compare one block with its header; then it is one getLogs and one header.
      assert.deepEqual(costs.slice(6, 14), Array(8).fill(2), String(costs))
    },
    { config: { logRange: 25 } },
  )
})

test('block times in logs that disagree with a header are used no more', async () => {
  const network = depositsInEveryBlock(300)
  await withChain(
    network,
    async (chain) => {
      tellBlockTimes(network, chain.endpoints[0]!, () => -1)
      for (let from = 0; from < 200; from += 50)
        for (const { header } of (await fetch(chain, from, from + 49)).blocks)
          assert.equal(header.timestampSec, network.blocks[header.number]!.timestampSec)
    },
    { config: { logRange: 50 } },
  )
})

test('one block time among good ones that can not be right is not believed', async () => {
  const network = depositsInEveryBlock(300)
  for (const shift of [1_000_000, -1_000_000])
    await withChain(network, async (chain) => {
      tellBlockTimes(network, chain.endpoints[0]!, (block) => (block === 100 ? shift : 0))
      for (const { header } of (await fetch(chain, 50, 150)).blocks)
        assert.equal(header.timestampSec, network.blocks[header.number]!.timestampSec)
    })
})

test('a trusted endpoint that tells a time past the last block is not believed', async () => {
  const network = depositsInEveryBlock(300)
  await withChain(
    network,
    async (chain) => {
      tellBlockTimes(network, chain.endpoints[0]!, (block) => (block === 118 ? 1_000_000 : 0))
      for (let from = 0; from < 120; from += 20)
        for (const { header } of (await fetch(chain, from, from + 19)).blocks)
          assert.equal(header.timestampSec, network.blocks[header.number]!.timestampSec)
    },
    { config: { logRange: 20 } },
  )
})

/** Lets the endpoint put `blockTimestamp` into logs, some seconds off. */
function tellBlockTimes(
  network: FakeNetwork,
  endpoint: OpenChain['endpoints'][number],
  shift: (block: number) => number,
): void {
  const original = endpoint.answer.bind(endpoint)
  endpoint.answer = async (body) => {
    const answer = await original(body)
    if (typeof answer === 'string') return answer
    const told = answer.body.replaceAll(
      /"blockNumber":"(0x[0-9a-f]+)","blockHash"/g,
      (text, number: string) =>
        `"blockTimestamp":"0x${(network.blocks[Number(number)]!.timestampSec + shift(Number(number))).toString(16)}",${text}`,
    )
    return { ...answer, body: told }
  }
}

/** An L1 with a leaf of the L1 info tree in each of its 80 blocks. */
function l1WithLeaves(l1InfoTreeV2: boolean): FakeNetwork {
  const l1 = createFakeWorld({ networks: [1], l1InfoTreeV2 }).network(0)
  for (let block = 0; block < 80; block++) l1.mine((builder) => builder.tx().deposit())
  return l1
}

for (const [title, l1InfoTreeV2] of [
  ['told by UpdateL1InfoTreeV2', true],
  ['read from headers before banana', false],
] as const)
  test(`parent hash and time of an L1 info leaf are exact: ${title}`, async () => {
    const l1 = l1WithLeaves(l1InfoTreeV2)
    await withChain(l1, async (chain) => {
      const [endpoint] = chain.endpoints
      await chain.client.getHead(signal)
      endpoint!.resetCounters()
      const range = await fetch(chain, 0, 30)
      assert.equal(range.blocks.length, 30)
      for (const { header, events } of range.blocks) {
        const block = l1.blocks[header.number]!
        assert.equal(encodeHex(header.parentHash), block.parentHash)
        assert.equal(header.timestampSec, block.timestampSec)
        assert.ok(events.some((event) => event.type === 'l1InfoLeaf'))
      }
      assert.equal(endpoint!.callCount('eth_getBlockByNumber'), l1InfoTreeV2 ? 1 : 30)
    })
  })

test('a window that is refused shrinks, and the answer ends early', async () => {
  await withChain(depositsInEveryBlock(200), async (chain) => {
    chain.endpoints[0]!.fail({ type: 'range', limit: 20 })
    const first = await fetch(chain, 0, 100)
    assert.equal(first.head.number, 19)
    assert.equal((await fetch(chain, 20, 100)).head.number, 39)
  })
})

test('logs and headers of two branches never go together', async () => {
  const network = depositsInEveryBlock(10)
  network.reorg({ depth: 4, blocks: 'replay' })
  const abandoned = network.abandoned[0]!
  await withChain(network, async (chain) => {
    const orphans = chain.endpoints[0]!.fail({
      type: 'orphanLogs',
      blocks: abandoned,
      methods: ['eth_getLogs'],
    })
    await assert.rejects(fetch(chain, 0, 10), RetryableError)
    orphans.off()
    const range = await fetch(chain, 0, 10)
    for (const { header } of range.blocks)
      assert.equal(encodeHex(header.hash), network.blocks[header.number]!.hash)
  })
})

test('headers of two branches never go together, even without logs between them', async () => {
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
    await assert.rejects(fetch(chain, 0, 11), RetryableError)
  })
})

test('a node that lacks the last blocks has no say about their logs, blooms or not', async () => {
  await withChain(depositsInEveryBlock(20), async (chain) => {
    const [endpoint] = chain.endpoints
    await chain.client.getHead(signal)
    endpoint!.fail({ type: 'zeroBloom' })
    // One batch: headers 0 to 20 and the logs.
    endpoint!.fail({ type: 'lag', blocks: 5, methods: ['eth_getBlockByNumber', 'eth_getLogs'], times: 22 })
    assert.deepEqual(depositCounts((await fetch(chain, 0, 20)).blocks), numbers(0, 19))
  })
})

test('a block of the other branch at the tip is not answered by its hash', async () => {
  const network = depositsInEveryBlock(10)
  await withChain(network, async (chain) => {
    const old = await chain.client.getHead(signal)
    network.reorg({ depth: 2, blocks: 'replay', extra: 0 })
    const range = await fetch(chain, old.number, old.number)
    assert.equal(encodeHex(range.head.hash), network.head.hash)
    assert.equal(encodeHex(range.blocks[0]!.header.hash), network.head.hash)
  })
})

test('a hidden log near the head is found by the bloom', async () => {
  await withChain(depositsInEveryBlock(20), async (chain) => {
    chain.endpoints[0]!.fail({ type: 'hideLogs', match: { blockNumber: 15 }, by: 'range' })
    assert.deepEqual(depositCounts((await fetch(chain, 0, 20)).blocks), numbers(0, 19))
  })
})

test('a log that one endpoint hides for ever comes from the other', async () => {
  await withChain(
    depositsInEveryBlock(20),
    async (chain) => {
      chain.endpoints[0]!.fail({ type: 'hideLogs', match: { blockNumber: 15 } })
      assert.deepEqual(depositCounts((await fetch(chain, 0, 20)).blocks), numbers(0, 19))
      assert.ok(chain.lines.some(({ text }) => text === 'endpoint contradicts itself'))
    },
    { endpoints: 2 },
  )
})

test('hidden from everybody: missing_log, by name', async () => {
  await withChain(depositsInEveryBlock(20), async (chain) => {
    chain.endpoints[0]!.fail({ type: 'hideLogs', match: { blockNumber: 15 } })
    await assert.rejects(
      fetch(chain, 0, 20),
      (error) => error instanceof ChainDataError && error.reason === 'missing_log',
    )
    assert.equal(chain.endpoints[0]!.callCount('eth_getLogs'), 3, 'one range, twice by hash')
  })
})

test('a log hidden in the far history is found when the stretch is read carefully', async () => {
  await withChain(depositsInEveryBlock(300), async (chain) => {
    const [endpoint] = chain.endpoints
    endpoint!.fail({ type: 'hideLogs', match: { blockNumber: 100 }, by: 'range' })
    const careless = await fetch(chain, 50, 150)
    assert.equal(depositCounts(careless.blocks).includes(99 as never), false)
    chain.client.readCarefully(asBlockNumber(50), asBlockNumber(150))
    const seen: number[] = []
    let from = 50
    while (from <= 150) {
      const range = await fetch(chain, from, 150)
      seen.push(...depositCounts(range.blocks))
      from = range.head.number + 1
    }
    assert.deepEqual(seen, numbers(49, 149))
    endpoint!.resetCounters()
    await fetch(chain, 151, 200)
    assert.ok(endpoint!.callCount('eth_getBlockByNumber') <= 50, 'and what follows is read as before')
  })
})

test('reading carefully goes to another endpoint if there is one', async () => {
  await withChain(
    depositsInEveryBlock(100),
    async (chain) => {
      const [first, second] = chain.endpoints
      await fetch(chain, 0, 30)
      assert.equal(second!.totalCalls(), 0)
      chain.client.readCarefully(asBlockNumber(0), asBlockNumber(30))
      first!.resetCounters()
      await fetch(chain, 0, 30)
      assert.equal(first!.totalCalls(), 0)
    },
    { endpoints: 2 },
  )
})

test('empty blooms switch the bloom check off, once a log shows that they are not filled', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mine((block) => block.tx().deposit())
  await withChain(network, async (chain) => {
    chain.endpoints[0]!.fail({ type: 'zeroBloom' })
    assert.deepEqual(depositCounts((await fetch(chain, 0, 1)).blocks), [0])
    assert.equal(chain.endpoints[0]!.callCount('eth_getBlockReceipts'), 0)
  })
})

test('a bloom that claims too much is settled by the receipts of the block', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  // A foreign contract with the bridge's topic, and a call of the bridge that emits something else: both bits are set.
  network.mine((block) => {
    const tx = block.tx({ to: userContract(1) })
    tx.emitRaw(userContract(1), { topics: [eventTopics.ForwardLET], data: '0x' })
    tx.deposit()
  })
  await withChain(network, async (chain) => {
    const [endpoint] = chain.endpoints
    assert.deepEqual(depositCounts((await fetch(chain, 0, 1)).blocks), [0])
    assert.equal(endpoint!.callCount('eth_getBlockReceipts'), 1)
    endpoint!.fail({
      type: 'error',
      code: -32601,
      message: 'no such method',
      methods: ['eth_getBlockReceipts'],
    })
    assert.deepEqual(depositCounts((await fetch(chain, 0, 1)).blocks), [0])
    assert.equal(endpoint!.callCount('eth_getTransactionReceipt'), 1)
  })
})

test('the exit root that AddExistingRollup sets without saying so is read from the manager', async () => {
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
    const { blocks } = await fetch(chain, 0, 1)
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
      fetch(chain, 0, 1),
      (error) => error instanceof FatalError && error.reason === 'pruned_history',
    )
  })
})

test('a known event that does not decode is named after every endpoint was asked', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mine((block) => {
    const tx = block.tx({ from: account(1), to: userContract(1) })
    tx.emitRaw(network.contracts.bridge, { topics: [eventTopics.BridgeEvent], data: '0x1234' })
  })
  await withChain(
    network,
    async (chain) => {
      await assert.rejects(
        fetch(chain, 0, 1),
        (error) => error instanceof ChainDataError && error.reason === 'undecodable_event',
      )
      for (const endpoint of chain.endpoints) assert.ok(endpoint.callCount('eth_getLogs') > 0)
    },
    { endpoints: 2 },
  )
})
