import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  createStatusBoard,
  headPlaces,
  isPutBack,
  type StatusRow,
  statusRow,
} from '../../src/board/statusBoard.js'
import { createCommandLog } from '../../src/cluster/commandLog.js'
import { FatalError } from '../../src/errors/chainErrors.js'
import { runSyncLoop } from '../../src/indexer/sync/syncLoop.js'
import { logSettingsOf } from '../../src/replica/logSettings.js'
import { runReplica } from '../../src/replica/runReplica.js'
import type { ShardWriter } from '../../src/shard/shardWriter.types.js'
import { noCommits } from '../support/commitWatches.js'
import { createFakeWorld, type FakeNetwork } from '../support/fakeChain.js'
import { FakeCluster, FakeMember } from '../support/fakeCluster.js'
import { quietReport } from '../support/keepingLogger.js'
import { tempFolder } from '../support/tempFolder.js'
import { TestNumbers } from '../support/testNumbers.js'
import { digestTables, openTestShard, type TestShard } from '../support/testShard.js'
import { VirtualClock } from '../support/virtualClock.js'
import { createWatchedClient, type WatchedClient } from '../support/watchedClient.js'

const NETWORK = 1
const never = new AbortController().signal

/** Instances with the real sync loop over one chain and one cluster. */
class World {
  readonly network: FakeNetwork = createFakeWorld({ networks: [NETWORK] }).network(NETWORK)
  readonly clock = new VirtualClock()
  readonly cluster = new FakeCluster(this.clock)
  readonly folder: string
  readonly #numbers = new TestNumbers(1)
  readonly #busy: (() => boolean)[] = []

  constructor(context: TestContext) {
    this.folder = tempFolder(context)
    this.network.mineEmpty(60)
    for (let at = 0; at < 5; at++) this.network.mine((block) => block.tx().deposit())
  }

  /** @param changed what its shard does otherwise than it should. */
  start(name: string, changed: (writer: ShardWriter) => Partial<ShardWriter> = () => ({})): Instance {
    const client = createWatchedClient(this.network, this.clock, { pollIntervalMs: 500, rollbackBlocks: 64 })
    // Each client holds time still while it waits for answers.
    this.#busy.push(this.clock.busy)
    this.clock.busy = () => this.#busy.some((isBusy) => isBusy())
    const newId = () => Uint8Array.from({ length: 16 }, () => this.#numbers.below(256))
    return new Instance(this, name, client, newId, changed)
  }
}

class Instance {
  readonly shard: TestShard
  readonly member: FakeMember
  readonly client: WatchedClient
  readonly row: StatusRow
  /** How often it has begun to lead. */
  terms = 0
  readonly #running: Promise<void>
  readonly #end = new AbortController()
  readonly #world: World

  constructor(
    world: World,
    name: string,
    client: WatchedClient,
    newId: () => Uint8Array,
    changed: (writer: ShardWriter) => Partial<ShardWriter>,
  ) {
    this.#world = world
    this.client = client
    this.member = new FakeMember(world.cluster)
    const board = createStatusBoard([NETWORK])
    this.shard = openTestShard(join(world.folder, name), NETWORK, board)
    this.row = statusRow(board, NETWORK)
    this.#running = this.#run(name, newId, changed(this.shard.writer))
    this.#running.catch(() => undefined)
  }

  async #run(name: string, newId: () => Uint8Array, changed: Partial<ShardWriter>): Promise<void> {
    const { client, row } = this
    const { settings: network } = client
    const writer = { ...this.shard.writer, ...changed }
    const { clock } = this.member
    const settings = logSettingsOf(network, { keepEvents: 1_000_000 }, newId())
    await runReplica(
      {
        log: createCommandLog(await this.member.openLogStream(settings.networkId, never), clock),
        leases: await this.member.openKeyBoard('leases', never),
        ...{ writer, row, settings, clock, holder: name, newId, mayLead: true },
        lead: (term) => {
          this.terms++
          const report = quietReport(NETWORK, term.row, clock, [])
          const indexedDeposits = () => new Map()
          const { proposer, signal } = term
          const common = { network, client, writer, clock, report, indexedDeposits, commits: noCommits }
          return runSyncLoop({ ...common, proposer }, signal)
        },
      },
      this.#end.signal,
    )
  }

