import { InvariantError } from '../../errors/invariantError.js'
import { chunkKey } from '../../store/layout/keys.js'
import type { TableName } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'

/**
 * Reads rows of a chunked table one after the other: each chunk is read once, not once per row. The table must not change meanwhile.
 */
export class StoredRows {
  readonly #view: ReadView
  readonly #table: TableName
  readonly #rowBytes: number
  readonly #rowsPerChunk: number
  // The chunk in memory, its length in bytes, and its first row; −1: none.
  readonly #chunk: Uint8Array
  #length = 0
  #from = -1

  constructor(view: ReadView, table: TableName, rowBytes: number, rowsPerChunk: number) {
    this.#view = view
    this.#table = table
    this.#rowBytes = rowBytes
    this.#rowsPerChunk = rowsPerChunk
    this.#chunk = new Uint8Array(rowBytes * rowsPerChunk)
  }

  /** The chunk of the row that was opened last. */
  get bytes(): Uint8Array {
    return this.#chunk
  }

  /** @returns the row's offset in `bytes`, valid until the next call. @throws InvariantError when the row is not stored. */
  open(ordinal: number): number {
    const from = ordinal - (ordinal % this.#rowsPerChunk)
    if (from !== this.#from) {
      const chunk = this.#view.get(this.#table, chunkKey(ordinal, this.#rowsPerChunk))
      this.#length = chunk?.length ?? 0
      if (chunk !== undefined) this.#chunk.set(chunk)
      this.#from = from
    }
    const offset = this.#rowBytes * (ordinal - from)
    if (this.#length < offset + this.#rowBytes)
      throw new InvariantError(`row ${ordinal} of ${this.#table} is not stored`)
    return offset
  }
}
