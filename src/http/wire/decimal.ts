const ZERO = 0x30

/**
 * Reads a decimal number without a leading zero: a regular expression takes ten times as long.
 * @param to where it ends. @param mostDigits 15 at most. @returns −1 for any other text.
 */
export function readDecimal(text: string, from: number, to: number, mostDigits: number): number {
  const digits = to - from
  if (digits < 1 || digits > mostDigits || (digits > 1 && text.charCodeAt(from) === ZERO)) return -1
  let number = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return -1
    number = 10 * number + digit
  }
  return number
}
