import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildLoneWorld, buildSmallWorld } from '../../support/fakeChainScenario.js'
import { freePort } from '../../support/freePort.js'
import { EXAMPLE_TOML } from '../../support/loadedConfig.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { everyAnswer, inStep, type SyncStatus, serveWorld } from '../../support/serviceWorld.js'
import { tempFolder } from '../../support/tempFolder.js'
import { storeSmallWorld } from './storedWorld.js'

test('a service that is killed in backfill and started again gives the answers of a service that was never killed', async (t) => {
  const { world, rpc, configFile } = await serveWorld(t, buildSmallWorld().world)
  const narrow = ['log_range = 3']
  const { endpoint } = rpc.get(0)!
  // Holds layer 1 after some windows, so that the kill falls into the middle of its backfill.
  endpoint.fail({ type: 'hold', until: new Promise(() => undefined), methods: ['eth_getLogs'], skip: 6 })
  const sixth = endpoint.nextCall('eth_getLogs', () => endpoint.callCount('eth_getLogs') >= 7)
  const killed = await startService(t, configFile('killed', narrow))
  await sixth
  assert.deepEqual(await killed.kill('SIGKILL'), { code: null, signal: 'SIGKILL' })
  endpoint.clearFaults()

  const again = await startService(t, configFile('killed', narrow))
  const fresh = await startService(t, configFile('fresh'))
  await inStep(again, world)
  await inStep(fresh, world)
  const answers = await everyAnswer(again, world)
  assert.ok(Object.keys(answers).length > 20)
  assert.deepEqual(answers, await everyAnswer(fresh, world))
})

test('a restarted service accepts no connection before it can give the answers that it gave before the restart', async (t) => {
  const { world, rpc, configFile } = await serveWorld(t, buildSmallWorld().world)
  const ports = ['--http-port', String(await freePort())]
  const first = await startService(t, configFile('data'), ports)
  await inStep(first, world)
  const lists = [...world.networkIds].map((id) => `/bridge/v1/bridges?network_id=${id}`)
  const before = await Promise.all(lists.map((path) => first.read(path)))
  assert.ok(JSON.stringify(before).includes('"ready_for_claim":true'))
  await first.kill('SIGTERM')

  let release: () => void = () => undefined
  const until = new Promise<void>((resolve) => {
    release = resolve
  })
  const { endpoint } = rpc.get(1)!
  endpoint.fail({ type: 'hold', until, methods: ['eth_getBlockByNumber'] })
  const held = endpoint.nextCall('eth_getBlockByNumber', () => true)
  const starting = startService(t, configFile('data'), ports)
  await held
  await assert.rejects(fetch(first.url + lists[0]!), 'the port is closed')
  release()
  const again = await starting
  assert.deepEqual(await Promise.all(lists.map((path) => again.read(path))), before)
})

test('an endpoint that does not answer keeps the port of a restarted service closed for seconds only', async (t) => {
  const { rpc, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  rpc.get(1)!.endpoint.fail({ type: 'hold', until: new Promise(() => undefined) })
  const again = await startService(t, file)
  assert.equal((await again.get('/bridge/v1/bridges?network_id=1')).status, 200)
  assert.equal((await again.get('/')).status, 503)
})

test('SIGTERM makes readiness fail, then the service serves through the drain delay and ends with exit code 0', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const service = await startService(t, configFile('data'), ['--http-drain-delay-ms', '1500'])
  await inStep(service, world)
  assert.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200)
  const exit = service.kill('SIGTERM')
  const draining = await untilDraining(service.opsUrl)
  assert.deepEqual(draining, { error: { code: 'SERVICE_UNAVAILABLE', message: 'not ready: draining' } })
  assert.equal((await service.get('/bridge/v1/bridges?network_id=0')).status, 200)
  assert.equal((await service.get('/')).status, 503)
  assert.deepEqual(await exit, { code: 0, signal: null })
})

test('a second signal ends the process at once', async (t) => {
  const { world, configFile } = await serveWorld(t, buildLoneWorld())
  const service = await startService(t, configFile('data'), ['--http-drain-delay-ms', '600000'])
  await inStep(service, world)
  void service.kill('SIGTERM')
  await untilDraining(service.opsUrl)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 1, signal: null })
})

