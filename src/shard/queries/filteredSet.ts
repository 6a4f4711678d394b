import type { ReadyCounts } from '../readiness/claimPath.js'
import { type Bits, hasBit } from '../sets/bits.js'
import { CountedBits, type Flips } from '../sets/countedBits.js'
import { CountRanges } from '../sets/countRanges.js'
import { type IndexedList, listHas } from '../sets/ordinalList.js'

/** The parts of a filtered set: its members are the ordinals of `driver` that are in all the others. Parts change only by appends and rewinds. */
export interface FilterParts {
  /** The shortest list. */
  readonly driver: IndexedList
  readonly lists: readonly IndexedList[]
  readonly sets: readonly Bits[]
}

/** What can change after rows were checked: rewinds, and the rows from the watermark on. */
export interface RewindFacts {
  readonly epoch: number
  /** Ordinals below the result are the same now as they were after that number of rewinds. */
  untouchedSince(epoch: number): number
  /** No row below this ordinal can enter a list later. Rows from it on may: their senders are not known yet. */
  readonly fixedBelow: number
}

/** A list more than this many times as long as the driver is not read whole: each of the driver's ordinals is searched in it. */
const WORTH_SEARCHING = 8

export function isInAll(ordinal: number, { lists, sets }: FilterParts): boolean {
  for (const set of sets) if (!hasBit(set, ordinal)) return false
  for (const list of lists) if (!listHas(list, ordinal)) return false
  return true
}

/**
 * The members of a combination of filters over long lists. Made once, word by word; later updates check only new ordinals, so that
 * totals and pages cost the same with ten million rows as with ten thousand.
 */
export class FilteredSet {
  readonly bits = new CountedBits()
  readonly #states = new Map<string, StateSet>()
  /** Number of the driver's ordinals that were checked; −1: not made yet. */
  #driverLength = -1
  #epoch = 0
  #fixedBelow = 0

  get sizeBytes(): number {
    let bytes = this.bits.sizeBytes
    for (const { bits } of this.#states.values()) bytes += bits.sizeBytes
    return bytes
  }

  update(parts: FilterParts, rewinds: RewindFacts): void {
    const { driver } = parts
    if (this.#driverLength < 0) this.#make(parts)
    else {
      const isRewound = rewinds.epoch !== this.#epoch
      const kept = isRewound ? rewinds.untouchedSince(this.#epoch) : Number.POSITIVE_INFINITY
      const untouched = Math.min(kept, this.#fixedBelow)
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
    this.#epoch = rewinds.epoch
    this.#fixedBelow = rewinds.fixedBelow
  }

  /**
   * Members that are in one state, which changes with claims and readiness. Call `update` before.
   * @param key names the state. @param state all deposits in that state. @param flips deposits whose claim came or went.
   * @param ready by destination: where these differ from the last call, the state may have changed, too.
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
  /** Candidates below this ordinal have been checked. */
  #checkedBelow = 0
  #flipPosition = -1
  #ready: readonly ReadyCounts[] = []

  truncate(untouched: number): void {
    this.bits.truncate(untouched)
    this.#checkedBelow = Math.min(this.#checkedBelow, untouched)
  }

  update(candidates: CountedBits, state: Bits, flips: Flips, ready: readonly ReadyCounts[]): void {
    const flipped = this.#flipPosition < 0 ? undefined : flips.since(this.#flipPosition)
    if (flipped === undefined || ready.length !== this.#ready.length) {
      this.bits.copyFrom(candidates)
      this.bits.retain([state])
    } else {
      for (const ordinal of flipped) if (candidates.has(ordinal)) this.#check(ordinal, state)
      for (const [at, now] of ready.entries()) {
        const before = this.#ready[at]!
        const [low, high] = [Math.min(now.below, before.below), Math.max(now.below, before.below)]
        this.#checkAll(candidates, state, low, high)
        if (now.above.equals(before.above)) continue
        const { bounds } = CountRanges.union([now.above, before.above])
        for (let bound = 0; bound < bounds.length; bound += 2)
          this.#checkAll(candidates, state, bounds[bound]!, bounds[bound + 1]!)
      }
      this.#checkAll(candidates, state, this.#checkedBelow, Number.POSITIVE_INFINITY)
    }
    this.#checkedBelow = candidates.end
    this.#flipPosition = flips.end
    this.#ready = ready
  }

  #checkAll(candidates: CountedBits, state: Bits, from: number, below: number): void {
    if (from >= below) return
    for (const ordinal of candidates.slice(candidates.rank(from), candidates.rank(below)))
      this.#check(ordinal, state)
  }

  #check(ordinal: number, state: Bits): void {
    if (hasBit(state, ordinal)) this.bits.add(ordinal)
    else this.bits.remove(ordinal)
  }
}

/** A set over ten million rows takes 1.3 MB: there is room for two dozen of those per query thread, or for thousands of small ones. */
const MAX_BYTES = 32 * 1024 * 1024

/** A cache of the filtered sets of all shards. Drops the least recently used ones beyond MAX_BYTES. */
export class FilteredSets {
  readonly #sets = new Map<string, { readonly set: FilteredSet; bytes: number }>()
  #bytes = 0

  /** @param key names shard, rows and filters: equal keys must mean equal parts. */
  find(key: string, parts: FilterParts, rewinds: RewindFacts): FilteredSet {
    const kept = this.#sets.get(key)
    const set = kept?.set ?? new FilteredSet()
    // Taken out of the map while it changes, so that a failed read leaves no half-updated set behind.
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
