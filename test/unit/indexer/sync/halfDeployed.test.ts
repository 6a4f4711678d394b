import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { openSimulatedLoop } from '../simulatedLoop.js'

/** Answers of a chain while its contracts are being deployed: no code yet, or code that does not answer yet. */
const stages = [
  { methods: ['eth_getCode'], type: 'result', value: '0x' },
  { methods: ['eth_call'], type: 'result', value: '0x' },
  { methods: ['eth_call'], type: 'error', code: 3, message: 'execution reverted' },
  { methods: ['eth_call'], type: 'result', value: `0x${'00'.repeat(31)}07` },
] as const

for (const stage of stages)
  test(`contracts that are only partly deployed halt the network, which starts once they are whole: ${JSON.stringify(stage)}`, async () => {
    const network = createFakeWorld().network(1)
    for (let i = 0; i < 3; i++) network.mine((block) => block.tx().deposit())
    const config = { pollIntervalMs: 1_000, startBlock: 0 }
    const { clock, endpoints, row, shard, run } = openSimulatedLoop(network, { config })
    const fault = endpoints[0]!.fail(stage)
    const seen: string[] = []
    clock.after(60_000, () => {
      seen.push(row.haltReason(), String(shard.checkpoint()?.number))
      fault.off()
    })
    const stop = new AbortController()
    clock.after(100_000, () => stop.abort())
    await run(stop.signal)
    assert.deepEqual(seen, ['wrong_contract', 'undefined'])
    assert.deepEqual([row.haltReason(), shard.counts().deposits], ['none', 3])
  })
