import { InvariantError } from '../../errors/invariantError.js'
import { chunkKey } from '../../store/layout/keys.js'
import type { TableName } from '../../store/layout/tables.js'
import type { WriteView } from '../../store/shardStore.types.js'

/** A row inside its chunk: `bytes` is the whole chunk, the row starts at `offset`. Valid until the next call of the appender. */
export interface RowPlace {
  readonly bytes: Uint8Array
  readonly offset: number
}

/**
 * Appends rows of fixed size to a chunked table inside one transaction. The last chunk stays in memory; otherwise each row would read
 * and write 4 KB.
 */
export class RowAppender {
  readonly #view: WriteView
  readonly #table: TableName
  readonly #rowBytes: number
  readonly #rowsPerChunk: number
  readonly #chunk: Uint8Array
  #count: number
  /** First row of the chunk in memory; −1: none. */
  #openFrom = -1
  #isDirty = false

  /** @param count rows stored so far. */
  constructor(view: WriteView, table: TableName, rowBytes: number, rowsPerChunk: number, count: number) {
    this.#view = view
    this.#table = table
    this.#rowBytes = rowBytes
    this.#rowsPerChunk = rowsPerChunk
    this.#chunk = new Uint8Array(rowBytes * rowsPerChunk)
    this.#count = count
  }

  get count(): number {
    return this.#count
  }

  /** The chunk in memory. */
  get bytes(): Uint8Array {
    return this.#chunk
  }

  /** Adds row number `count`. The caller must fill all its bytes before the next call. @returns their offset in `bytes`. */
  append(): number {
    const ordinal = this.#count
    this.#open(ordinal)
    this.#count++
    this.#isDirty = true
    return this.#rowBytes * (ordinal - this.#openFrom)
  }

  /** Reads a row. @throws InvariantError when it is missing. */
  read(ordinal: number): RowPlace {
    const from = ordinal - (ordinal % this.#rowsPerChunk)
    const offset = this.#rowBytes * (ordinal - from)
    if (from === this.#openFrom) return { bytes: this.#chunk, offset }
    const bytes = this.#view.get(this.#table, chunkKey(ordinal, this.#rowsPerChunk))
    if (ordinal >= this.#count || bytes === undefined || bytes.length < offset + this.#rowBytes)
      throw new InvariantError(`row ${ordinal} of ${this.#table} is missing; ${this.#count} rows expected`)
    return { bytes, offset }
  }

  /** Removes row `count` and all after it. */
  truncate(count: number): void {
    if (count >= this.#count) return
    this.flush()
    this.#openFrom = -1
    const chunk = this.#rowsPerChunk
    for (let from = count + chunk - 1 - ((count + chunk - 1) % chunk); from < this.#count; from += chunk)
      this.#view.remove(this.#table, chunkKey(from, chunk))
    this.#count = count
    if (count % chunk === 0) return
    // The chunk that is cut in two: `#open` reads only the rows that stay, and the flush writes them.
    this.#open(count)
    this.#isDirty = true
    this.flush()
  }

  /** Writes the chunk in memory. It stays there. */
  flush(): void {
    if (!this.#isDirty) return
    const rows = Math.min(this.#count - this.#openFrom, this.#rowsPerChunk)
    this.#view.put(
      this.#table,
      chunkKey(this.#openFrom, this.#rowsPerChunk),
      this.#chunk.subarray(0, this.#rowBytes * rows),
    )
    this.#isDirty = false
  }

  /** Reads the chunk of row `ordinal`, up to that row, into memory. */
  #open(ordinal: number): void {
    const from = ordinal - (ordinal % this.#rowsPerChunk)
    if (from === this.#openFrom) return
    this.flush()
    this.#openFrom = from
    if (from === ordinal) return
    const stored = this.#view.get(this.#table, chunkKey(from, this.#rowsPerChunk))
    const expected = this.#rowBytes * (ordinal - from)
    if (stored === undefined || stored.length < expected)
      throw new InvariantError(
        `chunk ${from} of ${this.#table} has ${stored?.length ?? 0} bytes, expected ${expected}`,
      )
    this.#chunk.set(stored.subarray(0, expected))
  }
}
