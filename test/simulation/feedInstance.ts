import { join } from 'node:path'
import {
  changeReader,
  createStatusBoard,
  headPlaces,
  type StatusRow,
  statusRow,
} from '../../src/board/statusBoard.js'
import { createCommandLog } from '../../src/cluster/commandLog.js'
import { openHeadWriter, watchHeads } from '../../src/cluster/headBoard.js'
import { asLogSequence } from '../../src/cluster/logStream.js'
import type { Config } from '../../src/config/config.types.js'
import { ExitRootSearch } from '../../src/indexer/sync/exitRootSearch.js'
import { runSyncLoop, type SyncLoopOptions } from '../../src/indexer/sync/syncLoop.js'
import { SyncReport } from '../../src/indexer/syncReport.js'
import { Standing } from '../../src/member/standing.js'
import type { NetworkId } from '../../src/protocol/units.js'
import { logSettingsOf } from '../../src/replica/logSettings.js'
import { runReplica } from '../../src/replica/runReplica.js'
import { BoardNotes } from '../../src/shard/boardNotes.js'
import { handOn, type Proposer } from '../../src/shard/proposer.js'
import { openShardReaders, type ShardReaders } from '../../src/shard/queries/shardReaders.js'
import { ClaimableSearch } from '../../src/shard/readiness/claimableSearch.js'
import { openL1ShardReader } from '../../src/shard/readiness/l1ShardReader.js'
import { openShardWriter } from '../../src/shard/write/writer.js'
import { prepareStores, type StoreGuard } from '../../src/store/openStores.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../src/store/shardStore.js'
import type { ReadView } from '../../src/store/shardStore.types.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { type FakeCluster, FakeMember } from '../support/fakeCluster.js'
import { createKeepingLogger } from '../support/keepingLogger.js'
import { loadedConfig } from '../support/loadedConfig.js'
import type { VirtualClock } from '../support/virtualClock.js'
import type { WatchedClient } from '../support/watchedClient.js'

const compiled = compileMerkleModule()
const never = new AbortController().signal
/** As by default in `cluster.max_stale_ms`. */
const MAX_STALE_MS = 10_000

export interface InstanceOptions {
  readonly folder: string
  /** Its stores are kept under it from one life to the next. */
  readonly name: string
  readonly clock: VirtualClock
  /** Absent: this instance is alone. */
  readonly cluster?: FakeCluster | undefined
  readonly clients: ReadonlyMap<NetworkId, WatchedClient>
  /** @returns 16 bytes that no other command has. */
  readonly newId: () => Uint8Array
}

type Writer = ReturnType<typeof openShardWriter>

interface Network {
  readonly networkId: NetworkId
  readonly client: WatchedClient
  readonly writer: Writer
  readonly row: StatusRow
}

/**
 * One life of a service in virtual time: real stores, sync loops, recovery and searches of what can be claimed for each of its networks, alone or
 * as an instance of a cluster. It ends as by SIGKILL.
 */
export class FeedInstance {
  readonly #options: InstanceOptions
  readonly #config: Config
  readonly #status: ReturnType<typeof createStatusBoard>
  readonly #guard: StoreGuard
  readonly #readers: ShardReaders
  readonly #l1: ReturnType<typeof openL1ShardReader>
  readonly #networks: readonly Network[]
  readonly #stores: ReadonlyMap<NetworkId, ReturnType<typeof openShardStoreReader>>
  readonly #end = new AbortController()
  readonly #member: FakeMember | undefined
  readonly #running: Promise<unknown>
  /** Whoever waits for a commit of any network. */
  readonly #waiting = new Set<() => void>()

