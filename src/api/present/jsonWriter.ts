import type { ChecksumAddress } from '../../protocol/checksumAddress.js'
import type { RowWriter } from '../../query/packedRows.js'

const ZERO = 0x30
const LOWER_HEX = asciiBytes('0123456789abcdef')
const UPPER_HEX = asciiBytes('0123456789ABCDEF')

/** Byte → its two lower-case hex digits, for 256 bytes each. */
const HIGH_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => LOWER_HEX[byte >> 4]!)
const LOW_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => LOWER_HEX[byte & 15]!)

const NULL = asciiBytes('null')
const TRUE = asciiBytes('true')
const FALSE = asciiBytes('false')

/** Decimal digits per division step: 10^9 is the largest power whose remainder, shifted by 16 bits, a double holds. */
const STEP = 1_000_000_000
const STEP_DIGITS = 9
const LIMBS = 16

const NODE_BYTES = 32
/** Quotes, `0x`, digits and a comma. */
const NODE_CHARACTERS = 69

const encoder = new TextEncoder()

function formatNodesHere(nodes: Uint8Array, target: Uint8Array, start: number): number {
  let at = start
  for (let node = 0; node < nodes.length; node += NODE_BYTES) {
    if (node > 0) target[at++] = 0x2c
    at = writeHex(nodes, node, node + NODE_BYTES, target, at)
  }
  return at - start
}

/** `"0x…"` of the bytes from `from` to `to`. @returns where it ends in `target`. */
function writeHex(value: Uint8Array, from: number, to: number, target: Uint8Array, start: number): number {
  let at = start
  target[at++] = 0x22
  target[at++] = ZERO
  target[at++] = 0x78
  for (let index = from; index < to; index++) {
    const byte = value[index]!
    target[at++] = HIGH_DIGIT[byte]!
    target[at++] = LOW_DIGIT[byte]!
  }
  target[at++] = 0x22
  return at
}

/** ASCII text as bytes, for the fixed parts of an answer: made once, at start. */
export function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

/**
 * Writes 32-byte nodes as JSON strings with commas between them, 69·N − 1 characters for N nodes, into `target` from `at` on.
 * @returns characters written.
 */
export type FormatNodes = (nodes: Uint8Array, target: Uint8Array, at: number) => number

/** An answer is longer than its `maxLength`: an expected failure of that one answer. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError'
}

/**
 * Writes JSON straight into bytes that grow: no strings and no objects between the store and the socket.
 * One per thread, not re-entrant. What it wrote stays where it is until `reset`.
 */
export class JsonWriter {
  /** Backing memory; replaced when it grows, so never keep it across a write. */
  bytes: Uint8Array<ArrayBuffer>
  /** Bytes written. */
  length = 0
  /** Where writing stops with `AnswerTooLargeError`. Looked at only when the memory grows: check `length` at the end. */
  maxLength = Number.POSITIVE_INFINITY

  private readonly digits = new Uint8Array(80)
  private readonly limbs = new Uint32Array(LIMBS)
  /** Writes rows that come as stored bytes; without one, rows are written field by field. */
  readonly rowWriter: RowWriter | undefined
  private readonly formatNodes: FormatNodes

  /** @param formatNodes writes nodes; the wasm module's is faster than the default. */
  constructor(capacity = 64 * 1024, formatNodes: FormatNodes = formatNodesHere, rowWriter?: RowWriter) {
    this.bytes = new Uint8Array(capacity)
    this.formatNodes = formatNodes
    this.rowWriter = rowWriter
  }

  /** Forgets what was written; the memory is used again. */
  reset(): void {
    this.length = 0
  }

  /** Leaves room for `size` bytes that the caller fills later. */
  skip(size: number): void {
    this.reserve(size)
    this.length += size
  }

  /** Goes back to an earlier `length`: drops a half-written answer. */
  truncate(length: number): void {
    this.length = length
  }

  /** Fixed text, already JSON. */
  raw(text: Uint8Array): void {
    const size = text.length
    this.reserve(size)
    const bytes = this.bytes
    let at = this.length
    // A plain loop beats `set` for the short keys that this is called with (under ~60 bytes).
    for (let index = 0; index < size; index++) bytes[at++] = text[index]!
    this.length = at
  }

  /** Bytes of any length, as they are. */
  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** A safe integer ≥ 0. */
  uint(value: number): void {
    this.reserve(16)
    if (value > 0xffff_ffff) {
      this.longUint(value)
      return
    }
    let size = 1
    for (let power = 10; power <= value; power *= 10) size++
    const bytes = this.bytes
    let at = this.length + size
    this.length = at
    let rest = value
    do {
      const next = Math.floor(rest / 10)
      bytes[--at] = ZERO + (rest - next * 10)
      rest = next
    } while (rest > 0)
  }

  boolean(value: boolean): void {
    this.raw(value ? TRUE : FALSE)
  }

  null(): void {
    this.raw(NULL)
  }

