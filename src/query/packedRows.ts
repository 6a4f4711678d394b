/**
 * Rows on their way from stored bytes to JSON without an object in between: the shard says where the bytes of each field lie,
 * the presenter which field comes when under which name, and a row writer puts both together.
 */

/** Where a field's value lies: at an offset behind one of the row's bases, or in one of its values. */
export type FieldSource =
  /** 32 bytes, or the 20 and 5 of an address with its EIP-55 mask, or a big-endian uint256, or a little-endian number. */
  | {
      readonly kind: 'hash' | 'address' | 'amount' | 'uint8' | 'uint32' | 'uint48'
      readonly base: number
      readonly offset: number
    }
  /** As many bytes as a value says. */
  | { readonly kind: 'bytes'; readonly base: number; readonly lengthValue: number }
  /** A uint32; NO_VALUE is null. */
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'flag'; readonly value: number }
  /** A uint32 as the last eight digits of a hexadecimal string; `head` are those before. */
  | { readonly kind: 'hexValue'; readonly value: number; readonly head: string }
  /** The same JSON in every row. */
  | { readonly kind: 'constant'; readonly json: string }

export const NO_VALUE = 0xffff_ffff

/** Fields of a record by the names that the protocol has for them. */
export type FieldSources = Readonly<Record<string, FieldSource>>

/** A field as it is written: the text that leads to it, and where it lies. */
export interface RowField {
  readonly text: string
  /** undefined: the text alone. */
  readonly source: Exclude<FieldSource, { readonly kind: 'constant' }> | undefined
}

/** Most rows of one `write`, and the bases and values that each may have. */
export const MAX_ROWS = 64
export const ROW_BASES = 8
export const ROW_VALUES = 4

/** Memory that rows are put into, and what makes text of them. One per thread, not re-entrant. */
export interface RowWriter {
  /** Bytes that the bases of rows point to. */
  readonly input: Uint8Array
  /** Address of `input`: a base is this plus a place in it; 0 makes the field null. */
  readonly inputAddress: number
  /** MAX_ROWS × (ROW_BASES bases, then ROW_VALUES values). */
  readonly numbers: Uint32Array
  /** Chooses the fields that the next rows are written by. Cheap when they are the same object as before. */
  use(fields: readonly RowField[]): void
  /** Writes the first `count` rows with commas between them. @returns ASCII, good until the next call. */
  write(count: number): Uint8Array
}

/** The rows of a page, ready to be written. */
export interface PackedRows<Row> {
  readonly sources: FieldSources
  /**
   * Writes all rows, in order.
   * @param emit takes the text of some rows, with commas between them.
   * @param writeAlone writes a row that has what few rows have.
   */
  writeTo(writer: RowWriter, emit: (text: Uint8Array) => void, writeAlone: (row: Row) => void): void
}
