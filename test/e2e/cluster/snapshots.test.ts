import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { asLogSequence } from '../../../src/cluster/logStream.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { metaKey } from '../../../src/store/layout/keys.js'
import { shardDirectory } from '../../../src/store/shardDirectory.js'
import { openShardStoreWriter } from '../../../src/store/shardStore.js'
import type { FakeWorld } from '../../support/fakeChain.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { skipWithout } from '../../support/installedProgram.js'
import { type ServiceProcess, startBds, startService } from '../../support/serviceProcess.js'
import { everyAnswer, inStep, modelDeposits, serveWorld, toldDeposits } from '../../support/serviceWorld.js'
import { until } from '../../support/until.js'
import { closeAfter, NatsProcesses, TEST_LIMIT_MS } from './natsProcesses.js'

/** Many starts of whole services, which take long on a busy machine. */
const LIMIT_MS = 4 * TEST_LIMIT_MS
const options = { skip: skipWithout('nats-server'), timeout: LIMIT_MS }

interface Cluster {
  readonly nats: NatsProcesses
  readonly world: FakeWorld
  readonly files: readonly string[]
  start(at: number): Promise<ServiceProcess>
}

async function openCluster(context: TestContext, extra = 'snapshot_every_ms = 0'): Promise<Cluster> {
  const nats = await NatsProcesses.start(context, 1)
  const { world, configFile } = await serveWorld(context, buildSmallWorld().world)
  const files = ['any', 'replica', 'replica'].map((role, at) => {
    const file = configFile(`instance-${at}`)
    const cluster = `[cluster]
name = "test"
servers = ["${nats.addresses[0]}"]
replicas = 1
max_log_bytes = 100000000
max_stale_ms = 3000
instance = "i${at}"
role = "${role}"
${extra}
`
    writeFileSync(file, readFileSync(file, 'utf8').replace('[log]', `${cluster}\n[log]`))
    return file
  })
  return { nats, world, files, start: (at) => startService(context, files[at]!) }
}

/** A verb that must end well. @returns what it has printed. */
async function bds(context: TestContext, ...args: string[]): Promise<string> {
  const verb = startBds(context, args)
  assert.deepEqual(await verb.exited, { code: 0, signal: null }, verb.stderr.slice(-5).join('\n'))
  return verb.stdout.join('\n')
}

interface Told {
  readonly networks: readonly { readonly network_id: number; readonly log_last: number }[]
  readonly snapshots: readonly {
    readonly id: string
    readonly made_by: string
    readonly log_sequence: Readonly<Record<string, number>>
  }[]
}

interface Standing {
  readonly network_id: number
  readonly snapshot_sequence?: number
}

function dataFolderOf(file: string): string {
  return /^data_dir = "(.*)"$/m.exec(readFileSync(file, 'utf8'))![1]!
}

