import { isAscii } from 'node:buffer'

/** What a shorter text becomes can't fill the memory, whatever it says. */
export const SMALL_BYTES = 65_536
/** The trace of a transaction nests two levels for each of its calls, which nest 1,024 deep at most. */
const MAX_DEPTH = 4_096
/**
 * What values cost in memory, at most: an empty list or object, a property with a name of its own, an item of a list. Of answers that
 * nodes give, traces full of logs without topics and data come nearest to the limit, at 4.2 times their length; `{},{},…` has 24 times.
 */
const PER_CONTAINER = 64
const PER_PROPERTY = 48
const PER_ITEM = 32
const MAX_PER_BYTE = 4.4

/**
 * Most memory for a list of logs that has to be parsed as JSON: that is asked for again in smaller windows. Other long answers can't be
 * asked for in parts.
 */
export const MOST_LOGS_BYTES = 80_000_000

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c

/** The text would become values that take many times its length in memory. */
export class HeavyText extends SyntaxError {
  override readonly name = 'HeavyText'
}

/** The text of a body. Nodes mostly answer in ASCII, which decodes as Latin-1 in a seventh of the time. */
export function textOf(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8')
}

/**
 * Parses the JSON of an endpoint.
 * @param mostBytes of memory that text and values may take together; default: as much as the text's length allows.
 * @throws HeavyText for what only an endpoint that means harm sends: 64 MiB of `[` would take 2.7 GB.
 * @throws SyntaxError
 */
export function parseJson(bytes: Uint8Array, mostBytes = Number.POSITIVE_INFINITY): unknown {
  if (bytes.length > SMALL_BYTES) {
    const weight = weightOf(bytes)
    // The body, its text, the texts of values, which are about as long, and the values.
    if (isTooHeavy(weight, bytes.length) || 3 * bytes.length + weight > mostBytes)
      throw new HeavyText('too many or too deep values')
  }
  return JSON.parse(textOf(bytes))
}

/** Bytes of memory that the values of a text may take: too much for a text of so many bytes? */
export function isTooHeavy(weight: number, length: number): boolean {
  return weight > MAX_PER_BYTE * length
}

/**
 * What the values of a text take in memory, at most; more than any text may where they are nested too deep. A byte takes a nanosecond
 * or two: a window of logs in usual form does not come here (`parseReplies`).
 */
export function weightOf(bytes: Uint8Array): number {
  let isInText = false
  let depth = 0
  let deepest = 0
  let containers = 0
  let properties = 0
  let commas = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (isInText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isInText = false
      continue
    }
    if (byte === QUOTE) isInText = true
    else if (byte === COMMA) commas++
    else if (byte === COLON) properties++
    // `[` and `{` differ in this bit only, and so do `]` and `}`.
    else if ((byte & 0xdf) === 0x5b) {
      containers++
      if (++depth > deepest) deepest = depth
    } else if ((byte & 0xdf) === 0x5d) depth--
  }
  if (deepest > MAX_DEPTH) return Number.POSITIVE_INFINITY
  // One comma less than properties in each object, and than items in each list.
  const items = Math.max(0, commas + containers - properties)
  return PER_CONTAINER * containers + PER_PROPERTY * properties + PER_ITEM * items
}