  /** @throws what it has failed with. */
  async stop(): Promise<void> {
    this.#end.abort()
    this.#world.cluster.wake()
    await this.#running
  }
}

/** Waits until all shards stand at the head. */
async function inStep(
  { network, clock }: World,
  instances: readonly Instance[],
  limitMs: number,
): Promise<number> {
  const startMs = clock.now()
  const isThere = ({ shard }: Instance) =>
    shard.writer.checkpoint()?.number === network.head.number &&
    Buffer.from(shard.writer.checkpoint()!.hash).toString('hex') === network.head.hash.slice(2)
  while (!instances.every(isThere)) {
    assert.ok(clock.now() - startMs < limitMs, `not in step after ${limitMs} ms`)
    await clock.sleep(50, never)
  }
  return clock.now() - startMs
}

const isAnotherChain = ({ method }: { readonly method: string }): void => {
  if (method === 'getHead') throw new FatalError('another chain', { reason: 'wrong_chain' })
}

/** @throws when it does not become true. */
async function become({ clock }: World, what: string, isTrue: () => boolean): Promise<void> {
  const untilMs = clock.now() + 120_000
  while (!isTrue()) {
    assert.ok(clock.now() < untilMs, `not in two minutes: ${what}`)
    await clock.sleep(50, never)
  }
}

test('one instance reads the chain, all hold the same, and another one goes on when it is paused, also through a reorg', async (context) => {
  const world = new World(context)
  const { network } = world
  const instances = ['a', 'b', 'c'].map((name) => world.start(name))
  await inStep(world, instances, 60_000)
  assert.equal(instances.filter(({ terms }) => terms > 0).length, 1)
  const leader = instances.find(({ terms }) => terms > 0)!
  const others = instances.filter((each) => each !== leader)

  leader.member.pause()
  network.reorg({ depth: 3, blocks: 'shift' })
  for (let at = 0; at < 4; at++) network.mine((block) => block.tx().deposit())
  const failOverMs = await inStep(world, others, 20_000)
  assert.ok(failOverMs > 0)
  leader.member.resume()
  network.mine((block) => block.tx().deposit())
  await inStep(world, instances, 20_000)
  const placeOf = ({ shard }: Instance) => shard.writer.logPlace()!.sequence
  while (instances.some((each) => placeOf(each) !== placeOf(leader))) await world.clock.sleep(10, never)
  const digests = instances.map(({ shard }) => shard.read(digestTables))
  assert.equal(new Set(digests).size, 1)
  assert.equal(leader.shard.writer.counts().deposits, network.deposits().length)
  for (const instance of instances) await instance.stop()
  for (const { shard } of instances) await shard.close()
})

test('an instance that joins late reads the log and not the chain', async (context) => {
  const world = new World(context)
  const first = world.start('a')
  await inStep(world, [first], 60_000)
  const late = world.start('b')
  await inStep(world, [first, late], 20_000)
  assert.equal(late.terms, 0)
  await first.stop()
  world.network.mine((block) => block.tx().deposit())
  await inStep(world, [late], 20_000)
  assert.equal(late.terms, 1)
  await late.stop()
  for (const { shard } of [first, late]) await shard.close()
})

test('why the one that leads stands still is shown by all, until another one leads and has seen the head', async (context) => {
  const world = new World(context)
  const { network } = world
  const instances = ['a', 'b'].map((name) => world.start(name))
  await inStep(world, instances, 60_000)
  const leader = instances.find(({ terms }) => terms > 0)!
  const other = instances.find((each) => each !== leader)!
  leader.client.before = isAnotherChain
  await become(world, 'halted', () => instances.every(({ row }) => row.haltReason() === 'wrong_chain'))

  network.mine((block) => block.tx().deposit())
  leader.member.pause()
  await inStep(world, [other], 20_000)
  assert.equal(other.row.haltReason(), 'none')
  assert.equal(other.row.headPlace(), headPlaces.inStep)
  leader.member.resume()
  await become(world, 'taken back', () => leader.row.haltReason() === 'none')
  for (const instance of instances) await instance.stop()
  for (const { shard } of instances) await shard.close()
})

