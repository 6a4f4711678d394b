/** The place of bytes that are not there. */
export const NOWHERE = -1
/** Chunks of packed tables have 4,080 bytes at most, and kernels read up to 16 past the end of a row. */
export const SLOT_BYTES = 4096
/** Neighbouring chunks of one table never share a slot; those of several tables mostly do not. */
const OWNER_STEP = 97

/** What the slots need of the arena that they lie in. */
interface SlotArena {
  readonly input: Uint8Array
  /** Number that the next row gets. */
  readonly nextRow: number
  /** Rows from this number on are not written yet: their chunks must stay. */
  readonly firstUnwritten: number
  flush(): void
}

/**
 * Chunks of stored rows in the arena, each in the one slot that its number falls into: what came last stays, for as long as its
 * shard stands at the same commit. Chunks that are asked for again cost no read, and rows are written from where they lie.
 * A row may lie in one chunk of the same slots at most: a second one might fall into the slot of the first.
 */
export class ChunkSlots {
  readonly #arena: SlotArena
  readonly #at: number
  readonly #count: number
  /** owner · 2^32 + number of the chunk. */
  readonly #keys: Float64Array
  readonly #versions: Float64Array
  readonly #lengths: Int32Array
  /** Newest row that lies in the slot, by its number in the arena. */
  readonly #rows: Float64Array

  /** @param at place of the first slot in the arena. */
  constructor(arena: SlotArena, at: number, count: number) {
    this.#arena = arena
    this.#at = at
    this.#count = count
    this.#keys = new Float64Array(count).fill(-1)
    this.#versions = new Float64Array(count)
    this.#lengths = new Int32Array(count)
    this.#rows = new Float64Array(count).fill(-1)
  }

  /**
   * Place of a chunk, for the row that is being packed; NOWHERE while it must be read.
   * @param version of its shard. @param leastLength a shorter one is read again, so that the reader tells what is missing.
   */
  find(owner: number, number: number, version: number, leastLength: number): number {
    const slot = this.#slotOf(owner, number)
    if (
      this.#keys[slot] !== keyOf(owner, number) ||
      this.#versions[slot] !== version ||
      this.#lengths[slot]! < leastLength
    )
      return NOWHERE
    this.#rows[slot] = this.#arena.nextRow
    return this.#at + SLOT_BYTES * slot
  }

  /** Copies a chunk that was just read, or keeps in mind that there is none. @returns its place. */
  put(owner: number, number: number, version: number, chunk: Uint8Array | undefined): number {
    const slot = this.#slotOf(owner, number)
    const place = this.#at + SLOT_BYTES * slot
    // Rows that are not written yet may lie in what the slot holds.
    if (this.#rows[slot]! >= this.#arena.firstUnwritten) this.#arena.flush()
    if (chunk !== undefined) this.#arena.input.set(chunk, place)
    this.#keys[slot] = keyOf(owner, number)
    this.#versions[slot] = version
    this.#lengths[slot] = chunk?.length ?? 0
    this.#rows[slot] = this.#arena.nextRow
    return place
  }

  /** Length of the chunk that stands at a place. */
  lengthAt(place: number): number {
    return this.#lengths[(place - this.#at) / SLOT_BYTES]!
  }

  #slotOf(owner: number, number: number): number {
    return (number + OWNER_STEP * owner) % this.#count
  }
}

function keyOf(owner: number, number: number): number {
  return owner * 2 ** 32 + number
}
