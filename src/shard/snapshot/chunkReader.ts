import type { TableName } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'

/**
 * Reads rows of a table that packs several rows into one value. Keeps the chunk read last, in memory that the next chunk
 * overwrites: the rows of a page are in a few chunks, and a fresh copy of 4 kB for each took a sixth of a page's time, most of it
 * in the garbage collector.
 */
export class ChunkReader {
  readonly #view: ReadView
  readonly #table: TableName
  readonly #rowsPerChunk: number
  readonly #keyOf: (ordinal: number) => Uint8Array
  #memory = new Uint8Array(0)
  #chunk: Uint8Array | undefined
  #first = -1

  /** @param keyOf returns the key of the chunk that holds row `ordinal`. */
  constructor(
    view: ReadView,
    table: TableName,
    rowsPerChunk: number,
    keyOf: (ordinal: number) => Uint8Array,
  ) {
    this.#view = view
    this.#table = table
    this.#rowsPerChunk = rowsPerChunk
    this.#keyOf = keyOf
  }

  /**
   * The chunk that holds row `ordinal`; undefined if there is none. The row starts at `offset(ordinal)` · row size.
   * @returns memory of this reader, valid until the next call: copy what must live longer.
   */
  find(ordinal: number): Uint8Array | undefined {
    const first = ordinal - (ordinal % this.#rowsPerChunk)
    if (first !== this.#first) {
      this.#first = -1
      this.#chunk = this.#keep(this.#view.get(this.#table, this.#keyOf(ordinal)))
      this.#first = first
    }
    return this.#chunk
  }

  /**
   * As `find`, for callers that need only one row: a chunk that is not kept already is not copied.
   * @returns bytes valid until the next read.
   */
  peek(ordinal: number): Uint8Array | undefined {
    return ordinal - (ordinal % this.#rowsPerChunk) === this.#first
      ? this.#chunk
      : this.#view.get(this.#table, this.#keyOf(ordinal))
  }

  /** Position of row `ordinal` in its chunk. */
  offset(ordinal: number): number {
    return ordinal % this.#rowsPerChunk
  }

  /** Forgets the chunk, before another snapshot is read. */
  reset(): void {
    this.#chunk = undefined
    this.#first = -1
  }

  #keep(stored: Uint8Array | undefined): Uint8Array | undefined {
    if (stored === undefined) return undefined
    if (stored.length > this.#memory.length) this.#memory = new Uint8Array(stored.length)
    this.#memory.set(stored)
    // All chunks but the last are full, so the view of the chunk before mostly fits.
    return this.#chunk?.length === stored.length && this.#chunk.buffer === this.#memory.buffer
      ? this.#chunk
      : this.#memory.subarray(0, stored.length)
  }
}

/** Copies a value of the store. (`slice` of a Buffer would be a view of the store's shared buffer, which the next read overwrites.) */
export function copyOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : new Uint8Array(bytes)
}
