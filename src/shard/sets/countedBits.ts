import {
  type Bits,
  BLOCK_BITS,
  BLOCK_WORDS,
  popcount,
  RANGE_BITS,
  RANGE_BLOCKS,
  RANGE_WORDS,
  sliceBits,
  WORD_BITS,
} from './bits.js'
import type { OrdinalList } from './ordinalList.js'

/** A mutable set of ordinals that keeps its counts: 128 kB per million ordinals, however many of them are members. */
export class CountedBits implements Bits, OrdinalList {
  #words = new Uint32Array(RANGE_WORDS)
  #blocks = new Uint16Array(RANGE_BLOCKS)
  #ranges = new Uint32Array(1)
  #length = 0

  get length(): number {
    return this.#length
  }

  get wordCount(): number {
    return this.#words.length
  }

  get sizeBytes(): number {
    return this.#words.byteLength + this.#blocks.byteLength + this.#ranges.byteLength
  }

  wordAt(index: number): number {
    return index < this.#words.length ? this.#words[index]! : 0
  }

  countBlock(block: number): number {
    return this.#blocks[block] ?? 0
  }

  countRange(range: number): number {
    return this.#ranges[range] ?? 0
  }

  /** One more than the greatest member. */
  get end(): number {
    return this.#length === 0 ? 0 : this.slice(this.#length - 1, this.#length)[0]! + 1
  }

  has(ordinal: number): boolean {
    return (this.wordAt(Math.floor(ordinal / WORD_BITS)) & (1 << (ordinal % WORD_BITS))) !== 0
  }

  /** @param ordinal the set grows to ordinal / 8 bytes. @returns whether it was not a member before. */
  add(ordinal: number): boolean {
    if (this.has(ordinal)) return false
    const word = Math.floor(ordinal / WORD_BITS)
    if (word >= this.#words.length) this.#grow(word + 1)
    this.#words[word]! |= 1 << (ordinal % WORD_BITS)
    this.#count(word, 1)
    return true
  }

  /** @returns whether it was a member. */
  remove(ordinal: number): boolean {
    if (!this.has(ordinal)) return false
    const word = Math.floor(ordinal / WORD_BITS)
    this.#words[word]! &= ~(1 << (ordinal % WORD_BITS))
    this.#count(word, -1)
    return true
  }

  /** Removes every member at or above `end`. */
  truncate(end: number): void {
    if (end <= 0) {
      this.#words.fill(0)
      this.#recount(0)
      return
    }
    const word = Math.floor(end / WORD_BITS)
    if (word >= this.#words.length) return
    this.#words[word]! &= (1 << (end % WORD_BITS)) - 1
    this.#words.fill(0, word + 1)
    this.#recount(Math.floor(word / RANGE_WORDS))
  }

  /** Becomes a copy of `other`. */
  copyFrom(other: CountedBits): void {
    this.#words = other.#words.slice()
    this.#blocks = other.#blocks.slice()
    this.#ranges = other.#ranges.slice()
    this.#length = other.#length
  }

  /** Keeps only the members that are in all of the others, too. */
  retain(others: readonly Bits[]): void {
    const words = this.#words
    for (const other of others)
      for (let index = 0; index < words.length; index++)
        if (words[index] !== 0) words[index]! &= other.wordAt(index)
    this.#recount(0)
  }

  rank(value: number): number {
    if (value >= this.#words.length * WORD_BITS) return this.#length
    let count = 0
    const lastRange = Math.floor(value / RANGE_BITS)
    for (let range = 0; range < lastRange; range++) count += this.#ranges[range]!
    const lastBlock = Math.floor(value / BLOCK_BITS)
    for (let block = lastRange * RANGE_BLOCKS; block < lastBlock; block++) count += this.#blocks[block]!
    const lastWord = Math.floor(value / WORD_BITS)
    for (let word = lastBlock * BLOCK_WORDS; word < lastWord; word++) count += popcount(this.#words[word]!)
    return count + popcount(this.#words[lastWord]! & ((1 << (value % WORD_BITS)) - 1))
  }

  slice(from: number, to: number): number[] {
    return sliceBits(this, from, to)
  }

  #count(word: number, change: number): void {
    this.#blocks[Math.floor(word / BLOCK_WORDS)]! += change
    this.#ranges[Math.floor(word / RANGE_WORDS)]! += change
    this.#length += change
  }

  /** Counts anew from range `from` on. */
  #recount(from: number): void {
    const words = this.#words
    for (let range = from; range < this.#ranges.length; range++) {
      let inRange = 0
      for (let block = range * RANGE_BLOCKS; block < (range + 1) * RANGE_BLOCKS; block++) {
        let inBlock = 0
        for (let word = block * BLOCK_WORDS; word < (block + 1) * BLOCK_WORDS; word++)
          inBlock += popcount(words[word]!)
        this.#blocks[block] = inBlock
        inRange += inBlock
      }
      this.#length += inRange - this.#ranges[range]!
      this.#ranges[range] = inRange
    }
  }

  /** Grows by half, because sets grow slowly with the chain. */
  #grow(words: number): void {
    const ranges = Math.ceil(Math.max(words, this.#words.length * 1.5) / RANGE_WORDS)
    this.#words = grown(this.#words, ranges * RANGE_WORDS)
    this.#blocks = grown(this.#blocks, ranges * RANGE_BLOCKS)
    this.#ranges = grown(this.#ranges, ranges)
  }
}

function grown<A extends Uint16Array | Uint32Array>(from: A, length: number): A {
  const to = new (from.constructor as new (length: number) => A)(length)
  to.set(from)
  return to
}

/** Number of flips kept: some minutes of claims. A reader that falls further behind starts anew. */
const KEPT = 16_384

/** A log of ordinals whose state flipped, in the order in which that was noticed. Each reader keeps its own position in it. */
export class Flips {
  readonly #ring = new Uint32Array(KEPT)
  #end = 0

  /** Position after the newest flip. */
  get end(): number {
    return this.#end
  }

  push(ordinal: number): void {
    this.#ring[this.#end++ % KEPT] = ordinal
  }

  /** Records that so much changed that every reader must start anew. */
  pushEverything(): void {
    this.#end += KEPT + 1
  }

  /** Ordinals that flipped since `position`; undefined when they are no longer kept. */
  since(position: number): number[] | undefined {
    if (this.#end - position > KEPT) return undefined
    const flipped: number[] = []
    for (let at = position; at < this.#end; at++) flipped.push(this.#ring[at % KEPT]!)
    return flipped
  }
}
