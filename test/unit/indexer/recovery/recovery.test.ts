import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSyncHarness, isInStep } from '../syncHarness.js'

/** A layer 2 in step, with five claimable deposits of layer 1. */
async function followReady() {
  const harness = createSyncHarness({ networkId: 1, indexedDeposits: () => [[0, 5]] })
  const { world, network, shard, row } = harness
  const l1 = world.network(0)
  for (let i = 0; i < 5; i++) l1.mine((block) => block.tx().deposit({ destinationNetwork: 1 }))
  network.mineEmpty(100)
  const isReady = () => row.get('caughtUp') === 1 && !shard.isCatchingUp
  await harness.run(isReady)
  return { harness, l1, isReady }
}

test('while lost claims are taken back and read again, nothing is ready', async () => {
  const { harness, l1, isReady } = await followReady()
  const { network, client, shard, row } = harness
  const follow = async (blocks: number) => {
    for (let block = 0; block < blocks; block++) {
      network.mineEmpty(1)
      await harness.run(() => isInStep(harness))
    }
  }
  await follow(40)
  network.mine((block) => block.tx().claim({ deposit: l1.deposits()[3]! }))
  await follow(10)
  // A provider that leaves a deposit out, so that the next one has a gap before it.
  const hidden = network.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  client.hideLogs(({ number }) => number === hidden.number)
  network.mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  const ready: string[] = []
  let wasTakenBack = false
  await harness.run(() => {
    const isTakenBack = shard.counts().claims === 0
    wasTakenBack ||= isTakenBack
    if (isTakenBack && !shard.isCatchingUp && row.haltReason() === 'none')
      ready.push(
        `${harness.clock.now()} ms: at block ${shard.checkpoint()?.number} of ${network.head.number}`,
      )
    return row.haltReason() !== 'none'
  })
  assert.ok(wasTakenBack)
  assert.deepEqual(ready, [])
  client.view = () => network.blocks
  await harness.run(() => row.haltReason() === 'none' && isInStep(harness) && isReady(), 60_000)
})

test('a difference that the contract shows at the tip makes nothing ready, also after a restart without endpoints', async () => {
  const { harness, l1, isReady } = await followReady()
  const { network, client, shard, row } = harness
  const hidden = network.mine((block) => block.tx().claim({ deposit: l1.deposits()[3]! }))
  client.hideLogs(({ number }) => number === hidden.number)
  await harness.run(() => row.haltReason() === 'missing_log', 600_000)
  for (let look = 0; look < 20; look++) {
    let times = 0
    await harness.run(() => times++ > 100, 600_000)
    // A restart forgets the halt.
    assert.ok(shard.isCatchingUp, `look ${look}`)
  }
  client.view = () => network.blocks
  await harness.run(() => row.haltReason() === 'none' && isInStep(harness) && isReady(), 600_000)
})
