import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalChain } from '../../../src/indexer/localChain.js'
import type { BlockHeader } from '../../../src/protocol/chainEvent.js'
import { createFakeWorld } from '../../support/fakeChain.js'
import { headerOf } from '../../support/indexedBlocks.js'
import { createWatchedClient } from '../../support/watchedClient.js'

const never = new AbortController().signal

/** A chain of 100 blocks, stored up to block `upTo` with a header every tenth block. */
function stored(upTo: number) {
  const network = createFakeWorld().network(0)
  network.mineEmpty(100)
  const kept: BlockHeader[] = network.blocks
    .filter(({ number }) => number === upTo || (number % 10 === 0 && number < upTo))
    .map(headerOf)
  const client = createWatchedClient(network)
  const headers = {
    checkpoint: () => kept.at(-1),
    headerAtOrBelow: (block: number) => kept.findLast(({ number }) => number <= block),
  }
  const chain = new LocalChain(client, headers, { rollbackBlocks: 64 })
  const observe = () => chain.observe(headerOf(network.head), never)
  return { network, client, chain, observe }
}

test('the first look compares the checkpoint, later ones only what the head does not prove', async () => {
  const { network, client, observe } = stored(80)
  assert.deepEqual(await observe(), { type: 'ahead' })
  assert.equal(client.callCount('getHeader'), 1)
  network.mine()
  assert.deepEqual(await observe(), { type: 'ahead' })
  assert.equal(client.callCount('getHeader'), 1)
})

test('a head that is the checkpoint, its child, or lower needs no further call', async () => {
  for (const [upTo, type] of [
    [100, 'current'],
    [99, 'ahead'],
  ] as const) {
    const { client, observe } = stored(upTo)
    assert.deepEqual(await observe(), { type })
    assert.equal(client.callCount('getHeader'), 0)
  }
  const { network, client, observe } = stored(100)
  network.rollback(1)
  assert.deepEqual(await observe(), { type: 'behind' })
  assert.equal(client.callCount('getHeader'), 0)
})

test('a reorg ends at the newest stored header that the chain still has', async () => {
  const { network, observe } = stored(95)
  network.reorg({ depth: 12 })
  const news = await observe()
  assert.equal(news.type === 'reorg' && news.ancestor.number, 80)
})

test('a child with another parent is no reorg while the chain still has the checkpoint', async () => {
  const { network, chain } = stored(99)
  const stranger = { ...headerOf(network.head), parentHash: new Uint8Array(32).fill(7) }
  assert.deepEqual(await chain.observe(stranger, never), { type: 'behind' })
})

test('a chain that has left every stored header is a reorg too deep', async () => {
  const { network, observe } = stored(95)
  network.reorg({ depth: 100 })
  network.blocks = network.blocks.map((block) => ({ ...block, hash: `0x${'ee'.repeat(32)}` }))
  await assert.rejects(observe(), { name: 'FatalError', reason: 'reorg_too_deep' })
})

test('a batch near the head follows the checkpoint only when every parent hash leads to it', async () => {
  const { network, client, chain } = stored(90)
  const head = headerOf(network.head)
  const { parentHash: _, ...range } = await client.fetchRange(91 as never, 100 as never, never)
  assert.equal(await chain.isLinked(range, head, never), true)
  assert.equal(
    await chain.isLinked({ ...range, parentHash: headerOf(network.blocks[90]!).hash }, head, never),
    true,
  )
  assert.equal(await chain.isLinked({ ...range, parentHash: new Uint8Array(32) }, head, never), false)
  // One header between comes from another branch.
  const other = { ...network.blocks[95]!, parentHash: `0x${'ab'.repeat(32)}` as const }
  client.view = () => network.blocks.map((block) => (block.number === 95 ? other : block))
  assert.equal(await chain.isLinked(range, head, never), false)
})
