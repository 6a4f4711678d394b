import type { L1InfoTreeIndex } from '../../protocol/units.js'
import { UNRESOLVABLE_VERSION } from '../../store/layout/tables.js'
import { CountRanges, firstAtLeast } from '../sets/countRanges.js'
import { FormerReach, type FormerRoot, type Regrown, smallerOf } from '../sets/formerReach.js'
import { Uint32Column } from '../sets/uint32Column.js'
import type { L1InfoColumns } from './l1InfoColumns.js'
import type { SettledCoverage } from './settledCoverage.js'

/**
 * For each L1 info leaf, how many deposits of one source network it covers: leaf i covers deposit d when d < `exact[i]`. `reach` is
 * the running maximum of `exact`: it finds the first leaf that covers d by bisection, although `exact` may fall (a leaf whose root is
 * not known yet covers nothing).
 *
 * After a cut of the local exit tree a leaf may name a root of an older lineage. `exact` then ends at the cut; above the cut the root
 * covers only regrown deposits.
 */
export class Coverage {
  readonly exact = new Uint32Column()
  readonly reach = new Uint32Column()
  readonly #former = new FormerReach()
  /** First leaf of each run of leaves that name the same root of an older lineage, and that root; undefined for a run without one. */
  readonly #runStarts: number[] = []
  readonly #runRoots: (FormerRoot | undefined)[] = []
  #regrown: Regrown = () => CountRanges.none
  #l1Epoch = -1
  #settledGeneration = -1
  #generation = 0

  /** Grows when an existing entry changes, not when entries are appended. */
  get generation(): number {
    return this.#generation
  }

  /** Regrown deposits of each older lineage, in the snapshot of the last update. */
  get regrown(): Regrown {
    return this.#regrown
  }

  /** @param settled undefined for the L1, whose deposits the mainnet exit roots cover. */
  update(l1: L1InfoColumns, settled: SettledCoverage | undefined, regrown: Regrown): void {
    this.#regrown = regrown
    const settledGeneration = settled?.generation ?? 0
    if (l1.epoch !== this.#l1Epoch || settledGeneration !== this.#settledGeneration) {
      this.#l1Epoch = l1.epoch
      this.#settledGeneration = settledGeneration
      this.#generation++
      this.exact.truncate(0)
      this.reach.truncate(0)
      this.#former.clear()
      this.#runStarts.length = 0
      this.#runRoots.length = 0
    }
    let version = -1
    let covered = 0
    for (let index = this.exact.length; index < l1.leafCount; index++) {
      if (settled === undefined) covered = l1.mainnetCovered.at(index)
      else if (l1.rollupExitVersions.at(index) !== version) {
        version = l1.rollupExitVersions.at(index)
        covered = version === UNRESOLVABLE_VERSION ? 0 : settled.at(version)
        this.#follow(index, version === UNRESOLVABLE_VERSION ? undefined : settled.formerAt(version))
      }
      this.exact.push(covered)
      this.reach.push(Math.max(covered, index === 0 ? 0 : this.reach.at(index - 1)))
    }
  }

  /** The root of an older lineage that a leaf names, if it may cover regrown deposits beyond `exact`. */
  formerAt(index: number): FormerRoot | undefined {
    return this.#runStarts.length === 0
      ? undefined
      : this.#runRoots[firstAtLeast(this.#runStarts, index + 1) - 1]
  }

  /** Whether one leaf covers the deposit. */
  covers(index: number, depositCount: number): boolean {
    if (depositCount < this.exact.at(index)) return true
    const former = this.formerAt(index)
    return (
      former !== undefined &&
      depositCount < former.leafCount &&
      this.#regrown(former.lineage).has(depositCount)
    )
  }

  /** The smallest L1 info index that covers the deposit; undefined while none does. */
  findFirst(depositCount: number): L1InfoTreeIndex | undefined {
    const index = this.reach.firstAbove(depositCount)
    const first = index === this.reach.length ? undefined : index
    const former = this.#former.isEmpty ? undefined : this.#former.findFirst(depositCount, this.#regrown)
    return smallerOf(first, former) as L1InfoTreeIndex | undefined
  }

  /** One of the first `leafCount` L1 info leaves covers all deposits below this count. */
  coveredByFirst(leafCount: number): number {
    return leafCount === 0 ? 0 : this.reach.at(leafCount - 1)
  }

  /** Regrown deposits that the first `leafCount` L1 info leaves cover. Some may be below `coveredByFirst`. */
  regrownInFirst(leafCount: number): CountRanges {
    return this.#former.coveredBelow(leafCount, this.#regrown)
  }

  /** Starts a new run when the leaf names another root than the leaf before. */
  #follow(index: number, root: FormerRoot | undefined): void {
    if (root === this.#runRoots.at(-1)) return
    this.#runStarts.push(index)
    this.#runRoots.push(root)
    if (root !== undefined) this.#former.add(index, root)
  }
}
