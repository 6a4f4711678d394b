/** Places of the row writer, in the same fixed memory as those of the trees. */

// The service reads these numbers from the module's exports; what it must know in its own code (rows, bases, values, no value)
// it compares with them when it makes an instance.

/** Most rows of one call. */
export const ROW_MAX_ROWS: i32 = 64
/** Fields of one kind of record. */
export const ROW_MAX_FIELDS: i32 = 24
/** Bytes of one field: `textAt u32, textLength u32, kind u32, base u32, offset u32`. */
export const ROW_FIELD_BYTES: usize = 20
/** Bytes of one row's numbers: `ROW_BASES` addresses, then `ROW_VALUES` values, all u32. */
export const ROW_BASES: i32 = 8
export const ROW_VALUES: i32 = 4
export const ROW_NUMBERS_BYTES: usize = 4 * (<usize>ROW_BASES + <usize>ROW_VALUES)
/** A value that is null. */
export const ROW_NO_VALUE: u32 = 0xffffffff
export const ROW_TEXTS_BYTES: i32 = 2048
export const ROW_INPUT_BYTES: i32 = 21823488
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
/** What a field is when it is none of the others. */
export const ROW_AMOUNT: u32 = 6
export const ROW_BYTES: u32 = 7
// From here on the field is one of the row's values.
export const ROW_VALUE: u32 = 8
export const ROW_FLAG: u32 = 9
export const ROW_HEX_VALUE: u32 = 10

/** The fields of a record, in their order. */
export const ROW_FIELDS: usize = memory.data(ROW_MAX_FIELDS * <i32>ROW_FIELD_BYTES, 16)
/** Texts in front of the fields. */
export const ROW_TEXTS: usize = memory.data(ROW_TEXTS_BYTES, 16)
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
