const PERCENT = 0x25
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** One `name=value` of a query string, decoded. A name without `=` has the value ''. */
export interface RawParameter {
  readonly name: string
  readonly value: string
}

/** Most parameters of a query: more than all that are known, with the longest lists spelled out. */
export const MAX_PARAMETERS = 256

/** Text that is not percent-encoded UTF-8. */
export interface MalformedText {
  readonly malformed: string
}

/**
 * Takes a raw query string apart: strict percent-decoding, `+` is not a space, order and repeats kept. Servers' own
 * parsers are not used: they decode `%zz` to garbage and drop repeats.
 */
export function splitQueryString(raw: string): RawParameter[] | MalformedText | 'too many' {
  const parameters: RawParameter[] = []
  // Not `split`: it leaves compiled code for the engine's C++, which takes longer than this loop.
  for (let at = 0; at < raw.length; ) {
    const next = raw.indexOf('&', at)
    const end = next < 0 ? raw.length : next
    if (end > at) {
      const equals = raw.indexOf('=', at)
      const hasValue = equals >= 0 && equals < end
      const name = decodePercent(raw.slice(at, hasValue ? equals : end))
      const value = decodePercent(hasValue ? raw.slice(equals + 1, end) : '')
      if (name === undefined || value === undefined) return { malformed: raw.slice(at, end) }
      if (parameters.length === MAX_PARAMETERS) return 'too many'
      parameters.push({ name, value })
    }
    at = end + 1
  }
  return parameters
}

/** @returns undefined when the text is not percent-encoded UTF-8. */
function decodePercent(text: string): string | undefined {
  if (!text.includes('%')) return text
  const bytes: number[] = []
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit !== PERCENT) {
      // The request line reaches us as Latin-1 or UTF-8 text; what is not ASCII should have been encoded.
      if (unit > 0x7f) return undefined
      bytes.push(unit)
      continue
    }
    const high = hexDigit(text.charCodeAt(at + 1))
    const low = hexDigit(text.charCodeAt(at + 2))
    if (high < 0 || low < 0) return undefined
    bytes.push(high * 16 + low)
    at += 2
  }
  try {
    return utf8.decode(Uint8Array.from(bytes))
  } catch {
    return undefined
  }
}

/** Value of a hex digit, −1 for anything else, NaN included. */
function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
