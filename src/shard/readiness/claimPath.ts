import type { L1InfoTreeIndex } from '../../protocol/units.js'
import { CountRanges } from '../sets/countRanges.js'
import type { ShardView } from '../snapshot/shardView.js'
import type { Coverage } from './coverage.js'
import type { UsableIndexes, UsableReach } from './usableIndexes.js'

/** L1 info indexes that a destination accepts, and what they cover. */
interface Accepted {
  readonly usable: UsableIndexes
  readonly reach: UsableReach
}

interface ClaimPathFacts {
  readonly destination: ShardView | undefined
  readonly coverage: Coverage
  /** undefined: every L1 info leaf (destination L1, or a destination that is not indexed here). */
  readonly accepted: Accepted | undefined
  readonly finalLeafCount: number
  readonly isInDoubt: boolean
  /** A chain on the way was put back below what is stored: proofs are still answered, but nothing is ready. */
  readonly isPutBack: boolean
}

/** Deposits that are ready unless claimed: all below a count, and some ranges above it. */
export interface ReadyCounts {
  readonly below: number
  /** Empty unless the exit tree was cut. */
  readonly above: CountRanges
}

const NONE_READY: ReadyCounts = { below: 0, above: CountRanges.none }

/** How deposits of one source network come to be claimable on one destination, as the snapshots of this task tell. */
export class ClaimPath {
  /** undefined: not indexed here, so that claims and injections are unknown. */
  readonly destination: ShardView | undefined
  /** L1 info leaves in final blocks: proofs are made against indexes below. */
  readonly finalLeafCount: number
  /** True while one of the networks on the way is halted and can't be answered for. */
  readonly isInDoubt: boolean
  /** Deposits with a final L1 info leaf that the destination accepts now: ready unless claimed. */
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
      !facts.isPutBack &&
      facts.destination !== undefined &&
      facts.destination.state.counters.emergencyState === 0 &&
      !facts.destination.state.isCatchingUp
    this.ready = isOpen ? this.#coveredByFinal() : NONE_READY
  }

  /** Whether the deposit could be claimed now. It may have been claimed already. */
  isReady(depositCount: number): boolean {
    const { below, above } = this.ready
    return depositCount < below || (!above.isEmpty && above.has(depositCount))
  }

  /** Smallest L1 info index that covers the deposit; undefined while none does. */
  findFirstCovering(depositCount: number): L1InfoTreeIndex | undefined {
    return this.#coverage.findFirst(depositCount)
  }

  /** The smallest of those that the destination accepts now, final or not; where that is not known, the first covering one. */
  findAccepted(depositCount: number): L1InfoTreeIndex | undefined {
    if (this.#accepted === undefined) return this.#coverage.findFirst(depositCount)
    const position = this.#accepted.reach.findFirst(depositCount)
    return position === undefined
      ? undefined
      : (this.#accepted.usable.indexes.at(position) as L1InfoTreeIndex)
  }

  /** The index to prove the deposit against: accepted and final; undefined while there is none. */
  findUsable(depositCount: number): L1InfoTreeIndex | undefined {
    if (this.isInDoubt) return undefined
    const index = this.findAccepted(depositCount)
    return index !== undefined && index < this.finalLeafCount ? index : undefined
  }

  #coveredByFinal(): ReadyCounts {
    const covered = this.#accepted === undefined ? this.#coverage : this.#accepted.reach
    const final =
      this.#accepted === undefined
        ? this.finalLeafCount
        : this.#accepted.usable.indexes.firstAbove(this.finalLeafCount - 1)
    const below = covered.coveredByFirst(final)
    return { below, above: covered.regrownInFirst(final).within(below, Number.POSITIVE_INFINITY) }
  }
}
