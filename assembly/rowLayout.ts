/** Places of the row writer, in the same fixed memory as those of the trees. */

/** Most rows of one call. */
export const MAX_ROWS: i32 = 64
/** Fields of one kind of record. */
export const MAX_FIELDS: i32 = 24
/** Bytes of one field: `textAt u32, textLength u32, kind u32, base u32, offset u32`. */
export const FIELD_BYTES: usize = 20
/** Bytes of one row's numbers: `BASES` addresses, then `VALUES` values, all u32. */
export const BASES: i32 = 8
export const VALUES: i32 = 4
export const ROW_BYTES: usize = 4 * (<usize>BASES + <usize>VALUES)

/** The fields of a record, in their order. */
export const ROW_FIELDS: usize = memory.data(24 * 20, 16)
/** Texts in front of the fields. */
export const ROW_TEXTS: usize = memory.data(2048, 16)
export const ROW_NUMBERS: usize = memory.data(64 * 48, 16)
/** Bytes that rows point to: stored chunks, and whatever else is copied here. What nobody writes to takes no memory. */
export const ROW_INPUT: usize = memory.data(15728640, 16)
/** What is written; room for input of 64 kB in hexadecimal, and for 64 rows around it. */
export const ROW_OUTPUT: usize = memory.data(262144, 16)
/** The pairs of digits 00 … 99. */
export const DIGIT_PAIRS: usize = memory.data(200, 16)
/** Nine digits each of a uint256, from its end. */
export const ROW_PIECES: usize = memory.data(40, 16)
/** Words of a uint256 while it is divided. */
export const ROW_LIMBS: usize = memory.data(32, 16)
