import type { RowArena } from './rowArena.js'

/** The chunk of a packed table that the arena got last: the rows of a page mostly lie in few. */
export class PlacedChunk {
  readonly #arena: RowArena
  readonly #rowsPerChunk: number
  readonly #rowBytes: number
  readonly #read: (ordinal: number) => Uint8Array
  #first = -1
  #at = 0
  #rows = 0
  #generation = -1

  /** @param read gives the chunk with a row, as the store's own bytes; throws when the chunk ends before it. */
  constructor(
    arena: RowArena,
    rowsPerChunk: number,
    rowBytes: number,
    read: (ordinal: number) => Uint8Array,
  ) {
    this.#arena = arena
    this.#rowsPerChunk = rowsPerChunk
    this.#rowBytes = rowBytes
    this.#read = read
  }

  /** Place of a row in the arena, which must have room for its chunk. */
  placeOf(ordinal: number): number {
    const offset = ordinal % this.#rowsPerChunk
    const first = ordinal - offset
    if (offset >= this.#rows || first !== this.#first || this.#generation !== this.#arena.generation) {
      const chunk = this.#read(ordinal)
      this.#at = this.#arena.place(chunk)
      this.#rows = Math.floor(chunk.length / this.#rowBytes)
      this.#first = first
      this.#generation = this.#arena.generation
    }
    return this.#at + offset * this.#rowBytes
  }
}
