import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bridgeAsset, inject, settle } from '../../src/devnet/actions.js'
import { requestClaim } from '../../src/devnet/claimThroughApi.js'
import type { Devnet } from '../../src/devnet/devnet.js'
import type { DevnetChain } from '../../src/devnet/devnetChain.js'
import { readLedger } from '../../src/devnet/ledger.js'
import { playScenario } from '../../src/devnet/scenario.js'
import { findClaimError, sendClaim } from '../../src/devnet/sendClaim.js'
import { until } from '../support/until.js'
import { type DevnetService, serviceOn } from './devnet/devnetService.js'
import { testDevnet } from './devnet/testDevnet.js'

test('after a reorg the removed deposits, L1 info leaves and claims are gone, and the API proves the deposits that replaced them', async (t) => {
  const devnet = await testDevnet(t)
  const [l1, network1] = devnet.chains
  const { alice, bob, carol } = devnet.accounts
  await playScenario(devnet)
  const service = await serviceOn(t, devnet)
  await service.inStep()

  // L1: the last deposit is removed, and another deposit takes its count and its L1 info leaf.
  const step = { from: alice, destinationNetwork: 1, destinationAddress: bob }
  await bridgeAsset(l1, { ...step, amount: 101n, forced: true })
  await bridgeAsset(l1, { ...step, amount: 102n, forced: true })
  await service.inStep()
  await assertSameDeposits(devnet, service)
  await reorg(l1, 1)
  await bridgeAsset(l1, { ...step, amount: 202n, forced: true })
  await sameDeposits(devnet, service)

  // L2: a deposit and a claim are removed. The claimed deposit is ready again, with a valid proof.
  await inject(devnet, network1)
  await service.inStepAndFinal()
  const replaced = (await service.allBridges()).find(({ amount }) => amount === '202')!
  assert.equal(replaced.ready_for_claim, true)
  const { claim } = await requestClaim(service.api, replaced)
  await bridgeAsset(network1, { ...step, destinationNetwork: 0, amount: 301n, forced: true })
  const { transactionHash } = await sendClaim(network1, carol, claim)
  await service.inStep()
  const key = { network: 0, deposit: replaced.deposit_count }
  assert.equal((await service.api.findBridge(key))?.claim_tx_hash, transactionHash)
  await reorg(network1, 2)
  await bridgeAsset(network1, { ...step, destinationNetwork: 0, amount: 401n, forced: true })
  await network1.client.mine({ blocks: 2 })
  await sameDeposits(devnet, service)
  const forgotten = await service.api.findBridge(key)
  assert.deepEqual([forgotten?.claim_tx_hash, forgotten?.ready_for_claim], [null, true])

  // Afterwards every ready deposit can be claimed, on all three contracts.
  await settle(devnet, network1)
  await service.inStepAndFinal()
  let claimed = 0
  for (const bridge of await service.allBridges()) {
    if (!bridge.ready_for_claim) continue
    const destination = devnet.chains[bridge.destination_network]!
    const { claim: again } = await requestClaim(service.api, bridge)
    const name = `deposit ${bridge.deposit_count} of network ${bridge.origin_network}`
    assert.equal(await findClaimError(destination, carol, again), undefined, name)
    await sendClaim(destination, carol, again)
    claimed += 1
  }
  assert.ok(claimed > 5, `only ${claimed} were ready`)
  await service.inStep()
  assert.ok((await service.allBridges()).every(({ ready_for_claim }) => !ready_for_claim))
})

/** Replaces the newest blocks by empty ones. */
async function reorg({ client }: DevnetChain, depth: number): Promise<void> {
  // viem does not know the name of anvil's method.
  await client.request<{ Method: string; Parameters: unknown[]; ReturnType: null }>({
    method: 'anvil_reorg',
    params: [depth, []],
  })
}

/** Waits until the API lists exactly the deposits that the chains have. */
async function sameDeposits(devnet: Devnet, service: DevnetService): Promise<void> {
  const expected = await depositTransactions(devnet)
  await until(
    async () => (await service.allBridges()).map(({ tx_hash }) => tx_hash),
    (listed) => listed.join() === expected.join(),
    'the deposits of the new chain',
  )
  await service.inStep()
}

async function assertSameDeposits(devnet: Devnet, service: DevnetService): Promise<void> {
  const listed = (await service.allBridges()).map(({ tx_hash }) => tx_hash)
  assert.deepEqual(listed, await depositTransactions(devnet))
}

async function depositTransactions(devnet: Devnet): Promise<string[]> {
  return (await readLedger(devnet)).deposits.flat().map(({ transactionHash }) => transactionHash)
}
