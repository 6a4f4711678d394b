import { LIST_CHUNK } from '../store/tables.js'

/**
 * Ascending ordinals that answer one filter: deposit counts, or claim ordinals. Every filter and every combination of
 * filters ends as one of these, so totals, pages, ranges and cursors are worked out in one way for all (`pageOf`).
 */
export interface OrdinalList {
  readonly length: number
  /** Number of ordinals below `value`, known to lie in [low, high]. */
  rank(value: number, low?: number, high?: number): number
  /** Ordinals at positions `from` … `to` − 1, ascending; `to` is at most `length`. */
  slice(from: number, to: number): number[]
}

/** A list that reads any of its ordinals at once. */
export interface IndexedList extends OrdinalList {
  /** @returns the ordinal at `position`, which must be below `length`. */
  at(position: number): number
}

/**
 * A list over stored chunks: a page costs a few reads at any depth.
 * @param readChunk gives the ordinals of chunk n as memory of its own. The newest chunk read is kept: neighbours cost nothing.
 */
export function chunkedList(length: number, readChunk: (chunk: number) => Uint32Array): IndexedList {
  let current: Uint32Array | undefined
  let currentNumber = -1
  const at = (position: number): number => {
    const chunk = Math.floor(position / LIST_CHUNK)
    if (current === undefined || chunk !== currentNumber) {
      current = readChunk(chunk)
      currentNumber = chunk
    }
    return current[position % LIST_CHUNK]!
  }
  return indexedList(length, at)
}

/** A list in memory. @param ordinals ascending, without repeats. */
export function listOf(ordinals: readonly number[]): IndexedList {
  return indexedList(ordinals.length, (position) => ordinals[position]!)
}

/** The ordinals 0 … length − 1: what "no filter" lists. */
export function wholeRange(length: number): IndexedList {
  return {
    ...indexedList(length, (position) => position),
    rank: (value, low = 0, high = length) => Math.min(Math.max(value, low), high),
  }
}

export function listHas(list: IndexedList, ordinal: number): boolean {
  const rank = list.rank(ordinal)
  return rank < list.length && list.at(rank) === ordinal
}

function indexedList(length: number, at: (position: number) => number): IndexedList {
  return {
    length,
    at,
    rank: (value, low = 0, high = length) => firstNotBelow(at, value, low, high),
    slice(from, to) {
      const ordinals: number[] = []
      for (let position = from; position < to; position++) ordinals.push(at(position))
      return ordinals
    },
  }
}

function firstNotBelow(at: (position: number) => number, value: number, from: number, to: number): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (at(middle) < value) low = middle + 1
    else high = middle
  }
  return low
}
