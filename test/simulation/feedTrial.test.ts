import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import { readFeedPlace } from '../../src/shard/position/feedPosition.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { getClaims } from '../../src/shard/queries/getClaims.js'
import type { ShardReaders } from '../../src/shard/queries/shardReaders.js'
import { readFeed } from '../../src/shard/snapshot/feedReads.js'
import { FakeCluster } from '../support/fakeCluster.js'
import { FeedUser, type Holdings, holdingsOf } from '../support/feedUser.js'
import { LostClaims } from '../support/lostClaims.js'
import { RandomWorld } from '../support/randomWorld.js'
import { tempFolder } from '../support/tempFolder.js'
import { TestNumbers } from '../support/testNumbers.js'
import { VirtualClock } from '../support/virtualClock.js'
import { createWatchedClient, type WatchedClient } from '../support/watchedClient.js'
import { FeedInstance } from './feedInstance.js'

/** `BDS_TEST_SEEDS=100 BDS_TEST_SEED=1` for a hundred of each, from the first. */
const SEEDS = Number(process.env.BDS_TEST_SEEDS ?? 2)
const FIRST = Number(process.env.BDS_TEST_SEED ?? 1)
const ROLLBACK_BLOCKS = 32
const ROUNDS = 6
const never = new AbortController().signal

for (const [instances, where] of [
  [1, 'of one service'],
  [3, 'of three replicas, now of this one, now of that,'],
] as const)
  for (let seed = FIRST; seed < FIRST + SEEDS; seed++)
    test(`seed ${seed}: events ${where} alone say what the API lists, over reorgs, kills, reconnections and a start over`, async (context) => {
      const trial = new Trial(context, seed, instances)
      await trial.run()
    })

class Trial {
  readonly #source: RandomWorld
  readonly #numbers: TestNumbers
  readonly #clock: VirtualClock
  readonly #cluster: FakeCluster | undefined
  readonly #networkIds: readonly NetworkId[]
  readonly #folder: string
  readonly #seed: number
  readonly #lost: LostClaims
  readonly #busy: (() => boolean)[] = []
  readonly #instances: FeedInstance[] = []
  /** Each reads the feed of one network, of one instance after the other. */
  readonly #users: ReadonlyMap<NetworkId, FeedUser>
  #reads = 0
  #compared = 0

