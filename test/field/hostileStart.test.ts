import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openShardStoreWriter } from '../../src/store/shardStore.js'
import { undoKey } from '../../src/store/undo.js'
import { buildSmallWorld } from '../support/fakeChainScenario.js'
import { freePort } from '../support/freePort.js'
import { installedProgram, skipWithout } from '../support/installedProgram.js'
import { assertRefused, type Refusal } from '../support/refusals.js'
import { startBds, startService } from '../support/serviceProcess.js'
import { inStep, serveWorld } from '../support/serviceWorld.js'
import { tempFolder } from '../support/tempFolder.js'
import { until } from '../support/until.js'

const IS_ROOT = process.getuid?.() === 0

async function configFor(context: TestContext): Promise<string> {
  const { configFile } = await serveWorld(context, buildSmallWorld().world)
  return configFile('data')
}

test('a data folder that cannot be used is refused in one line with exit code 4, a wrong setting with exit code 3', async (t) => {
  const file = await configFor(t)
  const folder = tempFolder(t)
  const path = (name: string): string => join(folder, name)
  writeFileSync(path('file'), '')
  symlinkSync(path('nowhere'), path('dangling'))
  symlinkSync(path('circle'), path('circle'))
  mkdirSync(path('taken'))
  mkdirSync(path('taken/0'))
  mkdirSync(path('taken/0/data.mdb'))
  mkdirSync(path('garbage'))
  mkdirSync(path('garbage/1'))
  writeFileSync(path('garbage/1/data.mdb'), 'no store'.repeat(4096))
  mkdirSync(path('locked'))
  mkdirSync(path('locked/1'))
  mkdirSync(path('locked/1/lock.mdb'))
  mkdirSync(path('cut'))
  const store = openShardStoreWriter(path('cut/1'))
  store.transact((view) => view.put('undo', undoKey(1, 0), new Uint8Array(200_000)))
  await store.close()
  truncateSync(path('cut/1/data.mdb'), 40_000)
  mkdirSync(path('shard'))
  writeFileSync(path('shard/1'), '')
  const cases: Refusal[] = [
    { what: 'a file in its place', dataDir: path('file'), told: /\/file can't be used: .*\/file is a file$/ },
    { what: 'a file above it', dataDir: path('file/a/b'), told: / can't be used: .*\/file is a file$/ },
    { what: 'a link to nothing', dataDir: path('dangling'), told: /\/dangling is a link to nothing$/ },
    { what: 'links in a circle', dataDir: path('circle/a'), told: /links of .* lead in a circle$/ },
    {
      what: 'a long name',
      dataDir: path('n'.repeat(300)),
      told: /can't be used: the path or a name in it is too long$/,
    },
    {
      what: 'a long path',
      dataDir: path('name/'.repeat(1000)),
      told: /can't be used: the path or a name in it is too long$/,
    },
    {
      what: 'below /proc',
      dataDir: '/proc/bds/data',
      told: /^bds: data_dir \/proc\/bds\/data can't be used: \/proc\/bds can't be made there$/,
    },
    { what: '/proc itself', dataDir: '/proc', told: /^bds: data_dir \/proc can't be / },
    { what: 'below /sys', dataDir: '/sys/bds', told: /^bds: data_dir \/sys\/bds can't be used: / },
    { what: 'a folder as a store', dataDir: path('taken'), told: /^bds: .*\/taken\/0 can't be opened: / },
    { what: 'a store of nonsense', dataDir: path('garbage'), told: /^bds: .*\/garbage\/1 can't be opened: / },
    {
      what: 'a folder as a lock',
      dataDir: path('locked'),
      told: /\/locked\/1 can't be opened: lock\.mdb is not a file$/,
    },
    {
      what: 'half a store',
      dataDir: path('cut'),
      told: /\/cut\/1 can't be opened: data\.mdb is cut short: /,
    },
    { what: 'a file as a store', dataDir: path('shard'), told: /^bds: .*\/shard\/1 can't be opened: / },
    { what: 'no name', dataDir: '', code: 3, told: /data_dir/ },
    {
      what: 'a line break in the name',
      dataDir: path('a\nb'),
      code: 3,
      told: /^ {2}- data_dir holds a control character$/,
    },
  ]
  for (const each of cases) await assertRefused(t, file, each)
})

test('a data folder that only other users may enter or write is refused in one line', {
  skip: IS_ROOT && skipWithout('setpriv'),
}, async (t) => {
  const file = await configFor(t)
  const folder = tempFolder(t)
  const closed = join(folder, 'closed')
  mkdirSync(join(closed, 'data'), { recursive: true })
  mkdirSync(join(folder, 'read-only'))
  chmodSync(closed, 0)
  chmodSync(join(folder, 'read-only'), 0o555)
  // Without its capabilities root needs permissions like any other user.
  const launcher = IS_ROOT ? [installedProgram('setpriv')!, '--bounding-set=-all', '--inh-caps=-all'] : []
  try {
    for (const dataDir of [
      join(closed, 'data'),
      join(closed, 'new'),
      join(folder, 'read-only'),
      join(folder, 'read-only/new'),
    ])
      await assertRefused(t, file, {
        what: dataDir,
        dataDir,
        launcher,
        told: /can't be used: user \d+ (has no right to enter, read and write|may not write to) \//,
      })
    // LMDB ends the process without a word when it can't open its lock file.
    for (const name of ['shard of others', 'lock of others']) {
      const shard = join(folder, name, '1')
      mkdirSync(shard, { recursive: true })
      if (name === 'lock of others') writeFileSync(join(shard, 'lock.mdb'), '', { mode: 0 })
      else chmodSync(shard, 0o555)
      await assertRefused(t, file, {
        what: name,
        dataDir: join(folder, name),
        launcher,
        told: /\/1 can't be opened: user \d+ has no right to read and write \/.*\/1(\/lock\.mdb)?$/,
      })
    }
  } finally {
    chmodSync(closed, 0o755)
  }
})

test('a read-only mount and a disk below the reserve are refused in one line', {
  skip: skipWithout('unshare', 'mount'),
}, async (t) => {
  const file = await configFor(t)
  const dataDir = tempFolder(t)
  const withMount = (mount: string): string[] => [
    installedProgram('unshare')!,
    ...(IS_ROOT ? [] : ['--user', '--map-root-user']),
    '--mount',
    'sh',
    '-c',
    `${mount} && exec "$@"`,
    'sh',
  ]
  const cases: [mount: string, told: RegExp][] = [
    [`mount -t tmpfs -o ro tmpfs ${dataDir}`, /can't be used: .* is on a read-only file system$/],
    [
      `mount -t tmpfs -o size=8m tmpfs ${dataDir}`,
      /no space left for .*: \d+ MiB free, 64 MiB kept in reserve$/,
    ],
  ]
  for (const [mount, told] of cases)
    await assertRefused(t, file, { what: mount, dataDir, launcher: withMount(mount), told })
})

test('process limits too low for the service are refused at the start in one line with exit code 4', async (t) => {
  const file = await configFor(t)
  const cases: [limit: string, told: RegExp][] = [
    ['-n 96', /open files: soft 96, hard 96 .*; at least \d+ needed/],
    ['-n 256', /open files: soft 256, hard 256 /],
    ['-n 400', /open files: soft 400, hard 400 /],
    ['-v 1000000', /address space: 977 MiB; at least \d+ GiB needed/],
    ['-v 4000000', /address space: 3907 MiB; /],
    ['-f 64', /file size: 64 KiB; at least 64 MiB needed/],
    ['-f 1000', /file size: 1000 KiB; /],
    ['-d 400000', /data size: 391 MiB; /],
  ]
  for (const [limit, told] of cases)
    await assertRefused(t, file, {
      what: limit,
      dataDir: tempFolder(t),
      launcher: ['bash', '-c', `ulimit ${limit}; exec "$@"`, 'sh'],
      told: new RegExp(`^bds: a limit of this process is too low: ${told.source}`),
    })
})

test('the service catches up under the lowest process limits that it accepts', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  for (const [i, limit] of [
    'ulimit -n 1056',
    'ulimit -f 70000',
    'ulimit -n 1056 && ulimit -d 760000',
  ].entries()) {
    const launcher = ['bash', '-c', `${limit} && exec "$@"`, 'sh']
    const service = await startService(t, configFile(`data${i}`), [], {}, launcher)
    await inStep(service, world)
    assert.ok(
      service.stderr.some((line) => line.includes('a limit of this process is low')),
      limit,
    )
    assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null }, limit)
  }
})

test('clients that use up all file descriptors, or all connections, do not end the service: once they are gone, both ports answer and the chains are followed', async (t) => {
  const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
  const launcher = ['bash', '-c', 'ulimit -n 1056 && exec "$@"', 'sh']
  // A port of the system's choice can't be taken again at once while it has ended connections, and the old core does that.
  const file = configFile('data')
  writeFileSync(file, readFileSync(file, 'utf8').replace('port = 0', `port = ${await freePort()}`))
  const service = await startService(t, file, [], {}, launcher)
  await inStep(service, world)
  const { hostname, port } = new URL(service.url)
  const clients = Array.from({ length: 1_060 }, () =>
    connect(Number(port), hostname).on('error', () => undefined),
  )
  const descriptors = () => readdirSync(`/proc/${service.child.pid}/fd`).length
  // Which of the two comes first depends on how many connections the transport takes between two counts.
  const areRefused = () => service.stderr.some((line) => line.includes('connections are refused'))
  await until(descriptors, (count) => count >= 1_055 || areRefused(), 'every descriptor or connection taken')
  for (const networkId of world.networkIds) world.network(networkId).mineEmpty(1)
  for (const client of clients) client.destroy()
  await until(descriptors, (count) => count < 200, 'descriptors given back')
  for (const url of [service.url, service.opsUrl]) {
    const isReady = () =>
      fetch(`${url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      )
    await until(isReady, Boolean, url)
  }
  await inStep(service, world)
  assert.deepEqual(await service.kill('SIGTERM'), { code: 0, signal: null })
})

test('doctor reports every process limit that is too low, and skips the checks that such a limit would kill', async (t) => {
  const file = await configFor(t)
  for (const [limit, what] of [
    ['-n 96', 'open files'],
    ['-f 64', 'file size'],
    ['-v 1000000', 'address space'],
  ] as const) {
    const launcher = ['bash', '-c', `ulimit ${limit}; exec "$@"`, 'sh']
    const doctor = startBds(t, ['doctor', '--offline', '--config', file], {}, launcher)
    assert.deepEqual(await doctor.exited, { code: 1, signal: null }, doctor.stderr.join('\n'))
    assert.deepEqual(doctor.stderr, [], limit)
    assert.ok(
      doctor.stdout.some((line) => line.startsWith(`FAIL  ${what}: `)),
      `${limit}:\n${doctor.stdout.join('\n')}`,
    )
  }
})

for (const limit of [20, 24, 32])
  test(`with a limit of ${limit} open files the program can't be loaded, and says in one line what is needed`, async (t) => {
    const launcher = ['bash', '-c', `ulimit -n ${limit}; exec "$@"`, 'sh']
    const doctor = startBds(t, ['doctor', '--offline'], {}, launcher)
    assert.deepEqual(await doctor.exited, { code: 1, signal: null }, doctor.stderr.join('\n'))
    assert.equal(doctor.stderr.length, 1, doctor.stderr.join('\n'))
    assert.match(
      doctor.stderr[0]!,
      new RegExp(
        `^bds: too many open files: their limit is (${limit}|too low), and the program alone needs 80: `,
      ),
    )
  })

test('doctor also ends when the data folder is below /proc, and names the folder', async (t) => {
  const file = await configFor(t)
  const doctor = startBds(t, ['doctor', '--offline', '--config', file], { BDS_DATA_DIR: '/proc/bds/data' })
  assert.equal((await doctor.exited).code, 1)
  assert.ok(
    doctor.stdout.some((line) =>
      /^FAIL {2}data folder: data_dir \/proc\/bds\/data can't be used: /.test(line),
    ),
  )
})
