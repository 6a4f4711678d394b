import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeHex } from '../../../../src/protocol/hex.js'
import { createFakeWorld, type FakeNetwork } from '../../../support/fakeChain.js'
import {
  depositCounts,
  depositsInEveryBlock,
  fetchRange,
  numbers,
  type OpenChain,
  withChain,
} from '../openChain.js'

const { signal } = new AbortController()

test('once block times in logs are trusted, history costs one eth_getLogs and one header per window', async () => {
  const network = depositsInEveryBlock(600)
  await withChain(
    network,
    async (chain) => {
      const [endpoint] = chain.endpoints
      // The fake node puts no block times into logs unless told to.
      tellBlockTimes(network, endpoint!, () => 0)
      let from = 0
      const seen: number[] = []
      const costs: number[] = []
      while (from < 500) {
        endpoint!.requests.length = 0
        const range = await fetchRange(chain, from, 600)
        seen.push(...depositCounts(range.blocks))
        for (const { header } of range.blocks)
          assert.equal(header.timestampSec, network.blocks[header.number]!.timestampSec)
        costs.push(endpoint!.requests.length)
        from = range.head.number + 1
      }
      assert.deepEqual(seen, numbers(0, from - 2))
      // The first windows compare one block with its header; after that a window costs one getLogs and one
      // header.
      assert.deepEqual(costs.slice(6, 14), Array(8).fill(2), String(costs))
    },
    { config: { logRange: 25 } },
  )
})

test('block times in logs that disagree with a header are never used again', async () => {
  const network = depositsInEveryBlock(300)
  await withChain(
    network,
    async (chain) => {
      tellBlockTimes(network, chain.endpoints[0]!, () => -1)
      for (let from = 0; from < 200; from += 50)
        for (const { header } of (await fetchRange(chain, from, from + 49)).blocks)
          assert.equal(header.timestampSec, network.blocks[header.number]!.timestampSec)
    },
    { config: { logRange: 50 } },
  )
})

test('one impossible block time among good ones is not believed', async () => {
  const network = depositsInEveryBlock(300)
  for (const shift of [1_000_000, -1_000_000])
    await withChain(network, async (chain) => {
      tellBlockTimes(network, chain.endpoints[0]!, (block) => (block === 100 ? shift : 0))
      for (const { header } of (await fetchRange(chain, 50, 150)).blocks)
        assert.equal(header.timestampSec, network.blocks[header.number]!.timestampSec)
    })
})

test("a block time later than the last block's is not believed, even from a trusted endpoint", async () => {
  const network = depositsInEveryBlock(300)
  await withChain(
    network,
    async (chain) => {
      tellBlockTimes(network, chain.endpoints[0]!, (block) => (block === 118 ? 1_000_000 : 0))
      for (let from = 0; from < 120; from += 20)
        for (const { header } of (await fetchRange(chain, from, from + 19)).blocks)
          assert.equal(header.timestampSec, network.blocks[header.number]!.timestampSec)
    },
    { config: { logRange: 20 } },
  )
})

/** Makes the endpoint put `blockTimestamp` into logs, shifted by some seconds. */
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
      endpoint!.requests.length = 0
      const range = await fetchRange(chain, 0, 30)
      assert.equal(range.blocks.length, 30)
      for (const { header, events } of range.blocks) {
        const block = l1.blocks[header.number]!
        assert.equal(encodeHex(header.parentHash!), block.parentHash)
        assert.equal(header.timestampSec, block.timestampSec)
        assert.ok(events.some((event) => event.type === 'l1InfoLeaf'))
      }
      assert.equal(endpoint!.callCount('eth_getBlockByNumber'), l1InfoTreeV2 ? 1 : 30)
    })
  })
