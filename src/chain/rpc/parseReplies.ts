import type { EventFilter } from '../../events/decodeLog.js'
import type { LogScanner } from '../../events/packedLogs.js'
import { isTooHeavy, MOST_LOGS_BYTES, parseJson, SMALL_BYTES, weightOf } from './replyText.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** What a field of a reply takes in memory besides its value, with its share of the reply. */
const PER_FIELD = 64

/** What the transport needs to read lists of logs without parsing them as JSON. */
export interface LogReader {
  readonly scanner: LogScanner
  readonly filter: EventFilter
}

/**
 * The replies in an answer, as `JSON.parse` would return them, except that results which are lists of logs are `PackedLogs`.
 * @returns undefined for an answer that is written in an unusual way, or may be too heavy: parse it as JSON then.
 */
export function parseReplies(body: Buffer, { scanner, filter }: LogReader): unknown {
  let at = 0
  /** What is parsed as JSON behind the first `SMALL_BYTES` takes in memory, at most: many small values take as much as a large one. */
  let weight = 0
  const skipSpace = (): void => {
    while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at++
  }
  const take = (character: number): boolean => {
    skipSpace()
    if (body[at] !== character) return false
    at++
    return true
  }
  /** @returns false for a text that has escapes or does not end. */
  const skipText = (): boolean => {
    const end = body.indexOf(QUOTE, at + 1)
    if (end < 0 || body[end - 1] === BACKSLASH) return false
    at = end + 1
    return true
  }
  const skipValue = (): boolean => {
    for (let depth = 0; at < body.length; ) {
      const character = body[at]
      if (character === QUOTE) {
        if (!skipText()) return false
      } else if (character === OPEN_LIST || character === OPEN_OBJECT) {
        depth++
        at++
      } else if (character === CLOSE_LIST || character === CLOSE_OBJECT) {
        if (depth === 0) return true
        depth--
        at++
      } else if (character === COMMA && depth === 0) return true
      else at++
      if (depth === 0 && (body[at] === COMMA || body[at] === CLOSE_OBJECT)) return true
    }
    return false
  }
  const value = (key: string): unknown => {
    skipSpace()
    const start = at
    if (key === 'result' && take(OPEN_LIST)) {
      skipSpace()
      if (body[at] === OPEN_OBJECT) {
        const scanned = scanner.scan(body, at, filter)
        if (scanned === undefined) throw UNUSUAL
        at = scanned.end
        return scanned.logs
      }
      at = start
    }
    if (!skipValue()) throw UNUSUAL
    const part = body.subarray(start, at)
    if (at > SMALL_BYTES) weight += PER_FIELD + weightOf(part)
    if (isTooHeavy(weight, at)) throw UNUSUAL
    return parseJson(part, MOST_LOGS_BYTES)
  }
  const reply = (): Record<string, unknown> => {
    const fields: Record<string, unknown> = {}
    if (!take(OPEN_OBJECT)) throw UNUSUAL
    do {
      skipSpace()
      const start = at
      if (body[at] !== QUOTE || !skipText()) throw UNUSUAL
      const key = parseJson(body.subarray(start, at)) as string
      if (!take(COLON)) throw UNUSUAL
      fields[key] = value(key)
    } while (take(COMMA))
    if (!take(CLOSE_OBJECT)) throw UNUSUAL
    return fields
  }
  try {
    let parsed: unknown
    if (take(OPEN_LIST)) {
      const replies: unknown[] = []
      do replies.push(reply())
      while (take(COMMA))
      if (!take(CLOSE_LIST)) return undefined
      parsed = replies
    } else parsed = reply()
    skipSpace()
    return at === body.length ? parsed : undefined
  } catch (error) {
    // Broken JSON and heavy values, too: the caller's `parseJson` reports it.
    if (error === UNUSUAL || error instanceof SyntaxError) return undefined
    throw error
  }
}

const UNUSUAL = new Error('not written as nodes usually write it')
