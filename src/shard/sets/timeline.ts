import { firstAtLeast } from './countRanges.js'
import type { OrdinalList } from './ordinalList.js'

/** The rows of one network, sorted by time, then by ordinal. A place is a position in this order. */
export interface TimeOrder {
  /** Indexed by place; ascending. */
  readonly timestampsSec: readonly number[]
  /** The permutation of places and ordinals. Absent when times never fall: every row's place is its ordinal. */
  readonly mixed?: MixedOrder
}

interface MixedOrder {
  /** Indexed by place. */
  readonly ordinals: readonly number[]
  /** Indexed by ordinal. */
  readonly places: Uint32Array
  /** Indexed by place: one more than the highest ordinal before it. */
  readonly ordinalsBelow: Uint32Array
}

/** @param times indexed by ordinal. */
export function orderByTime(times: readonly number[]): TimeOrder {
  const ordinals = times.map((_, ordinal) => ordinal).sort((a, b) => times[a]! - times[b]! || a - b)
  const places = new Uint32Array(times.length)
  const ordinalsBelow = new Uint32Array(times.length + 1)
  ordinals.forEach((ordinal, place) => {
    places[ordinal] = place
    ordinalsBelow[place + 1] = Math.max(ordinalsBelow[place]!, ordinal + 1)
  })
  const mixed = { ordinals, places, ordinalsBelow }
  return { timestampsSec: ordinals.map((ordinal) => times[ordinal]!), mixed }
}

/** The matching rows of one network, sorted by time. */
export interface Strand {
  readonly networkId: number
  /** Places in `order`. */
  readonly rows: OrdinalList
  readonly order: TimeOrder
}

/** Sort key of a row among the rows of all networks: time, then network, then ordinal. */
export interface TimelineKey {
  readonly timestampSec: number
  readonly networkId: number
  readonly ordinal: number
}

/** Rows of several networks in one order. Nothing is copied: a page at any depth costs only its own length. */
export class Timeline {
  readonly length: number
  /** Sorted by network id, which decides between equal times. */
  readonly #strands: readonly Strand[]

  constructor(strands: readonly Strand[]) {
    this.#strands = [...strands].sort((left, right) => left.networkId - right.networkId)
    this.length = strands.reduce((sum, { rows }) => sum + rows.length, 0)
  }

  /** Number of rows before the key. */
  rank(key: TimelineKey): number {
    return this.#strands.reduce((sum, strand) => sum + strand.rows.rank(placeAt(strand, key)), 0)
  }

  /** Rows at positions `from` … `to` − 1, oldest first; `to` is at most `length`. */
  slice(from: number, to: number): TimelineKey[] {
    if (from >= to) return []
    const starts = this.#splitAt(from)
    const heads = this.#strands.map(({ rows }, at) =>
      rows.slice(starts[at]!, Math.min(rows.length, starts[at]! + to - from)),
    )
    const next = heads.map(() => 0)
    const rows: TimelineKey[] = []
    while (rows.length < to - from) {
      let earliest: TimelineKey | undefined
      let chosen = -1
      for (let at = 0; at < heads.length; at++) {
        const { networkId, order } = this.#strands[at]!
        const place = heads[at]![next[at]!]
        if (place === undefined) continue
        const timestampSec = order.timestampsSec[place]!
        if (earliest !== undefined && timestampSec >= earliest.timestampSec) continue
        earliest = { timestampSec, networkId, ordinal: order.mixed?.ordinals[place] ?? place }
        chosen = at
      }
      if (earliest === undefined) break
      rows.push(earliest)
      next[chosen]!++
    }
    return rows
  }

  /** How many rows of each strand are among the first `count` of all. */
  #splitAt(count: number): number[] {
    let low = 0
    let high = 1 + Math.max(0, ...this.#strands.map(({ order }) => order.timestampsSec.at(-1) ?? 0))
    // Invariant: at most `count` rows are earlier than `low`. More than `count` are earlier than `high`, or `high` is after all rows.
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#countBefore(middle) <= count) low = middle
      else high = middle
    }
    let left = count - this.#countBefore(low)
    return this.#strands.map(({ rows, order: { timestampsSec } }) => {
      const earlier = rows.rank(firstAtLeast(timestampsSec, low))
      const taken = Math.min(left, rows.rank(firstAtLeast(timestampsSec, low + 1)) - earlier)
      left -= taken
      return earlier + taken
    })
  }

  #countBefore(timestampSec: number): number {
    return this.#strands.reduce(
      (sum, { rows, order }) => sum + rows.rank(firstAtLeast(order.timestampsSec, timestampSec)),
      0,
    )
  }
}

/** First place of the strand whose row is not before `key`. */
function placeAt({ networkId, order }: Strand, key: TimelineKey): number {
  const { timestampsSec, mixed } = order
  const { timestampSec } = key
  if (networkId !== key.networkId)
    return firstAtLeast(timestampsSec, networkId < key.networkId ? timestampSec + 1 : timestampSec)
  if (mixed === undefined) return key.ordinal
  let low = firstAtLeast(timestampsSec, timestampSec)
  let high = firstAtLeast(timestampsSec, timestampSec + 1)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (mixed.ordinals[middle]! < key.ordinal) low = middle + 1
    else high = middle
  }
  return low
}

/** An upper bound: each row of the strand that comes before `key` has an ordinal below it. */
export function ordinalBoundBefore(strand: Strand, key: TimelineKey): number {
  const at = placeAt(strand, key)
  return strand.order.mixed?.ordinalsBelow[at] ?? at
}
