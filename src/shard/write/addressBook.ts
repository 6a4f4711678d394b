import { copyBytes, readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Address } from '../../protocol/chainEvent.js'
import { CHECKSUM_ADDRESS_BYTES, type ChecksumAddress, checksumMask } from '../../protocol/checksumAddress.js'

/** Addresses remembered from one transaction to the next, 61 bytes each. Senders and receivers repeat much more often than this. */
const CAPACITY = 200_000
const FIRST_SLOTS = 4_096

/** Odd numbers of this process: nobody can make addresses that share a hash on purpose. */
const multipliers = Int32Array.from({ length: 5 }, () => Math.floor(Math.random() * 2 ** 31) * 2 + 1)

/** 20 bytes. */
const WORDS = 5
/** The address at hand, where it does not stand at a word. */
const ownWords = new Int32Array(WORDS)
const ownBytes = new Uint8Array(ownWords.buffer)

/**
 * Numbers the addresses that come by, and works out their EIP-55 masks: one keccak per address that is not remembered.
 * Depends on nothing stored: a reorg leaves it valid. Addresses stand in one array as rows hold them (address, mask), found
 * through a table of their hashes: objects and texts per address took six times as long and 400 bytes.
 */
export class AddressBook {
  readonly #keccak256: (bytes: Uint8Array) => Uint8Array
  /** Number + 1 by hash, with linear probing; at most half of them are taken. */
  #slots = new Int32Array(FIRST_SLOTS)
  #rows = new Uint8Array((FIRST_SLOTS / 2) * CHECKSUM_ADDRESS_BYTES)
  /** The addresses alone, by words: what is compared. */
  #words = new Int32Array((FIRST_SLOTS / 2) * WORDS)
  #count = 0

  constructor(keccak256: (bytes: Uint8Array) => Uint8Array) {
    this.#keccak256 = keccak256
  }

  /** Number of an address; valid until `trim` says otherwise. */
  numberOf(address: Address): number {
    copyBytes(address, 0, ownBytes.length, ownBytes, 0)
    return this.numberAt(ownWords, 0)
  }

  /** Number of the address whose five words begin at `at`. */
  numberAt(words: Int32Array, at: number): number {
    let slot = hashOf(words, at) & (this.#slots.length - 1)
    for (let taken = this.#slots[slot]!; taken !== 0; taken = this.#slots[slot]!) {
      if (isSameAddress(this.#words, WORDS * (taken - 1), words, at)) return taken - 1
      slot = (slot + 1) & (this.#slots.length - 1)
    }
    return this.#add(words, at)
  }

  /** Writes address and mask as rows hold them: CHECKSUM_ADDRESS_BYTES at `offset`. */
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

  /** The first four bytes of an address, so that their order is that of addresses. */
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

  /** Forgets all when there are too many: between transactions. @returns whether numbers are no longer what they were. */
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
