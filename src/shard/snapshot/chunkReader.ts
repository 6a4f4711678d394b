import type { TableName } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'

/**
 * Rows of a table that packs several into one value. The chunk read last is kept, in memory that the next one overwrites: the
 * rows of a page lie in a few chunks, and a fresh copy of 4 kB per chunk was a sixth of a page's time, most of it for the
 * garbage collector.
 */
export class ChunkReader {
  readonly #view: ReadView
  readonly #table: TableName
  readonly #rowsPerChunk: number
  readonly #keyOf: (ordinal: number) => Uint8Array
  #memory = new Uint8Array(0)
  #chunk: Uint8Array | undefined
  #first = -1

  /** @param keyOf key of the chunk that holds row `ordinal`. */
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
   * Chunk that holds row `ordinal`; undefined if there is none. Row i of it starts at `offset · row size`.
   * @returns memory of this reader, good until the next call: copy what must live longer.
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
   * The same for who wants one row and goes elsewhere: what is not kept already is not copied.
   * @returns bytes good until the next read.
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

  /** Forgets the chunk: another snapshot follows. */
  reset(): void {
    this.#chunk = undefined
    this.#first = -1
  }

  #keep(stored: Uint8Array | undefined): Uint8Array | undefined {
    if (stored === undefined) return undefined
    if (stored.length > this.#memory.length) this.#memory = new Uint8Array(stored.length)
    this.#memory.set(stored)
    // Chunks are full but for the last one: mostly the same length as before.
    return this.#chunk?.length === stored.length && this.#chunk.buffer === this.#memory.buffer
      ? this.#chunk
      : this.#memory.subarray(0, stored.length)
  }
}

/** `slice` of a Buffer would be a view of the store's shared buffer, which the next read overwrites. */
export function copyOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : new Uint8Array(bytes)
}
