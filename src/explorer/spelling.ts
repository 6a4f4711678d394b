import { decodeTokenMetadata } from '../protocol/metadata.js'

/** Numbers, amounts, times and texts as a person reads them. Nothing here knows the browser. */

const MOST_DIGITS = 6
/** Above that many digits before the point a power of ten says more. */
const LONGEST_WHOLE = 15

/** `1234567` → `1,234,567`. */
export function grouped(value: number | bigint | string): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** The exact value, with a point where the decimals say. */
export function exactAmount(amount: bigint, decimals: number): string {
  const digits = String(amount).padStart(decimals + 1, '0')
  const whole = grouped(digits.slice(0, digits.length - decimals))
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return rest === '' ? whole : `${whole}.${rest}`
}

/** At most six significant digits, cut and never rounded up: nobody is shown more than there is. */
export function shortAmount(amount: bigint, decimals: number): string {
  if (amount === 0n) return '0'
  const digits = String(amount)
  const power = digits.length - 1 - decimals
  if (power >= LONGEST_WHOLE || power < -MOST_DIGITS) {
    const rest = digits.slice(1, MOST_DIGITS).replace(/0+$/, '')
    return `${digits[0]}${rest === '' ? '' : `.${rest}`} × 10${superscript(power)}`
  }
  const kept = digits.slice(0, MOST_DIGITS).padEnd(digits.length, '0')
  return exactAmount(BigInt(kept), decimals)
}

function superscript(value: number): string {
  return String(value).replace(/./g, (sign) => (sign === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(sign)]!))
}

/** `0x1234…abcd`. */
export function shortHex(hex: string): string {
  return hex.length <= 14 ? hex : `${hex.slice(0, 6)}…${hex.slice(-4)}`
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** `4 min`, `2 h 5 min`: one unit, or two where the first is small. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const at = UNITS.findIndex(([, size]) => whole >= size)
  if (at < 0) return '0 s'
  const [unit, size] = UNITS[at]!
  const count = Math.floor(whole / size)
  const next = UNITS[at + 1]
  const rest = next === undefined ? 0 : Math.floor((whole - count * size) / next[1])
  return count >= 10 || rest === 0 || unit === 'min'
    ? `${count} ${unit}`
    : `${count} ${unit} ${rest} ${next![0]}`
}

/** `just now`, `4 min ago`. */
export function ago(unixSec: number, nowSec: number): string {
  const seconds = nowSec - unixSec
  return seconds < 5 ? 'just now' : `${duration(seconds)} ago`
}

/** `2026-01-31 12:00:00 UTC`. */
export function exactTime(unixSec: number): string {
  return `${new Date(unixSec * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

const LONGEST_SYMBOL = 16

/**
 * A token's text on one line. Anybody may name a token: controls, marks that turn the direction of text and blanks are not shown, and what is
 * long is cut.
 * @returns undefined where nothing is left to show.
 */
export function plainText(text: string, longest = LONGEST_SYMBOL): string | undefined {
  const plain = text
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
  const letters = [...plain]
  return letters.length === 0
    ? undefined
    : letters.length <= longest
      ? plain
      : `${letters.slice(0, longest).join('')}…`
}

/** @param hex `0x…`. @returns undefined for what is no hexadecimal of whole bytes. */
export function bytesOf(hex: string): Uint8Array | undefined {
  if (!/^0x([0-9a-f]{2})*$/i.test(hex)) return undefined
  return Uint8Array.from({ length: hex.length / 2 - 1 }, (_, at) =>
    Number.parseInt(hex.slice(2 + 2 * at, 4 + 2 * at), 16),
  )
}

/** What a bridge's metadata says of its token. */
export function tokenOfMetadata(
  metadata: string,
): { readonly symbol: string; readonly decimals: number } | undefined {
  const bytes = bytesOf(metadata)
  const token = bytes === undefined ? undefined : decodeTokenMetadata(bytes)
  const symbol = token?.symbol == null ? undefined : plainText(token.symbol)
  return symbol === undefined || token?.decimals == null ? undefined : { symbol, decimals: token.decimals }
}

/** The text that bytes spell in UTF-8, if it is text that can be read. */
export function readableText(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return /^[\P{C}\n\t]+$/u.test(text) ? text : undefined
  } catch {
    return undefined
  }
}
