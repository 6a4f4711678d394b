import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'
import { storeSmallWorld } from './storedWorld.js'

interface Document {
  readonly is_well: boolean
  readonly checks: readonly { readonly what: string; readonly outcome: string; readonly detail: string }[]
}

test('doctor checks machine, folder and endpoints beside a running service, and prints no RPC address', async (t) => {
  const { world, rpc, configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  const service = await startService(t, file)
  await inStep(service, world)
  const well = startBds(t, ['doctor', '--config', file])
  assert.deepEqual(await well.exited, { code: 0, signal: null }, well.stdout.join('\n'))
  for (const line of [
    /^ok {4}LMDB in the data folder: writes and reads a store$/,
    /^ok {4}store of network 1: made for this network$/,
    /^ok {4}0-a, contracts: code at every address/,
    /^ok {4}1-a, contracts together: as configured: 1 of 1 getters answer$/,
    /^ok {4}1-a, chain id: \d+$/,
    /^ok {4}open files: /,
  ])
    assert.ok(
      well.stdout.some((text) => line.test(text)),
      `${line} in\n${well.stdout.join('\n')}`,
    )

  await rpc.get(1)!.close()
  const ill = startBds(t, ['doctor', '--config', file, '--json'])
  assert.equal((await ill.exited).code, 1)
  const { is_well, checks } = JSON.parse(ill.stdout.join('\n')) as Document
  assert.equal(is_well, false)
  const faults = checks.filter(({ outcome }) => outcome === 'fail')
  assert.deepEqual(
    faults.map(({ what }) => what),
    ['1-a, chain id'],
  )
  for (const { url } of rpc.values())
    for (const text of [...well.stdout, ...well.stderr, ...ill.stdout, ...ill.stderr])
      assert.ok(!text.includes(new URL(url).host), text)
})

test('doctor reports a store that was made for another network, and with --offline asks no endpoint', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  const { exited, stdout } = startBds(t, ['doctor', '--config', file, '--offline'], {
    BDS_NETWORKS__1__START_BLOCK: '5',
  })
  assert.equal((await exited).code, 1)
  const [line] = stdout.filter((text) => text.startsWith('FAIL'))
  assert.match(line!, /^FAIL {2}store of network 1: .*\/1 was made for start_block 0 \(configured: 5\): /)
  assert.ok(!stdout.some((text) => text.includes('endpoint')))
})