  constructor(context: TestContext, seed: number, instances: number) {
    this.#seed = seed
    this.#numbers = new TestNumbers(seed + 1_000)
    this.#clock = new VirtualClock({ random: () => this.#numbers.below(1_000) / 1_000 })
    this.#cluster = instances === 1 ? undefined : new FakeCluster(this.#clock)
    this.#folder = tempFolder(context)
    this.#source = new RandomWorld(seed)
    this.#networkIds = this.#source.world.networkIds.map(asNetworkId)
    this.#users = new Map(this.#networkIds.map((networkId) => [networkId, new FeedUser()]))
    for (let steps = 20; steps > 0; steps--) this.#source.step()
    this.#lost = new LostClaims(this.#source, this.#numbers.pick(this.#networkIds), ROLLBACK_BLOCKS)
    for (let at = 0; at < instances; at++) this.#instances.push(this.#start(at))
    context.after(() => Promise.all(this.#instances.map((instance) => instance.kill())))
  }

  async run(): Promise<void> {
    const numbers = this.#numbers
    await this.#until('has read history', () => this.#instances.every((each) => this.#isInStep(each)))
    const foundAt = numbers.below(ROUNDS - 2)
    for (let round = 0; round < ROUNDS; round++) {
      for (let acts = 2 + numbers.below(4); acts > 0; acts--) {
        for (let steps = 1 + numbers.below(5); steps > 0; steps--) this.#source.step()
        if (numbers.chance(0.4)) this.#source.reorg()
        this.#readSome()
        await this.#clock.sleep(numbers.below(8_000), never)
      }
      if (round === foundAt) this.#lost.find()
      if (numbers.chance(0.6)) await this.#killOne()
      this.#readSome()
      if (await this.#isQuiet()) this.#compareAll()
    }
    await this.#until('has started over, and all are in step', () => {
      this.#readSome()
      return this.#startOvers > 0 && this.#instances.every((each) => this.#isInStep(each))
    })
    assert.ok(await this.#isQuiet(), 'nothing happens any more')
    this.#compareAll()
    assert.ok(
      this.#reads > ROUNDS && this.#compared > 1,
      `${this.#reads} reads, ${this.#compared} comparisons`,
    )
  }

  /** Whether all come in step in a while, and stay so: what can be claimed is told behind the last block. While a network is halted they do not. */
  async #isQuiet(): Promise<boolean> {
    const areInStep = () => this.#instances.every((each) => this.#isInStep(each))
    for (let waits = 0; waits < 20 && !areInStep(); waits++) await this.#clock.sleep(1_000, never)
    await this.#clock.sleep(5_000, never)
    return areInStep()
  }

  #compareAll(): void {
    this.#compared++
    for (const instance of this.#instances) {
      for (const [networkId, user] of this.#users) this.#read(networkId, user, instance)
      this.#compare(instance)
    }
  }

  #start(at: number): FeedInstance {
    const clients = new Map(this.#networkIds.map((networkId) => [networkId, this.#client(networkId)]))
    return new FeedInstance({
      ...{ clock: this.#clock, cluster: this.#cluster, clients, folder: this.#folder, name: `i${at}` },
      newId: () => Uint8Array.from({ length: 16 }, () => this.#numbers.below(256)),
    })
  }

  #client(networkId: NetworkId): WatchedClient {
    const client = createWatchedClient(this.#source.world.network(networkId), this.#clock, {
      ...{ pollIntervalMs: 1_000, logRange: 20, rollbackBlocks: ROLLBACK_BLOCKS, gerInjection: 'event' },
    })
    // Each client holds time still while it waits for answers.
    this.#busy.push(this.#clock.busy)
    this.#clock.busy = () => this.#busy.some((isBusy) => isBusy())
    if (networkId === this.#lost.networkId) this.#lost.hideFrom(client.endpoint)
    return client
  }

  async #killOne(): Promise<void> {
    const numbers = this.#numbers
    const at = numbers.below(this.#instances.length)
    await this.#instances[at]!.kill()
    for (let steps = numbers.below(8); steps > 0; steps--) this.#source.step()
    if (numbers.chance(0.5)) this.#source.reorg()
    await this.#clock.sleep(numbers.below(6_000), never)
    this.#instances[at] = this.#start(at)
  }

  /** Some users read on, each of whichever instance it is connected to now. */
  #readSome(): void {
    for (const [networkId, user] of this.#users)
      if (this.#numbers.chance(0.5)) {
        this.#reads++
        this.#read(networkId, user, this.#numbers.pick(this.#instances))
      }
  }

  #read(networkId: NetworkId, user: FeedUser, instance: FeedInstance): void {
    instance.read(networkId, (view) => {
      // The first command of a log begins its feed.
      if (readFeedPlace(view) !== undefined) user.follow(view, this.#numbers)
    })
  }

  /** How often the feed has told one, on whichever instance has read furthest. */
  get #startOvers(): number {
    const told = this.#instances.map((instance) =>
      instance.read(asNetworkId(this.#lost.networkId), (view) => readFeed(view, 0, 1_000_000)),
    )
    return Math.max(...told.map((rows) => rows.filter(({ event }) => event.type === 'start_over').length))
  }

  #isInStep(instance: FeedInstance): boolean {
    return this.#networkIds.every((networkId) => {
      const row = instance.row(networkId)
      const checkpoint = instance.checkpoint(networkId)
      const { head } = this.#source.world.network(networkId)
      return (
        checkpoint !== undefined &&
        Buffer.from(checkpoint.hash).toString('hex') === head.hash.slice(2) &&
        row.get('caughtUp') === 1 &&
        row.get('catchingUp') === 0 &&
        row.get('unresolvedSenders') === 0 &&
        row.headPlace() === 0 &&
        row.haltReason() === 'none'
      )
    })
  }

  async #until(what: string, isTrue: () => boolean): Promise<void> {
    const untilMs = this.#clock.now() + 1_800_000
    while (!isTrue()) {
      if (this.#clock.now() > untilMs)
        assert.fail(`seed ${this.#seed}: not in half an hour: ${what}: ${this.#story()}`)
      await this.#clock.sleep(1_000, never)
    }
  }

  #story(): string {
    return this.#instances
      .flatMap((instance, at) =>
        this.#networkIds.map((networkId) => {
          const row = instance.row(networkId)
          const fields = [
            'leads',
            'headBlock',
            'syncedBlock',
            'caughtUp',
            'catchingUp',
            'unresolvedSenders',
            'headPlace',
            'startOvers',
          ] as const
          return `i${at} network ${networkId} ${row.haltReason()} ${fields.map((field) => `${field} ${row.get(field)}`).join(' ')}`
        }),
      )
      .join('\n')
  }

  #compare(instance: FeedInstance): void {
    const name = `seed ${this.#seed}, instance ${this.#instances.indexOf(instance)}`
    for (const [networkId, user] of this.#users) {
      const held = user.holdings()
      assert.deepEqual(held, instance.read(networkId, holdingsOf), `${name}, tables of network ${networkId}`)
      const listed = instance.ask((shards) => listsOf(shards, networkId))
      assert.deepEqual(held.bridges, listed.bridges, `${name}, bridges of network ${networkId}`)
      assert.deepEqual(
        known(held.claims, listed.claims, this.#users),
        listed.claims,
        `${name}, claims on ${networkId}`,
      )
      // Nothing is ready then, and `halted` has told it.
      if (instance.row(networkId).get('emergencyState') === 1) continue
      assert.deepEqual(Object.keys(held.claimable), listed.claimable, `${name}, claimable on ${networkId}`)
    }
  }
}

