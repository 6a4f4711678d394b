import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { CommitWatch, changeReader, type StatusRow, statusRow } from '../../src/board/statusBoard.js'
import { createCommandLog } from '../../src/cluster/commandLog.js'
import { FatalError } from '../../src/errors/chainErrors.js'
import { createPositionReader } from '../../src/http/events/feedPositions.js'
import { runSyncLoop } from '../../src/indexer/sync/syncLoop.js'
import { asBlockNumber, asNetworkId } from '../../src/protocol/units.js'
import { logSettingsOf } from '../../src/replica/logSettings.js'
import { runReplica } from '../../src/replica/runReplica.js'
import { applyOrThrow } from '../../src/shard/applyOrThrow.js'
import { handOn, type Proposer } from '../../src/shard/proposer.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { ClaimableSearch } from '../../src/shard/readiness/claimableSearch.js'
import type { ShardWriter } from '../../src/shard/shardWriter.types.js'
import { readFeed } from '../../src/shard/snapshot/feedReads.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../src/store/shardStore.js'
import type { Clock } from '../../src/telemetry/clocks.js'
import { createFakeWorld } from '../support/fakeChain.js'
import { FakeCluster, FakeMember } from '../support/fakeCluster.js'
import type { FakeEndpoint } from '../support/fakeEndpoint.js'
import { localExitRootOf, userContract } from '../support/fakeState.js'
import { IndexedWorld } from '../support/indexedWorld.js'
import { quietReport } from '../support/keepingLogger.js'
import { TestNumbers } from '../support/testNumbers.js'
import { VirtualClock } from '../support/virtualClock.js'
import { createWatchedClient, type WatchedClient } from '../support/watchedClient.js'

/** The destination. Its chain is read by the real loop; of the L1 and of network 2 tests store what they like. */
const NETWORK = asNetworkId(1)
const SOURCE = 2
/** From the commit that has caused it until it stands in the feed. */
const PROMISED_MS = 100
const never = new AbortController().signal

/** All chains, and the instances that read them. */
class World {
  readonly chains = createFakeWorld({ networks: [NETWORK, SOURCE] })
  readonly l1 = this.chains.network(0)
  readonly network = this.chains.network(NETWORK)
  readonly clock = new VirtualClock()
  readonly cluster = new FakeCluster(this.clock)
  readonly instances: Instance[] = []
  readonly #busy: (() => boolean)[] = []

  async start(context: TestContext, kind: 'alone' | 'cluster'): Promise<void> {
    this.l1.mine((block) => {
      const tx = block.tx({ to: userContract(9) })
      for (const networkId of [NETWORK, SOURCE]) tx.createRollup(networkId, 1000 + networkId)
    })
    this.l1.mine((block) => block.tx().deposit({ destinationNetwork: NETWORK }))
    this.network.mine((block) => block.tx().injectGer(this.l1.globalExitRoot()))
    for (const name of kind === 'alone' ? ['a'] : ['a', 'b']) {
      const client = createWatchedClient(this.network, this.clock, {
        pollIntervalMs: 2_000,
        rpcTimeoutMs: 30_000,
        gerInjection: 'event',
      })
      // Each client holds time still while it waits for answers.
      this.#busy.push(this.clock.busy)
      this.clock.busy = () => this.#busy.some((isBusy) => isBusy())
      const instance = new Instance(context, this, client)
      this.instances.push(instance)
      if (kind === 'alone') instance.runAlone()
      else await instance.runInCluster(name)
    }
    context.after(() => Promise.all(this.instances.map((instance) => instance.stop())))
    this.syncOthers()
    await this.become('history is told', () => this.instances.every(({ told }) => told.includes('history')))
  }

  get leader(): Instance {
    return this.instances.find(({ isLeading }) => isLeading)!
  }

  /** Stores what the L1 and network 2 have, and by how many blocks the L1's finality lags. */
  syncOthers(finalizedLag = 0): void {
    for (const { indexed } of this.instances) {
      indexed.sync(0, { finalizedLag })
      indexed.sync(SOURCE)
    }
  }

  async pass(ms: number): Promise<void> {
    await this.clock.sleep(ms, never)
  }

  /** @throws when it does not become true. */
  async become(what: string, isTrue: () => boolean): Promise<void> {
    const untilMs = this.clock.now() + 120_000
    while (!isTrue()) {
      assert.ok(this.clock.now() < untilMs, `not in two minutes: ${what}`)
      await this.pass(10)
    }
  }

