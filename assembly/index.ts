/** What the host sees: fixed places in memory, and functions on them. No imports. */

import { DIGEST, INPUT } from './layout'
import { completeTile, hashLevel } from './level'
import { fillDigits } from './logs'
import { fillDigitPairs } from './rows'
import { absorb, finishMessage, startMessage } from './sponge'
import { fillZeroHashes } from './zeroHashes'

export { computeRoot, foldBranch, prove, proveAtEdge, proveInTiles, rootPair } from './branch'
export { formatNodes } from './hex'
export { BRANCH_A, DIGEST, DIGEST_B, EDGE, INPUT, PATH_A, PATH_B, TEXT, TILE } from './layout'
export { LOG_FILTER, LOG_RECORDS, LOG_RESULT, LOG_TEXT, scanLogs } from './logs'
export {
  ROW_ADDRESS,
  ROW_AMOUNT,
  ROW_BASES,
  ROW_BYTES,
  ROW_FIELD_BYTES,
  ROW_FIELDS,
  ROW_FLAG,
  ROW_HASH,
  ROW_HEX_VALUE,
  ROW_INPUT,
  ROW_INPUT_BYTES,
  ROW_LOWER_ADDRESS,
  ROW_MAX_FIELDS,
  ROW_MAX_ROWS,
  ROW_MAX_WORDS,
  ROW_MILLISECONDS,
  ROW_NO_VALUE,
  ROW_NUMBERS,
  ROW_OUTPUT,
  ROW_OUTPUT_BYTES,
  ROW_OUTPUT_FULL,
  ROW_OUTSIDE_INPUT,
  ROW_READ_BYTES,
  ROW_ROLLUP_INDEX,
  ROW_SETS,
  ROW_TEXT_ALONE,
  ROW_TEXTS,
  ROW_TEXTS_BYTES,
  ROW_TOO_MANY,
  ROW_UINT8,
  ROW_UINT32,
  ROW_UINT48,
  ROW_ULID,
  ROW_VALUE,
  ROW_VALUES,
  ROW_WORD_BYTES,
  ROW_WORD_OF_UINT8,
  ROW_WORD_OF_UINT32,
  ROW_WORD_OF_VALUE,
} from './rowLayout'
export { setFields, useFields, writeRows } from './rows'
export { absorbBlocks, finishText, startText } from './xxh3'
export { completeTile, startMessage }

fillZeroHashes()
fillDigitPairs()
fillDigits()

/** Takes the first `length` bytes of `INPUT` as the next piece of the message. */
export function absorbInput(length: i32): void {
  absorb(INPUT, length)
}

/** Ends the message: digest at `DIGEST`. */
export function digest(): void {
  finishMessage(DIGEST)
}

/** Hashes the `count` messages of `length` bytes (≥ 32) each that stand one after another at `INPUT`, in place. */
export function hashMessages(count: i32, length: i32): void {
  for (let i = 0; i < count; i++) {
    startMessage()
    absorb(INPUT + length * i, length)
    finishMessage(INPUT + 32 * i)
  }
}

/** Hashes the `count` pairs at `INPUT` in place. */
export function hashInputPairs(count: i32): void {
  hashLevel(INPUT, count, INPUT)
}
