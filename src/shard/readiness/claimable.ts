import { type HaltReason, isInDoubt } from '../../board/haltReason.js'
import { type HeadPlace, headPlaces } from '../../board/statusBoard.js'
import { isL1, L1_NETWORK_ID } from '../../protocol/networks.js'
import type { NetworkId } from '../../protocol/units.js'
import type { ShardView } from '../snapshot/shardView.js'
import { ClaimPath } from './claimPath.js'
import { Coverage } from './coverage.js'
import { L1InfoColumns } from './l1InfoColumns.js'
import { SettledCoverage } from './settledCoverage.js'
import { UsableIndexes, UsableReach } from './usableIndexes.js'

/** What the facts need of the task's shards. */
export interface ClaimFactsShards {
  /** undefined for a network that this instance does not index. */
  find(networkId: NetworkId): ShardView | undefined
  haltReason(networkId: NetworkId): HaltReason
  headPlace(networkId: NetworkId): HeadPlace
}

/** Paths kept per source: one per network that is indexed, and those that senders made up. */
const MAX_PATHS = 1_024

/** The columns of one source network. */
interface SourceColumns {
  /** undefined for the L1, whose deposits the mainnet exit roots cover. */
  readonly settled: SettledCoverage | undefined
  readonly coverage: Coverage
  /** By destination. */
  readonly reach: Map<NetworkId, UsableReach>
  /** By destination. */
  readonly paths: Map<NetworkId, KeptPath>
  /** Task that they were last brought up to. */
  task: number
  /** Versions of the source's and the L1's shard that they stand for. */
  sourceVersion: number
  l1Version: number
  /** Moves when they are brought up to other versions. */
  updates: number
}

/** A path, and what it was made from: it holds as long as all of that is the same. */
interface KeptPath {
  readonly path: ClaimPath
  readonly updates: number
  readonly destinationVersion: number
  readonly isInDoubt: boolean
  readonly isPutBack: boolean
  /** Task in which it was last found to hold. */
  task: number
}

/**
 * Facts that join networks, derived at read time and kept by each pool worker between tasks: no shard writes into another,
 * and a row costs a bisection. All of it is brought up to the task's own snapshots before it answers.
 */
export class ClaimFacts {
  readonly #shards: ClaimFactsShards
  readonly #l1Columns = new L1InfoColumns()
  readonly #sources = new Map<NetworkId, SourceColumns>()
  readonly #usable = new Map<NetworkId, UsableIndexes>()
  #task = 0

  constructor(shards: ClaimFactsShards) {
    this.#shards = shards
  }

  /** Another task with other snapshots follows. */
  reset(): void {
    this.#task++
  }

  path(source: ShardView, destinationNetwork: NetworkId): ClaimPath {
    const l1 = this.#shards.find(L1_NETWORK_ID)
    const columns = this.#columnsOf(source, l1)
    const kept = columns.paths.get(destinationNetwork)
    if (kept?.task === this.#task) return kept.path
    const destination = this.#shards.find(destinationNetwork)
    const destinationVersion = destination?.version ?? -1
    const isInDoubt =
      l1 === undefined ||
      isInDoubtAt(this.#shards, source.networkId) ||
      isInDoubtAt(this.#shards, L1_NETWORK_ID) ||
      isInDoubtAt(this.#shards, destinationNetwork)
    const isPutBack = this.#isPutBack(destinationNetwork)
    if (
      kept !== undefined &&
      kept.updates === columns.updates &&
      kept.destinationVersion === destinationVersion &&
      kept.isInDoubt === isInDoubt &&
      kept.isPutBack === isPutBack
    ) {
      kept.task = this.#task
      return kept.path
    }
    const path = this.#makePath(l1, columns, destination, { isInDoubt, isPutBack })
    // Destinations are any number that senders choose.
    if (columns.paths.size >= MAX_PATHS) columns.paths.clear()
    const { updates } = columns
    const madeFrom = { updates, destinationVersion, isInDoubt, isPutBack }
    columns.paths.set(destinationNetwork, { path, ...madeFrom, task: this.#task })
    return path
  }

  /**
   * True while the destination's head stays below its stored blocks: roots injected there, and claims made there, may be gone.
   * Also true while the L1's head stays below its final blocks: then any root may be gone.
   */
  #isPutBack(destinationNetwork: NetworkId): boolean {
    return (
      this.#shards.headPlace(destinationNetwork) !== headPlaces.inStep ||
      this.#shards.headPlace(L1_NETWORK_ID) >= headPlaces.belowFinal
    )
  }

  #columnsOf(source: ShardView, l1: ShardView | undefined): SourceColumns {
    let columns = this.#sources.get(source.networkId)
    if (columns === undefined) {
      columns = {
        settled: isL1(source.networkId) ? undefined : new SettledCoverage(),
        coverage: new Coverage(),
        reach: new Map(),
        paths: new Map(),
        task: -1,
        sourceVersion: -1,
        l1Version: -1,
        updates: 0,
      }
      this.#sources.set(source.networkId, columns)
    }
    if (columns.task === this.#task || l1 === undefined) return columns
    if (
      columns.sourceVersion !== source.version ||
      columns.l1Version !== l1.version ||
      columns.settled?.isBehind === true
    ) {
      columns.updates++
      columns.sourceVersion = -1
      this.#l1Columns.update(l1.l1Info)
      columns.settled?.update(l1.l1Info, source.exitTree)
      columns.coverage.update(this.#l1Columns, columns.settled, (lineage) => source.exitTree.regrown(lineage))
      columns.l1Version = l1.version
      // Last: what a failed read kept from being followed is followed by the next task.
      columns.sourceVersion = source.version
    }
    columns.task = this.#task
    return columns
  }

  #makePath(
    l1: ShardView | undefined,
    columns: SourceColumns,
    destination: ShardView | undefined,
    standing: Pick<KeptPath, 'isInDoubt' | 'isPutBack'>,
  ): ClaimPath {
    return new ClaimPath({
      destination,
      coverage: columns.coverage,
      // The L1 knows every root of its own for ever; of a network that is not indexed we know nothing.
      accepted:
        l1 === undefined || destination === undefined || isL1(destination.networkId)
          ? undefined
          : this.#acceptedBy(destination, l1, columns),
      finalLeafCount: l1 === undefined ? 0 : this.#l1Columns.leavesUpToBlock(l1.state.finalizedBlock),
      ...standing,
    })
  }

  #acceptedBy(
    destination: ShardView,
    l1: ShardView,
    columns: SourceColumns,
  ): { usable: UsableIndexes; reach: UsableReach } {
    let usable = this.#usable.get(destination.networkId)
    if (usable === undefined) {
      usable = new UsableIndexes()
      this.#usable.set(destination.networkId, usable)
    }
    let reach = columns.reach.get(destination.networkId)
    if (reach === undefined) {
      reach = new UsableReach()
      columns.reach.set(destination.networkId, reach)
    }
    usable.update(destination.injections, l1.l1Info)
    reach.update(columns.coverage, usable)
    return { usable, reach }
  }
}

function isInDoubtAt(shards: ClaimFactsShards, networkId: NetworkId): boolean {
  return isInDoubt(shards.haltReason(networkId))
}
