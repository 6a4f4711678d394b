import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSyncHarness } from '../syncHarness.js'

/** Blocks of history, each with a deposit whose sender backfill leaves open, and blocks that come afterwards. */
const HISTORY = 60
const NEW_BLOCKS = 40
const BLOCK_MS = 1_000

/**
 * Follows a chain that grows, while everything that asks for one deposit's transaction in one of these ways is never answered.
 * @returns what was seen: the most blocks that were missing at once, and deposits whose sender was still open at the end.
 */
async function follow(limitMs: number, ...unanswered: readonly string[]) {
  const harness = createSyncHarness()
  const { network, client, shard, clock } = harness
  for (let block = 0; block < HISTORY; block++) network.mine((builder) => builder.tx().deposit())
  const held = network.deposits()[30]!
  const block = `0x${held.blockNumber.toString(16)}`
  const asksForIt: Readonly<Record<string, (params: readonly unknown[]) => boolean>> = {
    eth_getTransactionByHash: ([hash]) => hash === held.transactionHash,
    eth_getBlockByNumber: ([number, isWhole]) => number === block && isWhole === true,
    eth_getBlockReceipts: ([number]) => number === block,
    debug_traceTransaction: ([hash]) => hash === held.transactionHash,
  }
  for (const method of unanswered)
    client.endpoint.fail({
      type: 'silent',
      methods: [method],
      when: ({ params }) => asksForIt[method]!(params),
    })
  let mostMissing = 0
  const grow = (left: number): void => {
    if (left === 0) return
    const stored = shard.checkpoint()?.number
    if (stored !== undefined && stored >= HISTORY - 1)
      mostMissing = Math.max(mostMissing, network.head.number - stored)
    network.mine((builder) => builder.tx().deposit())
    clock.after(BLOCK_MS, () => grow(left - 1))
  }
  clock.after(BLOCK_MS, () => grow(NEW_BLOCKS))
  const isFollowed = () => shard.checkpoint()?.number === HISTORY + NEW_BLOCKS
  await harness.run(() => isFollowed() && shard.counts().unresolvedSenders === 0, limitMs)
  const open = shard.events().flatMap(({ event, sender }) => {
    return event.type === 'deposit' && sender === null ? [event.depositCount as number] : []
  })
  return { mostMissing, open }
}

test('a transaction whose look-up is never answered is read from its block, and holds up neither blocks nor other senders', async () => {
  const { mostMissing, open } = await follow(60_000, 'eth_getTransactionByHash')
  assert.deepEqual(open, [])
  assert.ok(mostMissing <= 11, `${mostMissing} blocks were missing at once`)
})

test('a transaction that nothing answers for stays without a sender alone', async () => {
  const all = ['eth_getTransactionByHash', 'eth_getBlockByNumber', 'eth_getBlockReceipts']
  const { mostMissing, open } = await follow(120_000, ...all)
  assert.deepEqual(open, [30])
  assert.ok(mostMissing <= 11, `${mostMissing} blocks were missing at once`)
})
