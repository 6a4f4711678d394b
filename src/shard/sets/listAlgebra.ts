import { firstAtLeast } from './countRanges.js'
import { AnyIndexedList, type IndexedList, listOf, type OrdinalList } from './ordinalList.js'

/** The union of lists that share no ordinal. Nothing is copied: reading a page merges only the page. */
export function unionOf(all: readonly OrdinalList[]): OrdinalList {
  // Often only one list has members: next to an address's claims, the list of its claims that an administrator set is mostly empty.
  const lists = all.filter((list) => list.length > 0)
  const [only] = lists
  if (only !== undefined && lists.length === 1) return only
  return {
    length: lists.reduce((sum, list) => sum + list.length, 0),
    rank: (value) => lists.reduce((sum, list) => sum + list.rank(value), 0),
    slice(from, to) {
      const starts = splitAt(lists, from)
      // Each list may hold the whole page.
      const heads = lists.map((list, at) =>
        list.slice(starts[at]!, Math.min(list.length, starts[at]! + to - from)),
      )
      return mergeFirst(heads, to - from)
    },
  }
}

/**
 * How many ordinals of each list are among the `count` smallest of all. Bisects over the value of the ordinal; each step narrows
 * the part of every list that the next step searches, so a deep page costs about as much as the first.
 */
function splitAt(lists: readonly OrdinalList[], count: number): number[] {
  const lows = lists.map(() => 0)
  const highs = lists.map((list) => list.length)
  if (count === 0) return lows
  if (count >= highs.reduce((sum, length) => sum + length, 0)) return highs
  // Invariant: fewer than `count` ordinals are below `low`, more than `count` below `high`. `lows` and `highs` are those numbers by list.
  let low = 0
  let high =
    1 +
    Math.max(...lists.map((list) => (list.length === 0 ? -1 : list.slice(list.length - 1, list.length)[0]!)))
  for (;;) {
    const middle = Math.floor((low + high) / 2)
    const ranks = lists.map((list, at) => list.rank(middle, lows[at], highs[at]))
    const below = ranks.reduce((sum, rank) => sum + rank, 0)
    if (below === count) return ranks
    if (below < count) {
      low = middle
      for (let at = 0; at < ranks.length; at++) lows[at] = ranks[at]!
    } else {
      high = middle
      for (let at = 0; at < ranks.length; at++) highs[at] = ranks[at]!
    }
  }
}

function mergeFirst(heads: readonly (readonly number[])[], limit: number): number[] {
  const next = heads.map(() => 0)
  const merged: number[] = []
  while (merged.length < limit) {
    let least = Number.POSITIVE_INFINITY
    let from = -1
    for (let at = 0; at < heads.length; at++) {
      const ordinal = heads[at]![next[at]!]
      if (ordinal !== undefined && ordinal < least) {
        least = ordinal
        from = at
      }
    }
    if (from < 0) break
    merged.push(least)
    next[from]!++
  }
  return merged
}

/**
 * The union of a list and a few ordinals that it does not contain. Nothing is copied: what is at a position of the union is found
 * by bisecting `more`.
 */
export function withMore(list: IndexedList, more: IndexedList): IndexedList {
  return new ListWithMore(list, more)
}

class ListWithMore extends AnyIndexedList {
  readonly length: number
  readonly #list: IndexedList
  readonly #more: IndexedList

  constructor(list: IndexedList, more: IndexedList) {
    super()
    this.#list = list
    this.#more = more
    this.length = list.length + more.length
  }

