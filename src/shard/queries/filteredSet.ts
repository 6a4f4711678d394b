import type { ReadyCounts } from '../readiness/claimPath.js'
import { type Bits, hasBit } from '../sets/bits.js'
import { CountedBits, type Flips } from '../sets/countedBits.js'
import { CountRanges } from '../sets/countRanges.js'
import { type IndexedList, listHas } from '../sets/ordinalList.js'

/** What a filtered set is made of: ordinals of `driver` that are in all the rest. None of it changes but by appends and rewinds. */
export interface FilterParts {
  /** The shortest of the lists. */
  readonly driver: IndexedList
  readonly lists: readonly IndexedList[]
  readonly sets: readonly Bits[]
}

/** Where the shard stands that the ordinals belong to. */
export interface RewindFacts {
  readonly rewindCount: number
  /** Ordinals below are the same now as at that count of rewinds. */
  untouchedSince(rewindCount: number): number
  /** Rows from here on may still come into a list although they were looked at: their sender is not told yet. */
  readonly settledBelow: number
}

/** A list this many times as long as the driver is searched for each of the driver's ordinals, not read as a whole. */
const WORTH_SEARCHING = 8

export function isInAll(ordinal: number, { lists, sets }: FilterParts): boolean {
  for (const set of sets) if (!hasBit(set, ordinal)) return false
  for (const list of lists) if (!listHas(list, ordinal)) return false
  return true
}

/**
 * The answer to a combination of filters over long lists. Made once, word by word; from then on only what is new is
 * looked at, so that its total and its pages cost no more at ten million rows than at ten thousand.
 */
export class FilteredSet {
  readonly bits = new CountedBits()
  readonly #states = new Map<string, StateSet>()
  /** Ordinals of the driver looked at; −1: none yet. */
  #driverLength = -1
  #rewindCount = 0
  #settledBelow = 0

  get sizeBytes(): number {
    let bytes = this.bits.sizeBytes
    for (const { bits } of this.#states.values()) bytes += bits.sizeBytes
    return bytes
  }

  update(parts: FilterParts, rewinds: RewindFacts): void {
    const { driver } = parts
    if (this.#driverLength < 0) this.#make(parts)
    else {
      const isRewound = rewinds.rewindCount !== this.#rewindCount
      const kept = isRewound ? rewinds.untouchedSince(this.#rewindCount) : Number.POSITIVE_INFINITY
      const untouched = Math.min(kept, this.#settledBelow)
      if (untouched < Number.POSITIVE_INFINITY) {
        this.bits.truncate(untouched)
        for (const state of this.#states.values()) state.truncate(untouched)
        this.#driverLength = Math.min(this.#driverLength, driver.rank(untouched))
      }
      for (; this.#driverLength < driver.length; this.#driverLength++) {
        const ordinal = driver.at(this.#driverLength)
        if (isInAll(ordinal, parts)) this.bits.add(ordinal)
      }
    }
    this.#rewindCount = rewinds.rewindCount
    this.#settledBelow = rewinds.settledBelow
  }

  /**
   * Members in some state, which may change at any time. Call `update` before.
   * @param key of the state.
   * @param ready per destination: the state may differ from the last time where these do.
   */
  inState(key: string, state: Bits, flips: Flips, ready: readonly ReadyCounts[]): CountedBits {
    let set = this.#states.get(key)
    if (set === undefined) {
      set = new StateSet()
      this.#states.set(key, set)
    }
    set.update(this.bits, state, flips, ready)
    return set.bits
  }

  #make({ driver, lists, sets }: FilterParts): void {
    const searched = lists.filter((list) => list.length > WORTH_SEARCHING * driver.length)
    for (let position = 0; position < driver.length; position++) {
      const ordinal = driver.at(position)
      if (searched.every((list) => listHas(list, ordinal))) this.bits.add(ordinal)
    }
    const read = lists.filter((list) => !searched.includes(list)).map(bitsOf)
    this.bits.retain([...read, ...sets])
    this.#driverLength = driver.length
  }
}

function bitsOf(list: IndexedList): CountedBits {
  const bits = new CountedBits()
  for (let position = 0; position < list.length; position++) bits.add(list.at(position))
  return bits
}

/** The members of a filtered set that are in one state. */
class StateSet {
  readonly bits = new CountedBits()
  /** Candidates below have been looked at. */
  #lookedBelow = 0
  #flipPosition = -1
  #ready: readonly ReadyCounts[] = []

  truncate(untouched: number): void {
    this.bits.truncate(untouched)
    this.#lookedBelow = Math.min(this.#lookedBelow, untouched)
  }

  update(candidates: CountedBits, state: Bits, flips: Flips, ready: readonly ReadyCounts[]): void {
    const flipped = this.#flipPosition < 0 ? undefined : flips.since(this.#flipPosition)
    if (flipped === undefined || ready.length !== this.#ready.length) {
      this.bits.copyFrom(candidates)
      this.bits.retain([state])
    } else {
      for (const ordinal of flipped) if (candidates.has(ordinal)) this.#look(ordinal, state)
      for (const [at, now] of ready.entries()) {
        const before = this.#ready[at]!
        const [low, high] = [Math.min(now.below, before.below), Math.max(now.below, before.below)]
        this.#lookAll(candidates, state, low, high)
        if (now.above.equals(before.above)) continue
        const { bounds } = CountRanges.union([now.above, before.above])
        for (let bound = 0; bound < bounds.length; bound += 2)
          this.#lookAll(candidates, state, bounds[bound]!, bounds[bound + 1]!)
      }
      this.#lookAll(candidates, state, this.#lookedBelow, Number.POSITIVE_INFINITY)
    }
    this.#lookedBelow = candidates.end
    this.#flipPosition = flips.end
    this.#ready = ready
  }

  #lookAll(candidates: CountedBits, state: Bits, from: number, below: number): void {
    if (from >= below) return
    for (const ordinal of candidates.slice(candidates.rank(from), candidates.rank(below)))
      this.#look(ordinal, state)
  }

  #look(ordinal: number, state: Bits): void {
    if (hasBit(state, ordinal)) this.bits.add(ordinal)
    else this.bits.remove(ordinal)
  }
}

/** A set over ten million rows takes 1.3 MB: room for some two dozen of them per worker, or for thousands of small ones. */
const MAX_BYTES = 32 * 1024 * 1024

/** Filtered sets of all shards by what they are made of; those asked for least recently go first. */
export class FilteredSets {
  readonly #sets = new Map<string, { readonly set: FilteredSet; bytes: number }>()
  #bytes = 0

  /** @param key tells shard, rows and filters: equal keys mean equal parts. */
  find(key: string, parts: FilterParts, rewinds: RewindFacts): FilteredSet {
    const kept = this.#sets.get(key)
    const set = kept?.set ?? new FilteredSet()
    // Not in the map while it changes: a read that fails leaves no half of it behind.
    this.#sets.delete(key)
    this.#bytes -= kept?.bytes ?? 0
    set.update(parts, rewinds)
    const bytes = set.sizeBytes
    this.#sets.set(key, { set, bytes })
    this.#bytes += bytes
    for (const [oldest, { bytes: size }] of this.#sets) {
      if (this.#bytes <= MAX_BYTES || oldest === key) break
      this.#sets.delete(oldest)
      this.#bytes -= size
    }
    return set
  }
}
