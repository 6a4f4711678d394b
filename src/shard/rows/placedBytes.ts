import { NOWHERE } from './chunkSlots.js'
import type { RowArena } from './rowArena.js'

/**
 * 16 bytes each: what is placed for one page mostly serves the next. Messages have origins and metadata of their own: with a
 * quarter of the slots each of them was read from the store, a sixth of a page (200,000 bridges, one of ten a message;
 * November 2026).
 */
const SLOTS = 16_384

/** Entries of a dictionary that rows of the arena share: what is there already is not copied again. */
export class PlacedBytes {
  readonly #arena: RowArena
  readonly #ids = new Float64Array(SLOTS).fill(-1)
  readonly #places = new Int32Array(SLOTS)
  readonly #lengths = new Int32Array(SLOTS)
  #generation = -1
  #epoch = -1

  constructor(arena: RowArena) {
    this.#arena = arena
  }

  /** Begins a page. @param epoch of the shard: a reorg may have given an id to another entry. */
  begin(epoch: number): void {
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#ids.fill(-1)
  }

  /** Where entry `id` stands; NOWHERE while it does not. */
  find(id: number): number {
    this.#follow()
    const slot = id % SLOTS
    return this.#ids[slot] === id ? this.#places[slot]! : NOWHERE
  }

  /** Length of an entry that was found. */
  lengthOf(id: number): number {
    return this.#lengths[id % SLOTS]!
  }

  /** Copies the entry. @returns its place. */
  place(id: number, bytes: Uint8Array): number {
    this.#follow()
    const slot = id % SLOTS
    const at = this.#arena.place(bytes)
    this.#ids[slot] = id
    this.#places[slot] = at
    this.#lengths[slot] = bytes.length
    return at
  }

  #follow(): void {
    if (this.#generation === this.#arena.generation) return
    this.#generation = this.#arena.generation
    this.#ids.fill(-1)
  }
}