  at(position: number): number {
    // Index of the first of `#more` whose position in the union is not below `position`.
    let first = 0
    let end = this.#more.length
    while (first < end) {
      const middle = Math.floor((first + end) / 2)
      if (this.#placeOf(middle) < position) first = middle + 1
      else end = middle
    }
    return first < this.#more.length && this.#placeOf(first) === position
      ? this.#more.at(first)
      : this.#list.at(position - first)
  }

  override rank(value: number): number {
    return this.#list.rank(value) + this.#more.rank(value)
  }

  override slice(from: number, to: number): number[] {
    if (from >= to) return []
    const before = this.#list.rank(this.at(from))
    const ours = this.#list.slice(before, Math.min(this.#list.length, before + to - from))
    const theirs = this.#more.slice(from - before, Math.min(this.#more.length, to - before))
    return mergeFirst([ours, theirs], to - from)
  }

  #placeOf(index: number): number {
    return index + this.#list.rank(this.#more.at(index))
  }
}

/** A list without a few of its ordinals. @param omitted ascending; ordinals that are not in the list are ignored. */
export function without(list: OrdinalList, omitted: readonly number[]): OrdinalList {
  const positions = positionsIn(list, omitted)
  if (positions.length === 0) return list
  /** From a position in the result to the position of the same ordinal in `list`. */
  const outer = (position: number): number => {
    // Finds the first omitted ordinal that has more than `position` kept ordinals before it.
    let low = 0
    let high = positions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (positions[middle]! - middle > position) high = middle
      else low = middle + 1
    }
    return position + low
  }
  return {
    length: list.length - positions.length,
    rank(value) {
      const rank = list.rank(value)
      return rank - firstAtLeast(positions, rank)
    },
    slice(from, to) {
      if (from >= to) return []
      const first = outer(from)
      const ordinals = list.slice(first, outer(to - 1) + 1)
      const skipped = new Set(positions.slice(firstAtLeast(positions, first)))
      return ordinals.filter((_, index) => !skipped.has(first + index))
    },
  }
}

/** The ordinals `from` … `below` − 1. */
export interface OrdinalStretch {
  readonly from: number
  readonly below: number
}

/** A list with at most this many ordinals per stretch is read whole. In a longer one the ends of the stretches are bisected. */
const WORTH_READING = 128

/** The ordinals of a list that lie in the stretches. @param stretches ascending, without overlap. */
export function within(list: OrdinalList, stretches: readonly OrdinalStretch[]): OrdinalList {
  if (list.length <= WORTH_READING * stretches.length) {
    let at = 0
    const ordinals = list.slice(0, list.length).filter((ordinal) => {
      while (at < stretches.length && stretches[at]!.below <= ordinal) at++
      return at < stretches.length && stretches[at]!.from <= ordinal
    })
    return listOf(ordinals)
  }
  /** Position of each stretch's first ordinal: in `list` (outer) and in the result (inner). */
  const outer: number[] = []
  const inner: number[] = []
  let length = 0
  let rank = 0
  for (const { from, below } of stretches) {
    const first = list.rank(from, rank)
    rank = list.rank(below, first)
    outer.push(first)
    inner.push(length)
    length += rank - first
  }
  const lengthOf = (at: number) => (inner[at + 1] ?? length) - inner[at]!
  return {
    length,
    rank(value) {
      const at = firstAtLeast(outer, list.rank(value) + 1) - 1
      if (at < 0) return 0
      return inner[at]! + Math.min(lengthOf(at), list.rank(value) - outer[at]!)
    },
    slice(from, to) {
      const ordinals: number[] = []
      for (let at = Math.max(0, firstAtLeast(inner, from + 1) - 1); at < inner.length; at++) {
        if (inner[at]! >= to) break
        const start = Math.max(0, from - inner[at]!)
        const end = Math.min(lengthOf(at), to - inner[at]!)
        if (start < end) ordinals.push(...list.slice(outer[at]! + start, outer[at]! + end))
      }
      return ordinals
    },
  }
}

/** Positions in the list of those `ordinals` that are in it. @param ordinals ascending. */
function positionsIn(list: OrdinalList, ordinals: readonly number[]): number[] {
  const positions: number[] = []
  let rank = 0
  for (const ordinal of ordinals) {
    rank = list.rank(ordinal, rank)
    if (rank === list.length) break
    if (list.slice(rank, rank + 1)[0] === ordinal) positions.push(rank)
  }
  return positions
}
