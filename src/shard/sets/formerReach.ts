import { CountRanges, firstAtLeast } from './countRanges.js'

/** A root of an older lineage with leaves at or above the lowest later cut: it may cover regrown deposits there. */
export interface FormerRoot {
  readonly lineage: number
  readonly leafCount: number
}

/** Deposit counts at or above the lowest later cut at which the tree now has the same leaf as the given older lineage. */
export type Regrown = (lineage: number) => CountRanges

/**
 * Regrown deposits that roots of older lineages cover. Each root stands at a place: an L1 info index, or a position in a list of
 * such indexes. Empty in a tree that was never cut.
 */
export class FormerReach {
  readonly #byLineage = new Map<number, ReachSteps>()

  get isEmpty(): boolean {
    return this.#byLineage.size === 0
  }

  clear(): void {
    this.#byLineage.clear()
  }

  /** Adds a root. @param place not below the place added before. */
  add(place: number, { lineage, leafCount }: FormerRoot): void {
    let steps = this.#byLineage.get(lineage)
    if (steps === undefined) {
      steps = new ReachSteps()
      this.#byLineage.set(lineage, steps)
    }
    steps.add(place, leafCount)
  }

  /** First place whose root covers the deposit; undefined while none does. */
  findFirst(depositCount: number, regrown: Regrown): number | undefined {
    let first: number | undefined
    for (const [lineage, steps] of this.#byLineage) {
      if (regrown(lineage).has(depositCount)) first = smallerOf(first, steps.firstAbove(depositCount))
    }
    return first
  }

  /** Deposits that roots at places below `end` cover. */
  coveredBelow(end: number, regrown: Regrown): CountRanges {
    const covered: CountRanges[] = []
    for (const [lineage, steps] of this.#byLineage) {
      const ranges = regrown(lineage).within(0, steps.reachBelow(end))
      if (!ranges.isEmpty) covered.push(ranges)
    }
    return CountRanges.union(covered)
  }
}

export function smallerOf(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return Math.min(left, right)
}

/** The places whose root has more leaves of the lineage than every root before. */
class ReachSteps {
  readonly #places: number[] = []
  readonly #reaches: number[] = []

  add(place: number, reach: number): void {
    if (reach <= (this.#reaches.at(-1) ?? 0)) return
    this.#places.push(place)
    this.#reaches.push(reach)
  }

  /** First place whose root has a leaf at `depositCount`. */
  firstAbove(depositCount: number): number | undefined {
    return this.#places[firstAtLeast(this.#reaches, depositCount + 1)]
  }

  reachBelow(end: number): number {
    const steps = firstAtLeast(this.#places, end)
    return steps === 0 ? 0 : this.#reaches[steps - 1]!
  }
}