  /** Waits until every instance has stored the head, and compared the claims of all that was bridged to it. */
  async inStep(): Promise<void> {
    const { hash } = this.network.head
    await this.become('in step', () =>
      this.instances.every(
        ({ writer, row }) =>
          Buffer.from(writer.checkpoint()!.hash).toString('hex') === hash.slice(2) &&
          row.get('catchingUp') === 0,
      ),
    )
    await this.pass(10_000)
  }

  /** @returns what is new in the feed of all instances, which must be the same. */
  news(): string[] {
    const [first, ...others] = this.instances.map((instance) => instance.told.splice(0))
    for (const other of others) assert.deepEqual(other, first)
    return first!
  }
}

/** A service that is alone, or an instance of a cluster. */
class Instance {
  readonly indexed: IndexedWorld
  readonly client: WatchedClient
  readonly row: StatusRow
  readonly writer: ShardWriter
  /** What the feed of network 1 has told of claims since somebody looked. */
  readonly told: string[] = []
  /** When the last of it came. */
  toldMs = 0
  isLeading = false
  /** Thrown by the next commands for the feed, once each. */
  readonly failures: Error[] = []
  /** Its process in a cluster. */
  member: FakeMember | undefined
  readonly #faults: { off(): void }[] = []
  readonly #world: World
  readonly #end = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(context: TestContext, world: World, client: WatchedClient) {
    this.#world = world
    this.client = client
    this.indexed = new IndexedWorld(context, world.chains)
    this.row = statusRow(this.indexed.status, NETWORK)
    const writer = this.indexed.writer(NETWORK)
    const store = openShardStoreReader(shardDirectory(this.indexed.config.dataDir, NETWORK))
    context.after(() => store.close())
    let position = 0
    const read = (): void => {
      store.refresh()
      for (const { sequence, event } of readFeed(store, position, 1_000)) {
        position = sequence
        const before = this.told.length
        if (event.type === 'sync' && event.isHistory) this.told.push('history')
        if (event.type === 'claimable' || event.type === 'unclaimable' || event.type === 'claim')
          this.told.push(`${event.type} ${event.sourceNetwork}:${event.depositCount}`)
        if (this.told.length > before) this.toldMs = world.clock.now()
      }
      store.release()
    }
    this.writer = {
      ...writer,
      apply: (command, place) => {
        const failure = command.type === 'noteClaimable' ? this.failures.shift() : undefined
        if (failure !== undefined) throw failure
        const outcome = writer.apply(command, place)
        read()
        return outcome
      },
    }
  }

  runAlone(): void {
    this.#running = this.#lead(handOn(this.writer), this.row, this.#world.clock, this.#end.signal)
  }

  async runInCluster(name: string): Promise<void> {
    const { writer, row } = this
    const member = new FakeMember(this.#world.cluster)
    this.member = member
    const { clock } = member
    const numbers = new TestNumbers(name.charCodeAt(0))
    const newId = () => Uint8Array.from({ length: 16 }, () => numbers.below(256))
    const settings = logSettingsOf(this.client.settings, { keepEvents: 1_000_000 }, newId())
    this.#running = runReplica(
      {
        log: createCommandLog(await member.openLogStream(NETWORK, never), clock),
        leases: await member.openKeyBoard('leases', never),
        ...{ writer, row, settings, clock, holder: name, newId, mayLead: true },
        lead: (term) => this.#lead(term.proposer, term.row, clock, term.signal),
      },
      this.#end.signal,
    )
    this.#running.catch(() => undefined)
  }

  async #lead(proposer: Proposer, row: StatusRow, clock: Clock, signal: AbortSignal): Promise<void> {
    const { client, writer, indexed } = this
    const { status } = indexed
    const countOf = (networkId: number) => statusRow(status, networkId).get('depositCount')
    this.isLeading = true
    await runSyncLoop(
      {
        ...{ network: client.settings, client, writer, proposer, clock },
        report: quietReport(NETWORK, row, clock, []),
        indexedDeposits: () => new Map([0, SOURCE].map((id) => [asNetworkId(id), countOf(id)])),
        commits: new CommitWatch(status),
        claimables: new ClaimableSearch(() => indexed.readers, NETWORK, changeReader(status)),
      },
      signal,
    )
    this.isLeading = false
  }

  fail(fault: Parameters<FakeEndpoint['fail']>[0]): void {
    this.#faults.push(this.client.endpoint.fail(fault))
  }

  /** From now on its endpoint answers rightly, at once. */
  heal(): void {
    this.client.before = () => {}
    for (const fault of this.#faults.splice(0)) fault.off()
  }

  /** What the list tells as ready, deposits of the L1 first. */
  ready(): string[] {
    return this.indexed.ask((shards) =>
      [0, SOURCE].flatMap((id) => {
        const networkId = asNetworkId(id)
        const query = { networkId, networkIds: [NETWORK], pageNumber: 1, pageSize: 100, readyForClaim: true }
        const answer = getBridges(shards, query)
        assert.ok(answer.ok)
        return [...answer.value.rows].map(({ depositCount }) => `${networkId}:${depositCount}`).sort()
      }),
    )
  }

  async stop(): Promise<void> {
    this.#end.abort()
    this.#world.cluster.wake()
    await this.#running
  }
}

