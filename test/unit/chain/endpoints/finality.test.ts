import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finality } from '../../../../src/config/config.types.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import { createFakeWorld, type FakeNetwork } from '../../../support/fakeChain.js'
import type { FakeCall } from '../../../support/fakeEndpoint.js'
import { headerOf } from '../../../support/indexedBlocks.js'
import { type OpenChain, openChain } from '../openChain.js'

const { signal } = new AbortController()

async function withFinality(
  finality: Finality,
  body: (chain: OpenChain, network: FakeNetwork, finalized: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mineEmpty(200)
  const chain = await openChain(network, { config: { finality } })
  // Between two questions of these tests a long time passes.
  const finalized = () => {
    chain.clock.advance(11_000)
    return chain.client.getFinalizedBlock(headerOf(network.head), signal)
  }
  try {
    await body(chain, network, finalized)
  } finally {
    await chain.close()
  }
}

test('finality of latest and of a depth needs no call', async () => {
  for (const [depth, expected] of [
    [0, 200],
    [64, 136],
    [500, 0],
  ] as const)
    await withFinality({ tag: 'latest', depth }, async (chain, _, finalized) => {
      assert.equal(await finalized(), expected)
      assert.equal(chain.endpoints[0]!.requests.length, 0)
    })
})

test('finality of a tag is asked for, and a depth counts down from the tag', async () => {
  for (const [finality, expected] of [
    [{ tag: 'finalized', depth: 0 }, 180],
    [{ tag: 'finalized', depth: 64 }, 116],
    [{ tag: 'safe', depth: 0 }, 190],
  ] as const)
    await withFinality(finality, async (_, network, finalized) => {
      network.finalizedLag = 20
      network.safeLag = 10
      assert.equal(await finalized(), expected)
    })
})

test('where the tag is not offered, finality counts blocks, with one warning', async () => {
  for (const mode of ['unsupported', 'null', 'zero'] as const)
    await withFinality({ tag: 'finalized', depth: 0 }, async (chain, network, finalized) => {
      chain.endpoints[0]!.fail({ type: 'finality', mode })
      assert.equal(await finalized(), 136)
      network.mineEmpty(5)
      assert.equal(await finalized(), 141)
      assert.equal(chain.lines.filter(({ level }) => level === 'warn').length, 1)
      assert.equal(chain.client.isDown(), false)
    })
  await withFinality({ tag: 'safe', depth: 0 }, async (chain, _, finalized) => {
    chain.endpoints[0]!.fail({ type: 'finality', mode: 'unsupported' })
    assert.equal(await finalized(), 168)
  })
})

test('a tag that was offered and then fails is awaited for a while before blocks are counted instead', async () => {
  await withFinality({ tag: 'finalized', depth: 0 }, async (chain, network, finalized) => {
    network.finalizedLag = 100
    assert.equal(await finalized(), 100)
    chain.endpoints[0]!.fail({ type: 'finality', mode: 'null' })
    assert.equal(await finalized(), 100, 'counting would have said 136')
    chain.clock.advance(30_000)
    assert.equal(await finalized(), 136)
  })
})

test('finality never goes back, and never passes the head', async () => {
  await withFinality({ tag: 'finalized', depth: 0 }, async (chain, network, finalized) => {
    network.finalizedLag = 10
    assert.equal(await finalized(), 190)
    network.finalizedLag = 30
    assert.equal(await finalized(), 190)
    assert.equal(await chain.client.getFinalizedBlock(headerOf(network.blocks[150]!), signal), 150)
    assert.equal(await finalized(), 190)
  })
})

test('the tag is read with each head, and the finalized block then needs no further call', async () => {
  await withFinality({ tag: 'finalized', depth: 0 }, async ({ client, endpoints }, network) => {
    network.finalizedLag = 10
    await client.getHead(signal)
    endpoints[0]!.requests.length = 0
    for (let block = 0; block < 10; block++) {
      network.mineEmpty(1)
      const head = await client.getHead(signal)
      assert.equal(await client.getFinalizedBlock(head, signal), network.head.number - 10)
      assert.equal(await client.getFinalizedBlock(head, signal), network.head.number - 10)
    }
    // At the same head the chain may finalize more blocks meanwhile.
    network.finalizedLag = 3
    const head = await client.getHead(signal)
    assert.equal(await client.getFinalizedBlock(head, signal), network.head.number - 3)
    assert.deepEqual(
      endpoints[0]!.requests.map(({ method }) => method),
      Array(22).fill('eth_getBlockByNumber'),
    )
  })
})

test('on the L1 a node that answers with the tag of another branch than the followed head makes nothing final', async () => {
  const network = createFakeWorld().network(0)
  network.mineEmpty(200)
  const chain = await openChain(network, { config: { finality: { tag: 'finalized', depth: 0 } } })
  try {
    const finalized = async () => chain.client.getFinalizedBlock(await chain.client.getHead(signal), signal)
    network.finalizedLag = 40
    assert.equal(await finalized(), 160)
    network.reorg({ depth: 20, blocks: 'empty', extra: 10 })
    chain.client.reorged(asBlockNumber(150))
    network.finalizedLag = 5
    const when = (call: FakeCall) => call.params[0] === 'finalized'
    const fault = chain.endpoints[0]!.fail({ type: 'branch', blocks: network.abandoned[0]!, when })
    assert.equal(await finalized(), 150)
    fault.off()
    assert.equal(await finalized(), 205)
  } finally {
    await chain.close()
  }
})

test('a tag that is not offered is asked again every half minute, and meanwhile finality counts blocks at each head', async () => {
  await withFinality({ tag: 'finalized', depth: 0 }, async (chain, network) => {
    const { client, endpoints, clock } = chain
    const [endpoint] = endpoints
    const fault = endpoint!.fail({ type: 'finality', mode: 'unsupported' })
    const tagCalls = () => endpoint!.requests.filter(({ params }) => params[0] === 'finalized').length
    for (let block = 0; block < 20; block++) {
      network.mineEmpty(1)
      const head = await client.getHead(signal)
      assert.equal(await client.getFinalizedBlock(head, signal), head.number - 64)
    }
    assert.equal(tagCalls(), 1)
    network.finalizedLag = 5
    fault.off()
    clock.advance(31_000)
    assert.equal(
      await client.getFinalizedBlock(await client.getHead(signal), signal),
      network.head.number - 5,
    )
    assert.equal(tagCalls(), 2)
  })
})

test('a tag that fails beside the head is asked again by itself, and the head is returned in any case', async () => {
  await withFinality({ tag: 'finalized', depth: 0 }, async ({ client, endpoints }, network) => {
    network.finalizedLag = 10
    const when = (call: FakeCall) => call.params[0] === 'finalized'
    endpoints[0]!.fail({ type: 'result', value: 5, when, times: 1 })
    const head = await client.getHead(signal)
    assert.equal(head.number, 200)
    assert.equal(await client.getFinalizedBlock(head, signal), 190)
  })
})

test('a tag above the followed head makes no later block final', async () => {
  await withFinality({ tag: 'finalized', depth: 0 }, async (chain, network, finalized) => {
    network.finalizedLag = 0
    const head = headerOf(network.blocks[150]!)
    assert.equal(await chain.client.getFinalizedBlock(head, signal), 150)
    network.finalizedLag = 60
    assert.equal(await finalized(), 150)
  })
})

test('a reorg below a final block lowers finality, until the chain finalizes the new branch', async () => {
  await withFinality({ tag: 'finalized', depth: 0 }, async (chain, network, finalized) => {
    network.finalizedLag = 10
    assert.equal(await finalized(), 190)
    chain.client.reorged(asBlockNumber(170))
    network.finalizedLag = 40
    assert.equal(
      await chain.client.getFinalizedBlock(headerOf(network.blocks[200]!), signal),
      170,
      'never below the ancestor',
    )
    network.finalizedLag = 10
    network.mineEmpty(5)
    assert.equal(await finalized(), 195)
    chain.client.reorged(asBlockNumber(198))
    assert.equal(await finalized(), 195, 'a reorg above it changes nothing')
  })
})

test('a tag from a node on the abandoned branch makes nothing final on the followed branch', async () => {
  await withFinality({ tag: 'finalized', depth: 0 }, async (chain, network, finalized) => {
    network.finalizedLag = 40
    assert.equal(await finalized(), 160)
    network.reorg({ depth: 20, blocks: 'empty', extra: 10 })
    chain.client.reorged(asBlockNumber(150))
    const { blocks } = network
    const [old] = network.abandoned
    network.finalizedLag = 5
    // First the whole node is on the old branch, then only the node behind a balancer that answers the tag.
    for (const methods of [() => true, (call: FakeCall) => call.params[0] === 'finalized']) {
      const fault = chain.endpoints[0]!.fail({ type: 'branch', blocks: old!, when: methods })
      assert.equal(await chain.client.getFinalizedBlock(headerOf(blocks.at(-1)!), signal), 150)
      fault.off()
    }
    assert.equal(await finalized(), 205)
  })
})

test('one endpoint of two that keeps answering the tag of another branch does not hold up finality', async () => {
  const network = createFakeWorld({ networks: [1] }).network(1)
  network.mineEmpty(200)
  const chain = await openChain(network, {
    config: { finality: { tag: 'finalized', depth: 0 } },
    endpoints: 2,
  })
  try {
    network.finalizedLag = 40
    const ask = () => chain.client.getFinalizedBlock(headerOf(network.head), signal)
    assert.equal(await ask(), 160)
    network.reorg({ depth: 20, blocks: 'empty', extra: 10 })
    chain.client.reorged(asBlockNumber(150))
    network.finalizedLag = 5
    const [old] = network.abandoned
    const when = (call: FakeCall) => call.params[0] === 'finalized'
    chain.endpoints[0]!.fail({ type: 'branch', blocks: old!, when })
    chain.clock.advance(31_000)
    assert.equal(await ask(), 205)
    assert.equal(chain.client.isDown(), false)
    // Where no endpoint has a better tag, finality stays as it is, and nothing fails.
    chain.endpoints[1]!.fail({ type: 'branch', blocks: old!, when })
    network.mineEmpty(50)
    chain.clock.advance(31_000)
    assert.equal(await ask(), 205)
  } finally {
    await chain.close()
  }
})
