import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStatusBoard, type StatusBoardHandle, statusRow } from '../../src/board/statusBoard.js'
import { createChainClient } from '../../src/chain/client/chainClient.js'
import type { Config, Finality, NetworkConfig } from '../../src/config/config.types.js'
import { runSyncLoop } from '../../src/indexer/sync/syncLoop.js'
import { SyncReport } from '../../src/indexer/syncReport.js'
import { encodeHex } from '../../src/protocol/hex.js'
import { asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import { handOn } from '../../src/shard/proposer.js'
import type { ShardWriter } from '../../src/shard/shardWriter.types.js'
import { openShardWriter } from '../../src/shard/write/writer.js'
import { DEPOSIT_BYTES } from '../../src/store/layout/depositRow.js'
import { senderKinds } from '../../src/store/layout/senderRow.js'
import { listKinds } from '../../src/store/layout/tables.js'
import { shardDirectory } from '../../src/store/shardDirectory.js'
import { openShardStoreReader } from '../../src/store/shardStore.js'
import { compileMerkleModule } from '../../src/wasm/wasmModule.js'
import { noCommits } from '../support/commitWatches.js'
import type { FakeNetwork } from '../support/fakeChain.js'
import type { FakeEndpoint } from '../support/fakeEndpoint.js'
import { IndexedWorld } from '../support/indexedWorld.js'
import { createKeepingLogger } from '../support/keepingLogger.js'
import { RandomWorld } from '../support/randomWorld.js'
import { shownSenders } from '../support/shownSenders.js'
import { SimulatedPosts } from '../support/simulatedPosts.js'
import { randomNumbers } from '../support/testNumbers.js'
import { dumpTables } from '../support/testShard.js'
import { VirtualClock } from '../support/virtualClock.js'
import { type Trouble, troubledEndpoint } from './troubledEndpoints.js'

/** What one run did: for the report, and to compare two runs of one seed. */
export interface SimulationResult {
  readonly requests: number
  readonly reorgs: number
  readonly restarts: number
  readonly blocks: number
  readonly tables: Readonly<Record<string, string>>
}

/**
 * Bookkeeping that depends on how the shard was made, not on the chain: undo records, batch ends, finality, who
 * opened the store, and which senders were resolved late. Instead, the senders that queries show are compared.
 */
const WAY_TABLES = [
  'undo',
  'headers',
  'depositSenders',
  'claimSenders',
  'senderCorrections',
  'senderAdditions',
] as const
const SENDER_LISTS = [listKinds.depositsBySender, listKinds.claimsBySender].map(
  (kind) => new RegExp(`^list(s|Heads)/${kind.toString(16).padStart(2, '0')}`),
)
const WAY_KEYS = new Set(['undoFloor', 'finalized', 'schema', 'identity', 'senderCorrections'].map(metaEntry))
/** The record of an archived deposit includes the sender that was known when it was archived. */
const ARCHIVED_NOTE = new RegExp(`^senderNotes/${senderKinds.archivedDeposit.toString(16).padStart(2, '0')}`)
/** None equals zero: where all deposits were cut off again, the value depends on when their senders were resolved. */
const WATERMARKS = new Set(['depositSenders', 'claimSenders'].map(metaEntry))

/** Bytes of lineage and deposit count before the row of an archived deposit. */
const ARCHIVE_HEAD_BYTES = 6

const compiled = compileMerkleModule()
const LONGEST_CALM_MS = 20 * 60_000
/** Time for one more comparison with the contract: it alone finds a hidden log that no later log reveals. */
const LAST_LOOK_MS = 260_000

/**
 * Runs one seeded world: a chain that grows and forks, behind endpoints that refuse, lag, mix branches and hide
 * logs, is indexed by the real sync loop, client and writer with restarts at any await. At the end the endpoints
 * are honest.
 * @returns what the run did.
 * @throws when the shard differs in any byte from a clean replay of the final chain.
 */
export async function simulate(seed: number): Promise<SimulationResult> {
  const folder = mkdtempSync(join(tmpdir(), 'bds-simulation-'))
  const cleanups: Array<() => void | Promise<void>> = []
  try {
    return await new Simulation(seed, folder, cleanups).run()
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
    rmSync(folder, { recursive: true, force: true })
  }
}

function metaEntry(name: string): string {
  return `meta/${Buffer.from(name).toString('hex')}`
}

/** An archived deposit keeps the sender that was known at the cut, which depends on timing. No query reads it. */
function withoutSender(archived: string): string {
  return archived.slice(0, 2 * (ARCHIVE_HEAD_BYTES + DEPOSIT_BYTES))
}

class Simulation {
  readonly #random: () => number
  readonly #folder: string
  readonly #cleanups: Array<() => void | Promise<void>>
  readonly #clock: VirtualClock
  readonly #posts: SimulatedPosts
  readonly #randomWorld: RandomWorld
  readonly #network: FakeNetwork
  readonly #config: Config
  readonly #settings: NetworkConfig
  readonly #status: StatusBoardHandle
  readonly #endpoints: FakeEndpoint[]
  #isCalm = false
  #restarts = 0
  #reorgs = 0

  constructor(seed: number, folder: string, cleanups: Array<() => void | Promise<void>>) {
    this.#random = randomNumbers(seed)
    this.#folder = folder
    this.#cleanups = cleanups
    this.#clock = new VirtualClock({ random: randomNumbers(seed + 1) })
    this.#posts = new SimulatedPosts(this.#clock)
    this.#randomWorld = new RandomWorld(seed + 2)
    this.#network = this.#randomWorld.world.network(this.#pick([0, 0, 1]))
    const history = this.#pick([0, 20, 70, 150])
    for (let i = 0; i < history; i++) this.#step()
    const trouble = this.#drawTrouble()
    this.#endpoints = Array.from({ length: this.#pick([1, 1, 2, 3]) }, (_, index) =>
      troubledEndpoint(this.#network, trouble, 1000 * seed + index, () => this.#isCalm),
    )
    this.#settings = this.#network.config(
      this.#endpoints.map((endpoint) => this.#posts.serve(endpoint)),
      {
        pollIntervalMs: 1_000,
        rpcTimeoutMs: 30_000,
        logRange: this.#pick([3, 20, 500]),
        rollbackBlocks: 64,
        startBlock: this.#pick([0, 0, 1]),
        finality: this.#pick<Finality>([
          { tag: 'latest', depth: 0 },
          { tag: 'finalized', depth: 0 },
          { tag: 'latest', depth: 10 },
        ]),
        gerInjection: 'event',
      },
    )
    this.#network.finalizedLag = this.#pick([0, 5, 40])
    const { networkId } = this.#network
    const feed = { keepEvents: 1_000_000 }
    this.#config = { dataDir: folder, feed, networks: [this.#settings] } as unknown as Config
    this.#status = createStatusBoard([networkId])
  }

  async run(): Promise<SimulationResult> {
    this.#planWorld()
    const restarts = this.#pick([0, 1, 3])
    for (let i = 0; i < restarts; i++) {
      this.#restarts++
      await this.#index(this.#posts.requests + 1 + Math.floor(this.#random() * 60))
    }
    await this.#index(undefined)
    const tables = this.#dump(shardDirectory(this.#folder, this.#network.networkId))
    this.#assertEqual(tables, await this.#cleanReplay())
    const { requests } = this.#posts
    return {
      ...{ requests, tables, reorgs: this.#reorgs, restarts: this.#restarts },
      blocks: this.#network.blocks.length,
    }
  }

  /** The world changes while it is indexed. At the end the endpoints are honest and the chain grows a little more. */
  #planWorld(): void {
    let atMs = 0
    const events = this.#pick([5, 20, 60])
    for (let i = 0; i < events; i++) {
      atMs += this.#random() * 8_000
      const isReorg = this.#random() < 0.25
      const deep = this.#random() < 0.2
      const depth = 1 + Math.floor(this.#random() * (deep ? 40 : 4))
      const blocks = this.#pick(['replay', 'shift', 'empty'] as const)
      this.#clock.after(atMs, () => (isReorg ? this.#reorg(depth, blocks) : this.#step()))
    }
    this.#clock.after(atMs + 1_000, () => {
      this.#isCalm = true
      // Far enough for all earlier blocks to become final and be compared with the contract.
      this.#network.mineEmpty(45)
    })
  }

  #step(): void {
    const before = this.#network.blocks.length
    // Other networks get blocks too, and this network gets a block in any case.
    for (let i = 0; i < 3; i++) this.#randomWorld.step()
    if (this.#network.blocks.length === before) this.#network.mine()
  }

  #reorg(depth: number, blocks: 'replay' | 'shift' | 'empty'): void {
    const possible = Math.min(depth, this.#network.blocks.length - 2)
    if (possible < 1) return
    this.#reorgs++
    this.#network.reorg({ depth: possible, blocks })
  }

  /** Runs the indexer until it is in step with the final world, or up to one request of it. */
  async #index(upToRequest: number | undefined): Promise<void> {
    const { networkId } = this.#network
    const stop = new AbortController()
    this.#posts.onRequest = () => {
      if (upToRequest !== undefined && this.#posts.requests >= upToRequest) stop.abort()
    }
    const writer = openShardWriter({ config: this.#config, networkId, compiled, status: this.#status })
    const { logger, lines } = createKeepingLogger()
    const client = createChainClient({
      network: this.#settings,
      logger,
      clock: this.#clock,
      openPost: this.#posts.open,
    })
    const row = statusRow(this.#status, networkId)
    row.set('caughtUp', 0)
    const report = new SyncReport({ networkId, row, post: () => {}, logger, clock: this.#clock })
    let calmSinceMs: number | undefined
    let isLate = false
    const look = () => {
      if (stop.signal.aborted) return
      if (this.#isCalm) calmSinceMs ??= this.#clock.now()
      const calmMs = calmSinceMs === undefined ? 0 : this.#clock.now() - calmSinceMs
      isLate = calmMs > LONGEST_CALM_MS
      if (isLate || (calmMs > LAST_LOOK_MS && this.#isInStep(writer))) stop.abort()
      else this.#clock.after(2_000, look)
    }
    look()
    try {
      const indexedDeposits = () => new Map<NetworkId, number>()
      await runSyncLoop(
        {
          network: this.#settings,
          client,
          writer,
          proposer: handOn(writer),
          clock: this.#clock,
          report,
          indexedDeposits,
          commits: noCommits,
        },
        stop.signal,
      )
    } finally {
      client.close()
      await writer.close()
    }
    if (isLate) {
      const story = lines
        .slice(-15)
        .map(({ text, fields }) => `${text} ${String(fields.error ?? fields.reason ?? '')}`)
      throw new Error(
        `still halted (${row.haltReason()}) or behind long after all trouble:\n${story.join('\n')}`,
      )
    }
  }

  #isInStep(writer: ShardWriter): boolean {
    const checkpoint = writer.checkpoint()
    const row = statusRow(this.#status, this.#network.networkId)
    return (
      this.#isCalm &&
      checkpoint !== undefined &&
      encodeHex(checkpoint.hash) === this.#network.head.hash &&
      row.get('caughtUp') === 1 &&
      row.get('unresolvedSenders') === 0 &&
      row.get('provisionalSenders') === 0 &&
      row.get('unknownSenders') === 0 &&
      row.haltReason() === 'none'
    )
  }

  async #cleanReplay(): Promise<Record<string, string>> {
    const context = { after: (body: () => void | Promise<void>) => void this.#cleanups.push(body) }
    const { networkId } = this.#network
    const indexed = new IndexedWorld(context, this.#randomWorld.world, [networkId])
    indexed.sync(networkId, { batchBlocks: 7 })
    return this.#dump(shardDirectory(indexed.config.dataDir, networkId))
  }

  #dump(directory: string): Record<string, string> {
    const reader = openShardStoreReader(directory)
    reader.refresh()
    const entries = Object.entries(dumpTables(reader, WAY_TABLES))
      .filter(([key, value]) => !WAY_KEYS.has(key) && !(WATERMARKS.has(key) && /^0+$/.test(value)))
      .filter(([key]) => !SENDER_LISTS.some((list) => list.test(key)))
      .filter(([key]) => !ARCHIVED_NOTE.test(key))
      .map(([key, value]) => [key, key.startsWith('archivedDeposits/') ? withoutSender(value) : value])
    const senders = shownSenders(reader, asNetworkId(this.#network.networkId))
    reader.release()
    this.#cleanups.push(() => reader.close())
    return { ...Object.fromEntries(entries), ...senders }
  }

  #assertEqual(got: Record<string, string>, expected: Record<string, string>): void {
    const keys = [...new Set([...Object.keys(got), ...Object.keys(expected)])].sort()
    const differences = keys.filter((key) => got[key] !== expected[key])
    if (differences.length === 0) return
    const shown = differences
      .slice(0, 12)
      .map((key) => `${key}\n  got      ${got[key]}\n  expected ${expected[key]}`)
    throw new Error(`${differences.length} entries differ from a clean replay:\n${shown.join('\n')}`)
  }

  #drawTrouble(): Trouble {
    const share = () => this.#pick([0, 0, 0.03, 0.15])
    const zeroBloom = this.#random() < 0.1
    return {
      refusals: share(),
      silence: this.#pick([0, 0, 0.02]),
      // Where blooms are empty, an incomplete list from another node cannot be distinguished from a complete
      // one.
      lag: zeroBloom ? 0 : share(),
      otherBranch: zeroBloom ? 0 : share(),
      hiddenLogs: share(),
      noTraces: this.#pick([0, 0, 0.05]),
      maxRange: this.#pick([undefined, undefined, 1, 10]),
      maxLogs: this.#pick([undefined, undefined, 15]),
      zeroBloom,
      finality: this.#pick(['right', 'right', 'unsupported', 'null', 'zero'] as const),
    }
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)]!
  }
}
