const WORD_BITS = 32

function popcount(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555)
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

/**
 * A growing set of deposit counts, one bit each: 125 kB per million deposits. Filters that no stored list answers
 * (ready, claimed) are word-by-word algebra over such sets.
 */
export class BitSet {
  #words = new Uint32Array(32)

  /** @param member must stay below what the caller bounds: the set takes member / 8 bytes. */
  add(member: number): void {
    const word = member >>> 5
    if (word >= this.#words.length) this.#grow(word + 1)
    this.#words[word]! |= 1 << (member & 31)
  }

  remove(member: number): void {
    const word = member >>> 5
    if (word < this.#words.length) this.#words[word]! &= ~(1 << (member & 31))
  }

  has(member: number): boolean {
    return ((this.#words[member >>> 5] ?? 0) & (1 << (member & 31))) !== 0
  }

  count(): number {
    let total = 0
    for (const word of this.#words) total += popcount(word)
    return total
  }

  /** Adds each member of `all` below `end` that is not in `except`. */
  addDifference(all: BitSet, except: BitSet, end: number): void {
    const words = Math.min(Math.ceil(end / WORD_BITS), all.#words.length)
    if (words > this.#words.length) this.#grow(words)
    for (let at = 0; at < words; at++) {
      let word = all.#words[at]! & ~(except.#words[at] ?? 0)
      if (at === end >>> 5) word &= (1 << (end & 31)) - 1
      this.#words[at]! |= word
    }
  }

  /** Adds each number below `end` that is not in `except`. */
  addComplement(except: BitSet, end: number): void {
    const words = Math.ceil(end / WORD_BITS)
    if (words > this.#words.length) this.#grow(words)
    for (let at = 0; at < words; at++) {
      let word = ~(except.#words[at] ?? 0)
      if (at === end >>> 5) word &= (1 << (end & 31)) - 1
      this.#words[at]! |= word
    }
  }

  /** Members from the highest down: leaves out the first `skip`, then takes at most `limit`. */
  listDescending(skip: number, limit: number): number[] {
    const members: number[] = []
    let toSkip = skip
    for (let at = this.#words.length - 1; at >= 0 && members.length < limit; at--) {
      let word = this.#words[at]!
      if (word === 0) continue
      const bits = popcount(word)
      if (bits <= toSkip) {
        toSkip -= bits
        continue
      }
      while (word !== 0 && members.length < limit) {
        const bit = 31 - Math.clz32(word)
        word &= ~(1 << bit)
        if (toSkip > 0) toSkip--
        else members.push(at * WORD_BITS + bit)
      }
    }
    return members
  }

  #grow(words: number): void {
    const grown = new Uint32Array(Math.max(words, Math.ceil(this.#words.length * 1.5)))
    grown.set(this.#words)
    this.#words = grown
  }
}
