import { LIST_CHUNK } from '../store/tables.js'

/** Ascending ordinals that answer one filter, read chunk by chunk: a page costs a few reads at any depth. */
export interface OrdinalList {
  readonly length: number
  /** @returns the ordinal at `position`, which must be below `length`. */
  at(position: number): number
  /** Number of ordinals below `value`, known to lie in [low, high]. */
  rank(value: number, low?: number, high?: number): number
}

/**
 * A list over stored chunks.
 * @param readChunk gives the ordinals of chunk n as memory of its own. The newest chunk read is kept: neighbours cost nothing.
 */
export function chunkedList(length: number, readChunk: (chunk: number) => Uint32Array): OrdinalList {
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
  return { length, at, rank: (value, low = 0, high = length) => firstNotBelow(at, value, low, high) }
}

/** The ordinals 0 … length − 1: what "no filter" lists. */
export function wholeRange(length: number): OrdinalList {
  return {
    length,
    at: (position) => position,
    rank: (value, low = 0, high = length) => Math.min(Math.max(value, low), high),
  }
}

/** One ordinal alone. */
export function singleOrdinal(ordinal: number): OrdinalList {
  return { length: 1, at: () => ordinal, rank: (value) => (ordinal < value ? 1 : 0) }
}

export function listHas(list: OrdinalList, ordinal: number): boolean {
  const rank = list.rank(ordinal)
  return rank < list.length && list.at(rank) === ordinal
}

function firstNotBelow(at: (position: number) => number, value: number, from: number, to: number): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >>> 1
    if (at(middle) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** One page of lists that share no ordinal, as one list from the newest down. */
export function newestOf(lists: readonly OrdinalList[], skip: number, limit: number): number[] {
  const ends = endsBehindNewest(lists, skip)
  const page: number[] = []
  while (page.length < limit) {
    let newest = -1
    let from = -1
    for (let at = 0; at < lists.length; at++) {
      if (ends[at] === 0) continue
      const ordinal = lists[at]!.at(ends[at]! - 1)
      if (ordinal > newest) {
        newest = ordinal
        from = at
      }
    }
    if (from < 0) break
    page.push(newest)
    ends[from]!--
  }
  return page
}

/**
 * How much of each list is left once the `skip` newest ordinals of all are taken away: bisects the ordinal itself, and each
 * step narrows the stretch of every list that the next one looks at, so a deep page costs about as much as the first.
 */
function endsBehindNewest(lists: readonly OrdinalList[], skip: number): number[] {
  const total = lists.reduce((sum, list) => sum + list.length, 0)
  if (skip >= total) return lists.map(() => 0)
  if (skip === 0 || lists.length === 1) return lists.map((list) => list.length - skip)
  const lows = lists.map(() => 0)
  const highs = lists.map((list) => list.length)
  const wanted = total - skip
  // Invariant: fewer than `wanted` ordinals are below `low`, more than `wanted` below `high`; `lows` and `highs` say how many of each list.
  let low = 0
  let high = 1 + Math.max(...lists.map((list) => (list.length === 0 ? -1 : list.at(list.length - 1))))
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const ranks = lists.map((list, at) => list.rank(middle, lows[at], highs[at]))
    const below = ranks.reduce((sum, rank) => sum + rank, 0)
    if (below === wanted) return ranks
    if (below < wanted) {
      low = middle
      for (let at = 0; at < ranks.length; at++) lows[at] = ranks[at]!
    } else {
      high = middle
      for (let at = 0; at < ranks.length; at++) highs[at] = ranks[at]!
    }
  }
  return highs
}

/**
 * Positions of one page of a list without some of its positions, newest first.
 * @param excluded positions that do not count, ascending, without repeats.
 */
export function newestPositionsExcept(
  length: number,
  excluded: readonly number[],
  skip: number,
  limit: number,
): number[] {
  let position = length - 1 - skip
  let next = excluded.length - 1
  while (next >= 0 && excluded[next]! >= position) {
    position--
    next--
  }
  const page: number[] = []
  for (; position >= 0 && page.length < limit; position--) {
    if (next >= 0 && excluded[next] === position) next--
    else page.push(position)
  }
  return page
}
