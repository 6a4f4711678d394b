import type { HaltReason } from '../../board/haltReason.js'
import {
  type HeadPlace,
  headPlaces,
  type StatusBoardHandle,
  type StatusRow,
  statusRow,
} from '../../board/statusBoard.js'
import type { Config, NetworkConfig } from '../../config/config.types.js'
import { InvariantError } from '../../errors/invariantError.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import type { NetworkId } from '../../protocol/units.js'
import { uint32Key } from '../../store/layout/keys.js'
import { listKinds } from '../../store/layout/tables.js'
import { fileBytesOf, shardDirectory } from '../../store/shardDirectory.js'
import { openShardStoreReader } from '../../store/shardStore.js'
import { type CompiledMerkle, createHasher } from '../../wasm/wasmModule.js'
import { ProofMaker } from '../proofs/proofMaker.js'
import { ClaimFacts } from '../readiness/claimFacts.js'
import { DepositSets } from '../readiness/depositSets.js'
import { ListMirrors } from '../readiness/listMirrors.js'
import type { SlotCounts } from '../rows/rowArena.js'
import { RowPackers } from '../rows/rowPackers.js'
import { ShardView } from '../snapshot/shardView.js'
import { DepositTimes } from './depositTimes.js'
import { FilteredSets } from './filteredSet.js'
import { TokenMappingColumns } from './tokenMappingColumns.js'
import { TokenMappingRecords } from './tokenMappingRecords.js'
import { TypicalTimes } from './typicalTimes.js'
import { UnlistedClaims } from './unlistedClaims.js'

/** Sizes at which one way of answering filters takes over from another. Tests lower them, so that little data takes every way. */
export interface Thresholds {
  /** Up to this many candidates are checked row by row, without any set. */
  readonly rowsWorthReading: number
  /** Up to this many candidates are checked anew for each page. Of more, the matching ones are kept as a set. */
  readonly worthKeeping: number
  /** Read once, when the first row is packed: a later change has no effect. */
  readonly slots: SlotCounts
}

/**
 * What stays in the arena, 23 MB in all: 17,000 deposits and as many claims, 41,000 senders, the hashes of 130,000 claims, the claim
 * links of a million deposits, 32,000 leaves of exit trees (for dialects alone), and dictionary entries. Messages have origins and metadata of their own: with a quarter of the
 * slots each of these was read from the store, a sixth of a page (200,000 bridges, one of ten a message; November 2026).
 */
const SLOTS: SlotCounts = {
  deposits: 512,
  senders: 512,
  claims: 512,
  claimHashes: 1024,
  claimLinks: 1024,
  leaves: 512,
  tokens: 16_384,
  metadata: 16_384,
  longMetadata: 64,
}

export const THRESHOLDS: Thresholds = { rowsWorthReading: 32, worthKeeping: 128, slots: SLOTS }

interface Shard {
  readonly config: NetworkConfig
  readonly view: ShardView
  readonly status: StatusRow
  haltReason: HaltReason
  headPlace: HeadPlace
  isTouched: boolean
}

/**
 * Every shard, as one query thread reads it. Queries run inside `withSnapshots` and get everything they need from here. What is
 * derived from the shards is kept between tasks.
 */
export class ShardReaders {
  readonly hasher: TreeHasher
  readonly networkIds: readonly NetworkId[]
  readonly claimFacts: ClaimFacts
  readonly rowPackers: RowPackers
  readonly filteredSets = new FilteredSets()
  thresholds: Thresholds = THRESHOLDS
  readonly unlistedClaims: UnlistedClaims
  readonly tokenMappings = new TokenMappingColumns()
  readonly tokenMappingRecords = new TokenMappingRecords()
  readonly typicalTimes: TypicalTimes
  readonly proofs: ProofMaker
  readonly #shards: ReadonlyMap<NetworkId, Shard>
  readonly #depositSets = new Map<NetworkId, DepositSets>()
  readonly #depositTimes = new Map<NetworkId, DepositTimes>()
  readonly #claimsBySource = new Map<NetworkId, ListMirrors>()
  #isOpen = false

  constructor(shards: ReadonlyMap<NetworkId, Shard>, hasher: TreeHasher) {
    this.#shards = shards
    this.hasher = hasher
    this.networkIds = [...shards.keys()]
    this.claimFacts = new ClaimFacts(this)
    this.rowPackers = new RowPackers(this, () => this.thresholds.slots)
    this.unlistedClaims = new UnlistedClaims(this)
    this.typicalTimes = new TypicalTimes(this)
    this.proofs = new ProofMaker(hasher)
  }

