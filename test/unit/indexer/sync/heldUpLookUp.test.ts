import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { openSimulatedLoop } from '../simulatedLoop.js'
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
  const open = shard.senders().flatMap((sender, depositCount) => (sender === null ? [depositCount] : []))
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

/** Follows a chain with a deposit each five seconds. @returns the longest time until a deposit's sender was known, without the 20th's. */
async function longestWait(endpointCount: number): Promise<number> {
  const network = createFakeWorld().network(1)
  const config = { pollIntervalMs: 1_000, rpcTimeoutMs: 10_000, callTraces: 'off' } as const
  const { clock, endpoints, shard, run } = openSimulatedLoop(network, { endpoints: endpointCount, config })
  const stop = new AbortController()
  const minedMs: number[] = []
  const knownMs: number[] = []
  const mine = (): void => {
    if (minedMs.length === 60) return
    network.mine((block) => block.tx().deposit())
    minedMs.push(clock.now())
    const held = network.deposits()[20]
    if (minedMs.length === 21)
      for (const endpoint of endpoints)
        endpoint.fail({
          type: 'silent',
          when: ({ method, params: [first, isWhole] }) =>
            first === held!.transactionHash ||
            (first === `0x${Number(held!.blockNumber).toString(16)}` &&
              (method === 'eth_getBlockReceipts' || isWhole === true)),
        })
    clock.after(5_000, mine)
  }
  const look = (): void => {
    // The shard is closed soon after the stop.
    if (stop.signal.aborted) return
    for (const [depositCount, sender] of shard.senders().entries())
      if (sender !== null) knownMs[depositCount] ??= clock.now()
    clock.after(1_000, look)
  }
  clock.after(5_000, mine)
  clock.after(1_000, look)
  clock.after(10 * 60_000, () => stop.abort())
  await run(stop.signal)
  assert.equal(minedMs.length, 60)
  const waits = minedMs.map((ms, count) => (knownMs[count] ?? Number.POSITIVE_INFINITY) - ms)
  return Math.max(...waits.filter((_, count) => count !== 20))
}

for (const endpointCount of [1, 2, 3])
  test(`at the tip, a transaction that hangs in every way at ${endpointCount} endpoints delays the senders of later deposits by less than a minute`, async () => {
    assert.ok((await longestWait(endpointCount)) < 60_000)
  })
