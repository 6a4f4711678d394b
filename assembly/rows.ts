import { writeHex16 } from './hex'
import { HEX_DIGITS } from './layout'
import {
  BASE_32,
  DIGIT_PAIRS,
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
  ROW_LIMBS,
  ROW_LOWER_ADDRESS,
  ROW_MAX_FIELDS,
  ROW_MAX_ROWS,
  ROW_MAX_WORDS,
  ROW_MILLISECONDS,
  ROW_NO_VALUE,
  ROW_NUMBERS,
  ROW_NUMBERS_BYTES,
  ROW_OUTPUT,
  ROW_OUTPUT_BYTES,
  ROW_OUTPUT_FULL,
  ROW_OUTSIDE_INPUT,
  ROW_PIECES,
  ROW_READ_BYTES,
  ROW_ROLLUP_INDEX,
  ROW_SET_FACTS,
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

/**
 * Writes stored rows as JSON: for each field its text, then its value, read where the row's numbers say. A field whose base
 * is 0 is null, and has a text of its own for that.
 *
 * Nothing that the host tells is trusted: a wrong address would put another row's bytes, or our tables, into valid JSON, and a text
 * that is too long would overwrite those tables. So fields are checked when they are set, and each address and length before its use.
 */

const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
const ZERO: u8 = 0x30
/** `"0x` without its end, as little-endian text. */
const PREFIX: u16 = 0x7830
const TRUE: u32 = 0x65757274
const FALSE: u32 = 0x736c6166
const E: u8 = 0x65
const BILLION: u64 = 1_000_000_000
const TEN_TO_8: u64 = 100_000_000
/** The longest value, an amount: 78 digits in quotes. Of bytes, only what is around their digits counts. */
const MAX_VALUE: usize = 80
/** What is copied past the end of a text, and written past the end of bytes, at most. */
const OVERSHOOT: usize = 32
/** Texts are copied 16 bytes at a time. */
const MAX_TEXTS: u32 = <u32>(ROW_SETS * ROW_TEXTS_BYTES) - 16
const MAX_ASCII: u32 = 0x7f
const OUTPUT_END: usize = ROW_OUTPUT + <usize>ROW_OUTPUT_BYTES

/** The fields that were set or chosen last. */
let fieldsFrom: usize = ROW_FIELDS
let fieldsEnd: usize = ROW_FIELDS
/** The longest text that they make of a row without the digits of its bytes, with a comma and the overshoot. */
let rowBytes: usize = 0

/** Call once, before the first row. */
export function fillDigitPairs(): void {
  for (let pair = 0; pair < 100; pair++) {
    store<u8>(DIGIT_PAIRS + 2 * pair, ZERO + <u8>(pair / 10))
    store<u8>(DIGIT_PAIRS + 2 * pair + 1, ZERO + <u8>(pair % 10))
  }
}

/**
 * Takes the first `count` fields of a set for the next rows, and keeps them in mind.
 * @returns characters of the longest row, without the digits of its bytes; 0 when a field can't be, and no row has fields then.
 */
export function setFields(set: i32, count: i32): i32 {
  forget()
  if (<u32>set >= <u32>ROW_SETS) return 0
  const facts = ROW_SET_FACTS + 8 * set
  store<u64>(facts, 0)
  if (<u32>count > <u32>ROW_MAX_FIELDS) return 0
  const from = fieldsOf(set)
  const end = from + ROW_FIELD_BYTES * count
  let longest: usize = 1 + OVERSHOOT
  for (let field = from; field < end; field += ROW_FIELD_BYTES) {
    if (!isField(field)) return 0
    longest += max<usize>(<usize>load<u32>(field, 4) + MAX_VALUE, load<u32>(field, 24))
  }
  store<u32>(facts, <u32>end)
  store<u32>(facts, <u32>longest, 4)
  return useFields(set)
}

/** Takes the fields of a set that were set before. @returns as `setFields`; 0 where none were. */
export function useFields(set: i32): i32 {
  forget()
  if (<u32>set >= <u32>ROW_SETS) return 0
  const end = load<u32>(ROW_SET_FACTS + 8 * set)
  if (end == 0) return 0
  fieldsFrom = fieldsOf(set)
  fieldsEnd = end
  rowBytes = load<u32>(ROW_SET_FACTS + 8 * set, 4)
  return <i32>rowBytes
}

function forget(): void {
  fieldsFrom = ROW_FIELDS
  fieldsEnd = ROW_FIELDS
  rowBytes = 0
}

function fieldsOf(set: i32): usize {
  return ROW_FIELDS + ROW_FIELD_BYTES * ROW_MAX_FIELDS * set
}

function isField(field: usize): bool {
  if (!isText(load<u32>(field), load<u32>(field, 4))) return false
  if (!isText(load<u32>(field, 20), load<u32>(field, 24))) return false
  const kind = load<u32>(field, 8)
  const index = load<u32>(field, 12)
  const more = load<u32>(field, 28)
  const isWord = kind == ROW_WORD_OF_UINT8 || kind == ROW_WORD_OF_UINT32 || kind == ROW_WORD_OF_VALUE
  if (isWord ? !areWords(more) : more > MAX_ASCII) return false
  if (kind >= ROW_VALUE) return kind <= ROW_WORD_OF_VALUE && index < <u32>ROW_VALUES
  return index < <u32>ROW_BASES && (kind != ROW_BYTES || load<u32>(field, 16) < <u32>ROW_VALUES)
}

function isText(from: u32, length: u32): bool {
  // Unsigned: a place below the texts is far above their end.
  return length <= MAX_TEXTS && from - <u32>ROW_TEXTS <= MAX_TEXTS - length
}

function areWords(from: u32): bool {
  if (!isText(from, 4)) return false
  const count = load<u32>(from)
  if (count - 1 >= <u32>ROW_MAX_WORDS || !isText(from, 4 + <u32>ROW_WORD_BYTES * count)) return false
  for (let word: u32 = 0; word < count; word++)
    if (load<u32>(from + 4 + <u32>ROW_WORD_BYTES * word) > <u32>ROW_WORD_BYTES - 4) return false
  return true
}

/**
 * Writes rows `0` … `count − 1` of `ROW_NUMBERS` by the fields that were set, with commas between the rows.
 * @returns characters written at `ROW_OUTPUT`; one of the negative numbers of the layout when something can't be.
 */
export function writeRows(count: i32): i32 {
  if (<u32>count > <u32>ROW_MAX_ROWS) return ROW_TOO_MANY
  let at = ROW_OUTPUT
  for (let row = 0; row < count; row++) {
    if (at + rowBytes > OUTPUT_END) return ROW_OUTPUT_FULL
    if (row > 0) store<u8>(at++, COMMA)
    const numbers = ROW_NUMBERS + ROW_NUMBERS_BYTES * row
    for (let field = fieldsFrom; field < fieldsEnd; field += ROW_FIELD_BYTES) {
      const start = at
      at = copyText(start, load<u32>(field), load<u32>(field, 4))
      at = writeField(at, start, field, numbers)
      // A fault is negative, and so above every address.
      if (at > OUTPUT_END) return <i32>at
    }
  }
  return <i32>(at - ROW_OUTPUT)
}

/** 16 bytes at a time: what is written beyond the end is overwritten by what follows. */
function copyText(at: usize, from: usize, length: u32): usize {
  for (let done: u32 = 0; done < length; done += 16) {
    if (ASC_FEATURE_SIMD) v128.store(at + done, v128.load(from + done))
    else {
      store<u64>(at + done, load<u64>(from + done))
      store<u64>(at + done, load<u64>(from + done, 8), 8)
    }
  }
  return at + length
}

/** @param start where the text in front of the value began. @returns where the value ends, or a fault. */
function writeField(at: usize, start: usize, field: usize, numbers: usize): usize {
  const kind = load<u32>(field, 8)
  if (kind == ROW_TEXT_ALONE) return at
  const index = load<u32>(field, 12)
  if (kind >= ROW_VALUE)
    return writeValue(at, start, field, kind, load<u32>(numbers + 4 * (ROW_BASES + index)))
  const base = load<u32>(numbers + 4 * index)
  if (base == 0) return writeNull(start, field)
  if (kind == ROW_BYTES)
    return writeBytes(at, base, load<u32>(numbers + 4 * (ROW_BASES + load<u32>(field, 16))))
  const from = <usize>base + load<u32>(field, 16)
  // Unsigned, as below: an address in front of the input is far behind its end.
  if (from - ROW_INPUT > <usize>(ROW_INPUT_BYTES - ROW_READ_BYTES)) return <usize>ROW_OUTSIDE_INPUT
  switch (kind) {
    case ROW_HASH:
      return writeHash(at, from)
    case ROW_ADDRESS:
      return writeAddress(at, from)
    case ROW_UINT8:
      return writeNumber(at, load<u8>(from), field)
    case ROW_UINT32:
      return writeNumber(at, load<u32>(from), field)
    case ROW_UINT48:
      return writeNumber(at, load48(from), field)
    case ROW_AMOUNT:
      return writeAmount(at, from)
    case ROW_LOWER_ADDRESS:
      return writeLowerAddress(at, from)
    case ROW_MILLISECONDS:
      return writeUint(at, 1000 * load48(from))
    case ROW_ROLLUP_INDEX: {
      const network = load<u32>(from)
      return writeUint(at, network - u32(network != 0))
    }
    case ROW_ULID:
      return writeUlid(at, from)
    case ROW_WORD_OF_UINT8:
      return writeWord(at, load<u8>(from), field)
    default:
      return writeWord(at, load<u32>(from), field)
  }
}

function load48(from: usize): u64 {
  return load<u32>(from) | ((<u64>load<u16>(from, 4)) << 32)
}

function writeValue(at: usize, start: usize, field: usize, kind: u32, value: u32): usize {
  if (kind == ROW_FLAG) {
    if (value & 1) {
      store<u32>(at, TRUE)
      return at + 4
    }
    store<u32>(at, FALSE)
    store<u8>(at, E, 4)
    return at + 5
  }
  if (kind == ROW_HEX_VALUE) {
    for (let digit = 0; digit < 8; digit++)
      store<u8>(at + digit, load<u8>(HEX_DIGITS + ((value >> (28 - 4 * digit)) & 15)))
    return at + 8
  }
  if (kind == ROW_WORD_OF_VALUE) return writeWord(at, value, field)
  return value == ROW_NO_VALUE ? writeNull(start, field) : writeNumber(at, value, field)
}

/** In the place of the text in front of the value, too: a field may be left out as a whole. */
function writeNull(start: usize, field: usize): usize {
  return copyText(start, load<u32>(field, 20), load<u32>(field, 24))
}

/** A number, and what is to follow it. */
function writeNumber(at: usize, value: u64, field: usize): usize {
  const end = writeUint(at, value)
  const behind = load<u32>(field, 28)
  if (behind == 0) return end
  store<u8>(end, behind)
  return end + 1
}

/** The word of that number; the last one of those that are above. */
function writeWord(at: usize, number: u32, field: usize): usize {
  const words = <usize>load<u32>(field, 28)
  const word = words + 4 + ROW_WORD_BYTES * min<u32>(number, load<u32>(words) - 1)
  return copyText(at, word + 4, load<u32>(word))
}

function open(at: usize): usize {
  store<u8>(at, QUOTE)
  store<u16>(at + 1, PREFIX)
  return at + 3
}

function close(at: usize): usize {
  store<u8>(at, QUOTE)
  return at + 1
}

function writeHash(at: usize, from: usize): usize {
  at = open(at)
  writeHex16(from, at)
  writeHex16(from + 16, at + 32)
  return close(at + 64)
}

/** Any number of bytes; reads and writes up to the next multiple of 16. @returns where they end, or a fault. */
function writeBytes(at: usize, from: usize, length: u32): usize {
  if (length > <u32>ROW_OUTPUT_BYTES / 2 || at + 2 * length + rowBytes > OUTPUT_END)
    return <usize>ROW_OUTPUT_FULL
  if (from - ROW_INPUT > <usize>ROW_INPUT_BYTES - ((length + 15) & ~15)) return <usize>ROW_OUTSIDE_INPUT
  at = open(at)
  for (let done: u32 = 0; done < length; done += 16) writeHex16(from + done, at + 2 * done)
  return close(at + 2 * length)
}

/** 20 bytes and behind them the 40 bits, most significant first, of the digits in upper case. */
function writeAddress(at: usize, from: usize): usize {
  at = open(at)
  writeHex16(from, at)
  writeHex16(from + 16, at + 32)
  if (ASC_FEATURE_SIMD) {
    const mask = v128.load(from, 20)
    // Two bytes of the mask for 16 digits: each bit becomes the 0x20 that tells a small letter from a capital.
    upper(at, v128.swizzle(mask, i8x16(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)))
    upper(at + 16, v128.swizzle(mask, i8x16(2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3)))
    upper(at + 32, v128.swizzle(mask, i8x16(4, 4, 4, 4, 4, 4, 4, 4, 99, 99, 99, 99, 99, 99, 99, 99)))
  } else {
    for (let digit = 0; digit < 40; digit++) {
      const bit = (<u32>load<u8>(from + 20 + (digit >> 3)) >> (7 - (digit & 7))) & 1
      store<u8>(at + digit, load<u8>(at + digit) - <u8>(32 * bit))
    }
  }
  return close(at + 40)
}

function writeLowerAddress(at: usize, from: usize): usize {
  at = open(at)
  writeHex16(from, at)
  writeHex16(from + 16, at + 32)
  return close(at + 40)
}

function writeUlid(at: usize, from: usize): usize {
  let high = bswap<u64>(load<u64>(from))
  let low = bswap<u64>(load<u64>(from, 8))
  store<u8>(at, QUOTE)
  for (let digit = at + 26; digit > at; digit--) {
    store<u8>(digit, load<u8>(BASE_32 + (<usize>low & 31)))
    low = (low >> 5) | (high << 59)
    high >>= 5
  }
  return close(at + 27)
}

function upper(at: usize, mask: v128): void {
  const bits = i8x16(-128, 64, 32, 16, 8, 4, 2, 1, -128, 64, 32, 16, 8, 4, 2, 1)
  const isUpper = v128.eq<u8>(v128.and(mask, bits), bits)
  v128.store(at, v128.sub<u8>(v128.load(at), v128.and(isUpper, i8x16.splat(32))))
}

/**
 * Digits without leading zeros, straight to their places: a load of eight, to move them, stalls on digits that were just stored
 * in twos. With the divisions below 0.98 of a page of bridges, 0.95 of one of claims (November 2026, Node 20).
 */
function writeUint(at: usize, value: u64): usize {
  if (value < TEN_TO_8) return writeSmall(at, <u32>value)
  // One division of 64 bits for eight digits: it takes as long as all of theirs of 32.
  const rest = value / TEN_TO_8
  const end = writeUint(at, rest)
  writeEight(end, <u32>(value - rest * TEN_TO_8))
  return end + 8
}

/** Below 10^8. */
function writeSmall(at: usize, value: u32): usize {
  const end = at + countDigits(value)
  let start = end
  while (value >= 100) {
    const rest = value / 100
    start -= 2
    store<u16>(start, load<u16>(DIGIT_PAIRS + 2 * (value - 100 * rest)))
    value = rest
  }
  if (value >= 10) store<u16>(start - 2, load<u16>(DIGIT_PAIRS + 2 * value))
  else store<u8>(start - 1, ZERO + <u8>value)
  return end
}

/** Below 10^8. */
function countDigits(value: u32): usize {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1_000 ? 3 : 4
  return value < 1_000_000 ? (value < 100_000 ? 5 : 6) : value < 10_000_000 ? 7 : 8
}

/** Below 10^8, with leading zeros. */
function writeEight(at: usize, value: u32): void {
  const high = value / 10_000
  writeFour(at, high)
  writeFour(at + 4, value - 10_000 * high)
}

function writeFour(at: usize, value: u32): void {
  const high = value / 100
  store<u16>(at, load<u16>(DIGIT_PAIRS + 2 * high))
  store<u16>(at, load<u16>(DIGIT_PAIRS + 2 * (value - 100 * high)), 2)
}

/** A uint256, big-endian, as a string of decimal digits. */
function writeAmount(at: usize, from: usize): usize {
  store<u8>(at++, QUOTE)
  const low = bswap<u64>(load<u64>(from, 24))
  if ((load<u64>(from) | load<u64>(from, 8) | load<u64>(from, 16)) == 0) at = writeUint(at, low)
  else at = writeLongAmount(at, from)
  return close(at)
}

/** Divides by 10^9 until nothing is left; each remainder is nine digits. */
function writeLongAmount(at: usize, from: usize): usize {
  let first = 8
  for (let limb = 7; limb >= 0; limb--) {
    const word = bswap<u32>(load<u32>(from + 4 * limb))
    store<u32>(ROW_LIMBS + 4 * limb, word)
    if (word != 0) first = limb
  }
  // From the end, as the digits come: what is below 2^256 has nine pieces at most.
  let pieces: usize = 0
  while (first < 8) {
    let remainder: u64 = 0
    for (let limb = first; limb < 8; limb++) {
      const dividend = (remainder << 32) | load<u32>(ROW_LIMBS + 4 * limb)
      const quotient = dividend / BILLION
      store<u32>(ROW_LIMBS + 4 * limb, <u32>quotient)
      remainder = dividend - quotient * BILLION
    }
    while (first < 8 && load<u32>(ROW_LIMBS + 4 * first) == 0) first++
    store<u32>(ROW_PIECES + 4 * pieces, <u32>remainder)
    pieces++
  }
  pieces--
  at = writeUint(at, load<u32>(ROW_PIECES + 4 * pieces))
  while (pieces > 0) {
    pieces--
    const piece = load<u32>(ROW_PIECES + 4 * pieces)
    const high = piece / TEN_TO_8
    store<u8>(at, ZERO + <u8>high)
    writeEight(at + 1, piece - <u32>(high * TEN_TO_8))
    at += 9
  }
  return at
}
