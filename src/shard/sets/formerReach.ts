import { CountRanges, firstAtLeast } from './countRanges.js'

/** A root of an older lineage that has leaves at or above the lowest later cut. It may commit to regrown deposits there. */
export interface FormerRoot {
  readonly lineage: number
  readonly leafCount: number
}

/**
 * Returns the regrown deposits of an older lineage: counts at or above the lowest later cut where that lineage has the same leaf
 * as the current tree.
 */
export type Regrown = (lineage: number) => CountRanges

/**
 * Finds the regrown deposits that roots of older lineages cover. Each root is added at a place: an l1InfoTreeIndex, or a position
 * in a list of such indexes. A tree that was never cut has no such roots.
 */
export class FormerReach {
  readonly #byLineage = new Map<number, ReachSteps>()

  get isEmpty(): boolean {
    return this.#byLineage.size === 0
  }

  clear(): void {
    this.#byLineage.clear()
  }

  /** Adds a root. @param place at least the place of the root added before. */
  add(place: number, { lineage, leafCount }: FormerRoot): void {
    let steps = this.#byLineage.get(lineage)
    if (steps === undefined) {
      steps = new ReachSteps()
      this.#byLineage.set(lineage, steps)
    }
    steps.add(place, leafCount)
  }

  /** The first place whose root covers the deposit; undefined while none does. */
  findFirst(depositCount: number, regrown: Regrown): number | undefined {
    let first: number | undefined
    for (const [lineage, steps] of this.#byLineage) {
      if (regrown(lineage).has(depositCount)) first = smallerOf(first, steps.firstAbove(depositCount))
    }
    return first
  }

  /** The regrown deposits that roots at places below `end` cover. */
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

/** For one lineage, the places whose root has more leaves than every root before it. */
class ReachSteps {
  readonly #places: number[] = []
  readonly #reaches: number[] = []

  add(place: number, reach: number): void {
    if (reach <= (this.#reaches.at(-1) ?? 0)) return
    this.#places.push(place)
    this.#reaches.push(reach)
  }

  /** The first place whose root has a leaf at `depositCount`. */
  firstAbove(depositCount: number): number | undefined {
    return this.#places[firstAtLeast(this.#reaches, depositCount + 1)]
  }

  reachBelow(end: number): number {
    const steps = firstAtLeast(this.#places, end)
    return steps === 0 ? 0 : this.#reaches[steps - 1]!
  }
}