/**
 * A deposit of the L1, whose leaf is not final, and one of network 2, whose root was settled inside a block and not found yet. Network 1
 * has the global exit roots of both.
 */
async function almostClaimable(world: World): Promise<void> {
  const { chains, l1, network } = world
  let root: ReturnType<typeof localExitRootOf> | undefined
  chains.network(SOURCE).mine((block) => {
    const tx = block.tx({ to: userContract(3) })
    tx.deposit({ destinationNetwork: NETWORK })
    root = localExitRootOf(block.state)
    tx.deposit({ destinationNetwork: NETWORK })
  })
  l1.mine((block) => block.tx({ to: userContract(9) }).settle(SOURCE, root!))
  world.syncOthers()
  network.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  l1.mine((block) => block.tx().deposit({ destinationNetwork: NETWORK }))
  network.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  world.syncOthers(1)
  await world.inStep()
  world.news()
  for (const instance of world.instances) assert.deepEqual(instance.ready(), ['0:0'])
}

/** Commits of other networks, in every instance, and what they make claimable. */
const causes = {
  'a commit of the L1': {
    claimable: '0:1',
    commit: ({ instances, l1 }: World) => {
      for (const { indexed } of instances)
        applyOrThrow(indexed.writer(0), { type: 'setFinalized', block: asBlockNumber(l1.head.number) })
    },
  },
  'a commit of the source': {
    claimable: '2:0',
    commit: ({ instances }: World) => {
      for (const { indexed } of instances) indexed.searchRoots()
    },
  },
}

/** What the destination's loop waits for meanwhile. */
const troubles: Record<string, (world: World) => Promise<void> | void> = {
  'nothing is wrong': () => {},
  'its endpoint never answers': ({ leader }) => leader.fail({ type: 'silent' }),
  'its endpoint is gone': ({ leader }) => leader.fail({ type: 'close' }),
  'its endpoint answers after three seconds': ({ leader, clock }) => {
    leader.client.before = () => clock.sleep(3_000, never)
  },
  'its endpoint lags': ({ leader }) => leader.fail({ type: 'lag', blocks: 1 }),
  'senders are looked for': async (world) => {
    const { leader, network } = world
    const { row, client } = leader
    client.before = ({ method }) => (method === 'resolveSenders' ? world.pass(60_000) : undefined)
    network.mine((block) => block.tx().deposit())
    await world.become('a block without senders', () => row.get('unresolvedSenders') > 0)
  },
  'contracts are asked': async (world) => {
    const { leader, network } = world
    const { endpoint } = leader.client
    leader.fail({ type: 'silent', methods: ['eth_call'] })
    network.mine((block) => block.tx().deposit())
    await world.become('a contract is asked', () => endpoint.requests.at(-1)?.method === 'eth_call')
  },
}

/** Deposits 0:1 and 2:0 can be claimed: their last blocks are the newest of the L1, of the source and of network 1. */
async function claimableOnTop(world: World): Promise<void> {
  const { chains, l1, network } = world
  const source = chains.network(SOURCE)
  await world.inStep()
  world.news()
  source.mine((block) => block.tx().deposit({ destinationNetwork: NETWORK }))
  l1.mine((block) => {
    block.tx({ to: userContract(9) }).settle(SOURCE, source.localExitRoot())
    block.tx().deposit({ destinationNetwork: NETWORK })
  })
  world.syncOthers()
  network.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  await world.inStep()
  assert.deepEqual(world.news().sort(), ['claimable 0:1', 'claimable 2:0'])
}

/** Take the newest block back, and return what stores the same events again: of other networks at once, before anybody has looked. */
const rewinds: Record<string, (world: World) => Promise<() => Promise<void> | void>> = {
  'the network itself': async (world) => {
    const { leader, network } = world
    leader.client.before = ({ method }) => (method === 'fetchRange' ? world.pass(1_000) : undefined)
    network.reorg({ depth: 1, blocks: 'shift' })
    await world.become('taken back', () => leader.row.get('reorgs') === 1)
    assert.deepEqual(leader.ready(), ['0:0'])
    return () => world.inStep()
  },
  'the L1': (world) => takeBackOfOther(world, 0, ['0:0']),
  'the source': (world) => takeBackOfOther(world, SOURCE, ['0:0', '0:1']),
}

