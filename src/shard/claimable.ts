import type { HaltReason } from '../errors/haltReason.js'
import { isL1, L1_NETWORK_ID } from '../protocol/networks.js'
import type { NetworkId } from '../protocol/units.js'
import { ClaimPath } from './claimPath.js'
import { Coverage } from './coverage.js'
import { L1InfoColumns } from './l1InfoColumns.js'
import { SettledCoverage } from './settledCoverage.js'
import type { ShardView } from './shardView.js'
import { isInDoubt } from './standing.js'
import { UsableIndexes, UsableReach } from './usableIndexes.js'

/** What the facts need of the task's shards. */
export interface ClaimFactsShards {
  /** undefined for a network that this instance does not index. */
  find(networkId: NetworkId): ShardView | undefined
  haltReason(networkId: NetworkId): HaltReason
}

/** The columns of one source network. */
interface SourceColumns {
  /** undefined for the L1, whose deposits the mainnet exit roots cover. */
  readonly settled: SettledCoverage | undefined
  readonly coverage: Coverage
  /** By destination. */
  readonly reach: Map<NetworkId, UsableReach>
  /** Of this task, by destination. */
  readonly paths: Map<NetworkId, ClaimPath>
  isFresh: boolean
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

  constructor(shards: ClaimFactsShards) {
    this.#shards = shards
  }

  /** Another task with other snapshots follows. */
  reset(): void {
    for (const columns of this.#sources.values()) {
      columns.isFresh = false
      columns.paths.clear()
    }
  }

  path(source: ShardView, destinationNetwork: NetworkId): ClaimPath {
    const l1 = this.#shards.find(L1_NETWORK_ID)
    const columns = this.#columnsOf(source, l1)
    let path = columns.paths.get(destinationNetwork)
    if (path === undefined) {
      path = this.#makePath(source, l1, columns, destinationNetwork)
      columns.paths.set(destinationNetwork, path)
    }
    return path
  }

  #columnsOf(source: ShardView, l1: ShardView | undefined): SourceColumns {
    let columns = this.#sources.get(source.networkId)
    if (columns === undefined) {
      columns = {
        settled: isL1(source.networkId) ? undefined : new SettledCoverage(),
        coverage: new Coverage(),
        reach: new Map(),
        paths: new Map(),
        isFresh: false,
      }
      this.#sources.set(source.networkId, columns)
    }
    if (!columns.isFresh && l1 !== undefined) {
      this.#l1Columns.update(l1.l1Info)
      columns.settled?.update(l1.l1Info, source.exitTree)
      columns.coverage.update(this.#l1Columns, columns.settled)
      columns.isFresh = true
    }
    return columns
  }

  #makePath(
    source: ShardView,
    l1: ShardView | undefined,
    columns: SourceColumns,
    destinationNetwork: NetworkId,
  ): ClaimPath {
    const destination = this.#shards.find(destinationNetwork)
    const way = [source.networkId, L1_NETWORK_ID, destinationNetwork]
    return new ClaimPath({
      destination,
      coverage: columns.coverage,
      // The L1 knows every root of its own for ever; of a network that is not indexed we know nothing.
      accepted:
        l1 === undefined || destination === undefined || isL1(destinationNetwork)
          ? undefined
          : this.#acceptedBy(destination, l1, columns),
      finalLeafCount: l1 === undefined ? 0 : this.#l1Columns.leavesUpToBlock(l1.state.finalizedBlock),
      isInDoubt: l1 === undefined || way.some((networkId) => isInDoubt(this.#shards.haltReason(networkId))),
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
