import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCommandLog } from '../../src/cluster/commandLog.js'
import { LEASE_TIMING, takeLease } from '../../src/cluster/lease.js'
import { equalBytes } from '../../src/protocol/abiBytes.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId, type BlockNumber } from '../../src/protocol/units.js'
import { LogFollower } from '../../src/replica/logFollower.js'
import { LogProposer } from '../../src/replica/logProposer.js'
import { readFeedPlace } from '../../src/shard/position/feedPosition.js'
import type { CommandOutcome, ShardCommand } from '../../src/shard/shardCommand.types.js'
import type { TableStretch } from '../../src/shard/shardLog.types.js'
import { metaKey } from '../../src/store/layout/keys.js'
import { decodeCommits } from '../../src/store/layout/metaValues.js'
import { FakeCluster, type FakeFault, FakeMember } from '../support/fakeCluster.js'
import { FeedUser, holdingsOf } from '../support/feedUser.js'
import { RandomChain } from '../support/randomChain.js'
import { tempFolder } from '../support/tempFolder.js'
import { TestNumbers } from '../support/testNumbers.js'
import { batchOf, digestTables, openTestShard, type TestShard } from '../support/testShard.js'
import { VirtualClock } from '../support/virtualClock.js'
import { sampleCommands } from '../unit/log/commandSamples.js'

/** `BDS_TEST_SEEDS=100` for more of them. */
const SEEDS = Number(process.env.BDS_TEST_SEEDS ?? 6)
const INSTANCES = 3
const RUN_MS = 60_000
const NETWORK = asNetworkId(1)
const FAULTS: readonly FakeFault[] = ['request_lost', 'answer_lost', { lateMs: 500 }, { lateMs: 4_000 }]
const BEGINNING: TableStretch = { table: 'meta', from: Uint8Array.of(0), entries: 50 }

const settings = { ...sampleCommands.begin.settings, networkId: NETWORK, rollupManager: undefined }

/** What was proposed under an id, whatever became of it. */
interface Proposed {
  readonly command: ShardCommand
  readonly parts: number
}

/** Outcomes in all seeds. */
const met = new Set<string>()

for (let seed = 1; seed <= SEEDS; seed++)
  test(`seed ${seed}: with faults, pauses, partitions, restarts and reorgs all shards hold the same bytes, and so does one that is given the same commands`, async (context) => {
    const world = new World(context, seed)
    const outcomes = await world.run()
    const digests = await world.digests()
    assert.ok(world.readFrom.size === INSTANCES, 'the feed was read on every instance')
    assert.deepEqual(new Set(digests), new Set([await world.digestOfFresh()]))
    for (const name of outcomes.keys()) met.add(name)
    assert.ok(world.terms > INSTANCES, `${world.terms} terms`)
  })

const WANTED = [
  'applied applyBlocks',
  'refused applyBlocks',
  'applied revertTo',
  'applied mark',
  'refused resolveSenders',
  'applied noteClaimable',
]

test('the seeds together meet commands that are applied and refused, in one message and in two', () => {
  for (const name of WANTED) assert.ok(met.has(name), `${name} among ${[...met].join()}`)
})

class World {
  readonly numbers: TestNumbers
  readonly clock: VirtualClock
  readonly cluster: FakeCluster
  readonly chain: RandomChain
  readonly over = new AbortController()
  readonly proposed = new Map<string, Proposed>()
  readonly outcomes = new Map<string, number>()
  readonly folder: string
  readonly seed: number
  terms = 0
  /** Reads one feed, now of this instance, now of that. */
  readonly user = new FeedUser()
  readonly readFrom = new Set<Instance>()

  constructor(context: TestContext, seed: number) {
    this.folder = tempFolder(context)
    this.seed = seed
    this.numbers = new TestNumbers(seed)
    this.clock = new VirtualClock({ random: () => this.numbers.below(1_000) / 1_000 })
    this.cluster = new FakeCluster(this.clock)
    this.chain = new RandomChain(seed)
    this.chain.grow(4)
  }

  async run(): Promise<ReadonlyMap<string, number>> {
    const instances = Array.from({ length: INSTANCES }, (_, name) => new Instance(this, name))
    const lives = instances.map((instance) => instance.live())
    const trouble = this.#trouble(instances)
    const reading = this.#readFeeds(instances)
    await this.clock.sleep(RUN_MS, new AbortController().signal)
    this.over.abort(new Error('over'))
    await this.clock.sleep(30_000, new AbortController().signal)
    this.cluster.wake()
    await Promise.all([...lives, trouble, reading])
    return this.outcomes
  }

  /** Of each instance, when it has read all that stands in the log. */
  async digests(): Promise<string[]> {
    const digests: string[] = []
    for (let name = 0; name < INSTANCES; name++) {
      const shard = openTestShard(join(this.folder, `${name}`), NETWORK)
      const member = new FakeMember(this.cluster)
      const log = createCommandLog(
        await member.openLogStream(NETWORK, new AbortController().signal),
        member.clock,
      )
      const follower = new LogFollower({ log, writer: shard.writer, settings, clock: member.clock })
      const end = new AbortController()
      const following = follower.follow(end.signal)
      await follower.hasRead(this.cluster.log(NETWORK).entries.at(-1)!.sequence, new AbortController().signal)
      end.abort()
      this.cluster.wake()
      await following
      digests.push(shard.read(digestTables))
      shard.read((view) => this.user.follow(view, this.numbers))
      // While a network catches up, its feed tells nothing single.
      if (shard.status.get('catchingUp') === 0)
        assert.deepEqual(this.user.holdings(), shard.read(holdingsOf), `on instance ${name}`)
      await shard.close()
    }
    return digests
  }

