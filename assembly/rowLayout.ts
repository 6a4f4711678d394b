/** Places of the row writer, in the same fixed memory as those of the trees. */

// The service reads these numbers from the module's exports; what it must know in its own code (rows, bases, values, no value)
// it compares with them when it makes an instance.

/** Most rows of one call. */
export const ROW_MAX_ROWS: i32 = 64
/** Fields of one kind of record. */
export const ROW_MAX_FIELDS: i32 = 24
/**
 * Bytes of one field, all u32: `textAt, textLength, kind, base, offset, nullAt, nullLength, more`. Where the field is null, the second
 * text stands in the place of the first one and the value. `more` is where the words of a word are, and the character behind a number.
 */
export const ROW_FIELD_BYTES: usize = 32
/** Kinds of records whose fields are kept at the same time. */
export const ROW_SETS: i32 = 16
/** Bytes of one row's numbers: `ROW_BASES` addresses, then `ROW_VALUES` values, all u32. */
export const ROW_BASES: i32 = 9
export const ROW_VALUES: i32 = 4
export const ROW_NUMBERS_BYTES: usize = 4 * (<usize>ROW_BASES + <usize>ROW_VALUES)
/** A value that is null. */
export const ROW_NO_VALUE: u32 = 0xffffffff
/** Of one set of fields. */
export const ROW_TEXTS_BYTES: i32 = 2048
/** Words: `count u32`, then for each `length u32` and its characters. */
export const ROW_MAX_WORDS: i32 = 8
export const ROW_WORD_BYTES: usize = 32
export const ROW_INPUT_BYTES: i32 = 22872064
export const ROW_OUTPUT_BYTES: i32 = 262144
/** Most that is read from one place, of every kind but bytes: an address, and a vector from its mask on. */
export const ROW_READ_BYTES: i32 = 36

// What `writeRows` returns in the place of a length: what it was told can't be, and what it wrote must not be used.
/** A base or length leads out of `ROW_INPUT`. */
export const ROW_OUTSIDE_INPUT: i32 = -1
/** The text would not fit into `ROW_OUTPUT`. */
export const ROW_OUTPUT_FULL: i32 = -2
/** More rows than there are. */
export const ROW_TOO_MANY: i32 = -3

// Kinds of fields.
/** The text alone. */
export const ROW_TEXT_ALONE: u32 = 0
export const ROW_HASH: u32 = 1
export const ROW_ADDRESS: u32 = 2
export const ROW_UINT8: u32 = 3
export const ROW_UINT32: u32 = 4
export const ROW_UINT48: u32 = 5
export const ROW_AMOUNT: u32 = 6
/** An address in lower case. */
export const ROW_LOWER_ADDRESS: u32 = 7
/** A uint48 of seconds. */
export const ROW_MILLISECONDS: u32 = 8
/** A uint32 that names a network: less one, and 0 for the L1. */
export const ROW_ROLLUP_INDEX: u32 = 9
/** 128 bits, big-endian, as 26 digits of Crockford's base 32. */
export const ROW_ULID: u32 = 10
/** One of the words: which, says a uint8 or a uint32. */
export const ROW_WORD_OF_UINT8: u32 = 11
/** What a field is when it is none of the others. */
export const ROW_WORD_OF_UINT32: u32 = 12
export const ROW_BYTES: u32 = 13
// From here on the field is one of the row's values.
export const ROW_VALUE: u32 = 14
/** The lowest bit of the value. */
export const ROW_FLAG: u32 = 15
export const ROW_HEX_VALUE: u32 = 16
export const ROW_WORD_OF_VALUE: u32 = 17

/** Of each set, the fields of a record, in their order. */
export const ROW_FIELDS: usize = memory.data(ROW_SETS * ROW_MAX_FIELDS * <i32>ROW_FIELD_BYTES, 16)
/** Of each set, the texts around the fields. */
export const ROW_TEXTS: usize = memory.data(ROW_SETS * ROW_TEXTS_BYTES, 16)
/** Of each set: the end of its fields, and the longest row. 0 while it has none. */
export const ROW_SET_FACTS: usize = memory.data(ROW_SETS * 8, 16)
/** Crockford's base 32. */
export const BASE_32: usize = memory.data<u8>(
  [
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47,
    0x48, 0x4a, 0x4b, 0x4d, 0x4e, 0x50, 0x51, 0x52, 0x53, 0x54, 0x56, 0x57, 0x58, 0x59, 0x5a,
  ],
  16,
)
export const ROW_NUMBERS: usize = memory.data(ROW_MAX_ROWS * <i32>ROW_NUMBERS_BYTES, 16)
/** Bytes that rows point to: stored chunks, and whatever else is copied here. What nobody writes to takes no memory. */
export const ROW_INPUT: usize = memory.data(ROW_INPUT_BYTES, 16)
/** What is written; room for input of 64 kB in hexadecimal, and for 64 rows around it. */
export const ROW_OUTPUT: usize = memory.data(ROW_OUTPUT_BYTES, 16)
/** The pairs of digits 00 … 99. */
export const DIGIT_PAIRS: usize = memory.data(200, 16)
/** Nine digits each of a uint256, from its end. */
export const ROW_PIECES: usize = memory.data(40, 16)
/** Words of a uint256 while it is divided. */
export const ROW_LIMBS: usize = memory.data(32, 16)