test(
  'a new instance begins with the newest snapshot where the log has lost its beginning; one with a flipped byte is left out for the one before it',
  options,
  async (context) => {
    const { nats, world, files, start } = await openCluster(context)
    const signal = AbortSignal.timeout(LIMIT_MS)
    const first = await start(0)
    await inStep(first, world, LIMIT_MS)
    const take = async (): Promise<Told> =>
      JSON.parse(await bds(context, 'cluster', 'snapshot', '--config', files[0]!, '--json')) as Told
    const { snapshots: before } = await take()
    assert.equal(before.length, 1)
    for (const networkId of world.networkIds)
      assert.ok(before[0]!.log_sequence[networkId]! > 0, `network ${networkId} has a place`)

    const { networks: standings } = await until(
      () => first.read<{ networks: Standing[] }>('/bridge/v1/sync-status'),
      ({ networks }) => networks.every(({ snapshot_sequence }) => snapshot_sequence !== undefined),
      'the snapshot is told of',
    )
    for (const { network_id, snapshot_sequence } of standings)
      assert.equal(snapshot_sequence, before[0]!.log_sequence[network_id])

    const member = nats.member()
    closeAfter(context, member)
    for (const networkId of world.networkIds) {
      const log = await member.openLogStream(asNetworkId(networkId), signal)
      await log.forget(asLogSequence(before[0]!.log_sequence[networkId]!), signal)
    }
    world.network(1).mine((block) => block.tx().deposit())
    await inStep(first, world, LIMIT_MS)
    const second = await start(1)
    await inStep(second, world, LIMIT_MS)
    assert.deepEqual(await everyAnswer(second, world), await everyAnswer(first, world))
    const lines = second.stderr.filter((line) => line.includes('a snapshot is taken over'))
    assert.equal(lines.length, 1)
    assert.match(lines[0]!, new RegExp(before[0]!.id))

    world.network(2).mine((block) => block.tx().deposit())
    await inStep(first, world, LIMIT_MS)
    const { snapshots: after } = await take()
    assert.deepEqual(
      after.slice(1).map(({ id }) => id),
      [before[0]!.id],
    )
    const objects = await member.openObjectStore(signal)
    const [piece] = (await objects.names(signal)).filter(
      (name) => name.startsWith(after[0]!.id) && name.endsWith('.gz'),
    )
    const bytes = (await objects.find(piece!, signal))!
    bytes[bytes.length >> 1]! ^= 1
    await objects.put(piece!, bytes, signal)
    const third = await start(2)
    await inStep(third, world, LIMIT_MS)
    assert.deepEqual(await everyAnswer(third, world), await everyAnswer(first, world))
    const told = third.stderr.filter((line) => line.includes('snapshot is'))
    assert.match(told[0]!, new RegExp(`left out.*${after[0]!.id}|${after[0]!.id}.*left out`))
    assert.match(told[0]!, /piece \d+ of \d+ of network \d+ does not have its SHA-256/)
    assert.match(told[1]!, new RegExp(before[0]!.id))
    for (const networkId of world.networkIds)
      assert.deepEqual(await toldDeposits(third, networkId), modelDeposits(world, networkId))
  },
)

test(
  'a store that differs from its log is not served, and is replaced by a snapshot while the process goes on',
  options,
  async (context) => {
    const { world, files, start } = await openCluster(context)
    const first = await start(0)
    const second = await start(1)
    for (const service of [first, second]) await inStep(service, world, LIMIT_MS)
    await bds(context, 'cluster', 'snapshot', '--config', files[0]!)
    await second.kill('SIGTERM')
    // Of the counters that every mark covers: the store is whole for LMDB, and for whoever reads it.
    const directory = shardDirectory(dataFolderOf(files[1]!), 1)
    const store = openShardStoreWriter(directory)
    store.transact((view) => {
      const key = metaKey('origin')
      const value = view.get('meta', key)!.slice()
      value[value.length - 1]! ^= 1
      view.putUnseen('meta', key, value)
    })
    await store.close()
    const damaged = await start(1)
    const line = await until(
      async () => damaged.stderr.find((text) => text.includes('diverged')),
      (text) => text !== undefined,
      'the store is seen to differ',
      LIMIT_MS,
    )
    assert.match(line!, /digest 0x[0-9a-f]{64} \(in the log: 0x[0-9a-f]{64}\)/)
    await damaged.line(/^listening on /)
    await until(
      async () => damaged.stderr.some((text) => text.includes('stores are replaced')),
      (isReplaced) => isReplaced,
      'a snapshot is taken over',
      LIMIT_MS,
    )
    await until(
      async () => damaged.stdout.filter((text) => text.startsWith('listening on ')).length,
      (count) => count === 2,
      'the service is there again',
      LIMIT_MS,
    )
    world.network(1).mine((block) => block.tx().deposit())
    await inStep(damaged, world, LIMIT_MS)
    await inStep(first, world, LIMIT_MS)
    assert.deepEqual(await everyAnswer(damaged, world), await everyAnswer(first, world))
    assert.equal((await fetch(`${damaged.opsUrl}/readyz`)).status, 200)
    assert.deepEqual(await damaged.kill('SIGTERM'), { code: 0, signal: null })
  },
)