  /**
   * Runs one task. Each shard that `body` reads shows one snapshot to the end of the task, at least as new as the task's start. A shard
   * is refreshed when the task first reads it, and always released after (see `openShardStoreReader`), so a task pays only for what
   * it reads. A caller that returns a version with the answers must read the version before this call: answers may be newer than
   * their version, never older.
   */
  withSnapshots<T>(body: () => T): T {
    if (this.#isOpen) throw new InvariantError('withSnapshots was called inside withSnapshots')
    this.#isOpen = true
    try {
      for (const shard of this.#shards.values()) {
        shard.haltReason = shard.status.haltReason()
        shard.headPlace = shard.status.headPlace()
      }
      this.claimFacts.startTask()
      for (const sets of this.#depositSets.values()) sets.startTask()
      for (const sets of this.#claimsBySource.values()) sets.startTask()
      return body()
    } finally {
      this.#isOpen = false
      for (const shard of this.#shards.values()) {
        if (shard.isTouched) shard.view.release()
        shard.isTouched = false
      }
    }
  }

  /**
   * Remembers what the running task sees: the commits of each shard that it has read, and the halts and the places of heads of all.
   * @returns a function that a later task may call first: it tells whether that task sees the same, so that it may go on with what
   * this one began. It takes the later task's snapshots of these shards. Never where the running task's readiness is made of a part of
   * the settled roots: the later one looks up more of them.
   */
  rememberSnapshots(): () => boolean {
    const seen = [...this.#shards].map(([networkId, { isTouched, view, haltReason, headPlace }]) => ({
      networkId,
      commits: isTouched ? view.commits : undefined,
      haltReason,
      headPlace,
    }))
    const { isBehind } = this.claimFacts
    return () =>
      !isBehind &&
      seen.every(
        ({ networkId, commits, haltReason, headPlace }) =>
          this.haltReason(networkId) === haltReason &&
          this.headPlace(networkId) === headPlace &&
          (commits === undefined || this.get(networkId).commits === commits),
      )
  }

  /** The task's snapshot of a network that is indexed here: the L1, and any that a query names, since the parser refuses others. */
  get(networkId: NetworkId): ShardView {
    const view = this.find(networkId)
    if (view === undefined) throw new RangeError(`network ${networkId} is not indexed, and a query names it`)
    return view
  }

  /** The task's snapshot of any network; undefined for one that this instance does not index. */
  find(networkId: NetworkId): ShardView | undefined {
    const shard = this.#shards.get(networkId)
    if (shard === undefined) return undefined
    if (!this.#isOpen) throw new InvariantError(`network ${networkId} was read outside of a task`)
    if (!shard.isTouched) {
      shard.isTouched = true
      const { commits } = shard.view
      shard.view.refresh()
      // After an answer from a commit, the sync status must show that commit, too; the indexer publishes it a little after the commit.
      if (shard.view.commits !== commits) shard.status.awaitCommit(shard.view.commits)
    }
    return shard.view
  }

  /** The deposits of one network as sets. */
  depositSets(source: ShardView): DepositSets {
    let sets = this.#depositSets.get(source.networkId)
    if (sets === undefined) {
      sets = new DepositSets(this)
      this.#depositSets.set(source.networkId, sets)
    }
    return sets
  }

  /** The deposit times of a network whose times fall. */
  depositTimes({ networkId }: ShardView): DepositTimes {
    let times = this.#depositTimes.get(networkId)
    if (times === undefined) {
      times = new DepositTimes()
      this.#depositTimes.set(networkId, times)
    }
    return times
  }

  /** Claims made on one network, in force or not, as sets by source network. */
  claimsBySource({ networkId }: ShardView): ListMirrors {
    let sets = this.#claimsBySource.get(networkId)
    if (sets === undefined) {
      sets = new ListMirrors(listKinds.claimsBySourceNetwork, 'claims', uint32Key)
      this.#claimsBySource.set(networkId, sets)
    }
    return sets
  }

  /** The network's halt reason when the task began; `none` also for a network that is not indexed. */
  haltReason(networkId: NetworkId): HaltReason {
    return this.#shards.get(networkId)?.haltReason ?? 'none'
  }

  /** The place of the network's head when the task began; `inStep` also for a network that is not indexed. */
  headPlace(networkId: NetworkId): HeadPlace {
    return this.#shards.get(networkId)?.headPlace ?? headPlaces.inStep
  }

  findConfig(networkId: NetworkId): NetworkConfig | undefined {
    return this.#shards.get(networkId)?.config
  }

  async close(): Promise<void> {
    for (const { view } of this.#shards.values()) await view.close()
  }
}

export interface ShardReadersOptions {
  readonly config: Config
  readonly compiled: CompiledMerkle
  readonly status: StatusBoardHandle
  /** How a shard's store is opened; in another process than the service's: `openShardStoreSnapshot`. */
  readonly openStore?: typeof openShardStoreReader
}

/** Whether no configured shard's store is missing. */
export function hasEveryStore({ networks, dataDir }: Config): boolean {
  return networks.every(({ networkId }) => fileBytesOf(shardDirectory(dataDir, networkId)) > 0)
}

/** Opens every configured shard for reading. Main must have opened them for writing before, as `prepareStores` says. */
export function openShardReaders({
  config,
  compiled,
  status,
  openStore = openShardStoreReader,
}: ShardReadersOptions): ShardReaders {
  const hasher = createHasher(compiled)
  const shards = new Map<NetworkId, Shard>()
  for (const network of config.networks) {
    const networkId = network.networkId as NetworkId
    const store = openStore(shardDirectory(config.dataDir, networkId))
    shards.set(networkId, {
      config: network,
      view: new ShardView(networkId, store, hasher),
      status: statusRow(status, networkId),
      haltReason: 'none',
      headPlace: headPlaces.inStep,
      isTouched: false,
    })
  }
  return new ShardReaders(shards, hasher)
}
