/** One 64-bit word, seen as a bigint and as two 32-bit halves: it converts between them without making more bigints. */
const word = new BigUint64Array(1)
const halves = new Uint32Array(word.buffer)
const [low, high] = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? ([0, 1] as const) : ([1, 0] as const)

/** A uint256 from its eight 32-bit parts. @param part returns the value of part 0 (the highest) … 7. */
export function uint256OfParts(part: (index: number) => number): bigint {
  let value = 0n
  for (let index = 0; index < 8; index += 2) {
    halves[high] = part(index)
    halves[low] = part(index + 1)
    if (value !== 0n) value = (value << 64n) | word[0]!
    else if (halves[high] !== 0 || halves[low] !== 0) value = word[0]!
  }
  return value
}

const LARGEST = ((1n << 256n) - 1n).toString()

/**
 * Whether a number is below 2^256, told from its text: nothing becomes a BigInt before that is known.
 * @param text decimal digits without leading zeros, or 0x and at most 64 hexadecimal digits.
 */
export function isUint256Text(text: string): boolean {
  if (text.startsWith('0x') || text.length < LARGEST.length) return true
  return text.length === LARGEST.length && text <= LARGEST
}

/** Writes 32 big-endian bytes, as the contracts do. @throws RangeError when the value is not a uint256. */
export function writeUint256(target: Uint8Array, offset: number, value: bigint): void {
  if (value < 0n) throw notUint256(value)
  let rest = value
  for (let at = offset + 24; at >= offset; at -= 8) {
    if (rest === 0n) {
      target.fill(0, offset, at + 8)
      return
    }
    word[0] = rest
    writeHalf(target, at, halves[high]!)
    writeHalf(target, at + 4, halves[low]!)
    rest >>= 64n
  }
  if (rest !== 0n) throw notUint256(value)
}

function writeHalf(target: Uint8Array, offset: number, half: number): void {
  target[offset] = half >>> 24
  target[offset + 1] = half >>> 16
  target[offset + 2] = half >>> 8
  target[offset + 3] = half
}

function notUint256(value: bigint): RangeError {
  return new RangeError(`${value} is not a uint256`)
}
