import { InvariantError } from '../../errors/invariantError.js'

/** The place of bytes that are not there. */
export const NOWHERE = -1

/** Neighbours of one table never share a slot; those of several tables mostly do not. */
const OWNER_STEP = 97

/** Of each slot: owner · 2^32 + number, stamp, length, and the newest row that lies in it, by its number in the arena. */
const KEY = 0
const STAMP = 1
const LENGTH = 2
const ROW = 3
const FACTS = 4

/** What the slots need of the arena that they lie in. */
interface SlotArena {
  readonly input: Uint8Array
  /** Number that the next row gets. */
  readonly nextRow: number
  /** Rows from this number on are not written yet: what they lie in must stay. */
  readonly firstUnwritten: number
  flush(): void
}

/**
 * Slots of one size in the arena. Stored bytes lie in the one slot that their number falls into, until others with the same slot
 * come, and are good for as long as their stamp is the one that is asked for. Bytes that are asked for again cost no read, and rows
 * are written from where they lie. A row may lie in one of these slots at most: what it needs second might take the place of what
 * it needs first.
 */
export class ArenaSlots {
  /** Place of the first slot in the arena. */
  readonly from: number
  readonly slotBytes: number
  readonly #arena: SlotArena
  /** Number of slots, a power of two, less one: a remainder by division was felt in each look-up. */
  readonly #mask: number
  /** Four numbers of each slot, which so lie in one line of the processor's cache. */
  readonly #facts: Float64Array

  constructor(arena: SlotArena, from: number, count: number, slotBytes: number) {
    if (count < 1 || (count & (count - 1)) !== 0) throw new RangeError(`${count} slots: not a power of two`)
    this.#arena = arena
    this.from = from
    this.#mask = count - 1
    this.slotBytes = slotBytes
    this.#facts = new Float64Array(FACTS * count)
    this.forgetAll()
  }

  /**
   * Place of stored bytes, for the row that is being packed; NOWHERE while they must be read.
   * @param leastLength shorter ones are read again, so that the reader tells what is missing.
   */
  find(owner: number, number: number, stamp: number, leastLength: number): number {
    const slot = this.#slotOf(owner, number)
    const facts = this.#facts
    const at = FACTS * slot
    if (
      facts[at + KEY] !== keyOf(owner, number) ||
      facts[at + STAMP] !== stamp ||
      facts[at + LENGTH]! < leastLength
    )
      return NOWHERE
    facts[at + ROW] = this.#arena.nextRow
    return this.from + this.slotBytes * slot
  }

  /** Copies bytes that were just read, or keeps in mind that there are none. @returns their place. */
  put(owner: number, number: number, stamp: number, bytes: Uint8Array | undefined): number {
    const length = bytes?.length ?? 0
    if (length > this.slotBytes)
      throw new InvariantError(`${length} stored bytes exceed a slot of ${this.slotBytes}`)
    const slot = this.#slotOf(owner, number)
    const place = this.from + this.slotBytes * slot
    const facts = this.#facts
    const at = FACTS * slot
    // Rows that are not written yet may lie in what the slot holds.
    if (facts[at + ROW]! >= this.#arena.firstUnwritten) this.#arena.flush()
    if (bytes !== undefined) this.#arena.input.set(bytes, place)
    facts[at + KEY] = keyOf(owner, number)
    facts[at + STAMP] = stamp
    facts[at + LENGTH] = length
    facts[at + ROW] = this.#arena.nextRow
    return place
  }

  /** Length of bytes that were just found, or put. */
  lengthOf(owner: number, number: number): number {
    return this.#facts[FACTS * this.#slotOf(owner, number) + LENGTH]!
  }

  forgetAll(): void {
    this.#facts.fill(-1)
  }

  #slotOf(owner: number, number: number): number {
    return (number + OWNER_STEP * owner) & this.#mask
  }
}

function keyOf(owner: number, number: number): number {
  return owner * 2 ** 32 + number
}
