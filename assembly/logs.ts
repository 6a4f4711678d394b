/**
 * Reads the logs of an `eth_getLogs` answer from their JSON text into packed records: no text, object or number is made
 * per field. Any order of keys, any white space, unknown keys skipped; whatever else is unusual ends the scan, and the host
 * parses the answer as JSON instead.
 */

/** Text that the host hands in: complete and cut-off logs. */
export const LOG_TEXT: usize = memory.data(131072, 64)
/** Records of the complete ones. A record is always shorter than its text. */
export const LOG_RECORDS: usize = memory.data(131072, 64)
/** Events that are looked for: topic 32, address 20, padding 4 each. */
export const LOG_FILTER: usize = memory.data(128 * 56, 64)
/** Results of `scanLogs`: bytes of text taken, bytes of records made, 1 at the end of the list. */
export const LOG_RESULT: usize = memory.data(12, 64)

const FILTER_BYTES: usize = 56
const HEAD_BYTES: usize = 104
/** Stands for a transaction index that is absent or not a number. */
const NO_INDEX: u32 = 0xffffffff

/** Address of the log at hand, 20 bytes. */
const LOG_ADDRESS: usize = memory.data(32, 64)
/** Value of each hex digit, 0xff for every other character. */
const DIGITS: usize = memory.data(256, 64)
/** Value of the number that `scanNumber` read last. */
let numberRead: f64 = 0

export function fillDigits(): void {
  memory.fill(DIGITS, 0xff, 256)
  for (let digit = 0; digit < 10; digit++) store<u8>(DIGITS + 48 + digit, <u8>digit)
  for (let letter = 0; letter < 6; letter++) {
    store<u8>(DIGITS + 97 + letter, <u8>(10 + letter))
    store<u8>(DIGITS + 65 + letter, <u8>(10 + letter))
  }
}

/**
 * @param length bytes at `LOG_TEXT`, beginning at a log. @param events entries of `LOG_FILTER`.
 * What is taken ends before the first log that is cut off or unusual: none at all when that is the first one.
 */
export function scanLogs(length: i32, events: i32): void {
  const end = LOG_TEXT + length
  let taken = LOG_TEXT
  let made = LOG_RECORDS
  let isEnd = 0
  while (isEnd === 0) {
    const record = made
    let at = scanLog(skipSpace(taken), record, events)
    if (at === 0 || at > end) break
    at = skipSpace(at)
    // What stands behind the text is left over from another one.
    if (at >= end) break
    const next = load<u8>(at)
    if (next === 0x5d) isEnd = 1
    else if (next !== 0x2c) break
    taken = at + 1
    made += load<u32>(record)
  }
  store<u32>(LOG_RESULT, <u32>(taken - LOG_TEXT))
  store<u32>(LOG_RESULT + 4, <u32>(made - LOG_RECORDS))
  store<u32>(LOG_RESULT + 8, isEnd)
}

