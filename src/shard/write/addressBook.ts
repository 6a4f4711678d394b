import { copyBytes, readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Address } from '../../protocol/chainEvent.js'
import { CHECKSUM_ADDRESS_BYTES, type ChecksumAddress, checksumMask } from '../../protocol/checksumAddress.js'

/** Addresses remembered, 61 bytes each: far more than the senders and receivers that repeat. */
const CAPACITY = 200_000
const FIRST_SLOTS = 4_096

/** Random odd numbers, made anew in each process, so that nobody can choose addresses whose hashes collide. */
const multipliers = Int32Array.from({ length: 5 }, () => Math.floor(Math.random() * 2 ** 31) * 2 + 1)

/** Words of an address: 20 bytes. */
const WORDS = 5
/** The address at work, as words and as bytes. Elsewhere an address may start between two words. */
const ownWords = new Int32Array(WORDS)
const ownBytes = new Uint8Array(ownWords.buffer)

/**
 * Gives each address a number, and computes its EIP-55 mask once: one keccak per new address. It holds nothing of the store, so it
 * stays valid in a reorg. Addresses are in one array in the layout of rows (address, mask), with a hash table to find them: an object
 * and a text per address took six times as long, and 400 bytes each.
 */
export class AddressBook {
  readonly #keccak256: (bytes: Uint8Array) => Uint8Array
  /** Hash table of number + 1, with linear probing. At most half of the slots are taken. */
  #slots = new Int32Array(FIRST_SLOTS)
  #rows = new Uint8Array((FIRST_SLOTS / 2) * CHECKSUM_ADDRESS_BYTES)
  /** The addresses alone as words, for comparing. */
  #words = new Int32Array((FIRST_SLOTS / 2) * WORDS)
  #count = 0

  constructor(keccak256: (bytes: Uint8Array) => Uint8Array) {
    this.#keccak256 = keccak256
  }

  /** Number of an address; valid until `trim` returns true. */
  numberOf(address: Address): number {
    copyBytes(address, 0, ownBytes.length, ownBytes, 0)
    return this.numberAt(ownWords, 0)
  }

  /** Number of the address whose five words start at `at`. */
  numberAt(words: Int32Array, at: number): number {
    let slot = hashOf(words, at) & (this.#slots.length - 1)
    for (let taken = this.#slots[slot]!; taken !== 0; taken = this.#slots[slot]!) {
      if (isSameAddress(this.#words, WORDS * (taken - 1), words, at)) return taken - 1
      slot = (slot + 1) & (this.#slots.length - 1)
    }
    return this.#add(words, at)
  }

  /** Writes address and mask in the layout of rows: CHECKSUM_ADDRESS_BYTES at `offset`. */
  copy(number: number, target: Uint8Array, offset: number): void {
    const rows = this.#rows
    const from = number * CHECKSUM_ADDRESS_BYTES
    for (let index = 0; index < CHECKSUM_ADDRESS_BYTES; index++) target[offset + index] = rows[from + index]!
  }

  /** Writes the 20 bytes of an address at `offset`. */
  copyBytes(number: number, target: Uint8Array, offset: number): void {
    const rows = this.#rows
    const from = number * CHECKSUM_ADDRESS_BYTES
    for (let index = 0; index < 20; index++) target[offset + index] = rows[from + index]!
  }

  /** The first four bytes of an address, big-endian: they sort as addresses do. */
  firstWord(number: number): number {
    return readUint32BigEndian(this.#rows, number * CHECKSUM_ADDRESS_BYTES)
  }

  /** @returns views that are valid until the next address is added. */
  at(number: number): ChecksumAddress {
    const from = number * CHECKSUM_ADDRESS_BYTES
    return {
      bytes: this.#rows.subarray(from, from + 20),
      checksumMask: this.#rows.subarray(from + 20, from + CHECKSUM_ADDRESS_BYTES),
    }
  }

  get(address: Address): ChecksumAddress {
    return this.at(this.numberOf(address))
  }

  /** Forgets all addresses when there are too many. Call it between transactions only. @returns whether all numbers became void. */
  trim(): boolean {
    if (this.#count < CAPACITY) return false
    this.#slots.fill(0)
    this.#count = 0
    return true
  }

  #add(words: Int32Array, at: number): number {
    const number = this.#count++
    if (2 * this.#count > this.#slots.length) this.#grow()
    for (let word = 0; word < WORDS; word++) this.#words[WORDS * number + word] = words[at + word]!
    ownWords.set(this.#words.subarray(WORDS * number, WORDS * (number + 1)))
    const from = number * CHECKSUM_ADDRESS_BYTES
    this.#rows.set(ownBytes, from)
    this.#rows.set(checksumMask(ownBytes, this.#keccak256), from + 20)
    this.#enter(number)
    return number
  }

  #grow(): void {
    const rows = new Uint8Array(2 * this.#rows.length)
    rows.set(this.#rows)
    this.#rows = rows
    const words = new Int32Array(2 * this.#words.length)
    words.set(this.#words)
    this.#words = words
    this.#slots = new Int32Array(2 * this.#slots.length)
    for (let number = 0; number < this.#count - 1; number++) this.#enter(number)
  }

  #enter(number: number): void {
    let slot = hashOf(this.#words, WORDS * number) & (this.#slots.length - 1)
    while (this.#slots[slot] !== 0) slot = (slot + 1) & (this.#slots.length - 1)
    this.#slots[slot] = number + 1
  }
}

function hashOf(words: Int32Array, at: number): number {
  let hash = 0
  for (let word = 0; word < WORDS; word++)
    hash = (hash ^ Math.imul(words[at + word]!, multipliers[word]!)) | 0
  return hash ^ (hash >>> 15)
}

function isSameAddress(a: Int32Array, atA: number, b: Int32Array, atB: number): boolean {
  for (let word = 0; word < WORDS; word++) if (a[atA + word] !== b[atB + word]) return false
  return true
}
