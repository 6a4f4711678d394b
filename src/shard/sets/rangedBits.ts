import { type Bits, BLOCK_BITS, maskBelow, RANGE_BITS, WORD_BITS } from './bits.js'
import { type CountRanges, firstAtLeast } from './countRanges.js'

/** The members of a set that are in the given ranges. The set is not copied. */
export class RangedBits implements Bits {
  readonly wordCount: number
  readonly #bits: Bits
  readonly #bounds: readonly number[]
  /** For each range, the number of members in the ranges before it. */
  readonly #before: number[] = []

  constructor(bits: Bits, { bounds }: CountRanges) {
    this.wordCount = Math.min(bits.wordCount, Math.ceil((bounds.at(-1) ?? 0) / WORD_BITS))
    this.#bits = bits
    this.#bounds = bounds
    let count = 0
    for (let at = 0; at < bounds.length; at += 2) {
      this.#before.push(count)
      count += bits.rank(bounds[at + 1]!) - bits.rank(bounds[at]!)
    }
  }

  wordAt(index: number): number {
    const bounds = this.#bounds
    const [first, end] = [index * WORD_BITS, (index + 1) * WORD_BITS]
    let mask = 0
    // Starts at the range that contains the word's first ordinal, or else at the next range.
    for (
      let at = evenBelow(firstAtLeast(bounds, first + 1));
      at < bounds.length && bounds[at]! < end;
      at += 2
    )
      mask |= maskBelow(index, bounds[at + 1]!) & ~maskBelow(index, bounds[at]!)
    return mask === 0 ? 0 : this.#bits.wordAt(index) & mask
  }

  countBlock(block: number): number {
    return this.rank((block + 1) * BLOCK_BITS) - this.rank(block * BLOCK_BITS)
  }

  countRange(range: number): number {
    return this.rank((range + 1) * RANGE_BITS) - this.rank(range * RANGE_BITS)
  }

  rank(value: number): number {
    const bounds = this.#bounds
    const at = evenBelow(firstAtLeast(bounds, value) - 1)
    if (at < 0) return 0
    const [from, end] = [bounds[at]!, bounds[at + 1]!]
    return this.#before[at / 2]! + this.#bits.rank(Math.min(value, end)) - this.#bits.rank(from)
  }
}

/** The greatest even number ≤ `value`; −2 for −1. */
function evenBelow(value: number): number {
  return value - (((value % 2) + 2) % 2)
}