  /** `"0x…"`, lower case. */
  hex(value: Uint8Array): void {
    this.reserve(2 * value.length + 4)
    this.length = writeHex(value, 0, value.length, this.bytes, this.length)
  }

  /** `"0x…","0x…"`: the 32-byte nodes of a branch. */
  nodes(value: Uint8Array): void {
    this.reserve(NODE_CHARACTERS * (value.length / NODE_BYTES))
    this.length += this.formatNodes(value, this.bytes, this.length)
  }

  hexOrNull(value: Uint8Array | null): void {
    if (value === null) this.null()
    else this.hex(value)
  }

  /** `"0x…"` in the EIP-55 spelling. The mask holds it, so nothing is hashed here. */
  address(value: ChecksumAddress): void {
    this.reserve(44)
    const bytes = this.bytes
    const mask = value.checksumMask
    let at = this.length
    bytes[at++] = 0x22
    bytes[at++] = ZERO
    bytes[at++] = 0x78
    for (let index = 0; index < 20; index++) {
      const byte = value.bytes[index]!
      // Four address bytes, eight digits, per byte of the mask.
      const bits = mask[index >> 2]! >> (6 - 2 * (index & 3))
      bytes[at++] = (bits & 2 ? UPPER_HEX : LOWER_HEX)[byte >> 4]!
      bytes[at++] = (bits & 1 ? UPPER_HEX : LOWER_HEX)[byte & 15]!
    }
    bytes[at++] = 0x22
    this.length = at
  }

  addressOrNull(value: ChecksumAddress | null): void {
    if (value === null) this.null()
    else this.address(value)
  }

  /**
   * `"…"`, decimal: a uint256 is never a JSON number, because readers would round it.
   * @param value 32 bytes, big-endian.
   */
  amount(value: Uint8Array): void {
    this.reserve(82)
    this.bytes[this.length++] = 0x22
    this.bareAmount(value)
    this.bytes[this.length++] = 0x22
  }

  /** The same as a JSON number. */
  bareAmount(value: Uint8Array): void {
    this.reserve(80)
    const limbs = this.limbs
    let first = LIMBS
    for (let limb = LIMBS - 1; limb >= 0; limb--) {
      const bits = value[2 * limb]! * 256 + value[2 * limb + 1]!
      limbs[limb] = bits
      if (bits !== 0) first = limb
    }
    if (first >= LIMBS - 3) {
      this.uint(limbs[LIMBS - 3]! * 0x1_0000_0000 + limbs[LIMBS - 2]! * 0x1_0000 + limbs[LIMBS - 1]!)
    } else {
      this.copyDigits(this.divideOut(first))
    }
  }

  /** A text as it is. Not for the hot path. */
  plain(text: string): void {
    this.reserve(3 * text.length)
    this.length += encoder.encodeInto(text, this.bytes.subarray(this.length)).written
  }

  /** A text of any characters, escaped. Not for the hot path. */
  text(value: string): void {
    this.json(value)
  }

  /** Any plain value. Not for the hot path. */
  json(value: unknown): void {
    this.plain(JSON.stringify(value))
  }

  textOrNull(value: string | null): void {
    if (value === null) this.null()
    else this.text(value)
  }

  private longUint(value: number): void {
    let at = this.digits.length
    let rest = value
    do {
      const next = Math.floor(rest / 10)
      this.digits[--at] = ZERO + (rest - next * 10)
      rest = next
    } while (rest > 0)
    this.copyDigits(at)
  }

  /** Turns `limbs` into digits by repeated division by 10^9. @returns where the digits start in `digits`. */
  private divideOut(first: number): number {
    const limbs = this.limbs
    let at = this.digits.length
    let top = first
    while (top < LIMBS) {
      let remainder = 0
      for (let limb = top; limb < LIMBS; limb++) {
        const dividend = remainder * 0x1_0000 + limbs[limb]!
        const quotient = Math.floor(dividend / STEP)
        limbs[limb] = quotient
        remainder = dividend - quotient * STEP
      }
      while (top < LIMBS && limbs[top] === 0) top++
      for (let digit = 0; digit < STEP_DIGITS && (top < LIMBS || remainder > 0); digit++) {
        const next = Math.floor(remainder / 10)
        this.digits[--at] = ZERO + (remainder - next * 10)
        remainder = next
      }
    }
    return at
  }

  private copyDigits(from: number): void {
    const digits = this.digits
    const bytes = this.bytes
    let at = this.length
    for (let index = from; index < digits.length; index++) bytes[at++] = digits[index]!
    this.length = at
  }

  private reserve(size: number): void {
    if (this.length + size <= this.bytes.length) return
    if (this.length + size > this.maxLength) throw new AnswerTooLargeError()
    const grown = new Uint8Array(Math.max(2 * this.bytes.length, this.length + size))
    grown.set(this.bytes.subarray(0, this.length))
    this.bytes = grown
  }
}