/** @returns the place behind the log, or 0. A log marked as removed makes a record of no bytes. */
function scanLog(start: usize, record: usize, events: i32): usize {
  if (load<u8>(start) !== 0x7b) return 0
  let at = skipSpace(start + 1)
  let fields = 0
  let topics = 0
  let topicsAt: usize = 0
  let dataAt: usize = 0
  let dataDigits: usize = 0
  let addressAt: usize = 0
  let isRemoved = false
  store<f64>(record + 16, -1)
  store<u32>(record + 36, NO_INDEX)
  while (true) {
    if (load<u8>(at) !== 0x22) return 0
    const key = at + 1
    at = endOfText(key)
    if (at === 0) return 0
    const keyLength = <i32>(at - 1 - key)
    at = skipSpace(at)
    if (load<u8>(at) !== 0x3a) return 0
    at = skipSpace(at + 1)
    if (keyLength === 4 && load<u32>(key) === 0x61746164) {
      // data
      if (load<u8>(at) !== 0x22 || load<u16>(at + 1) !== 0x7830) return 0
      dataAt = at + 3
      at = endOfText(dataAt)
      if (at === 0) return 0
      dataDigits = at - 1 - dataAt
      if ((dataDigits & 1) !== 0) return 0
      fields |= 1
    } else if (isKey(key, keyLength, 6, 0x69706f74, 0x73636970)) {
      // topics
      if (load<u8>(at) !== 0x5b) return 0
      at = skipSpace(at + 1)
      topics = 0
      topicsAt = record + HEAD_BYTES
      if (load<u8>(at) === 0x5d) at++
      else
        while (true) {
          if (topics === 4) return 0
          at = scanHash(at, topicsAt + 32 * topics)
          if (at === 0) return 0
          topics++
          at = skipSpace(at)
          const next = load<u8>(at++)
          if (next === 0x5d) break
          if (next !== 0x2c) return 0
          at = skipSpace(at)
        }
      fields |= 2
    } else if (isKey(key, keyLength, 7, 0x72646461, 0x73736572)) {
      // address
      if (load<u8>(at) !== 0x22 || load<u16>(at + 1) !== 0x7830 || load<u8>(at + 43) !== 0x22) return 0
      addressAt = at + 3
      at += 44
      fields |= 4
    } else if (isLongKey(key, keyLength, 11, 0x6d754e6b636f6c62, 0x7265626d754e6b63)) {
      // blockNumber
      at = scanNumber(at)
      if (at === 0) return 0
      store<f64>(record + 8, numberRead)
      fields |= 8
    } else if (isLongKey(key, keyLength, 8, 0x7865646e49676f6c, 0x7865646e49676f6c)) {
      // logIndex
      at = scanNumber(at)
      if (at === 0 || numberRead > 4294967295) return 0
      store<u32>(record + 24, <u32>numberRead)
      fields |= 16
    } else if (isLongKey(key, keyLength, 16, 0x746361736e617274, 0x7865646e496e6f69)) {
      // transactionIndex; some nodes send null, which is tolerated: few blocks need the index.
      const value = at
      at = scanNumber(value)
      if (at === 0) {
        at = skipValue(value)
        if (at === 0) return 0
      } else if (numberRead < <f64>NO_INDEX) store<u32>(record + 36, <u32>numberRead)
    } else if (isLongKey(key, keyLength, 9, 0x7361486b636f6c62, 0x687361486b636f6c)) {
      // blockHash
      at = scanHash(at, record + 40)
      if (at === 0) return 0
      fields |= 32
    } else if (isLongKey(key, keyLength, 15, 0x746361736e617274, 0x687361486e6f6974)) {
      // transactionHash
      at = scanHash(at, record + 72)
      if (at === 0) return 0
      fields |= 64
    } else if (isLongKey(key, keyLength, 14, 0x6d69546b636f6c62, 0x706d617473656d69)) {
      // blockTimestamp
      at = scanNumber(at)
      if (at === 0) return 0
      store<f64>(record + 16, numberRead > 0 ? numberRead : -1)
    } else if (isKey(key, keyLength, 7, 0x6f6d6572, 0x6465766f)) {
      // removed
      if (load<u32>(at) === 0x65757274) {
        isRemoved = true
        at += 4
      } else if (load<u8>(at) === 0x66 && load<u32>(at + 1) === 0x65736c61) {
        isRemoved = false
        at += 5
      } else return 0
    } else {
      at = skipValue(at)
      if (at === 0) return 0
    }
    at = skipSpace(at)
    const next = load<u8>(at++)
    if (next === 0x7d) break
    if (next !== 0x2c) return 0
    at = skipSpace(at)
  }
  if (isRemoved) {
    store<u32>(record, 0)
    return at
  }
  if (fields !== 127) return 0
  const target = record + HEAD_BYTES + 32 * topics
  const dataBytes = dataDigits >> 1
  if (!decodeHex(dataAt, dataBytes, target)) return 0
  const size = (HEAD_BYTES + 32 * topics + dataBytes + 7) & ~7
  store<u32>(record, <u32>size)
  const event = eventOf(addressAt, topics, topicsAt, events)
  if (event === -2) return 0
  store<i32>(record + 4, event)
  store<u32>(record + 28, topics)
  store<u32>(record + 32, <u32>dataBytes)
  return at
}

/** @returns entry of the filter, −1 for an event that is in none, −2 for a broken address. */
function eventOf(addressAt: usize, topics: i32, topicsAt: usize, events: i32): i32 {
  if (!decodeHex(addressAt, 20, LOG_ADDRESS)) return -2
  if (topics === 0) return -1
  for (let event = 0; event < events; event++) {
    const entry = LOG_FILTER + FILTER_BYTES * event
    if (
      load<u64>(entry) === load<u64>(topicsAt) &&
      memory.compare(entry + 8, topicsAt + 8, 24) === 0 &&
      memory.compare(entry + 32, LOG_ADDRESS, 20) === 0
    )
      return event
  }
  return -1
}

