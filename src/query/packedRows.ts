import type { RowTemplate } from './rowTemplate.js'

/**
 * Rows on their way from stored bytes to JSON without an object in between: a template says which fields come in which order
 * under which keys, the shard where the bytes of each lie, and a row writer puts both together.
 */

/** Where a field's value lies: at an offset behind one of the row's bases, or in one of its values. */
export type FieldPlace =
  /** 32 bytes, or the 20 and 5 of an address with its EIP-55 mask, or a big-endian uint256, or the 16 of a ULID, or a little-endian number. */
  | {
      readonly kind: 'hash' | 'address' | 'amount' | 'ulid' | 'uint8' | 'uint32' | 'uint48'
      readonly base: number
      readonly offset: number
    }
  /** As many bytes as a value says. */
  | { readonly kind: 'bytes'; readonly base: number; readonly lengthValue: number }
  /** A uint32; NO_VALUE is null. */
  | { readonly kind: 'value'; readonly value: number }
  /** The lowest bit of a value. */
  | { readonly kind: 'flag'; readonly value: number }
  /** A uint32 as the last eight digits of a hexadecimal string; `head` are those before. */
  | {
      readonly kind: 'hexValue'
      readonly value: number
      readonly head: string
      /** The same number in decimal: a text, and behind it a uint48 that stands in the row. Undefined where it has no such form. */
      readonly decimal?: { readonly head: string; readonly base: number; readonly offset: number }
    }
  /** The same number in every row. */
  | { readonly kind: 'constant'; readonly number: number }

export const NO_VALUE = 0xffff_ffff

/** Places by the names that the record's definition has for its fields. */
export type FieldPlaces = Readonly<Record<string, FieldPlace>>

/** Most rows of one `write`, and the bases and values that each may have. As in assembly/rowLayout.ts. */
export const MAX_ROWS = 64
export const ROW_BASES = 9
export const ROW_VALUES = 4

/** Memory that rows are put into, and what makes text of them. One per thread, not re-entrant. */
export interface RowWriter {
  /** Bytes that the bases of rows point to. */
  readonly input: Uint8Array
  /** Address of `input`: a base is this plus a place in it; 0 makes the field null. */
  readonly inputAddress: number
  /** MAX_ROWS × (ROW_BASES bases, then ROW_VALUES values). */
  readonly numbers: Uint32Array
  /** Characters that one `write` has room for, with one more row than it writes. */
  readonly maxText: number
  /**
   * Chooses how the next rows are written. Cheap when both are the same objects as before.
   * @returns characters of the longest row, without the digits of its bytes of free length.
   */
  use(template: RowTemplate, places: FieldPlaces): number
  /**
   * Writes the first `count` rows with commas between them.
   * @returns ASCII, good until the next call. @throws InvariantError when a row points out of `input`, or the text is too long.
   */
  write(count: number): Uint8Array
}

/** Where the rows of a page are to be written: handed down to whoever has them. */
export interface RowOutput<Row> {
  readonly rowWriter: RowWriter
  /** Takes the text of some rows, with commas between them. */
  append(rows: Uint8Array): void
  /** Writes a row that has what few rows have. */
  writeAlone(row: Row): void
}
