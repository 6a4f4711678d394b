import { type ChunkSlots, NOWHERE } from './chunkSlots.js'
import type { RowArena } from './rowArena.js'

/** Rows of one packed table of one shard in the arena. */
export class PlacedChunks {
  readonly #slots: ChunkSlots
  readonly #owner: number
  readonly #rowsPerChunk: number
  readonly #rowBytes: number
  readonly #read: (ordinal: number) => Uint8Array
  #version = -1

  /** @param read gives the chunk with a row, as the store's own bytes; throws when the chunk ends before it. */
  constructor(
    arena: RowArena,
    slots: ChunkSlots,
    rowsPerChunk: number,
    rowBytes: number,
    read: (ordinal: number) => Uint8Array,
  ) {
    this.#slots = slots
    this.#owner = arena.nextOwner()
    this.#rowsPerChunk = rowsPerChunk
    this.#rowBytes = rowBytes
    this.#read = read
  }

  /** Begins a page. @param version of the shard, in the task at hand. */
  begin(version: number): void {
    this.#version = version
  }

  /** Place of a row. */
  placeOf(ordinal: number): number {
    const row = ordinal % this.#rowsPerChunk
    const number = (ordinal - row) / this.#rowsPerChunk
    const at = row * this.#rowBytes
    const place = this.#slots.find(this.#owner, number, this.#version, at + this.#rowBytes)
    if (place !== NOWHERE) return place + at
    return this.#slots.put(this.#owner, number, this.#version, this.#read(ordinal)) + at
  }
}
