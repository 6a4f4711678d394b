import { HEX_DIGITS, INPUT, TEXT } from './layout'

const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
/** `0x` as a little-endian pair of characters. */
const PREFIX: u16 = 0x7830

/**
 * Writes the `count` nodes at `INPUT` as JSON strings with commas between them, to `TEXT`: `"0x…","0x…"`, lower case.
 * @returns characters written.
 */
export function formatNodes(count: i32): i32 {
  let at = TEXT
  for (let i = 0; i < count; i++) {
    if (i > 0) store<u8>(at++, COMMA)
    store<u8>(at, QUOTE)
    store<u16>(at + 1, PREFIX)
    at += 3
    const node = INPUT + 32 * i
    writeHex16(node, at)
    writeHex16(node + 16, at + 32)
    at += 64
    store<u8>(at++, QUOTE)
  }
  return <i32>(at - TEXT)
}

/** 16 bytes to 32 digits, lower case: two table look-ups of all high and all low halves, then woven together. */
export function writeHex16(bytes: usize, text: usize): void {
  if (!ASC_FEATURE_SIMD) {
    for (let b = 0; b < 16; b++) {
      const byte = load<u8>(bytes + b)
      store<u8>(text + 2 * b, load<u8>(HEX_DIGITS + (byte >> 4)))
      store<u8>(text + 2 * b + 1, load<u8>(HEX_DIGITS + (byte & 15)))
    }
    return
  }
  const digits = v128.load(HEX_DIGITS)
  const value = v128.load(bytes)
  const high = v128.swizzle(digits, v128.shr<u8>(value, 4))
  const low = v128.swizzle(digits, v128.and(value, i8x16.splat(15)))
  v128.store(text, v128.shuffle<u8>(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23))
  v128.store(
    text,
    v128.shuffle<u8>(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31),
    16,
  )
}
