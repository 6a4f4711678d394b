import assert from 'node:assert/strict'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { skipWithout } from '../../support/installedProgram.js'
import { type ServiceProcess, startBds, startService } from '../../support/serviceProcess.js'
import { everyAnswer, inStep, type SyncStatus, serveWorld, toldDeposits } from '../../support/serviceWorld.js'
import { tempFolder } from '../../support/tempFolder.js'
import { until } from '../../support/until.js'
import { inOtherNamespace, noOtherNamespace, withReadOnlyMount } from '../otherNamespace.js'

async function running(context: TestContext) {
  const served = await serveWorld(context, buildSmallWorld().world)
  const file = served.configFile('data')
  const service = await startService(context, file)
  await inStep(service, served.world)
  // Once more: each indexer thread opens the other stores after it has come to the head for the first time.
  for (const networkId of served.world.networkIds) served.world.network(networkId).mineEmpty(1)
  await inStep(service, served.world)
  return { ...served, file, service, dataDir: file.replace(/\.toml$/, '') }
}

/** Waits until the halt reasons of all networks, by their order, are these. */
function haltedAs(service: ServiceProcess, reasons: readonly (string | null)[]): Promise<SyncStatus> {
  return until(
    () => service.read<SyncStatus>('/bridge/v1/sync-status'),
    ({ networks }) => JSON.stringify(networks.map(({ halted }) => halted)) === JSON.stringify(reasons),
    `halts ${reasons.join(', ')}`,
  )
}

test('while a service runs, every command from another pid namespace is refused in one line, and the service continues', {
  skip: noOtherNamespace || skipWithout('mount'),
}, async (t) => {
  const { world, file, service, dataDir } = await running(t)
  const answers = await everyAnswer(service, world)
  for (const args of [
    ['run'],
    ['verify', '--offline'],
    ['rewind', '--network', '0', '--to-block', '1'],
    ['reindex', '--network', '1', '--yes'],
  ]) {
    const { exited, stdout, stderr } = startBds(t, [...args, '--config', file], {}, inOtherNamespace)
    assert.equal((await exited).code, 4, args[0])
    assert.deepEqual(stdout, [], args[0])
    assert.equal(stderr.length, 1, stderr.join('\n'))
    const told = `bds: data_dir ${dataDir} is in use by process ${service.child.pid} on host `
    assert.ok(stderr[0]!.startsWith(told), stderr[0])
  }
  const doctor = startBds(t, ['doctor', '--offline', '--config', file], {}, inOtherNamespace)
  assert.equal((await doctor.exited).code, 1)
  assert.match(
    doctor.stdout.find((line) => line.startsWith('FAIL'))!,
    /^FAIL {2}store of network 0: .* is in use by /,
  )
  const seenAt = tempFolder(t)
  const throughMount = () =>
    startBds(
      t,
      ['verify', '--offline', '--config', file],
      { BDS_DATA_DIR: seenAt },
      withReadOnlyMount(dataDir, seenAt),
    )
  const mounted = throughMount()
  assert.equal((await mounted.exited).code, 4, 'with a read-only mount')
  assert.deepEqual(mounted.stdout, [])
  assert.equal(mounted.stderr.length, 1, mounted.stderr.join('\n'))
  assert.ok(
    mounted.stderr[0]!.startsWith(`bds: data_dir ${seenAt} is in use by process ${service.child.pid} on `),
  )
  assert.deepEqual(await everyAnswer(service, world), answers)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })

  const next = startBds(t, ['verify', '--offline', '--config', file], {}, inOtherNamespace)
  assert.equal((await next.exited).code, 0, next.stderr.join('\n'))
  const free = throughMount()
  assert.equal((await free.exited).code, 0, free.stderr.join('\n'))
})

test('a data folder that disappears halts every network by name and makes nothing ready, and the networks resume once it is back', async (t) => {
  const { world, service, dataDir } = await running(t)
  renameSync(dataDir, `${dataDir}.away`)
  const { networks } = await haltedAs(
    service,
    ['data_folder_lost', 'data_folder_lost', 'data_folder_lost'].slice(0, world.networkIds.length),
  )
  assert.ok(networks.every(({ is_synced }) => !is_synced))
  assert.equal((await fetch(`${service.opsUrl}/readyz`)).status, 503)
  assert.equal((await fetch(`${service.opsUrl}/metrics`)).status, 200)
  for (const networkId of world.networkIds)
    assert.ok((await toldDeposits(service, networkId)).every(({ ready_for_claim }) => !ready_for_claim))
  const proof = await service.get('/bridge/v1/claim-proof?network_id=0&deposit_count=0&leaf_index=0')
  assert.equal(proof.status, 503)

  renameSync(`${dataDir}.away`, dataDir)
  await inStep(service, world)
  assert.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200)
})

test('a store that is removed under its service halts its own network alone', async (t) => {
  const { world, service, dataDir } = await running(t)
  rmSync(join(dataDir, '1'), { recursive: true })
  // The writer meets the missing folder as well.
  world.network(1).mineEmpty(1)
  const reasons = world.networkIds.map((networkId) => (networkId === 1 ? 'data_folder_lost' : null))
  await haltedAs(service, reasons)
  assert.equal(existsSync(join(dataDir, '1')), false)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

test('a removed lock file halts every network, since it no longer keeps other processes out', async (t) => {
  const { world, service, dataDir } = await running(t)
  rmSync(join(dataDir, 'bds.lock'))
  await haltedAs(
    service,
    world.networkIds.map(() => 'data_folder_lost'),
  )
})
