import { equalBytesAt, readUint32 } from '../../store/codecs/bytes.js'

/** Bytes of metadata remembered, about; a token's metadata has a few hundred. */
const CAPACITY_BYTES = 16 * 2 ** 20
const FIRST_SLOTS = 1_024
/** A random odd number of this process: nobody can make metadata that share a hash on purpose. */
const multiplier = Math.floor(Math.random() * 2 ** 31) * 2 + 1

/**
 * keccak-256 of metadata, remembered: most deposits repeat their token's. Numbers the metadata that come by. They stand in
 * one array, found through a table of their hashes: texts as keys took twice as long and were garbage once per deposit.
 */
export class MetadataHashes {
  readonly #keccak256: (bytes: Uint8Array) => Uint8Array
  /** Number + 1 by hash, with linear probing; at most half of them are taken. */
  #slots = new Int32Array(FIRST_SLOTS)
  #bytes = new Uint8Array(64 * 1_024)
  /** Where each one ends in `#bytes`, and its hash. */
  #ends: number[] = []
  #hashes: Uint8Array[] = []

  constructor(keccak256: (bytes: Uint8Array) => Uint8Array) {
    this.#keccak256 = keccak256
  }

  /** Number of the metadata of `length` bytes at `offset`; valid until `trim` says otherwise. */
  numberOf(bytes: Uint8Array, offset = 0, length = bytes.length): number {
    let slot = this.#slotOf(bytes, offset, length)
    for (let taken = this.#slots[slot]!; taken !== 0; taken = this.#slots[slot]!) {
      const start = this.#startOf(taken - 1)
      const isSame = this.#ends[taken - 1]! - start === length
      if (isSame && equalBytesAt(this.#bytes, start, bytes, offset, length)) return taken - 1
      slot = (slot + 1) & (this.#slots.length - 1)
    }
    return this.#add(bytes.subarray(offset, offset + length))
  }

  /** Its keccak-256; shared bytes: do not write into them. */
  hash(number: number): Uint8Array {
    return this.#hashes[number]!
  }

  /** Forgets all when there are too many: between transactions. @returns whether numbers are no longer what they were. */
  trim(): boolean {
    if (this.#startOf(this.#ends.length) < CAPACITY_BYTES) return false
    this.#slots = new Int32Array(FIRST_SLOTS)
    this.#bytes = new Uint8Array(64 * 1_024)
    this.#ends = []
    this.#hashes = []
    return true
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : this.#ends[number - 1]!
  }

  #add(metadata: Uint8Array): number {
    const number = this.#ends.length
    const start = this.#startOf(number)
    const end = start + metadata.length
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(2 * end)
      larger.set(this.#bytes.subarray(0, start))
      this.#bytes = larger
    }
    this.#bytes.set(metadata, start)
    this.#ends.push(end)
    this.#hashes.push(this.#keccak256(metadata))
    if (2 * this.#ends.length > this.#slots.length) {
      this.#slots = new Int32Array(2 * this.#slots.length)
      for (let older = 0; older < number; older++) this.#enter(older)
    }
    this.#enter(number)
    return number
  }

  #enter(number: number): void {
    const start = this.#startOf(number)
    let slot = this.#slotOf(this.#bytes, start, this.#ends[number]! - start)
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1)
    this.#slots[slot] = number + 1
  }

  #slotOf(bytes: Uint8Array, offset: number, length: number): number {
    let hash = length
    let at = offset
    for (const end = offset + length - 4; at <= end; at += 4)
      hash = Math.imul(hash ^ readUint32(bytes, at) ^ (hash >>> 15), multiplier)
    for (const end = offset + length; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, multiplier)
    return (hash ^ (hash >>> 15)) & (this.#slots.length - 1)
  }
}