test('a chain that was put back is seen by all, also after a restart, and so is its return', async (context) => {
  const world = new World(context)
  const { network } = world
  const instances = ['a', 'b'].map((name) => world.start(name))
  await inStep(world, instances, 60_000)
  const areInStep = () => instances.every(({ row }) => row.headPlace() === headPlaces.inStep)
  const arePutBack = () => instances.every(({ row }) => isPutBack(row))
  await become(world, 'in step', areInStep)
  network.rollback(3)
  await become(world, 'put back', arePutBack)
  const follower = instances.find(({ terms }) => terms === 0)!
  await follower.stop()
  await follower.shard.close()
  instances.splice(instances.indexOf(follower), 1, world.start(follower === instances[0] ? 'a' : 'b'))
  await become(world, 'put back after the restart', arePutBack)
  for (let at = 0; at < 5; at++) network.mine((block) => block.tx().deposit())
  await become(world, 'in step again', areInStep)
  for (const instance of instances) await instance.stop()
  for (const { shard } of instances) await shard.close()
})

test('a shard that has stored a command otherwise than the others is noticed within the minute', async (context) => {
  const world = new World(context)
  const first = world.start('a')
  await inStep(world, [first], 60_000)
  const other = world.start('b', (writer) => ({
    apply: (command, place) =>
      writer.apply(command.type === 'noteCatchingUp' ? { ...command, isCatchingUp: true } : command, place),
  }))
  await inStep(world, [first, other], 20_000)
  assert.equal(first.row.get('catchingUp'), 0)
  await world.clock.sleep(60_000, never)
  await assert.rejects(other.stop(), {
    name: 'DivergedError',
    message:
      /^the shard differs from its log: digest 0x[0-9a-f]{64} \(in the log: 0x[0-9a-f]{64}\); digest of 256 entries/,
  })
  await first.stop()
  for (const { shard } of [first, other]) await shard.close()
})

test('an instance that stands still lets another one lead, whose endpoints may be better, and does not come back', async (context) => {
  const world = new World(context)
  const instances = ['a', 'b'].map((name) => world.start(name))
  await inStep(world, instances, 60_000)
  const leader = instances.find(({ terms }) => terms > 0)!
  leader.client.before = isAnotherChain
  world.network.mine((block) => block.tx().deposit())
  const waitedMs = await inStep(world, instances, 60_000)
  assert.ok(waitedMs > 28_000 && waitedMs < 40_000, `${waitedMs} ms`)
  await world.clock.sleep(300_000, never)
  assert.deepEqual(
    instances.map(({ terms }) => terms),
    [1, 1],
  )
  for (const instance of instances) await instance.stop()
  for (const { shard } of instances) await shard.close()
})

test('when all stand still each lets the other one try once, and again only when it was well', async (context) => {
  const world = new World(context)
  const instances = ['a', 'b'].map((name) => world.start(name))
  await inStep(world, instances, 60_000)
  for (const { client } of instances) client.before = isAnotherChain
  world.network.mine((block) => block.tx().deposit())
  await world.clock.sleep(600_000, never)
  assert.equal(
    instances.reduce((sum, { terms }) => sum + terms, 0),
    3,
  )
  for (const { client } of instances) client.before = () => undefined
  await inStep(world, instances, 120_000)
  const leader = instances.find(({ terms }) => terms === 2)!
  await become(world, 'compared with the contracts', () => leader.row.get('contractsCompared') === 1)
  await world.clock.sleep(5_000, never)
  leader.client.before = isAnotherChain
  world.network.mine((block) => block.tx().deposit())
  await inStep(world, instances, 60_000)
  for (const instance of instances) await instance.stop()
  for (const { shard } of instances) await shard.close()
})