  constructor(options: InstanceOptions) {
    const { folder, name, clients, cluster } = options
    this.#options = options
    const networkIds = [...clients.keys()]
    const networks = [...clients.values()].map(({ settings }) => settings)
    const base = { ...loadedConfig(folder), dataDir: join(folder, name), networks }
    // Of the settings only that there are some is asked here.
    this.#config = cluster === undefined ? base : { ...base, cluster: {} as NonNullable<Config['cluster']> }
    this.#status = createStatusBoard(networkIds)
    this.#guard = prepareStores(this.#config)
    for (const networkId of networkIds) statusRow(this.#status, networkId).setHeadPlace(headPlaces.unseen)
    this.#networks = [...clients].map(([networkId, client]) => ({
      ...{ networkId, client, row: statusRow(this.#status, networkId) },
      writer: openShardWriter({ config: this.#config, networkId, compiled, status: this.#status }),
    }))
    this.#readers = openShardReaders({ config: this.#config, compiled, status: this.#status })
    this.#l1 = openL1ShardReader(this.#config, createHasher(compiled))
    this.#stores = new Map(
      networkIds.map((id) => [id, openShardStoreReader(shardDirectory(this.#config.dataDir, id))]),
    )
    this.#member = cluster === undefined ? undefined : new FakeMember(cluster)
    this.#running = Promise.all(
      this.#networks.map((network) =>
        this.#member === undefined ? this.#alone(network) : this.#inCluster(network, this.#member),
      ),
    )
    // Met by `kill`.
    this.#running.catch(() => undefined)
  }

  row(networkId: NetworkId): StatusRow {
    return statusRow(this.#status, networkId)
  }

  checkpoint(networkId: NetworkId): ReturnType<Writer['checkpoint']> {
    return this.#networks.find((network) => network.networkId === networkId)!.writer.checkpoint()
  }

  /** Reads the newest state of one store. */
  read<T>(networkId: NetworkId, body: (view: ReadView) => T): T {
    const store = this.#stores.get(networkId)!
    store.refresh()
    try {
      return body(store)
    } finally {
      store.release()
    }
  }

  /** Reads what the API would answer. Rows must be read inside. */
  ask<T>(body: (shards: ShardReaders) => T): T {
    return this.#readers.withSnapshots(() => body(this.#readers))
  }

  /** Nothing more of it is stored or sent. @throws what it has failed with. */
  async kill(): Promise<void> {
    this.#member?.cutOff()
    this.#end.abort(new Error('the process has ended'))
    this.#options.cluster?.wake()
    await this.#running
    for (const store of this.#stores.values()) await store.close()
    await this.#readers.close()
    await this.#l1.close()
    for (const { writer } of this.#networks) await writer.close()
    await this.#guard.close()
  }

  async #alone(network: Network): Promise<void> {
    const { writer, row } = network
    const { clock } = this.#options
    const { signal } = this.#end
    const proposer = handOn({
      apply: (command, at) => {
        signal.throwIfAborted()
        const outcome = writer.apply(command, at)
        this.#committed()
        return outcome
      },
    })
    const noted = writer.noted()
    const notes = new BoardNotes({ row, noted, untold: ['data_folder_lost'], proposer, clock, signal })
    await this.#sync(network, { row: notes.row, proposer, signal })
  }

  /** As `runMember` does it, over servers that this test has. */
  async #inCluster(network: Network, member: FakeMember): Promise<void> {
    const { networkId, client, writer, row } = network
    const { clock } = member
    const { signal } = this.#end
    const log = createCommandLog(await member.openLogStream(networkId, never), clock)
    const leases = await member.openKeyBoard('leases', never)
    const heads = await member.openKeyBoard('heads', never)
    const standing = new Standing({ row, log, clock, maxStaleMs: MAX_STALE_MS, onCaughtUp: () => undefined })
    const place = writer.logPlace()
    if (place !== undefined) standing.read(asLogSequence(place.sequence))
    const follow = async (): Promise<void> => {
      for await (const reading of watchHeads(heads, clock, signal))
        if (reading.networkId === networkId) standing.heard(reading)
    }
    const { newId } = this.#options
    const beside = [standing.watch(signal), follow()]
    await runReplica(
      {
        ...{ log, leases, row, clock, newId, mayLead: true },
        writer: {
          ...writer,
          apply: (command, at) => {
            const outcome = writer.apply(command, at)
            if (command.type === 'startOver' && outcome.type === 'applied') standing.startedOver(at!.sequence)
            this.#committed()
            return outcome
          },
        },
        settings: logSettingsOf(client.settings, this.#config.feed, newId()),
        holder: `${this.#options.name} ${Buffer.from(newId()).toString('hex')}`,
        onRead: (sequence) => standing.read(sequence),
        lead: async ({ proposer, row: ofTerm, revision, signal: ofLease }) => {
          standing.leads(openHeadWriter(heads, networkId, revision, clock, ofLease))
          try {
            await this.#sync(network, { row: ofTerm, proposer, signal: ofLease })
          } finally {
            standing.follows()
          }
        },
      },
      signal,
    )
    await Promise.all(beside)
  }

  /** As `syncNetwork` does it, over a chain in memory. */
  async #sync(
    { networkId, client, writer }: Network,
    {
      row,
      proposer,
      signal,
    }: { readonly row: StatusRow; readonly proposer: Proposer; readonly signal: AbortSignal },
  ): Promise<void> {
    const { clock } = this.#options
    const { logger } = createKeepingLogger()
    const { halt } = writer.noted()
    const l1 = statusRow(this.#status, 0)
    const { exitRoots } = writer
    const ofL1 =
      networkId === 0
        ? {}
        : {
            leaves: this.#l1,
            exitRootSearch: new ExitRootSearch({
              ...{ networkId, exitRoots, proposer, settlements: this.#l1, clock, row, l1 },
            }),
          }
    await runSyncLoop(
      {
        ...{ network: client.settings, client, writer, proposer, clock, ...ofL1 },
        report: new SyncReport({ networkId, row, halt, post: () => undefined, logger, clock }),
        commits: this.#commits,
        indexedDeposits: () =>
          new Map(this.#networks.map((each) => [each.networkId, Math.max(0, each.row.get('depositCount'))])),
        claimables: new ClaimableSearch(() => this.#readers, networkId, changeReader(this.#status)),
      },
      signal,
    )
  }

  #committed(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  /** As `CommitWatch`, but in the order of this process alone. */
  get #commits(): SyncLoopOptions['commits'] {
    const count = changeReader(this.#status)
    return {
      count,
      onCommit: (seen, wake) => {
        this.#waiting.add(wake)
        if (count() !== seen) this.#options.clock.after(0, () => this.#waiting.delete(wake) && wake())
        return () => this.#waiting.delete(wake)
      },
    }
  }
}
