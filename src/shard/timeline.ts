import { firstAtLeast } from './firstAtLeast.js'
import type { OrdinalList } from './ordinalList.js'

/** Rows of one network in the order of its chain. */
export interface Strand {
  readonly networkId: number
  readonly rows: OrdinalList
  /** By ordinal; never falls. */
  readonly timestampsSec: readonly number[]
}

/** Place of a row among the rows of all networks: by time, then network, then position in its chain. */
export interface TimelinePlace {
  readonly timestampSec: number
  readonly networkId: number
  readonly ordinal: number
}

/** Rows of several networks in one order, nothing copied: a page costs its own length, at any depth. */
export class Timeline {
  readonly length: number
  /** By network id, which decides between equal times. */
  readonly #strands: readonly Strand[]

  constructor(strands: readonly Strand[]) {
    this.#strands = [...strands].sort((left, right) => left.networkId - right.networkId)
    this.length = strands.reduce((sum, { rows }) => sum + rows.length, 0)
  }

  /** Number of rows before the place. */
  rank(place: TimelinePlace): number {
    return this.#strands.reduce((sum, strand) => sum + strand.rows.rank(ordinalAt(strand, place)), 0)
  }

  /** Rows at positions `from` … `to` − 1, oldest first; `to` is at most `length`. */
  slice(from: number, to: number): TimelinePlace[] {
    if (from >= to) return []
    const starts = this.#splitAt(from)
    const heads = this.#strands.map(({ rows }, at) =>
      rows.slice(starts[at]!, Math.min(rows.length, starts[at]! + to - from)),
    )
    const next = heads.map(() => 0)
    const places: TimelinePlace[] = []
    while (places.length < to - from) {
      let earliest: TimelinePlace | undefined
      let chosen = -1
      for (let at = 0; at < heads.length; at++) {
        const { networkId, timestampsSec } = this.#strands[at]!
        const ordinal = heads[at]![next[at]!]
        if (ordinal === undefined) continue
        const timestampSec = timestampsSec[ordinal]!
        if (earliest !== undefined && timestampSec >= earliest.timestampSec) continue
        earliest = { timestampSec, networkId, ordinal }
        chosen = at
      }
      if (earliest === undefined) break
      places.push(earliest)
      next[chosen]!++
    }
    return places
  }

  /** How many rows of each strand are among the `count` first of all. */
  #splitAt(count: number): number[] {
    let low = 0
    let high = 1 + Math.max(0, ...this.#strands.map(({ timestampsSec }) => timestampsSec.at(-1) ?? 0))
    // Invariant: at most `count` rows are earlier than `low`, more are earlier than `high` (or it is behind all).
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#countBefore(middle) <= count) low = middle
      else high = middle
    }
    let left = count - this.#countBefore(low)
    return this.#strands.map(({ rows, timestampsSec }) => {
      const earlier = rows.rank(firstAtLeast(timestampsSec, low))
      const taken = Math.min(left, rows.rank(firstAtLeast(timestampsSec, low + 1)) - earlier)
      left -= taken
      return earlier + taken
    })
  }

  #countBefore(timestampSec: number): number {
    return this.#strands.reduce(
      (sum, { rows, timestampsSec }) => sum + rows.rank(firstAtLeast(timestampsSec, timestampSec)),
      0,
    )
  }
}

/** First ordinal of the strand that does not stand before the place. */
export function ordinalAt({ networkId, timestampsSec }: Strand, place: TimelinePlace): number {
  if (networkId === place.networkId) return place.ordinal
  return firstAtLeast(
    timestampsSec,
    networkId < place.networkId ? place.timestampSec + 1 : place.timestampSec,
  )
}
