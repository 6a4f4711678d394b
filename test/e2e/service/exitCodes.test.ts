import assert from 'node:assert/strict'
import { cpSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metaKey } from '../../../src/store/layout/keys.js'
import { encodeUint32 } from '../../../src/store/layout/smallRows.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import { pageOf, rowsOf } from '../../support/docsPages.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { freePort } from '../../support/freePort.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { inStep, serveWorld } from '../../support/serviceWorld.js'
import { tempFolder } from '../../support/tempFolder.js'
import { storeSmallWorld } from './storedWorld.js'

interface Case {
  readonly code: number
  readonly what: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly launcher?: readonly string[]
}

test('each exit code that docs/operations.md lists is what a command ends with, for each thing that it means', async (t) => {
  const { configFile } = await serveWorld(t, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  const folder = tempFolder(t)
  const copyOf = (name: string): string => {
    cpSync(file.replace(/\.toml$/, ''), join(folder, name), { recursive: true })
    return join(folder, name)
  }
  const cut = copyOf('cut')
  truncateSync(join(cut, '1', 'data.mdb'), 20_000)
  const newer = copyOf('newer')
  const store = openShardStoreWriter(join(newer, '1'))
  store.transact((view) => view.put('meta', metaKey('schema'), encodeUint32(99)))
  await store.close()
  const broken = join(folder, 'broken.toml')
  writeFileSync(broken, 'data_dri = "x"\n')
  const { url } = await startService(t, configFile('busy'))
  const { world: longer } = buildSmallWorld()
  longer.network(0).mine((mined) => mined.tx().deposit({ amount: 1n }))
  const { configFile: longerFile } = await serveWorld(t, longer)
  const other = await startService(t, longerFile('other'))
  await inStep(other, longer)
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const config = ['--config', file]
  const offline = ['verify', ...config, '--offline']
  const cases: readonly Case[] = [
    { code: 0, what: 'done', args: offline },
    { code: 1, what: 'failed', args: ['backup', ...config, '--to', folder] },
    { code: 2, what: 'wrong command line', args: ['rewind', ...config, '--network', 'one'] },
    { code: 3, what: 'mistakes in the configuration', args: ['run', '--config', broken] },
    {
      code: 4,
      what: 'of other networks',
      args: offline,
      environment: { BDS_NETWORKS__1__START_BLOCK: '7' },
    },
    { code: 4, what: 'another version', args: offline, environment: { BDS_DATA_DIR: newer } },
    { code: 4, what: 'in use', args: ['reindex', '--config', configFile('busy'), '--network', '1', '--yes'] },
    { code: 4, what: 'damaged', args: offline, environment: { BDS_DATA_DIR: cut } },
    {
      code: 4,
      what: 'unusable',
      args: ['run', ...config],
      environment: { BDS_DATA_DIR: join(broken, 'data') },
    },
    {
      code: 4,
      what: 'a limit of the process is too low',
      args: ['run', ...config],
      launcher: ['bash', '-c', 'ulimit -n 96; exec "$@"', 'sh'],
    },
    { code: 5, what: 'the service is not healthy', args: ['status', '--url', nowhere] },
    {
      code: 6,
      what: 'two services tell different things',
      args: [
        'compare',
        ...config,
        ...['--base', `${url}/aggkit`, '--with', `${other.url}/aggkit`, '--dialect', 'aggkit'],
        ...['--settle', '0'],
      ],
    },
    {
      code: 137,
      what: 'killed',
      args: ['run', '--config', configFile('killed')],
      launcher: ['sh', '-c', '"$@" & child=$!; kill -9 $child; wait $child', 'sh'],
    },
  ]
  const meanings = new Map(
    rowsOf(pageOf('docs/operations.md'), 'exit code').map(([code, meaning]) => [Number(code), meaning!]),
  )
  assert.deepEqual([...new Set(cases.map(({ code }) => code))], [...meanings.keys()])
  for (const { code, what, args, environment, launcher } of cases) {
    assert.ok(meanings.get(code)!.includes(what), `${code} means ${what}`)
    const { exited, stderr, stdout } = startBds(t, args, environment, launcher)
    assert.equal((await exited).code, code, `${what}: ${[...stdout, ...stderr].join('\n')}`)
  }
})
