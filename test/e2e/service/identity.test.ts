import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { metaKey } from '../../../src/store/layout/keys.js'
import { encodeUint32 } from '../../../src/store/layout/smallRows.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { inStep, type SyncStatus, serveWorld } from '../../support/serviceWorld.js'

const OTHER = `0x${'11'.repeat(20)}`

/** A configuration with stores of a service that has stopped. */
async function indexedOnce(context: TestContext) {
  const served = await serveWorld(context, buildSmallWorld().world)
  const file = served.configFile('data')
  const service = await startService(context, file)
  await inStep(service, served.world)
  await service.kill('SIGTERM')
  return { ...served, file, dataDir: file.replace(/\.toml$/, '') }
}

/** Expects that every verb that opens stores refuses with exit code 4 and one line. */
async function assertRefused(
  context: TestContext,
  file: string,
  networkId: string,
  environment: Readonly<Record<string, string>>,
  told: RegExp,
): Promise<void> {
  for (const args of [
    ['run'],
    ['verify', '--offline'],
    ['rewind', '--network', networkId, '--to-block', '1'],
  ]) {
    const { exited, stderr, stdout } = startBds(context, [...args, '--config', file], environment)
    const { code } = await exited
    const lines = [...stdout, ...stderr].filter((line) => line.startsWith('bds: '))
    assert.equal(code, 4, `${args[0]}: ${[...stdout, ...stderr].join('\n')}`)
    assert.equal(lines.length, 1, args[0])
    assert.match(lines[0]!, told, args[0])
  }
}

test('a store made for another chain, contract, start block or schema is refused in one line with exit code 4', async (t) => {
  const { file, dataDir } = await indexedOnce(t)
  const changes: [key: string, value: string, told: RegExp][] = [
    ['1__CHAIN_ID', '77', /\/1 was made for chain_id \d+ \(configured: 77\): /],
    ['1__BRIDGE', OTHER, /\/1 was made for bridge 0x\w{40} \(configured: 0x1{40}\): /],
    [
      '1__GLOBAL_EXIT_ROOT_MANAGER',
      OTHER,
      /\/1 was made for global_exit_root_manager 0x\w{40} \(configured: 0x1{40}\): /,
    ],
    ['0__ROLLUP_MANAGER', OTHER, /\/0 was made for rollup_manager 0x\w{40} \(configured: 0x1{40}\): /],
    ['1__START_BLOCK', '2', /\/1 was made for start_block 0 \(configured: 2\): .*`bds reindex --network 1`$/],
  ]
  for (const [key, value, told] of changes)
    await assertRefused(t, file, key[0]!, { [`BDS_NETWORKS__${key}`]: value }, told)

  const store = openShardStoreWriter(join(dataDir, '1'))
  store.transact((view) => view.put('meta', metaKey('schema'), encodeUint32(99)))
  await store.close()
  await assertRefused(t, file, '1', {}, /\/1 has schema version 99, this build reads \d+: /)

  // The folder of network 1 holds what was made for network 0.
  rmSync(join(dataDir, '1'), { recursive: true })
  cpSync(join(dataDir, '0'), join(dataDir, '1'), { recursive: true })
  await assertRefused(t, file, '1', {}, /\/1 was made for network_id 0 \(configured: 1\), chain_id /)
})

test('a bridge address without a contract halts its network as wrong_contract, and no output has an RPC address', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const service = await startService(t, configFile('data'), [], { BDS_NETWORKS__1__BRIDGE: OTHER })
  const line = await service.line(/^network 1 waits: /)
  assert.match(line, /network 1: no contract at bridge 0x1{40}$/)
  const { networks } = await service.read<SyncStatus>('/bridge/v1/sync-status')
  assert.equal(networks[1]!.halted, 'wrong_contract')
  assert.ok(
    !service.stdout
      .concat(service.stderr)
      .some((text) => text.includes('127.0.0.1:') && !text.startsWith('listening')),
  )
  assert.deepEqual(await service.kill('SIGINT'), { code: 0, signal: null })
})