/** A claim that an administrator set is listed when its deposit is known, and told at once. */
function known(
  held: Holdings['claims'],
  listed: Holdings['claims'],
  users: ReadonlyMap<NetworkId, FeedUser>,
): Holdings['claims'] {
  const hasDeposit = (key: string): boolean => {
    const [source, depositCount] = key.split(':').map(Number)
    return users.get(asNetworkId(source!))?.holdings().bridges[depositCount!] !== undefined
  }
  return Object.fromEntries(Object.entries(held).filter(([key]) => key in listed || hasDeposit(key)))
}

/** What the lists of the API say of one network, in the form of holdings: of what can be claimed on it only which. */
function listsOf(shards: ShardReaders, networkId: NetworkId) {
  const page = { pageNumber: 1, pageSize: 1_000 }
  const bridges = getBridges(shards, { networkId, ...page })
  const claims = getClaims(shards, { networkId, ...page })
  assert.ok(bridges.ok && claims.ok)
  const claimable = shards.networkIds
    .filter((source) => source !== networkId)
    .flatMap((source) => {
      const ready = getBridges(shards, {
        networkId: source,
        networkIds: [networkId],
        readyForClaim: true,
        ...page,
      })
      assert.ok(ready.ok)
      return [...ready.value.rows].map(({ depositCount }) => `${source}:${depositCount}`)
    })
  return {
    bridges: Object.fromEntries(
      [...bridges.value.rows]
        .map((row) => [row.depositCount, textOf(row, row.depositCount, row.amount)])
        .sort(),
    ) as Holdings['bridges'],
    claims: Object.fromEntries(
      [...claims.value.rows]
        .map((row) => [`${row.sourceNetwork}:${row.depositCount}`, textOf(row, row.globalIndex)])
        .sort(),
    ) as Holdings['claims'],
    claimable: claimable.sort(),
  }
}

interface ListedRow {
  readonly blockNumber: number
  readonly logIndex: number
  readonly transactionHash: Uint8Array
}

/** As holdings spell a row. */
function textOf(
  { blockNumber, logIndex, transactionHash }: ListedRow,
  ...values: readonly (number | Uint8Array)[]
): string {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
  return [
    blockNumber,
    logIndex,
    `0x${hex(transactionHash)}`,
    ...values.map((value) => (typeof value === 'number' ? value : hex(value))),
  ].join(' ')
}
