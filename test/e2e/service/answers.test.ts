import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { verifiesOnChain } from '../../support/fakeChainModel.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { startService } from '../../support/serviceProcess.js'
import { inStep, modelDeposits, serveWorld, toldDeposits } from '../../support/serviceWorld.js'

interface IndexAnswer {
  readonly l1_info_tree_index: number
}

interface ProofAnswer {
  readonly proof: { readonly smtProofLocalExitRoot: Hex[]; readonly smtProofRollupExitRoot: Hex[] }
}

test('a service announces when it listens and when each network has caught up, and its answers agree with the chain', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'))
  for (const networkId of world.networkIds)
    await service.line(new RegExp(`^network ${networkId} has caught up`))
  await inStep(service, world)

  let proofs = 0
  for (const networkId of world.networkIds) {
    assert.deepEqual(
      await toldDeposits(service, networkId),
      modelDeposits(world, networkId),
      `network ${networkId}`,
    )
    for (const deposit of world.network(networkId).deposits()) {
      const query = `network_id=${networkId}&deposit_count=${deposit.depositCount}`
      const index = await service.get(`/bridge/v1/l1-info-tree-index?${query}`)
      if (index.status !== 200) continue
      const { l1_info_tree_index: leaf } = index.body as IndexAnswer
      const { proof } = await service.read<ProofAnswer>(`/bridge/v1/claim-proof?${query}&leaf_index=${leaf}`)
      const branches = {
        localExitRootBranch: proof.smtProofLocalExitRoot,
        rollupExitRootBranch: proof.smtProofRollupExitRoot,
      }
      assert.ok(verifiesOnChain(world, deposit, leaf, branches), `${query} with leaf ${leaf}`)
      proofs += 1
    }
  }
  assert.ok(proofs >= 5, `${proofs} proofs`)
  assert.equal(service.stdout.length, 1 + world.networkIds.length, service.stdout.join('\n'))

  const health = await service.read<{ status: string; network_id: number }>('/')
  assert.deepEqual([health.status, health.network_id], ['healthy', 1])
  assert.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200)
  const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text()
  const lines = metrics.split('\n')
  for (const line of [
    `bds_deposits_indexed{network_id="0"} ${world.network(0).deposits().length}`,
    `bds_http_requests_total{route="/bridge/v1/claim-proof",method="GET",status="200"} ${proofs}`,
  ])
    assert.ok(lines.includes(line), line)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

test('the next request after a commit sees it', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'))
  await inStep(service, world)
  const first = world.network(1)
  for (let round = 0; round < 15; round++) {
    first.mine((block) => block.tx().deposit({ amount: BigInt(round) }))
    await inStep(service, world)
    const { pagination } = await service.read<{ pagination: { total: number } }>(
      '/bridge/v1/bridges?network_id=1',
    )
    assert.equal(pagination.total, first.deposits().length, `round ${round}`)
    const { depositCount } = first.deposits().at(-1)!
    const path = `/bridge/v1/bridges?network_id=1&deposit_count=${depositCount}`
    assert.equal((await service.read<{ bridges: unknown[] }>(path)).bridges.length, 1, `round ${round}`)
  }
})

test('the service follows a reorg of layer 1 and a reorg of layer 2 to the new branch', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'))
  const [l1, first] = [world.network(0), world.network(1)]
  l1.mine((block) => block.tx().deposit({ destinationNetwork: 1, amount: 21n }))
  first.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  first.mine((block) => block.tx().deposit({ amount: 22n }))
  await inStep(service, world)
  const before = [await toldDeposits(service, 0), await toldDeposits(service, 1)]
  assert.deepEqual(before, [modelDeposits(world, 0), modelDeposits(world, 1)])

  first.reorg({ depth: 1, blocks: 'empty' })
  l1.reorg({ depth: 1, blocks: 'shift' })
  await inStep(service, world)
  const after = [await toldDeposits(service, 0), await toldDeposits(service, 1)]
  assert.deepEqual(after, [modelDeposits(world, 0), modelDeposits(world, 1)])
  assert.notDeepEqual(after, before)
  const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text()
  for (const networkId of [0, 1])
    assert.ok(
      metrics.split('\n').includes(`bds_reorgs_total{network_id="${networkId}"} 1`),
      `network ${networkId}`,
    )
})
