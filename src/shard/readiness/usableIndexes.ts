import type { Hash } from '../../protocol/chainEvent.js'
import type { L1InfoTreeIndex } from '../../protocol/units.js'
import { CountRanges } from '../sets/countRanges.js'
import { FormerReach, type Regrown, smallerOf } from '../sets/formerReach.js'
import { Uint32Column } from '../sets/uint32Column.js'
import type { Coverage } from './coverage.js'

/** What `UsableIndexes` reads of the destination's snapshot. */
export interface InjectionSource {
  readonly epoch: number
  readonly count: number
  /** Number of removed roots so far. A removal adds no injection, so `count` does not show it. */
  readonly removalCount: number
  getGer(ordinal: number): Hash
  /** undefined: never injected. */
  isInForce(globalExitRoot: Hash): boolean | undefined
}

/** What `UsableIndexes` reads of the L1 shard's snapshot. */
export interface GerIndexSource {
  readonly epoch: number
  readonly leafCount: number
  findIndexByGer(globalExitRoot: Hash): number | undefined
  getLeaf(index: number): { readonly globalExitRoot: Hash }
}

/**
 * The L1 info indexes whose global exit root one destination accepts now, ascending. A root may be injected before the L1's shard has
 * its leaf. So new injections are looked up among the leaves, and new leaves among the injections: both orders give the same result.
 */
export class UsableIndexes {
  readonly indexes = new Uint32Column()
  /** Indexes whose root was injected and removed. One that was injected again since may be here as well. */
  readonly removed = new Set<L1InfoTreeIndex>()
  #injections = 0
  #l1Leaves = 0
  #epoch = -1
  #l1Epoch = -1
  #removals = -1
  #generation = 0

  /** Grows with each change other than an append at the end. */
  get generation(): number {
    return this.#generation
  }

  update(destination: InjectionSource, l1: GerIndexSource): void {
    if (
      destination.epoch !== this.#epoch ||
      l1.epoch !== this.#l1Epoch ||
      destination.removalCount !== this.#removals
    ) {
      this.#epoch = destination.epoch
      this.#l1Epoch = l1.epoch
      this.#removals = destination.removalCount
      this.#injections = 0
      this.#l1Leaves = l1.leafCount
      this.indexes.truncate(0)
      this.removed.clear()
      this.#generation++
    }
    for (; this.#injections < destination.count; this.#injections++) {
      const globalExitRoot = destination.getGer(this.#injections)
      const index = l1.findIndexByGer(globalExitRoot)
      if (index !== undefined) this.#take(index, destination.isInForce(globalExitRoot))
    }
    for (; this.#l1Leaves < l1.leafCount; this.#l1Leaves++)
      this.#take(this.#l1Leaves, destination.isInForce(l1.getLeaf(this.#l1Leaves).globalExitRoot))
  }

  /** @param isInForce undefined: its root was never injected. */
  #take(index: number, isInForce: boolean | undefined): void {
    if (isInForce) this.#add(index)
    else if (isInForce === false) this.removed.add(index as L1InfoTreeIndex)
  }

  /** Adds an index unless it is there already: a root that was removed and injected again comes once per injection. */
  #add(index: number): void {
    const above = this.indexes.firstAbove(index)
    if (above > 0 && this.indexes.at(above - 1) === index) return
    if (above < this.indexes.length) this.#generation++
    this.indexes.insert(above, index)
  }
}

/**
 * For one source and one destination: at each position in the usable indexes, the most deposits that this index or one before it
 * covers. These numbers never fall, so the smallest usable index that covers a deposit is found by bisection.
 */
export class UsableReach {
  readonly #reach = new Uint32Column()
  /** Places are positions in the usable indexes. */
  readonly #former = new FormerReach()
  #regrown: Regrown = () => CountRanges.none
  #coverageGeneration = -1
  #usableGeneration = -1

  update(coverage: Coverage, usable: UsableIndexes): void {
    this.#regrown = coverage.regrown
    if (coverage.generation !== this.#coverageGeneration || usable.generation !== this.#usableGeneration) {
      this.#coverageGeneration = coverage.generation
      this.#usableGeneration = usable.generation
      this.#reach.truncate(0)
      this.#former.clear()
    }
    for (let at = this.#reach.length; at < usable.indexes.length; at++) {
      const index = usable.indexes.at(at)
      const covered = coverage.exact.at(index)
      const former = coverage.formerAt(index)
      if (former !== undefined) this.#former.add(at, former)
      this.#reach.push(Math.max(covered, at === 0 ? 0 : this.#reach.at(at - 1)))
    }
  }

  /** Position of the smallest usable index that covers the deposit; undefined while none does. */
  findFirst(depositCount: number): number | undefined {
    const position = this.#reach.firstAbove(depositCount)
    const first = position === this.#reach.length ? undefined : position
    return this.#former.isEmpty
      ? first
      : smallerOf(first, this.#former.findFirst(depositCount, this.#regrown))
  }

  /** One of the first `usableCount` usable indexes covers all deposits below this count. */
  coveredByFirst(usableCount: number): number {
    return usableCount === 0 ? 0 : this.#reach.at(usableCount - 1)
  }

  /** Regrown deposits that the first `usableCount` usable indexes cover. Some may be below `coveredByFirst`. */
  regrownInFirst(usableCount: number): CountRanges {
    return this.#former.coveredBelow(usableCount, this.#regrown)
  }
}
