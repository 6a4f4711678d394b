import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bridgeAsset, inject } from '../../src/devnet/actions.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { findClaimError } from '../../src/devnet/sendClaim.js'
import { serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

test('a service that is killed during indexing continues where it stopped, and gives the answers of a service that was never killed', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  let service = await serviceOn(t, devnet)
  // The service is killed in the middle of the scenario, then twice more after a few more blocks.
  const playing = playScenario(devnet)
  service = await service.killAndRestart()
  await playing
  for (let round = 1; round <= 2; round++) {
    await bridgeAsset(l1, {
      from: alice,
      destinationNetwork: 1,
      destinationAddress: bob,
      amount: BigInt(round),
      forced: true,
    })
    service = await service.killAndRestart()
  }
  await inject(devnet, network1)
  await service.inStepAndFinal()

  const fresh = await serviceOn(t, devnet)
  await fresh.inStepAndFinal()
  await service.inStepAndFinal()
  const bridges = await service.allBridges()
  assert.deepEqual(bridges, await fresh.allBridges())
  for (const { networkId } of devnet.chains)
    for (const list of ['claims', 'token-mappings']) {
      const path = `/bridge/v1/${list}?network_id=${networkId}`
      assert.deepEqual(await service.process.read(path), await fresh.process.read(path))
    }
  const ready = bridges.filter(({ ready_for_claim }) => ready_for_claim)
  assert.ok(ready.length > 5, `only ${ready.length} are ready`)
  for (const bridge of ready) {
    const { claim } = await requestClaim(service.api, bridge)
    assert.equal(await findClaimError(devnet.chains[bridge.destination_network]!, carol, claim), undefined)
  }
})