async function takeBackOfOther(world: World, networkId: number, ready: string[]): Promise<() => void> {
  const chain = world.chains.network(networkId)
  const ancestor = asBlockNumber(chain.head.number - 1)
  for (const { indexed } of world.instances)
    applyOrThrow(indexed.writer(networkId), { type: 'revertTo', ancestor, reorgSeenAtSec: 0 })
  for (const instance of world.instances) assert.deepEqual(instance.ready(), ready)
  return () => {
    chain.reorg({ depth: 1, blocks: 'shift' })
    world.syncOthers()
  }
}

for (const kind of ['alone', 'cluster'] as const) {
  for (const [trouble, begin] of Object.entries(troubles))
    test(`${kind}: what other networks store is told as claimable within 100 ms, and once, while ${trouble}`, async (context) => {
      const world = new World()
      await world.start(context, kind)
      await almostClaimable(world)
      await begin(world)
      await world.pass(2_500)
      const { leader, instances } = world
      for (const [cause, { claimable, commit }] of Object.entries(causes)) {
        const atMs = world.clock.now()
        commit(world)
        for (const instance of instances) assert.ok(instance.ready().includes(claimable), cause)
        await world.pass(PROMISED_MS)
        assert.deepEqual(world.news(), [`claimable ${claimable}`], cause)
        assert.ok(leader.toldMs - atMs <= PROMISED_MS, cause)
      }
      leader.heal()
      world.network.mine((block) => block.tx().deposit())
      await world.inStep()
      assert.deepEqual(world.news(), [])
    })

  test(`${kind}: an injection is told within 100 ms of its commit, though nobody answers who has sent the deposits beside it`, async (context) => {
    const world = new World()
    await world.start(context, kind)
    const { l1, network, leader, clock } = world
    l1.mine((block) => block.tx().deposit({ destinationNetwork: NETWORK }))
    world.syncOthers()
    await world.inStep()
    world.news()
    leader.client.before = ({ method }) => (method === 'resolveSenders' ? world.pass(60_000) : undefined)
    network.mine((block) => {
      block.tx().injectGer(l1.globalExitRoot())
      block.tx().deposit()
    })
    await world.become('stored', () => leader.writer.checkpoint()?.number === network.head.number)
    const atMs = clock.now()
    await world.pass(PROMISED_MS)
    assert.deepEqual(world.news(), ['claimable 0:1'])
    assert.ok(leader.toldMs <= atMs + PROMISED_MS)
  })

  test(`${kind}: a reorg whose blocks have the same injections and claims tells again what they bring back, and not what is claimed in both`, async (context) => {
    const world = new World()
    await world.start(context, kind)
    const { leader, network } = world
    await claimAndInject(world)
    leader.client.before = ({ method }) => (method === 'fetchRange' ? world.pass(1_000) : undefined)
    network.reorg({ depth: 2, blocks: 'shift' })
    await world.become('taken back', () => leader.row.get('reorgs') === 1)
    assert.deepEqual(leader.ready(), ['0:0'], 'until the new blocks are stored')
    await world.inStep()
    assert.deepEqual(leader.ready(), ['0:1'])
    assert.deepEqual(world.news(), ['claim 0:0', 'unclaimable 0:1', 'claimable 0:1'])
  })

  for (const [whose, takeBack] of Object.entries(rewinds))
    test(`${kind}: who reads the lists while blocks of ${whose} are taken back is told of all that the new ones bring`, async (context) => {
      const world = new World()
      await world.start(context, kind)
      await claimableOnTop(world)
      const { leader } = world
      const bringNew = await takeBack(world)
      const held = new Set(leader.ready())
      world.news()
      await bringNew()
      await world.pass(PROMISED_MS)
      for (const line of world.news()) {
        const [type, deposit] = line.split(' ')
        if (type === 'claimable') held.add(deposit!)
        else held.delete(deposit!)
      }
      assert.deepEqual([...held].sort(), ['0:0', '0:1', '2:0'])
      assert.deepEqual(leader.ready(), ['0:0', '0:1', '2:0'])
    })

  test(`${kind}: a reorg whose new blocks do not come is told after two seconds, and what other networks store meanwhile with it`, async (context) => {
    const world = new World()
    await world.start(context, kind)
    const { leader, network } = world
    await claimAndInject(world)
    leader.client.before = ({ method }) => (method === 'fetchRange' ? world.pass(20_000) : undefined)
    network.reorg({ depth: 2, blocks: 'shift' })
    await world.become('taken back', () => leader.row.get('reorgs') === 1)
    await world.pass(1_900)
    assert.deepEqual(world.news(), [])
    await world.pass(100 + PROMISED_MS)
    assert.deepEqual(world.news(), ['unclaimable 0:1', 'claimable 0:0'])
    leader.heal()
    await world.inStep()
    assert.deepEqual(world.news(), ['claim 0:0', 'claimable 0:1'])
  })

  test(`${kind}: nothing is told while a halt puts what is stored in doubt, and what has changed as soon as that ends`, async (context) => {
    const world = new World()
    await world.start(context, kind)
    await almostClaimable(world)
    const { leader, clock } = world
    leader.client.before = ({ method }) => {
      if (method === 'getHead') throw new FatalError('another chain', { reason: 'wrong_chain' })
    }
    await world.become('halted', () => leader.row.haltReason() === 'wrong_chain')
    causes['a commit of the L1'].commit(world)
    await world.pass(5_000)
    assert.deepEqual(world.news(), [])
    leader.heal()
    await world.become('resumed', () => leader.row.haltReason() === 'none')
    const atMs = clock.now()
    await world.pass(PROMISED_MS)
    assert.deepEqual(world.news(), ['claimable 0:1'])
    assert.ok(leader.toldMs <= atMs + PROMISED_MS)
  })
}

