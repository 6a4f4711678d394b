/** Rows by time, then by ordinal. */
export interface TimeOrder {
  /** By place; never falls. */
  readonly timestampsSec: readonly number[]
  /** What times that fall need besides; absent where each row has its ordinal's place. */
  readonly mixed?: MixedOrder
}

interface MixedOrder {
  /** By place. */
  readonly ordinals: readonly number[]
  /** By ordinal. */
  readonly places: Uint32Array
  /** By place: all rows before it have ordinals below this. */
  readonly ordinalsBelow: Uint32Array
}

/** @param times by ordinal. */
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
