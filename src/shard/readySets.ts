import type { NetworkId } from '../protocol/units.js'
import { BitSet } from './bitSet.js'
import type { ClaimFacts } from './claimable.js'
import { ClaimedSet } from './claimedSet.js'
import { DestinationSet } from './destinationSet.js'
import type { ShardView } from './shardView.js'

/** What the sets need of the task's shards. */
export interface ReadySetsShards {
  readonly networkIds: readonly NetworkId[]
  readonly claimFacts: ClaimFacts
}

/** The sets of one source network. */
interface SourceSets {
  readonly destinations: Map<NetworkId, DestinationSet>
  readonly claimed: Map<NetworkId, ClaimedSet>
  /** What `ready` and `notReady` were made of: they stand while it does. */
  madeOf: readonly number[]
  ready: CountedSet
  notReady: CountedSet
}

/** A set with its size counted once. */
export interface CountedSet {
  readonly members: BitSet
  readonly count: number
}

const NONE: CountedSet = { members: new BitSet(), count: 0 }

/**
 * Which deposits of a source network are ready for claim: per destination, those below the path's watermark without a claim
 * in force. A hundred thousand deposits are three thousand words, so filter, total and page need no index of their own.
 */
export class ReadySets {
  readonly #shards: ReadySetsShards
  readonly #sources = new Map<NetworkId, SourceSets>()
  /** Sources whose sets belong to this task's snapshots. */
  readonly #fresh = new Set<NetworkId>()

  constructor(shards: ReadySetsShards) {
    this.#shards = shards
  }

  /** Another task with other snapshots follows. */
  reset(): void {
    this.#fresh.clear()
  }

  ready(source: ShardView): CountedSet {
    return this.#setsOf(source).ready
  }

  notReady(source: ShardView): CountedSet {
    return this.#setsOf(source).notReady
  }

  /** Deposits to a network that is indexed here; undefined for any other. */
  findDestination(source: ShardView, destinationNetwork: NetworkId): BitSet | undefined {
    if (!this.#shards.networkIds.includes(destinationNetwork)) return undefined
    const { destinations } = this.#sourceSets(source.networkId)
    let set = destinations.get(destinationNetwork)
    if (set === undefined) {
      set = new DestinationSet()
      destinations.set(destinationNetwork, set)
    }
    set.update(source, destinationNetwork)
    return set.members
  }

  #setsOf(source: ShardView): SourceSets {
    const sets = this.#sourceSets(source.networkId)
    if (this.#fresh.has(source.networkId)) return sets
    const { epoch, counters } = source.state
    const madeOf = [epoch, counters.lineage, counters.deposits]
    const open: { destinationNetwork: NetworkId; readyBelow: number; claimed: ClaimedSet }[] = []
    for (const destinationNetwork of this.#shards.networkIds) {
      const { destination, readyBelow } = this.#shards.claimFacts.path(source, destinationNetwork)
      if (destination === undefined || readyBelow === 0) continue
      const claimed = this.#claimedSet(sets, source, destination)
      open.push({ destinationNetwork, readyBelow, claimed })
      madeOf.push(destinationNetwork, readyBelow, claimed.generation)
    }
    if (madeOf.length !== sets.madeOf.length || madeOf.some((value, at) => value !== sets.madeOf[at])) {
      const ready = new BitSet()
      for (const { destinationNetwork, readyBelow, claimed } of open)
        ready.addDifference(this.findDestination(source, destinationNetwork)!, claimed.members, readyBelow)
      const notReady = new BitSet()
      notReady.addComplement(ready, counters.deposits)
      const count = ready.count()
      sets.madeOf = madeOf
      sets.ready = { members: ready, count }
      sets.notReady = { members: notReady, count: counters.deposits - count }
    }
    this.#fresh.add(source.networkId)
    return sets
  }

  #claimedSet(sets: SourceSets, source: ShardView, destination: ShardView): ClaimedSet {
    let claimed = sets.claimed.get(destination.networkId)
    if (claimed === undefined) {
      claimed = new ClaimedSet()
      sets.claimed.set(destination.networkId, claimed)
    }
    claimed.update(source, destination)
    return claimed
  }

  #sourceSets(networkId: NetworkId): SourceSets {
    let sets = this.#sources.get(networkId)
    if (sets === undefined) {
      sets = { destinations: new Map(), claimed: new Map(), madeOf: [], ready: NONE, notReady: NONE }
      this.#sources.set(networkId, sets)
    }
    return sets
  }
}
