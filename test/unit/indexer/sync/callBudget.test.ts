import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { openSimulatedLoop } from '../simulatedLoop.js'

function follow(blockMs: number, finality: 'latest' | 'finalized') {
  const network = createFakeWorld().network(1)
  const config = { pollIntervalMs: 2_000, logRange: 100, finality: { tag: finality, depth: 0 } }
  const { clock, endpoints, shard, run } = openSimulatedLoop(network, { config })
  const endpoint = endpoints[0]!
  /**
   * Mines `blocks` blocks at their pace and follows them.
   * @returns JSON-RPC calls per block, without the first 20 blocks.
   */
  const callsPerBlock = async (blocks: number): Promise<number> => {
    const stop = new AbortController()
    let before = { calls: endpoint.requests.length, block: network.head.number }
    for (let i = 1; i <= blocks; i++)
      clock.after(blockMs * i, () => {
        if (i === 20) before = { calls: endpoint.requests.length, block: network.head.number }
        network.mine()
      })
    clock.after(blockMs * blocks + 10_000, () => stop.abort())
    // As many deposits as Ethereum had in 2026: their claims are compared in turn.
    const indexedDeposits = () => new Map([[asNetworkId(0), 264_477]])
    await run(stop.signal, { indexedDeposits })
    assert.equal(shard.checkpoint()?.number, network.head.number)
    return (endpoint.requests.length - before.calls) / (network.head.number - before.block)
  }
  return { network, endpoint, shard, callsPerBlock }
}

// The head, its logs, the tag if any, and the occasional other call.
for (const [blockMs, finality, most] of [
  [12_000, 'finalized', 4],
  [2_000, 'finalized', 4],
  [2_000, 'latest', 3],
  [500, 'finalized', 3],
] as const)
  test(`an idle tip of ${blockMs} ms blocks, finality ${finality}, costs at most ${most} calls per block`, async () => {
    const { callsPerBlock } = follow(blockMs, finality)
    const calls = await callsPerBlock(120)
    assert.ok(calls <= most, `${calls} calls per block`)
  })

test('history costs one eth_getLogs and one header per window', async () => {
  const { network, endpoint, callsPerBlock } = follow(2_000, 'latest')
  network.mineEmpty(2_000)
  await callsPerBlock(1)
  const windows = 2_000 / 100
  const atTip = 64
  assert.ok(endpoint.callCount('eth_getLogs') <= windows + 4, `${endpoint.callCount('eth_getLogs')} windows`)
  const headers = endpoint.callCount('eth_getBlockByNumber')
  assert.ok(headers <= windows + atTip + 10, `${headers} headers`)
})
