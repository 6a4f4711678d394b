import type { ReadView } from '../store/shardStore.types.js'
import type { TableName } from '../store/tables.js'

/**
 * Rows of a table that packs several into one value. The chunk read last is kept as a copy of its own: the rows of a page
 * lie in a few chunks, and what is decoded from a copy stays good to the end of the task.
 */
export class ChunkReader {
  readonly #view: ReadView
  readonly #table: TableName
  readonly #rowsPerChunk: number
  readonly #keyOf: (ordinal: number) => Uint8Array
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

  /** Chunk that holds row `ordinal`, fresh memory; undefined if there is none. Row i of it starts at `offset · row size`. */
  find(ordinal: number): Uint8Array | undefined {
    const first = ordinal - (ordinal % this.#rowsPerChunk)
    if (first !== this.#first) {
      this.#chunk = copyOf(this.#view.get(this.#table, this.#keyOf(ordinal)))
      this.#first = first
    }
    return this.#chunk
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
}

/** `slice` of a Buffer would be a view of the store's shared buffer, which the next read overwrites. */
export function copyOf(bytes: Uint8Array | undefined): Uint8Array | undefined {
  return bytes === undefined ? undefined : new Uint8Array(bytes)
}