test('a port that is in use is reported in one line, and the service ends with exit code 1', async (t) => {
  const { configFile } = await serveWorld(t, buildLoneWorld())
  const holder = createServer().listen(0, '127.0.0.1')
  t.after(() => void holder.close())
  await new Promise((resolve) => holder.once('listening', resolve))
  const { port } = holder.address() as AddressInfo
  for (const flag of ['--http-port', '--ops-port']) {
    const bds = startBds(t, [
      'run',
      '--config',
      configFile('data'),
      flag,
      String(port),
      '--log-level',
      'error',
    ])
    assert.deepEqual(await bds.exited, { code: 1, signal: null }, flag)
    // The API's port is opened last, when the network may have caught up already.
    const told = bds.stdout.filter((line) => line !== 'network 0 has caught up at block 40')
    assert.deepEqual(told, [], flag)
    assert.deepEqual(bds.stderr, [
      `bds: can't listen on 127.0.0.1:${port}: the port is taken by another process`,
    ])
  }
})

test('a data folder of other contracts is refused with exit code 4 and one line', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  const environment = { BDS_NETWORKS__1__BRIDGE: '0x2a3DD3EB832aF982ec71669E178424b10Dca2EDe' }
  const bds = startBds(t, ['run', '--config', file, '--log-level', 'error'], environment)
  assert.deepEqual(await bds.exited, { code: 4, signal: null })
  assert.equal(bds.stderr.length, 1, bds.stderr.join('\n'))
  assert.match(bds.stderr[0]!, /^bds: .*0x2a3dd3eb832af982ec71669e178424b10dca2ede/i)
})

test('a data folder that another process uses is refused', async (t) => {
  const { configFile } = await serveWorld(t, buildLoneWorld())
  const file = configFile('data')
  const first = await startService(t, file)
  const second = startBds(t, ['run', '--config', file, '--log-level', 'error'])
  assert.deepEqual(await second.exited, { code: 4, signal: null })
  assert.match(second.stderr[0]!, new RegExp(`is in use by process ${first.child.pid}`))
})

test('after a restart the first sync status already counts the deposits that are stored', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const before = await startService(t, file)
  const counted = ({ networks, bridge_sync }: SyncStatus) => [
    networks.map(({ synced_block, indexed_deposit_count }) => [synced_block, indexed_deposit_count]),
    bridge_sync.l2_bridges_indexed,
  ]
  const told = counted(await inStep(before, world))
  await before.kill('SIGKILL')
  const after = await startService(t, file)
  assert.deepEqual(counted(await after.read<SyncStatus>('/bridge/v1/sync-status')), told)
})

test('a chain with another chain id is announced and halts its network, and the other networks are served', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const environment = { BDS_NETWORKS__1__CHAIN_ID: '4711' }
  const service = await startService(t, configFile('data'), [], environment)
  assert.match(await service.line(/^network 1 waits: /), /needs chain id 4711: 1-a has 1001$/)
  await service.line(/^network 0 has caught up/)
  const { networks } = await service.read<SyncStatus>('/bridge/v1/sync-status')
  assert.deepEqual(
    networks.map(({ halted }) => halted),
    [null, 'wrong_chain', null],
  )
  assert.deepEqual(await service.kill('SIGINT'), { code: 0, signal: null })
})

test('a bad configuration is refused with every mistake at once and exit code 3, before anything is opened', async (t) => {
  const file = join(tempFolder(t), 'bds.toml')
  writeFileSync(file, EXAMPLE_TOML.replace('5577', '"x"').replace('chain_id = 901', 'chain_di = 901'))
  const bds = startBds(t, ['run', '--config', file], { BDS_POOL__WORKERS: '0' })
  assert.deepEqual(await bds.exited, { code: 3, signal: null })
  assert.deepEqual(bds.stdout, [])
  assert.deepEqual(
    [...bds.stderr].sort(),
    [
      'bds: 4 mistakes in the configuration',
      '  - http.port is "x", from file; expected an integer from 0 to 65535',
      '  - networks[1].chain_id (network 1) is missing',
      '  - pool.workers is 0, from env BDS_POOL__WORKERS; expected an integer from 1 to 64',
      '  - unknown key networks[1].chain_di (network 1): did you mean chain_id?',
    ].sort(),
  )
})

async function untilDraining(opsUrl: string): Promise<unknown> {
  for (;;) {
    const response = await fetch(`${opsUrl}/readyz`)
    if (response.status === 503) return response.json()
    await response.arrayBuffer()
  }
}
