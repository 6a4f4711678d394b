import type { L1InfoTreeIndex } from '../protocol/units.js'
import { UNRESOLVABLE_VERSION } from '../store/tables.js'
import type { L1InfoColumns } from './l1InfoColumns.js'
import type { SettledCoverage } from './settledCoverage.js'
import { Uint32Column } from './uint32Column.js'

/**
 * Per L1 info leaf, how many deposits of one source network it provably covers: deposit d is covered by leaf i when
 * d < `exact[i]`. `reach` is the running maximum of `exact`, so that the first leaf that covers d is found by bisection
 * even where `exact` falls (a leaf whose root is not known yet covers nothing).
 */
export class Coverage {
  readonly exact = new Uint32Column()
  readonly reach = new Uint32Column()
  #l1Epoch = -1
  #settledGeneration = -1
  #generation = 0

  /** Moves when an entry that was there before changed. */
  get generation(): number {
    return this.#generation
  }

  /** @param settled undefined for the L1, whose deposits the mainnet exit roots cover. */
  update(l1: L1InfoColumns, settled: SettledCoverage | undefined): void {
    const settledGeneration = settled?.generation ?? 0
    if (l1.epoch !== this.#l1Epoch || settledGeneration !== this.#settledGeneration) {
      this.#l1Epoch = l1.epoch
      this.#settledGeneration = settledGeneration
      this.#generation++
      this.exact.truncate(0)
      this.reach.truncate(0)
    }
    let version = UNRESOLVABLE_VERSION
    let covered = 0
    for (let index = this.exact.length; index < l1.leafCount; index++) {
      if (settled === undefined) covered = l1.mainnetCovered.at(index)
      else if (l1.rollupExitVersions.at(index) !== version) {
        version = l1.rollupExitVersions.at(index)
        covered = version === UNRESOLVABLE_VERSION ? 0 : settled.at(version)
      }
      this.exact.push(covered)
      this.reach.push(Math.max(covered, index === 0 ? 0 : this.reach.at(index - 1)))
    }
  }

  /** Smallest L1 info index that covers the deposit; undefined while none does. */
  findFirst(depositCount: number): L1InfoTreeIndex | undefined {
    const index = this.reach.firstAbove(depositCount)
    return index === this.reach.length ? undefined : (index as L1InfoTreeIndex)
  }

  /** Deposits covered by one of the first `leafCount` L1 info leaves. */
  coveredByFirst(leafCount: number): number {
    return leafCount === 0 ? 0 : this.reach.at(leafCount - 1)
  }
}
