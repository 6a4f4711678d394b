import type { L1InfoTreeIndex, NetworkId } from '../../protocol/units.js'
import { CountRanges } from '../sets/countRanges.js'
import type { ShardView } from '../snapshot/shardView.js'
import type { Coverage } from './coverage.js'
import type { UsableIndexes, UsableReach } from './usableIndexes.js'

/** The L1 info indexes that a destination accepts, and the deposits that they cover. */
interface Accepted {
  readonly usable: UsableIndexes
  readonly reach: UsableReach
}

interface ClaimPathFacts {
  readonly sourceNetwork: NetworkId
  readonly destination: ShardView | undefined
  readonly coverage: Coverage
  /** undefined: every L1 info leaf counts as accepted. The destination is the L1, or is not indexed here. */
  readonly accepted: Accepted | undefined
  readonly finalLeafCount: number
  readonly isInDoubt: boolean
  /** The destination's chain may be put back, or the L1's below a final block: proofs are still answered, but nothing is ready. */
  readonly mayBePutBack: boolean
}

/** Deposits that are ready unless they are claimed: all below a count, and some ranges above it. */
export interface ReadyCounts {
  readonly below: number
  /** Empty unless the local exit tree was cut. */
  readonly above: CountRanges
}

const NONE_READY: ReadyCounts = { below: 0, above: CountRanges.none }

/** Which deposits of one source network can be claimed on one destination, and with which L1 info index, in the task's snapshots. */
export class ClaimPath {
  /** undefined: not indexed here, so its claims and injections are unknown. */
  readonly destination: ShardView | undefined
  /** Number of L1 info leaves in final blocks: proofs use only indexes below it. */
  readonly finalLeafCount: number
  /** True while a halt makes the data of source, L1 or destination doubtful (`isInDoubt` of `board`). */
  readonly isInDoubt: boolean
  /** As `ready`, whatever stands in its way beside contracts: doubt, a head that is behind, catching up, an emergency. */
  readonly covered: ReadyCounts
  /** Deposits that are ready unless claimed: a final L1 info leaf covers them, and the destination accepts that leaf now. */
  readonly ready: ReadyCounts
  readonly #coverage: Coverage
  readonly #accepted: Accepted | undefined

  constructor(facts: ClaimPathFacts) {
    this.destination = facts.destination
    this.finalLeafCount = facts.finalLeafCount
    this.isInDoubt = facts.isInDoubt
    this.#coverage = facts.coverage
    this.#accepted = facts.accepted
    const isOpen =
      !facts.isInDoubt &&
      !facts.mayBePutBack &&
      facts.destination !== undefined &&
      facts.destination.state.counters.emergencyState === 0 &&
      !facts.destination.state.isCatchingUp
    this.covered =
      facts.destination === undefined
        ? NONE_READY
        : this.#coveredByFinal(facts.destination.state.claimsComparedBelow(facts.sourceNetwork))
    this.ready = isOpen ? this.covered : NONE_READY
  }

  /** Whether the deposit is ready unless it is claimed already. */
  isReady(depositCount: number): boolean {
    const { below, above } = this.ready
    return depositCount < below || (!above.isEmpty && above.has(depositCount))
  }

  /** The smallest L1 info index that covers the deposit; undefined while none does. */
  findFirstCovering(depositCount: number): L1InfoTreeIndex | undefined {
    return this.#coverage.findFirst(depositCount)
  }

  /** The smallest covering index that the destination accepts now, final or not. If its injections are unknown: the smallest covering one. */
  findAccepted(depositCount: number): L1InfoTreeIndex | undefined {
    if (this.#accepted === undefined) return this.#coverage.findFirst(depositCount)
    const position = this.#accepted.reach.findFirst(depositCount)
    return position === undefined
      ? undefined
      : (this.#accepted.usable.indexes.at(position) as L1InfoTreeIndex)
  }

  /** The smallest covering index whose root the destination has had and removed. One that it accepts again may be the result, too. */
  findRemoved(depositCount: number): L1InfoTreeIndex | undefined {
    let smallest: L1InfoTreeIndex | undefined
    for (const index of this.#accepted?.usable.removed ?? [])
      if ((smallest === undefined || index < smallest) && this.#coverage.covers(index, depositCount))
        smallest = index
    return smallest
  }

  /** How many deposits a leaf covers, without those that were regrown. */
  coveredAt(index: L1InfoTreeIndex): number {
    return this.#coverage.exact.at(index)
  }

  /** The index to prove the deposit against: the smallest accepted one, if it is final. undefined while there is none. */
  findUsable(depositCount: number): L1InfoTreeIndex | undefined {
    if (this.isInDoubt) return undefined
    const index = this.findAccepted(depositCount)
    return index !== undefined && index < this.finalLeafCount ? index : undefined
  }

  /** @param limit deposits above may have a claim that is missing here. */
  #coveredByFinal(limit: number): ReadyCounts {
    const covered = this.#accepted === undefined ? this.#coverage : this.#accepted.reach
    const final =
      this.#accepted === undefined
        ? this.finalLeafCount
        : this.#accepted.usable.indexes.firstAbove(this.finalLeafCount - 1)
    const below = Math.min(limit, covered.coveredByFirst(final))
    return { below, above: covered.regrownInFirst(final).within(below, limit) }
  }
}