test('a look that fails halts the network at once, though its endpoint never answers, and is made good', async (context) => {
  const world = new World()
  await world.start(context, 'alone')
  await almostClaimable(world)
  const { leader } = world
  leader.fail({ type: 'silent' })
  await world.pass(2_500)
  leader.failures.push(Object.assign(new Error('Commit failed'), { code: 'ENOSPC' }))
  causes['a commit of the L1'].commit(world)
  await world.pass(PROMISED_MS)
  assert.deepEqual(world.news(), [])
  assert.equal(leader.row.haltReason(), 'disk_full')
  await world.pass(5_000)
  assert.deepEqual(world.news(), ['claimable 0:1'])
  leader.heal()
  await world.become('resumed', () => leader.row.haltReason() === 'none')
})

test('whoever takes over from an instance that was paused tells what it has not, and nothing twice', async (context) => {
  const world = new World()
  await world.start(context, 'cluster')
  await almostClaimable(world)
  const paused = world.leader
  paused.member!.pause()
  causes['a commit of the L1'].commit(world)
  const other = world.instances.find((instance) => instance !== paused)!
  await world.become('told', () => other.told.length > 0)
  causes['a commit of the source'].commit(world)
  await world.pass(PROMISED_MS)
  paused.member!.resume()
  await world.become('the other one has read it', () => paused.told.length === other.told.length)
  await world.inStep()
  assert.deepEqual(world.news(), ['claimable 0:1', 'claimable 2:0'])
})

test('lists of an instance that lacks what an event was worked out from name a position before it', async (context) => {
  const world = new World()
  await world.start(context, 'cluster')
  await almostClaimable(world)
  const { leader, l1 } = world
  const other = world.instances.find((instance) => instance !== leader)!
  const setFinal = ({ indexed }: Instance) =>
    applyOrThrow(indexed.writer(0), { type: 'setFinalized', block: asBlockNumber(l1.head.number) })
  const readPosition = createPositionReader(other.indexed.status)
  /** Of network 1. */
  const listed = () => Number(/\b1\.[0-9a-f]{12}:(\d+)/.exec(readPosition())![1])
  const before = listed()
  setFinal(leader)
  await world.become('read', () => other.told.length > 0)
  assert.deepEqual(other.told, ['claimable 0:1'])
  assert.deepEqual(other.ready(), ['0:0'])
  assert.equal(listed(), before)
  setFinal(other)
  assert.deepEqual(other.ready(), ['0:0', '0:1'])
  await world.pass(1)
  assert.equal(listed(), before + 1)
  assert.equal(other.row.get('feedNewest'), before + 1)
})

/** Deposit 0:0 is claimed, and 0:1 can be, by the two newest blocks of network 1. */
async function claimAndInject(world: World): Promise<void> {
  const { l1, network } = world
  l1.mine((block) => block.tx().deposit({ destinationNetwork: NETWORK }))
  world.syncOthers()
  await world.inStep()
  world.news()
  const [deposit] = l1.deposits()
  network.mine((block) => block.tx().claim({ deposit: deposit! }))
  network.mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  await world.inStep()
  assert.deepEqual(world.news(), ['claim 0:0', 'claimable 0:1'])
}
