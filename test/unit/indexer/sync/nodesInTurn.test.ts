import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkConfig } from '../../../../src/config/config.types.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { openSimulatedLoop } from '../simulatedLoop.js'

interface Address {
  readonly networkId: number
  /** How far the second node is behind the first. */
  readonly lag: number
  readonly maxBatch: number
  readonly finality: NetworkConfig['finality']
  /** Requests that reach the first node before the second is asked every other time. */
  readonly offset: number
}

/**
 * Follows a chain that grows for a minute, behind one address that passes requests to two nodes in turn.
 * @returns how many blocks are missing a minute after the last block.
 */
async function blocksMissing({ networkId, lag, maxBatch, finality, offset }: Address): Promise<number> {
  const network = createFakeWorld().network(networkId)
  network.mineEmpty(40)
  const { clock, endpoints, posts, shard, run } = openSimulatedLoop(network, {
    config: { pollIntervalMs: 1_000, finality },
    rpc: [{ maxBatch }],
  })
  const stop = new AbortController()
  endpoints[0]!.fail({ type: 'lag', blocks: lag, when: () => (posts.requests + offset) % 2 === 1 })
  for (let ms = 5_000; ms <= 60_000; ms += 5_000)
    clock.after(ms, () =>
      network.mine((block) => {
        block.tx().deposit()
      }),
    )
  clock.after(120_000, () => stop.abort())
  await run(stop.signal)
  return network.head.number - (shard.checkpoint()?.number ?? 0)
}

for (const maxBatch of [1, 100])
  for (const tag of ['latest', 'safe'] as const)
    test(`no block stays missing behind an address that asks two nodes in turn, one of which lags: batches of ${maxBatch}, ${tag}`, async () => {
      for (const networkId of [0, 1])
        for (const lag of [1, 5, 30])
          for (const offset of [0, 1]) {
            const address = { networkId, lag, maxBatch, finality: { tag, depth: 0 }, offset }
            assert.equal(await blocksMissing(address), 0, JSON.stringify(address))
          }
    })