/** A key of 4 to 8 characters, by its first and last four. */
function isKey(key: usize, length: i32, wanted: i32, first: u32, last: u32): bool {
  return length === wanted && load<u32>(key) === first && load<u32>(key + length - 4) === last
}

/** A key of 8 to 16 characters, by its first and last eight. */
function isLongKey(key: usize, length: i32, wanted: i32, first: u64, last: u64): bool {
  return length === wanted && load<u64>(key) === first && load<u64>(key + length - 8) === last
}

function skipSpace(from: usize): usize {
  let at = from
  while (true) {
    const character = load<u8>(at)
    if (character !== 0x20 && character !== 0x0a && character !== 0x0d && character !== 0x09) return at
    at++
  }
}

/** @returns the place behind the closing quote; 0 for a text with escapes or raw control characters, or one that does not end in the buffer. */
function endOfText(from: usize): usize {
  let at = from
  const limit = LOG_TEXT + 131072
  while (at < limit) {
    const character = load<u8>(at++)
    if (character === 0x22) return at
    if (character === 0x5c || character < 0x20) return 0
  }
  return 0
}

/** A quantity as hex text of at most 13 digits, or a plain number. */
function scanNumber(from: usize): usize {
  let at = from
  let value: u64 = 0
  if (load<u8>(at) === 0x22) {
    if (load<u16>(at + 1) !== 0x7830) return 0
    at += 3
    let digits = 0
    for (; digits < 14; digits++) {
      const digit = load<u8>(DIGITS + load<u8>(at))
      if (digit === 0xff) break
      value = (value << 4) | digit
      at++
    }
    if (digits === 0 || digits > 13 || load<u8>(at) !== 0x22) return 0
    numberRead = <f64>value
    return at + 1
  }
  let digits = 0
  for (; digits < 16; digits++) {
    const digit = load<u8>(at) - 48
    if (digit > 9) break
    value = value * 10 + digit
    at++
  }
  // What must not follow a number is found by whoever looks for the comma.
  if (digits === 0 || digits > 15 || (digits > 1 && load<u8>(from) === 0x30)) return 0
  numberRead = <f64>value
  return at
}

/** @returns the place behind the closing quote. */
function scanHash(from: usize, target: usize): usize {
  if (load<u8>(from) !== 0x22 || load<u16>(from + 1) !== 0x7830 || load<u8>(from + 67) !== 0x22) return 0
  return decodeHex(from + 3, 32, target) ? from + 68 : 0
}

/** A text, a whole number, true, false or null of a key that is not looked at. */
function skipValue(from: usize): usize {
  const word = load<u32>(from)
  if (<u8>word === 0x22) return endOfText(from + 1)
  if (word === 0x65757274 || word === 0x6c6c756e) return from + 4
  if (<u8>word === 0x66 && load<u32>(from + 1) === 0x65736c61) return from + 5
  return scanNumber(from)
}

/** @returns false when a character is no hex digit. */
function decodeHex(text: usize, bytes: usize, target: usize): bool {
  let done: usize = 0
  if (ASC_FEATURE_SIMD) {
    let wrong = i8x16.splat(0)
    for (; done + 8 <= bytes; done += 8) {
      const characters = v128.load(text + 2 * done)
      const digit = i8x16.sub(characters, i8x16.splat(48))
      const letter = i8x16.sub(v128.or(characters, i8x16.splat(32)), i8x16.splat(97))
      const isDigit = i8x16.lt_u(digit, i8x16.splat(10))
      const isLetter = i8x16.lt_u(letter, i8x16.splat(6))
      wrong = v128.or(wrong, v128.not(v128.or(isDigit, isLetter)))
      const value = v128.bitselect(digit, i8x16.add(letter, i8x16.splat(10)), isDigit)
      // Two digits per 16-bit lane, the higher one in the low byte.
      const pair = v128.or(i16x8.shl(v128.and(value, i16x8.splat(15)), 4), i16x8.shr_u(value, 8))
      const packed = i8x16.narrow_i16x8_u(pair, pair)
      store<u64>(target + done, i64x2.extract_lane(packed, 0))
    }
    if (v128.any_true(wrong)) return false
  }
  let digits: u32 = 0
  for (; done < bytes; done++) {
    const high = <u32>load<u8>(DIGITS + load<u8>(text + 2 * done))
    const low = <u32>load<u8>(DIGITS + load<u8>(text + 2 * done + 1))
    digits |= high | low
    store<u8>(target + done, <u8>((high << 4) | low))
  }
  return digits < 16
}
