import { InvariantError } from '../../errors/invariantError.js'

/** The place of bytes that are not there. */
export const NOWHERE = -1

/** Neighbours of one table never share a slot; those of several tables mostly do not. */
const OWNER_STEP = 97

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
  /** owner · 2^32 + number. */
  readonly #keys: Float64Array
  readonly #stamps: Float64Array
  readonly #lengths: Int32Array
  /** Newest row that lies in the slot, by its number in the arena. */
  readonly #rows: Float64Array

  constructor(arena: SlotArena, from: number, count: number, slotBytes: number) {
    if (count < 1 || (count & (count - 1)) !== 0) throw new RangeError(`${count} slots: not a power of two`)
    this.#arena = arena
    this.from = from
    this.#mask = count - 1
    this.slotBytes = slotBytes
    this.#keys = new Float64Array(count).fill(-1)
    this.#stamps = new Float64Array(count)
    this.#lengths = new Int32Array(count)
    this.#rows = new Float64Array(count).fill(-1)
  }

  /**
   * Place of stored bytes, for the row that is being packed; NOWHERE while they must be read.
   * @param leastLength shorter ones are read again, so that the reader tells what is missing.
   */
  find(owner: number, number: number, stamp: number, leastLength: number): number {
    const slot = this.#slotOf(owner, number)
    if (
      this.#keys[slot] !== keyOf(owner, number) ||
      this.#stamps[slot] !== stamp ||
      this.#lengths[slot]! < leastLength
    )
      return NOWHERE
    this.#rows[slot] = this.#arena.nextRow
    return this.from + this.slotBytes * slot
  }

  /** Copies bytes that were just read, or keeps in mind that there are none. @returns their place. */
  put(owner: number, number: number, stamp: number, bytes: Uint8Array | undefined): number {
    const length = bytes?.length ?? 0
    if (length > this.slotBytes)
      throw new InvariantError(`${length} stored bytes exceed a slot of ${this.slotBytes}`)
    const slot = this.#slotOf(owner, number)
    const place = this.from + this.slotBytes * slot
    // Rows that are not written yet may lie in what the slot holds.
    if (this.#rows[slot]! >= this.#arena.firstUnwritten) this.#arena.flush()
    if (bytes !== undefined) this.#arena.input.set(bytes, place)
    this.#keys[slot] = keyOf(owner, number)
    this.#stamps[slot] = stamp
    this.#lengths[slot] = length
    this.#rows[slot] = this.#arena.nextRow
    return place
  }

  /** Length of bytes that were just found, or put. */
  lengthOf(owner: number, number: number): number {
    return this.#lengths[this.#slotOf(owner, number)]!
  }

  forgetAll(): void {
    this.#keys.fill(-1)
  }

  #slotOf(owner: number, number: number): number {
    return (number + OWNER_STEP * owner) & this.#mask
  }
}

function keyOf(owner: number, number: number): number {
  return owner * 2 ** 32 + number
}
