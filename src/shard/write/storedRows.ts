import { InvariantError } from '../../errors/invariantError.js'
import { chunkKey } from '../../store/layout/keys.js'
import type { TableName } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'

/**
 * Rows of a chunked table that are read one after another, and changed by nobody meanwhile: each chunk is read once, not
 * once per row.
 */
export class StoredRows {
  readonly #view: ReadView
  readonly #table: TableName
  readonly #rowBytes: number
  readonly #rowsPerChunk: number
  /** The chunk at hand, its length, and its first row; −1: none. */
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

  /** The chunk that was opened last. */
  get bytes(): Uint8Array {
    return this.#chunk
  }

  /** @returns where a row begins in `bytes`, until the next call. @throws InvariantError when it is not stored. */
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
