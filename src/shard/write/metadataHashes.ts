/** About how many bytes of metadata are remembered. A token's metadata has a few hundred. */
const CAPACITY_BYTES = 16 * 2 ** 20
const FIRST_SLOTS = 1_024
const FIRST_WORDS = 16 * 1_024
/** A random odd number, made anew in each process, so that nobody can choose metadata whose hashes collide. */
const multiplier = Math.floor(Math.random() * 2 ** 31) * 2 + 1

/**
 * Gives each metadata a number, and computes its keccak-256 once: most deposits repeat the metadata of their token. Metadata are in one
 * array, with a hash table to find them: a map with texts as keys took twice as long, and made a text per deposit.
 */
export class MetadataHashes {
  readonly #keccak256: (bytes: Uint8Array) => Uint8Array
  /** Hash table of number + 1, with linear probing. At most half of the slots are taken. */
  #slots = new Int32Array(FIRST_SLOTS)
  /** Each metadata starts at a word. Bytes of its last word after its end are zero. */
  #words = new Int32Array(FIRST_WORDS)
  // By number: first word in `#words`, length in bytes, keccak-256.
  #starts: number[] = []
  #lengths: number[] = []
  #hashes: Uint8Array[] = []
  #used = 0

  constructor(keccak256: (bytes: Uint8Array) => Uint8Array) {
    this.#keccak256 = keccak256
  }

  /** Number of metadata; valid until `trim` returns true. */
  numberOf(metadata: Uint8Array): number {
    const words = new Int32Array(Math.ceil(metadata.length / 4))
    new Uint8Array(words.buffer).set(metadata)
    return this.numberAt(words, 0, metadata.length)
  }

  /** Number of the metadata of `length` bytes that start at the word `at`. */
  numberAt(words: Int32Array, at: number, length: number): number {
    let slot = slotOf(words, at, length) & (this.#slots.length - 1)
    for (let taken = this.#slots[slot]!; taken !== 0; taken = this.#slots[slot]!) {
      const number = taken - 1
      if (this.#lengths[number] === length && areSame(this.#words, this.#starts[number]!, words, at, length))
        return number
      slot = (slot + 1) & (this.#slots.length - 1)
    }
    return this.#add(words, at, length)
  }

  /** keccak-256 of metadata. @returns shared bytes: do not write into them. */
  hash(number: number): Uint8Array {
    return this.#hashes[number]!
  }

  /** Forgets all metadata when there are too many. Call it between transactions only. @returns whether all numbers became void. */
  trim(): boolean {
    if (4 * this.#used < CAPACITY_BYTES) return false
    this.#slots = new Int32Array(FIRST_SLOTS)
    this.#words = new Int32Array(FIRST_WORDS)
    this.#starts = []
    this.#lengths = []
    this.#hashes = []
    this.#used = 0
    return true
  }

  #add(words: Int32Array, at: number, length: number): number {
    const number = this.#starts.length
    const start = this.#used
    const full = length >> 2
    this.#used = start + Math.ceil(length / 4)
    if (this.#used > this.#words.length) {
      const larger = new Int32Array(2 * this.#used)
      larger.set(this.#words.subarray(0, start))
      this.#words = larger
    }
    for (let word = 0; word < full; word++) this.#words[start + word] = words[at + word]!
    if (start + full < this.#used) this.#words[start + full] = words[at + full]! & restMask(length)
    this.#starts.push(start)
    this.#lengths.push(length)
    const bytes = new Uint8Array(this.#words.buffer, 4 * start, length)
    this.#hashes.push(this.#keccak256(bytes))
    if (2 * this.#starts.length > this.#slots.length) {
      this.#slots = new Int32Array(2 * this.#slots.length)
      for (let older = 0; older < number; older++) this.#enter(older)
    }
    this.#enter(number)
    return number
  }

  #enter(number: number): void {
    const hash = slotOf(this.#words, this.#starts[number]!, this.#lengths[number]!)
    let slot = hash & (this.#slots.length - 1)
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1)
    this.#slots[slot] = number + 1
  }
}

/** Mask of the last word's bytes that belong to the metadata. Only for lengths that do not fill the last word; little-endian machines. */
function restMask(length: number): number {
  return (1 << (8 * (length & 3))) - 1
}

function slotOf(words: Int32Array, at: number, length: number): number {
  const full = length >> 2
  let hash = length
  for (let word = 0; word < full; word++)
    hash = Math.imul(hash ^ words[at + word]! ^ (hash >>> 15), multiplier)
  if ((length & 3) !== 0) hash = Math.imul(hash ^ (words[at + full]! & restMask(length)), multiplier)
  return hash ^ (hash >>> 15)
}

function areSame(known: Int32Array, start: number, words: Int32Array, at: number, length: number): boolean {
  const full = length >> 2
  for (let word = 0; word < full; word++) if (known[start + word] !== words[at + word]) return false
  return (length & 3) === 0 || known[start + full] === (words[at + full]! & restMask(length))
}
