import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type CommandLog, createCommandLog } from '../../../src/cluster/commandLog.js'
import { asLogSequence } from '../../../src/cluster/logStream.js'
import { decodeCommand } from '../../../src/log/commandCodec.js'
import { CommandGatherer } from '../../../src/log/commandMessages.js'
import { asNetworkId } from '../../../src/protocol/units.js'
import { LogFollower } from '../../../src/replica/logFollower.js'
import { logSettingsOf } from '../../../src/replica/logSettings.js'
import { systemClock } from '../../../src/telemetry/clocks.js'
import { BEGINNING, readEntries } from '../../support/clusterContract.js'
import { createFakeWorld, type FakeNetwork } from '../../support/fakeChain.js'
import { serveFakeNetwork } from '../../support/fakeEndpoint.js'
import { type Cleaner, tempFolder } from '../../support/tempFolder.js'
import { digestTables, openTestShard } from '../../support/testShard.js'
import { until } from '../../support/until.js'
import { closeAfter, NatsProcesses } from './natsProcesses.js'
import type { ToldByMember } from './processes/replicaMember.js'

const NETWORK = 1
const NAMES = ['a', 'b', 'c']
const BLOCK_MS = 250
const never = new AbortController().signal

/** Three instances as processes on three servers, over a chain that grows all the time. */
export class ReplicaProcesses {
  readonly network: FakeNetwork
  readonly servers: NatsProcesses
  readonly instances: readonly ReplicaProcess[]
  readonly #context: Cleaner
  readonly #folder: string
  readonly #config: ReturnType<FakeNetwork['config']>
  readonly #mining: NodeJS.Timeout

  private constructor(
    context: Cleaner,
    network: FakeNetwork,
    servers: NatsProcesses,
    url: string,
    folder: string,
  ) {
    this.#context = context
    this.network = network
    this.servers = servers
    this.#folder = folder
    this.#config = network.config([url], { pollIntervalMs: 100, rollbackBlocks: 64 })
    const { addresses } = servers
    this.instances = NAMES.map(
      (name) => new ReplicaProcess([join(folder, name), name, JSON.stringify(this.#config), ...addresses]),
    )
    this.#mining = setInterval(() => network.mine((block) => block.tx().deposit()), BLOCK_MS)
    context.after(async () => {
      clearInterval(this.#mining)
      await Promise.all(this.instances.map((instance) => instance.kill()))
    })
  }

  static async start(context: Cleaner): Promise<ReplicaProcesses> {
    const network = createFakeWorld({ networks: [NETWORK] }).network(NETWORK)
    network.mineEmpty(80)
    const rpc = await serveFakeNetwork(network)
    context.after(() => rpc.close())
    const folder = tempFolder(context)
    const servers = await NatsProcesses.start(context, 3)
    return new ReplicaProcesses(context, network, servers, rpc.url, folder)
  }

  /** Over a connection of its own. */
  async openLog(signal: AbortSignal): Promise<CommandLog> {
    const member = this.servers.member()
    closeAfter(this.#context, member)
    return createCommandLog(await member.openLogStream(asNetworkId(NETWORK), signal), systemClock)
  }

  leader(): ReplicaProcess {
    return this.instances.reduce((latest, each) => (each.ledAt > latest.ledAt ? each : latest))
  }

  /** Waits until every instance that runs has reached the block that is the newest one now. */
  async inStep(): Promise<void> {
    const { number } = this.network.head
    await until(
      () => this.instances.filter(({ isRunning }) => isRunning).map(({ block }) => block ?? -1),
      (blocks) => blocks.every((block) => block >= number),
      `all at block ${number}`,
      60_000,
    )
  }

  /** Waits until the chain has so many more blocks, and all instances have them. */
  async grow(blocks: number): Promise<void> {
    const wanted = this.network.head.number + blocks
    await until(
      () => this.network.head.number,
      (number) => number >= wanted,
      `block ${wanted} is mined`,
      2 * BLOCK_MS * blocks + 30_000,
    )
    await this.inStep()
  }

  /**
   * Ends the instances, gives each shard what it lacks of the log, and compares all of them with a shard that is given the log's commands,
   * each once. @returns the number of deposits of each.
   */
  async endWell(signal: AbortSignal): Promise<number[]> {
    clearInterval(this.#mining)
    await this.inStep()
    await Promise.all(this.instances.map((instance) => instance.leave()))
    const settings = logSettingsOf(this.#config, { keepEvents: 1_000_000 }, new Uint8Array(16))
    const log = await this.openLog(signal)
    const { last } = await log.bounds(signal)
    const fresh = openTestShard(join(this.#folder, 'fresh'), NETWORK)
    const gatherer = new CommandGatherer()
    for (const { payload, sequence } of await readEntries(log, BEGINNING, last, signal)) {
      const gathered = gatherer.take(payload)
      if (gathered.type === 'finished')
        fresh.writer.apply(decodeCommand(gathered.command), {
          sequence: asLogSequence(sequence),
          commandId: gathered.id,
        })
    }
    const wanted = fresh.read(digestTables)
    await fresh.close()
    const deposits: number[] = []
    for (const name of NAMES) {
      const { writer, read, close } = openTestShard(join(this.#folder, name), NETWORK)
      const follower = new LogFollower({ log, writer, settings, clock: systemClock })
      const end = new AbortController()
      const following = follower.follow(end.signal)
      await follower.hasRead(last, never)
      end.abort()
      await following
      assert.equal(read(digestTables), wanted, name)
      deposits.push(writer.counts().deposits)
      await close()
    }
    return deposits
  }
}

export class ReplicaProcess {
  /** When it has begun to lead last; -1: never. */
  ledAt = -1
  block: number | undefined
  /** When it has stored each block, in Unix milliseconds. */
  readonly storedAt = new Map<number, number>()
  readonly #args: readonly string[]
  #process: ChildProcess | undefined

  constructor(args: readonly string[]) {
    this.#args = args
    this.start()
  }

  get isRunning(): boolean {
    return this.#process !== undefined
  }

  start(): void {
    const file = new URL('./processes/replicaMember.js', import.meta.url)
    const child = fork(file, this.#args)
    this.#process = child
    this.block = undefined
    child.on('message', (told: ToldByMember) => {
      if (told.type === 'leads') this.ledAt = performance.now()
      else {
        this.block = told.block
        this.storedAt.set(told.block, told.atMs)
      }
    })
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#end((child) => child.kill('SIGKILL'))
  }

  /** Ends it in order. @throws when it fails. */
  async leave(): Promise<void> {
    const ended = await this.#end((child) => child.disconnect())
    assert.deepEqual(ended, [0, null])
  }

  async #end(ask: (child: ChildProcess) => void): Promise<unknown[] | undefined> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null)
      return child === undefined ? undefined : [child.exitCode, child.signalCode]
    const exited = once(child, 'exit')
    ask(child)
    return exited
  }
}