  /** Of a shard that is given the commands as they were made, without codec, messages and follower. */
  async digestOfFresh(): Promise<string> {
    const shard = openTestShard(join(this.folder, 'fresh'), NETWORK)
    let gathered: string[] = []
    for (const { id, sequence } of this.cluster.log(NETWORK).entries) {
      const [name, part] = id.split('.') as [string, string]
      if (part === '0') gathered = []
      gathered.push(id)
      const { command, parts } = this.proposed.get(name)!
      const whole = Array.from({ length: parts }, (_, at) => `${name}.${at}`)
      if (gathered.join() !== whole.join()) continue
      shard.writer.apply(command, { sequence, commandId: new Uint8Array(Buffer.from(name, 'hex')) })
    }
    const digest = shard.read(digestTables)
    await shard.close()
    return digest
  }

  async #readFeeds(instances: readonly Instance[]): Promise<void> {
    // Chances of its own, so that the world of a seed is the same without it.
    const numbers = new TestNumbers(this.seed + 1_000)
    try {
      for (;;) {
        await this.clock.sleep(50 + numbers.below(1_500), this.over.signal)
        const instance = numbers.pick(instances)
        const hasFeed = instance.shard?.read((view) => {
          if (readFeedPlace(view) === undefined) return false
          this.user.follow(view, numbers)
          return true
        })
        if (hasFeed === true) this.readFrom.add(instance)
      }
    } catch (error) {
      if (!this.over.signal.aborted) throw error
    }
  }

  async #trouble(instances: readonly Instance[]): Promise<void> {
    try {
      for (;;) {
        await this.clock.sleep(500 + this.numbers.below(4_000), this.over.signal)
        const { member } = this.numbers.pick(instances)
        const [begin, end] = this.numbers.chance(0.5)
          ? [() => member.pause(), () => member.resume()]
          : [() => member.cutOff(), () => member.rejoin()]
        begin()
        this.clock.after(this.numbers.pick([100, 2_000, 6_000, 15_000]), end)
      }
    } catch (error) {
      if (!this.over.signal.aborted) throw error
    }
  }
}

class Instance {
  readonly member: FakeMember
  readonly #world: World
  readonly #name: number
  #stretch = BEGINNING
  /** While it lives. */
  shard: TestShard | undefined

  constructor(world: World, name: number) {
    this.#world = world
    this.#name = name
    this.member = new FakeMember(world.cluster)
    const { numbers, over } = world
    this.member.faultOf = () =>
      !over.signal.aborted && numbers.chance(0.04) ? numbers.pick(FAULTS) : undefined
  }

  /** One life after the other, each of which opens the shard as the last one has left it. */
  async live(): Promise<void> {
    const { numbers, clock, over, folder } = this.#world
    while (!over.signal.aborted) {
      const shard = openTestShard(join(folder, `${this.#name}`), NETWORK)
      this.shard = shard
      const end = new AbortController()
      clock.after(2_000 + numbers.below(30_000), () => end.abort(new Error('the process ends')))
      const life = AbortSignal.any([over.signal, end.signal])
      const log = createCommandLog(await this.member.openLogStream(NETWORK, life), this.member.clock)
      const follower = new LogFollower({ log, writer: shard.writer, settings, clock: this.member.clock })
      const wake = () => this.#world.cluster.wake()
      life.addEventListener('abort', wake)
      const following = follower.follow(life)
      while (!life.aborted) await this.#term(shard, follower, life)
      await following
      this.shard = undefined
      await shard.close()
    }
  }

