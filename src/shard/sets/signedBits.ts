import { type Bits, BLOCK_BITS, maskBelow, RANGE_BITS, WORD_BITS } from './bits.js'

/** One term of a sum of sets: the members of `bits` below `below` are added (1) or subtracted (−1). */
export interface SignedPart {
  readonly bits: Bits
  readonly sign: 1 | -1
  readonly below: number
}

/**
 * Sums and differences of sets as one set, without copying. An example: all deposits, less those to one network below a mark,
 * plus the claimed ones of these. A part that is added must share no member with the result so far, and a part that is subtracted
 * must lie inside it. Then the count in any stretch is the sum of the parts' counts, and a bit of the result is the parity of the
 * parts' bits.
 */
export class SignedBits implements Bits {
  readonly #parts: readonly SignedPart[]
  readonly wordCount: number

  constructor(parts: readonly SignedPart[]) {
    this.#parts = parts
    this.wordCount = Math.max(0, ...parts.map(({ bits }) => bits.wordCount))
  }

  wordAt(index: number): number {
    let word = 0
    for (const { bits, below } of this.#parts)
      if (below > index * WORD_BITS) word ^= bits.wordAt(index) & maskBelow(index, below)
    return word
  }

  countBlock(block: number): number {
    const from = block * BLOCK_BITS
    let count = 0
    for (const { bits, sign, below } of this.#parts)
      if (below >= from + BLOCK_BITS) count += sign * bits.countBlock(block)
      else if (below > from) count += sign * (bits.rank(below) - bits.rank(from))
    return count
  }

  countRange(range: number): number {
    const from = range * RANGE_BITS
    let count = 0
    for (const { bits, sign, below } of this.#parts)
      if (below >= from + RANGE_BITS) count += sign * bits.countRange(range)
      else if (below > from) count += sign * (bits.rank(below) - bits.rank(from))
    return count
  }

  rank(value: number): number {
    let count = 0
    for (const { bits, sign, below } of this.#parts) count += sign * bits.rank(Math.min(value, below))
    return count
  }
}
