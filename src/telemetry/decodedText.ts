/** Text whose escapes are decoded, and where each of its characters stands in the text as given. */
export interface DecodedText {
  readonly text: string
  /** Place of the first character that means the character at this index. */
  readonly from: readonly number[]
  /** Place behind the last one. */
  readonly to: readonly number[]
}

/**
 * One character as programs write it in URLs, JSON, JavaScript and HTML. Escapes of escapes count as one: `%2541`, `\\\\u0041`,
 * `&amp;#65;`. Repetitions are bounded, so that no text takes longer than its length.
 */
const ESCAPE =
  /((?:%(?:25){0,4}[89a-f][\da-f])+)|%(?:25){0,4}([0-7][\da-f])|\\{1,8}(?:u\{0{0,4}([\da-f]{1,6})\}|u([\da-f]{4})|x([\da-f]{2})|([nrtbf"'/]))|\\(\\)|&(?:amp;){0,4}(?:#0{0,6}(\d{1,7})|#x0{0,6}([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi

/** Every escape begins with one of them. */
const ESCAPE_SIGN = /[%\\&]/

const NAMED: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

/** Programs quote each other: this many layers are taken off. */
const MOST_LAYERS = 4

/** The text with its escapes decoded. */
export function decodeEscapes(given: string): string {
  let text = given
  for (let layer = 0; layer < MOST_LAYERS && ESCAPE_SIGN.test(text); layer++) {
    const next = text.replace(ESCAPE, (_, ...groups: (string | undefined)[]) => meaningOf(groups))
    if (next === text) break
    text = next
  }
  return text
}

/** The same with places, which takes many times as long. */
export function decodeWithPlaces(given: string): DecodedText {
  const from = Array.from({ length: given.length }, (_, index) => index)
  let read: DecodedText = { text: given, from, to: from.map((index) => index + 1) }
  for (let layer = 0; layer < MOST_LAYERS; layer++) {
    const next = decodeLayer(read)
    if (next === undefined) break
    read = next
  }
  return read
}

function decodeLayer(read: DecodedText): DecodedText | undefined {
  let text = ''
  const from: number[] = []
  const to: number[] = []
  let at = 0
  const keepUntil = (end: number): void => {
    text += read.text.slice(at, end)
    for (; at < end; at++) {
      from.push(read.from[at]!)
      to.push(read.to[at]!)
    }
  }
  for (const found of read.text.matchAll(ESCAPE)) {
    keepUntil(found.index)
    at += found[0].length
    const meant = meaningOf(found.slice(1))
    text += meant
    for (let unit = 0; unit < meant.length; unit++) {
      from.push(read.from[found.index]!)
      to.push(read.to[at - 1]!)
    }
  }
  if (at === 0) return undefined
  keepUntil(read.text.length)
  return { text, from, to }
}

/** @param groups those of `ESCAPE`. */
function meaningOf(groups: readonly (string | undefined)[]): string {
  const [bytes, byte, point, unit, short, sign, backslash, decimal, hex, name] = groups
  if (bytes !== undefined) return Buffer.from(bytes.replace(/%(?:25)*/g, ''), 'hex').toString()
  const code = byte ?? point ?? unit ?? short ?? hex
  if (code !== undefined) return signOf(Number.parseInt(code, 16))
  if (decimal !== undefined) return signOf(Number(decimal))
  const given = sign ?? name ?? backslash ?? ''
  return NAMED[given.toLowerCase()] ?? given
}

function signOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd'
}
