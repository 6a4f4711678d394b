import { type HaltReason, isInDoubt } from '../../board/haltReason.js'
import { type HeadPlace, headPlaces } from '../../board/statusBoard.js'
import { isL1, L1_NETWORK_ID } from '../../protocol/networks.js'
import type { L1InfoTreeIndex, NetworkId } from '../../protocol/units.js'
import type { ShardView } from '../snapshot/shardView.js'
import { ClaimPath } from './claimPath.js'
import { Coverage } from './coverage.js'
import { L1InfoColumns } from './l1InfoColumns.js'
import { SettledCoverage } from './settledCoverage.js'
import { UsableIndexes, UsableReach } from './usableIndexes.js'

/** What `ClaimFacts` needs of the task's shards. */
export interface ClaimFactsShards {
  /** undefined for a network that this instance does not index. */
  find(networkId: NetworkId): ShardView | undefined
  haltReason(networkId: NetworkId): HaltReason
  headPlace(networkId: NetworkId): HeadPlace
}

/** Paths kept per source. Only indexed networks need one, but senders may deposit to any destination number. */
const MAX_PATHS = 1_024

/** What is derived for one source network. */
interface SourceColumns {
  /** undefined for the L1, whose deposits the mainnet exit roots cover. */
  readonly settled: SettledCoverage | undefined
  readonly coverage: Coverage
  /** By destination. */
  readonly reach: Map<NetworkId, UsableReach>
  /** By destination. */
  readonly paths: Map<NetworkId, KeptPath>
  /** The last task for which the columns were up to date. */
  task: number
  /** Commits of source and L1 that the columns were derived from. */
  sourceCommits: number
  l1Commits: number
  /** Grows with each update to other commits. */
  updates: number
}

/** A path, and what it was made from. It holds as long as all of that is the same. */
interface KeptPath {
  readonly path: ClaimPath
  readonly updates: number
  readonly destinationCommits: number
  readonly isInDoubt: boolean
  readonly mayBePutBack: boolean
  /** The last task for which it was found to hold. */
  task: number
}

/**
 * Facts that join several networks. They are derived at read time, because no shard writes into another, and each query thread keeps
 * them between tasks. They are updated to the task's snapshots before they answer; one row then costs a bisection.
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

  /** Call it at the start of each task: what was checked against the snapshots of the last task is checked again. */
  startTask(): void {
    this.#task++
  }

  /** Whether something that the running task used may differ in the next one though no shard has moved. */
  get isBehind(): boolean {
    for (const { task, settled } of this.#sources.values())
      if (task === this.#task && settled?.isBehind === true) return true
    return false
  }

  /** The path from a source to any destination network, for the task's snapshots. */
  path(source: ShardView, destinationNetwork: NetworkId): ClaimPath {
    const l1 = this.#shards.find(L1_NETWORK_ID)
    const columns = this.#columnsOf(source, l1)
    const kept = columns.paths.get(destinationNetwork)
    if (kept?.task === this.#task) return kept.path
    const destination = this.#shards.find(destinationNetwork)
    const destinationCommits = destination?.commits ?? -1
    const isInDoubt =
      l1 === undefined ||
      isInDoubtAt(this.#shards, source.networkId) ||
      isInDoubtAt(this.#shards, L1_NETWORK_ID) ||
      isInDoubtAt(this.#shards, destinationNetwork)
    const mayBePutBack = this.#mayBePutBack(destinationNetwork)
    if (
      kept !== undefined &&
      kept.updates === columns.updates &&
      kept.destinationCommits === destinationCommits &&
      kept.isInDoubt === isInDoubt &&
      kept.mayBePutBack === mayBePutBack
    ) {
      kept.task = this.#task
      return kept.path
    }
    const path = this.#makePath(source.networkId, l1, columns, destination, { isInDoubt, mayBePutBack })
    // Senders may choose any number as destination, so the paths are bounded.
    if (columns.paths.size >= MAX_PATHS) columns.paths.clear()
    const { updates } = columns
    const madeFrom = { updates, destinationCommits, isInDoubt, mayBePutBack }
    columns.paths.set(destinationNetwork, { path, ...madeFrom, task: this.#task })
    return path
  }

  /** The smallest L1 info index from one on that an L2 accepts now, final or not; undefined while there is none. */
  firstAcceptedFrom(destination: ShardView, index: L1InfoTreeIndex): L1InfoTreeIndex | undefined {
    const l1 = this.#shards.find(L1_NETWORK_ID)
    if (l1 === undefined) return undefined
    const { indexes } = this.#usableAt(destination, l1)
    const position = indexes.firstAbove(index - 1)
    return position === indexes.length ? undefined : (indexes.at(position) as L1InfoTreeIndex)
  }

  /**
   * True while the destination's head is below its stored blocks, or was not compared with them yet: its injections and claims may be
   * gone from the chain. Also true while the L1's head is below a block that was served as final, or was not compared yet: any root
   * may be gone then.
   */
  #mayBePutBack(destinationNetwork: NetworkId): boolean {
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
        sourceCommits: -1,
        l1Commits: -1,
        updates: 0,
      }
      this.#sources.set(source.networkId, columns)
    }
    if (columns.task === this.#task || l1 === undefined) return columns
    if (
      columns.sourceCommits !== source.commits ||
      columns.l1Commits !== l1.commits ||
      columns.settled?.isBehind === true
    ) {
      columns.updates++
      columns.sourceCommits = -1
      this.#l1Columns.update(l1.l1Info)
      columns.settled?.update(l1.l1Info, source.exitTree)
      columns.coverage.update(this.#l1Columns, columns.settled, (lineage) => source.exitTree.regrown(lineage))
      columns.l1Commits = l1.commits
      // Set last: after a failed read the next task updates again.
      columns.sourceCommits = source.commits
    }
    columns.task = this.#task
    return columns
  }

  #makePath(
    sourceNetwork: NetworkId,
    l1: ShardView | undefined,
    columns: SourceColumns,
    destination: ShardView | undefined,
    standing: Pick<KeptPath, 'isInDoubt' | 'mayBePutBack'>,
  ): ClaimPath {
    return new ClaimPath({
      sourceNetwork,
      destination,
      coverage: columns.coverage,
      // The L1 accepts all of its own roots for ever. Of a network that is not indexed nothing is known.
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
    const usable = this.#usableAt(destination, l1)
    let reach = columns.reach.get(destination.networkId)
    if (reach === undefined) {
      reach = new UsableReach()
      columns.reach.set(destination.networkId, reach)
    }
    reach.update(columns.coverage, usable)
    return { usable, reach }
  }

  #usableAt(destination: ShardView, l1: ShardView): UsableIndexes {
    let usable = this.#usable.get(destination.networkId)
    if (usable === undefined) {
      usable = new UsableIndexes()
      this.#usable.set(destination.networkId, usable)
    }
    usable.update(destination.injections, l1.l1Info)
    return usable
  }
}

function isInDoubtAt(shards: ClaimFactsShards, networkId: NetworkId): boolean {
  return isInDoubt(shards.haltReason(networkId))
}
