/** The rows of one network sorted by time, then by ordinal. A place is a position in this order. */
export interface TimeOrder {
  /** Indexed by place; never falls. */
  readonly timestampsSec: readonly number[]
  /** The permutation where times fall; absent where every row's place is its ordinal. */
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
