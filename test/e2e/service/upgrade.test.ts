import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { metaKey } from '../../../src/store/layout/keys.js'
import { encodeUint32 } from '../../../src/store/layout/smallRows.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreSnapshot, openShardStoreWriter } from '../../../src/store/shardStore.js'
import { readIdentity } from '../../../src/store/storeIdentity.js'
import { buildOlderWorld, olderSchemas, unpackOlderStores } from '../../support/olderStores.js'
import { startBds, startService } from '../../support/serviceProcess.js'
import { everyAnswer, inStep, sendersKnown, serveWorld } from '../../support/serviceWorld.js'
import { untilEqual } from '../../support/until.js'

async function bds(context: TestContext, ...args: string[]) {
  const { exited, stdout, stderr } = startBds(context, args)
  const { code } = await exited
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
}

const dataDirOf = (configFile: string) => configFile.replace(/\.toml$/, '')

async function schemasIn(dataDir: string, networkIds: readonly number[]): Promise<(number | undefined)[]> {
  const schemas: (number | undefined)[] = []
  for (const networkId of networkIds) {
    const store = openShardStoreWriter(shardDirectory(dataDir, networkId))
    schemas.push(readIdentity(store)?.schema)
    await store.close()
  }
  return schemas
}

for (const schema of olderSchemas)
  test(`a service on stores of schema ${schema} that were upgraded gives the answers of one that has read the chains anew`, async (t) => {
    const { world, configFile } = await serveWorld(t, buildOlderWorld(schema))
    const [old, fresh] = [configFile('old'), configFile('fresh')]
    unpackOlderStores(schema, dataDirOf(old), world.networkIds)
    const refused = await bds(t, 'run', '--config', old)
    assert.equal(refused.code, 4)
    assert.match(
      refused.stderr,
      new RegExp(
        `has schema version ${schema}, this build reads 8: bring it up to date with \`bds upgrade\`, or`,
      ),
    )
    const done = await bds(t, 'upgrade', '--config', old)
    assert.deepEqual(
      [done.code, done.stdout],
      [
        0,
        [
          `network 0: upgraded from schema ${schema} to 8`,
          `network 1: upgraded from schema ${schema} to 8`,
          `network 2: upgraded from schema ${schema} to 8${schema === 4 ? '; the next run asks for 2 unknown senders' : ''}`,
        ].join('\n'),
      ],
      done.stderr,
    )
    const again = await bds(t, 'upgrade', '--config', old, '--json')
    const network = (network_id: number) => ({ network_id, from_schema: 8, unknown_senders: 0 })
    assert.deepEqual(JSON.parse(again.stdout), { schema: 8, networks: [network(0), network(1), network(2)] })
    assert.equal((await bds(t, 'verify', '--config', old, '--deep')).code, 0)

    const expected = await startService(t, fresh)
    await inStep(expected, world)
    await sendersKnown(expected)
    const answers = await everyAnswer(expected, world)
    await expected.kill('SIGTERM')
    const service = await startService(t, old)
    await inStep(service, world)
    await untilEqual(() => everyAnswer(service, world), answers, 'the answers of a fresh store')
  })

test('an upgrade that is killed at any time leaves stores of one schema or the other, and goes on when it is run again', async (t) => {
  const { world, configFile } = await serveWorld(t, buildOlderWorld())
  const file = configFile('data')
  for (let round = 0; round < 6; round++) {
    rmSync(dataDirOf(file), { recursive: true, force: true })
    const older = olderSchemas[round % 2 === 0 ? 0 : 1]
    unpackOlderStores(older, dataDirOf(file), world.networkIds)
    const running = startBds(t, ['upgrade', '--config', file])
    // By the lines that tell of a network, and at any time.
    if (round % 2 === 0)
      void running.line(/^network \d/).then(
        () => running.child.kill('SIGKILL'),
        () => undefined,
      )
    else void delay(randomInt(1_500)).then(() => running.child.kill('SIGKILL'))
    await running.exited
    for (const schema of await schemasIn(dataDirOf(file), world.networkIds))
      assert.ok(schema === older || schema === 8)
    const again = await bds(t, 'upgrade', '--config', file)
    assert.equal(again.code, 0, again.stderr)
    assert.deepEqual(await schemasIn(dataDirOf(file), world.networkIds), [8, 8, 8])
    const verified = await bds(t, 'verify', '--config', file, '--deep', '--offline')
    assert.equal(verified.code, 0, verified.stdout)
  }
})

test('a store that is too old, too new or of another deployment is refused in one line and left as it was', async (t) => {
  const { world, configFile } = await serveWorld(t, buildOlderWorld())
  const file = configFile('data')
  unpackOlderStores(4, dataDirOf(file), world.networkIds)
  const directory = shardDirectory(dataDirOf(file), 1)
  const cases: [schema: number, message: RegExp, log?: true][] = [
    [
      3,
      /has schema version 3, whose rows this build can't read \(it upgrades from 4 on\): read the network .*reindex/,
    ],
    [6, /has schema version 6, that of a log without a feed, .*reindex/],
    [7, /follows the log of a cluster, .* would differ: take its store anew with .*reindex/, true],
    [99, /has schema version 99, later than this build's 8: use the build that made it, or .*reindex/],
  ]
  for (const [schema, message, followsLog] of cases) {
    const store = openShardStoreWriter(directory)
    store.transact((view) => {
      view.put('meta', metaKey('schema'), encodeUint32(schema))
      if (followsLog) view.put('meta', metaKey('log'), Buffer.from('{}'))
      else view.remove('meta', metaKey('log'))
    })
    await store.close()
    const { code, stderr } = await bds(t, 'upgrade', '--config', file, '--network', '1')
    assert.deepEqual([code, stderr.split('\n').length], [4, 1], stderr)
    assert.match(stderr, message)
    const unchanged = openShardStoreSnapshot(directory)
    unchanged.refresh()
    assert.equal(readIdentity(unchanged)?.schema, schema)
    await unchanged.close()
  }
  const exited = startBds(t, ['upgrade', '--config', file, '--network', '0'], {
    BDS_NETWORKS__0__CHAIN_ID: '77',
  })
  assert.equal((await exited.exited).code, 4)
  assert.match(
    exited.stderr.join('\n'),
    /was made for chain_id \d+ \(configured: 77\): nothing was upgraded$/,
  )
})