  async #term(shard: TestShard, follower: LogFollower, life: AbortSignal): Promise<void> {
    const world = this.#world
    const { numbers } = world
    const { clock } = this.member
    try {
      const leases = await this.member.openKeyBoard('leases', life)
      const lease = await takeLease(leases, '1', `${this.#name}-${world.terms}`, LEASE_TIMING, clock, life)
      world.terms++
      // Some go on without the lease: the log alone must keep order.
      const signal = numbers.chance(0.3) ? life : AbortSignal.any([life, lease.ended])
      try {
        const log = createCommandLog(await this.member.openLogStream(NETWORK, life), clock)
        const newId = () => Uint8Array.from({ length: 16 }, () => numbers.below(256))
        const watched = watch(log, world)
        const proposer = await LogProposer.open(
          { log: watched.log, follower, writer: shard.writer, newId, signal },
          settings,
        )
        while (numbers.chance(0.98)) {
          const command = this.#next(shard)
          watched.expect(command)
          const outcome = await proposer.propose(command)
          note(world, command, outcome)
          await clock.sleep(numbers.below(300), signal)
        }
      } finally {
        await lease.release()
      }
    } catch (error) {
      const { name } = error as Error
      if (life.aborted || ['OvertakenError', 'ClusterUnavailableError'].includes(name)) return
      if ((error as Error).message.startsWith('the lease')) return
      throw error
    }
  }

  /** What a proposer does next, by what its shard holds and the chain is now. */
  #next(shard: TestShard): ShardCommand {
    const { writer } = shard
    const { numbers, chain } = this.#world
    if (numbers.chance(0.5)) chain.grow(4)
    if (numbers.chance(0.08)) {
      chain.dropAbove(Math.max(1, chain.blocks.length - 1 - numbers.below(4)))
      chain.grow(4)
    }
    const choice = numbers.below(100)
    if (choice < 3) return { type: 'startOver', startOvers: { count: choice, notBeforeMs: undefined } }
    if (choice < 10) return { type: 'noteCatchingUp', isCatchingUp: numbers.chance(0.5) }
    if (choice < 14) return { type: 'noteHalt', reason: numbers.pick(['none', 'missing_log']) }
    if (choice < 30) {
      const mark = writer.mark(this.#stretch)
      this.#stretch = writer.stretchAfter(this.#stretch)
      return { type: 'mark', mark }
    }
    if (choice < 32) return tooManySenders()
    if (choice < 36) return this.#claimable(shard)
    if (choice < 45) {
      const open = writer.unresolvedSenders(20)
      return { type: 'resolveSenders', resolved: open.map((row) => ({ ...row, sender: chain.sender() })) }
    }
    const checkpoint = writer.checkpoint()
    const ancestor = this.#ancestor(writer)
    if (checkpoint !== undefined && ancestor < checkpoint.number) return { type: 'revertTo', ancestor }
    const next = chain.blocks.slice(ancestor, ancestor + 1 + numbers.below(3))
    if (next.length === 0 || numbers.chance(0.1)) {
      // A lying endpoint: a block that does not follow.
      const { header, events } = chain.blocks.at(-1)!
      const lie = { ...header, number: (header.number + 7) as BlockNumber }
      return { type: 'applyBlocks', batch: batchOf([{ header: lie, events: events.slice(0, 0) }]) }
    }
    const told = next.map(({ header, events }) => ({
      header,
      events: events.map((event) =>
        'sender' in event && numbers.chance(0.5) ? { ...event, sender: null } : event,
      ),
    }))
    return { type: 'applyBlocks', batch: batchOf(told) }
  }

  /** Of one of few deposits of another network, so that many are taken back. */
  #claimable(shard: TestShard): ShardCommand {
    const { numbers } = this.#world
    const commits = shard.read((view) => decodeCommits(view.get('meta', metaKey('commits')))) ?? 0
    const deposit = { sourceNetwork: asNetworkId(0), depositCount: asDepositCount(numbers.below(12)) }
    const facts = {
      ...{ transactionHash: Buffer.alloc(32, 7), destinationAddress: Buffer.alloc(20, 8), leafType: 0 },
      l1InfoTreeIndex: asL1InfoTreeIndex(numbers.below(50)),
    }
    const isGone = numbers.chance(0.3)
    return {
      type: 'noteClaimable',
      news: {
        madeFrom: [{ networkId: NETWORK, commits, epoch: 0 }],
        stage: 'news',
        claimable: isGone ? [] : [{ ...deposit, ...facts }],
        unclaimable: isGone ? [deposit] : [],
      },
    }
  }

  /** The newest stored block that is still on the chain; 0 when none is. */
  #ancestor(writer: TestShard['writer']): BlockNumber {
    const { chain } = this.#world
    let header = writer.checkpoint()
    while (header !== undefined) {
      const known = chain.blocks[header.number - 1]?.header
      if (known !== undefined && equalBytes(known.hash, header.hash)) return header.number
      header = header.number === 0 ? undefined : writer.headerAtOrBelow((header.number - 1) as BlockNumber)
    }
    return 0 as BlockNumber
  }
}

/** Takes two messages, and is refused. */
function tooManySenders(): ShardCommand {
  const resolved = Array.from({ length: 14_000 }, (_, at) => ({
    ...{ kind: 'deposit' as const, ordinal: asDepositCount(1_000_000 + at), logIndex: 1 },
    ...{ transactionHash: Buffer.alloc(32, at), blockNumber: 1 as BlockNumber, sender: null },
  }))
  return { type: 'resolveSenders', resolved }
}

function note({ outcomes }: World, { type }: ShardCommand, outcome: CommandOutcome): void {
  const name = `${outcome.type} ${type}`
  outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
}

/** Remembers under which id each command is appended. */
function watch(log: ReturnType<typeof createCommandLog>, world: World) {
  let next: ShardCommand = { type: 'begin', settings }
  const watched: typeof log = {
    ...log,
    append(messages, after, signal) {
      world.proposed.set(messages[0]!.id.split('.')[0]!, { command: next, parts: messages.length })
      return log.append(messages, after, signal)
    },
  }
  return {
    log: watched,
    expect: (command: ShardCommand) => {
      next = command
    },
  }
}
