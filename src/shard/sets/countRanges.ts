/** @returns the first position in `ascending` whose number is at least `value`, which is also how many numbers are below `value`. */
export function firstAtLeast(ascending: readonly number[], value: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ascending[middle]! < value) low = middle + 1
    else high = middle
  }
  return low
}

/** An immutable set of deposit counts, stored as ranges. Most trees have few or none. */
export class CountRanges {
  static readonly none = new CountRanges([])
  /** Each range's first count and the count after its last, ascending. Ranges neither overlap nor touch. */
  readonly bounds: readonly number[]

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
  }

  static union(sets: readonly CountRanges[]): CountRanges {
    const [only] = sets
    if (only === undefined) return CountRanges.none
    if (sets.length === 1) return only
    const ranges = sets.flatMap(({ bounds }) => pairsOf(bounds)).sort(([left], [right]) => left - right)
    const bounds: number[] = []
    for (const [from, end] of ranges)
      if (bounds.length > 0 && from <= bounds.at(-1)!) bounds.push(Math.max(bounds.pop()!, end))
      else bounds.push(from, end)
    return new CountRanges(bounds)
  }

  get isEmpty(): boolean {
    return this.bounds.length === 0
  }

  has(count: number): boolean {
    // An odd number of bounds at or below `count` means that it lies inside a range.
    return firstAtLeast(this.bounds, count + 1) % 2 === 1
  }

  /** The counts at or above `from` and below `end`. */
  within(from: number, end: number): CountRanges {
    const bounds: number[] = []
    for (const [first, behind] of pairsOf(this.bounds)) {
      const [low, high] = [Math.max(first, from), Math.min(behind, end)]
      if (low < high) bounds.push(low, high)
    }
    return bounds.length === 0 ? CountRanges.none : new CountRanges(bounds)
  }

  equals({ bounds }: CountRanges): boolean {
    return (
      bounds.length === this.bounds.length && bounds.every((bound, index) => bound === this.bounds[index])
    )
  }
}

function pairsOf(bounds: readonly number[]): [from: number, end: number][] {
  const pairs: [number, number][] = []
  for (let at = 0; at < bounds.length; at += 2) pairs.push([bounds[at]!, bounds[at + 1]!])
  return pairs
}
