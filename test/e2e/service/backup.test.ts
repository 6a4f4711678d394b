import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { decodeManifest, encodeManifest, type Manifest } from '../../../src/snapshot/manifest.js'
import { metaKey } from '../../../src/store/layout/keys.js'
import { encodeUint32 } from '../../../src/store/layout/smallRows.js'
import { restoreDirectory, shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreSnapshot, openShardStoreWriter } from '../../../src/store/shardStore.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { everyAnswer, inStep, sendersKnown, serveWorld } from '../../support/serviceWorld.js'
import { digestsOfShards } from '../../support/testShard.js'
import { until } from '../../support/until.js'
import { storeSmallWorld } from './storedWorld.js'

async function bds(context: TestContext, args: string[], environment: Readonly<Record<string, string>> = {}) {
  const { exited, stdout, stderr } = startBds(context, args, environment)
  const { code } = await exited
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
}

const dataDirOf = (configFile: string) => configFile.replace(/\.toml$/, '')
const shardsIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+$/.test(name)) : []

/** A backup of the small world as a service has stored it, and where it may be restored. */
async function backedUp(context: TestContext) {
  const { world, rpc, configFile } = await serveWorld(context, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  const from = join(dirname(file), 'backup')
  const made = await bds(context, ['backup', '--config', file, '--to', from])
  assert.equal(made.code, 0, made.stderr)
  const restore = (name: string, ...more: string[]) => [
    ...['restore', '--config', configFile(name), '--from', from],
    ...more,
  ]
  return { world, rpc, configFile, file, from, restore }
}

for (const name of ['backup', 'backup.tar'])
  test(`a ${name} made beside a running service and restored elsewhere gives the same answers`, async (t) => {
    const { world, configFile } = await serveWorld(t, buildSmallWorld().world)
    const file = configFile('data')
    const first = await startService(t, file)
    await inStep(first, world)
    await sendersKnown(first)
    const answers = await everyAnswer(first, world)
    const from = join(dirname(file), name)
    const made = await bds(t, ['backup', '--config', file, '--to', from, '--json'])
    assert.equal(made.code, 0, made.stderr)
    const { networks } = JSON.parse(made.stdout) as {
      networks: { network_id: number; block: { hash: string } }[]
    }
    assert.deepEqual(
      networks.map(({ network_id, block }) => [network_id, block.hash]),
      [1, 2, 0].map((networkId) => [networkId, world.network(networkId).head.hash]),
    )
    assert.deepEqual(await everyAnswer(first, world), answers)
    const again = await bds(t, ['backup', '--config', file, '--to', from])
    assert.equal(again.code, 1)
    assert.match(again.stderr, /^bds: \S+ (is not empty: choose a new folder|exists: choose a new file)$/)
    await first.kill('SIGTERM')

    const copy = configFile('copy')
    const restored = await bds(t, ['restore', '--config', copy, '--from', from, '--deep'])
    assert.equal(restored.code, 0, restored.stderr)
    assert.match(restored.stdout, /^network 1: block \d+, \d+ checks passed$/m)
    assert.deepEqual(await digestsOfShards(dataDirOf(copy)), await digestsOfShards(dataDirOf(file)))
    const verified = await bds(t, ['verify', '--config', copy, '--deep'])
    assert.deepEqual([verified.code, verified.stdout.split('\n').at(-1)], [0, 'no damage found'])
    const second = await startService(t, copy)
    await inStep(second, world)
    assert.deepEqual(await everyAnswer(second, world), answers)
  })

/** Whether the store remembers the file that it was in at its last start. */
async function knowsItsFile(configFile: string): Promise<boolean> {
  const store = openShardStoreSnapshot(shardDirectory(dataDirOf(configFile), 1))
  store.refresh()
  const isKnown = store.get('meta', metaKey('feedFile')) !== undefined
  store.release()
  await store.close()
  return isKnown
}

test('a restored store is of no file that it was in before, so it begins another feed whichever inode it has', async (t) => {
  const { file, configFile, restore } = await backedUp(t)
  assert.equal(await knowsItsFile(file), true)
  const restored = await bds(t, restore('copy'))
  assert.equal(restored.code, 0, restored.stderr)
  assert.equal(await knowsItsFile(configFile('copy')), false)
})

test('a backup that is damaged or of something else is refused in one line, and nothing is restored', async (t) => {
  const { world, from, configFile, restore } = await backedUp(t)
  const path = join(from, 'manifest.json')
  const manifest = decodeManifest(readFileSync(path), from)
  const whole = `${from}.whole`
  cpSync(from, whole, { recursive: true })
  const pieceOf = (at: number) => join(from, `${manifest.networks[at]!.chunks[0]!.sha256}.gz`)
  const tell = (changes: (manifest: Manifest) => Manifest) =>
    writeFileSync(path, encodeManifest(changes(manifest)))
  const cases: [
    what: string,
    damage: () => void,
    message: RegExp,
    env?: Record<string, string>,
    flags?: string[],
  ][] = [
    [
      'a flipped byte',
      () => {
        const bytes = readFileSync(pieceOf(2))
        bytes[bytes.length - 20]! ^= 0x10
        writeFileSync(pieceOf(2), bytes)
      },
      /^bds: the backup is damaged: piece 1 of 1 of network 0 does not have its SHA-256$/,
    ],
    [
      'a missing piece',
      () => rmSync(pieceOf(0)),
      /^bds: the backup is damaged: piece 1 of 1 of network 1 is missing$/,
    ],
    [
      'no manifest',
      () => rmSync(path),
      /^bds: \S+ holds no manifest\.json: it is no backup, or one that was not finished$/,
    ],
    [
      'another deployment',
      () => undefined,
      /^bds: the backup of network 1 was made for start_block 0 \(configured: 5\)$/,
      { BDS_NETWORKS__1__START_BLOCK: '5' },
    ],
    [
      'an L1 that is older than its L2s',
      () =>
        tell(({ networks: [one, ...others], ...rest }) => ({
          ...rest,
          networks: [{ ...one!, polled_leaves: 1_000 }, ...others],
        })),
      /^bds: network 0 is older than network 1: it has \d+ L1 info leaves, of which network 1 has polled 1000$/,
    ],
    [
      'a manifest of another store',
      () =>
        tell(({ networks: [one, ...others], ...rest }) => ({
          ...rest,
          networks: [{ ...one!, deposits: 1_000 }, ...others],
        })),
      /^bds: the backup of network 1 has deposits \d+, its manifest says 1000$/,
    ],
    [
      'another schema',
      () =>
        tell(({ networks: [one, ...others], ...rest }) => ({
          ...rest,
          networks: [{ ...one!, schema: 99 }, ...others],
        })),
      /^bds: the backup of network 1 has schema version 99, this build reads \d+: restore it with the build that made it \(\S+\)$/,
    ],
    [
      'a claim that the contract does not have',
      () => {
        const { state } = world.network(1).head
        state.claims = new Map([...state.claims].slice(1))
      },
      /^bds: the backup of network 1 is damaged: contract claims: claims of deposits 0 and following of network 0/,
      {},
      ['--deep'],
    ],
  ]
  for (const [what, damage, message, environment = {}, flags = []] of cases) {
    damage()
    const { code, stderr } = await bds(t, restore('copy', ...flags), environment)
    assert.equal(code, 4, `${what}: ${stderr}`)
    assert.match(stderr, message, what)
    assert.equal(stderr.split('\n').length, 1, what)
    const dataDir = dataDirOf(configFile('copy'))
    assert.deepEqual([shardsIn(dataDir), existsSync(restoreDirectory(dataDir))], [[], false], what)
    rmSync(from, { recursive: true })
    cpSync(whole, from, { recursive: true })
  }
})

test('a backup that is killed before its end is no backup, and is refused in one line', async (t) => {
  const { file, from, restore } = await backedUp(t)
  rmSync(from, { recursive: true })
  const { child, exited } = startBds(t, ['backup', '--config', file, '--to', from])
  await until(
    () => existsSync(from) && readdirSync(from).some((name) => name.endsWith('.gz')),
    Boolean,
    'the first piece of the backup',
  )
  child.kill('SIGKILL')
  assert.equal((await exited).signal, 'SIGKILL')
  const { code, stderr } = await bds(t, restore('copy'))
  assert.equal(code, 4)
  assert.match(stderr, /^bds: \S+ holds no manifest\.json: it is no backup, or one that was not finished$/)
  const again = await bds(t, ['backup', '--config', file, '--to', from])
  assert.match(again.stderr, /^bds: \S+ is not empty: choose a new folder$/)
})

test('stores that are there are replaced only with --replace, and never those of a running service', async (t) => {
  const { world, file, configFile, restore } = await backedUp(t)
  const there = await bds(t, restore('data'))
  assert.equal(there.code, 4)
  assert.match(there.stderr, /has stores of networks 0, 1, 2: nothing was restored; --replace replaces them$/)
  const service = await startService(t, file)
  const inUse = await bds(t, restore('data', '--replace'))
  assert.equal(inUse.code, 4)
  assert.match(inUse.stderr, /^bds: data_dir \S+ is in use by process \d+/)
  world.network(1).mine((block) => block.tx().deposit({ destinationNetwork: 0 }))
  await inStep(service, world)
  await service.kill('SIGTERM')
  const newer = await digestsOfShards(dataDirOf(file))
  const replaced = await bds(t, restore('data', '--replace', '--json'))
  assert.equal(replaced.code, 0, replaced.stderr)
  assert.notDeepEqual(await digestsOfShards(dataDirOf(file)), newer)
  await bds(t, restore('elsewhere', '--offline'))
  assert.deepEqual(
    await digestsOfShards(dataDirOf(file)),
    await digestsOfShards(dataDirOf(configFile('elsewhere'))),
  )
})

test('stores that stay beside those of a backup must not have polled more of the L1', async (t) => {
  const { from, file, restore } = await backedUp(t)
  const path = join(from, 'manifest.json')
  const { networks, ...rest } = decodeManifest(readFileSync(path), from)
  writeFileSync(
    path,
    encodeManifest({ ...rest, networks: networks.filter(({ network_id }) => network_id !== 2) }),
  )
  const polledTo = async (leaves: number) => {
    const store = openShardStoreWriter(join(dataDirOf(file), '2'))
    store.transact((view) => view.put('meta', metaKey('polledLeaves'), encodeUint32(leaves)))
    await store.close()
  }
  await polledTo(1_000)
  const before = await digestsOfShards(dataDirOf(file))
  const refused = await bds(t, restore('data', '--replace', '--offline'))
  assert.equal(refused.code, 4)
  assert.match(
    refused.stderr,
    /^bds: network 0 is older than network 2: it has \d+ L1 info leaves, .* polled 1000$/,
  )
  assert.deepEqual(await digestsOfShards(dataDirOf(file)), before)
  await polledTo(1)
  const restored = await bds(t, restore('data', '--replace', '--offline'))
  assert.equal(restored.code, 0, restored.stderr)
  assert.match(restored.stdout, /^not in the backup: network 2; `bds run` goes on with what is stored/m)
  assert.notEqual((await digestsOfShards(dataDirOf(file)))['2'], undefined)
})
