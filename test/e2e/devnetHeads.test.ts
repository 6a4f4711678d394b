import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bridgeAsset } from '../../src/devnet/actions.js'
import { serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

test('the service follows a new head that a node announces over WebSocket at once, however long the poll interval is', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, bob } = devnet.accounts
  // The poll interval is longer than the test: without announced heads the test would never end.
  const service = await serviceOn(t, devnet, { pollIntervalMs: 3_600_000, isToldOfHeads: true })
  await service.inStep()
  const bridge = { from: alice, destinationAddress: bob, forced: true }
  for (const amount of [1n, 2n, 3n]) {
    await bridgeAsset(l1, { ...bridge, destinationNetwork: 1, amount })
    await bridgeAsset(network1, { ...bridge, destinationNetwork: 0, amount: amount + 10n })
    await service.inStep()
  }
  const amounts = (await service.allBridges()).map(({ amount }) => Number(amount))
  for (const amount of [1, 2, 3, 11, 12, 13]) assert.ok(amounts.includes(amount), String(amounts))
})
