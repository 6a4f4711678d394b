import { copyBytes } from '../protocol/abiBytes.js'
import { writeUint256 } from '../protocol/uint256.js'
import {
  ADDRESS_BYTES,
  addressSlot,
  areSame,
  CommandMemory,
  HASH_BYTES,
  MOST_KEPT_METADATA,
} from './commandMemory.js'

/** Longest number, and longest field besides metadata: no method but `metadata` writes more at once. */
const MOST_FIELD_BYTES = 40

const word = new Uint8Array(32)
const double = new DataView(new ArrayBuffer(8))

/**
 * Writes the fields of one command, one after another, into memory that grows. `CommandReader` has a method of the same name for each.
 * Nothing is kept of what is passed in. Methods throw a RangeError for a value that is not of its type: nobody else looks at it.
 */
export class CommandWriter {
  readonly memory = new CommandMemory()
  #bytes: Uint8Array
  #length = 0

  /** @param expectedBytes saves growing. */
  constructor(expectedBytes: number) {
    this.#bytes = new Uint8Array(expectedBytes + MOST_FIELD_BYTES)
  }

  /** @returns all that was written: this writer's own memory, which the caller owns from here on. */
  written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** A whole number 0 … `most`, seven bits a byte, the lowest first; all bytes but the last have bit 7 set. */
  integer(value: number, most: number, field: string): void {
    if (!Number.isInteger(value) || value < 0 || value > most)
      throw new RangeError(`${field} ${value} is not a whole number up to ${most}`)
    this.#reserve(MOST_FIELD_BYTES)
    const bytes = this.#bytes
    if (value < 0x80) {
      bytes[this.#length++] = value
      return
    }
    let rest = value
    for (; rest > 0xffff_ffff; rest = Math.floor(rest / 128)) bytes[this.#length++] = (rest % 128) | 0x80
    for (; rest > 0x7f; rest >>>= 7) bytes[this.#length++] = rest | 0x80
    bytes[this.#length++] = rest
  }

  /** 8 bytes, little-endian: a finite number from 0 on, which need not be whole. */
  double(value: number, field: string): void {
    if (!Number.isFinite(value) || value < 0 || Object.is(value, -0))
      throw new RangeError(`${field} ${value} is not a finite number from 0 on`)
    double.setFloat64(0, value, true)
    this.#reserve(8)
    for (let byte = 0; byte < 8; byte++) this.#bytes[this.#length++] = double.getUint8(byte)
  }

  /** Without their number. */
  bytes(bytes: Uint8Array): void {
    this.#copy(bytes, 0, bytes.length)
  }

  hash(hash: Uint8Array, field: string): void {
    if (hash.length !== HASH_BYTES)
      throw new RangeError(`${field} has ${hash.length} bytes, not ${HASH_BYTES}`)
    this.#copy(hash, 0, HASH_BYTES)
  }

  /** Whether the last event is of this transaction, too. */
  isSameTransaction(source: Uint8Array, at: number): boolean {
    const { transactionAt } = this.memory
    return transactionAt !== 0 && areSame(this.#bytes, transactionAt, source, at, HASH_BYTES)
  }

  /** The hash of a transaction, which is not that of the last event. */
  transaction(source: Uint8Array, at: number): void {
    this.memory.transactionAt = this.#length
    this.#copy(source, at, HASH_BYTES)
  }

  /** 0 and the address, or its slot plus one when it stands there already. */
  address(source: Uint8Array, at: number): void {
    const { memory } = this
    const slot = addressSlot(source, at)
    const before = memory.addressAt[slot]!
    memory.slot = slot
    if (before !== 0 && areSame(this.#bytes, before, source, at, ADDRESS_BYTES)) {
      this.integer(slot + 1, Number.MAX_SAFE_INTEGER, 'slot')
      return
    }
    this.#reserve(MOST_FIELD_BYTES)
    this.#bytes[this.#length++] = 0
    memory.keepAddress(slot, this.#length)
    this.#copy(source, at, ADDRESS_BYTES)
  }

  /** Big-endian without leading zeros, behind its length. @param at of 32 bytes, big-endian. */
  uint256(source: Uint8Array, at: number): void {
    let first = 0
    while (first < 32 && source[at + first] === 0) first++
    this.#reserve(MOST_FIELD_BYTES)
    this.#bytes[this.#length++] = 32 - first
    this.#copy(source, at + first, 32 - first)
  }

  /** As `uint256`. @param mostBytes how many bytes the type has. */
  bigint(value: bigint, mostBytes: number, field: string): void {
    if (value < 0n || value >> BigInt(8 * mostBytes) !== 0n)
      throw new RangeError(`${field} ${value} is not a uint${8 * mostBytes}`)
    writeUint256(word, 0, value)
    this.uint256(word, 0)
  }

  /** 0 for those that came with the last address before (at first: none), else their length plus one, and they themselves. */
  metadata(source: Uint8Array, at: number, length: number): void {
    const { memory } = this
    const { slot } = memory
    const isKept =
      memory.metadataLength[slot] === length &&
      areSame(this.#bytes, memory.metadataAt[slot]!, source, at, length)
    if (isKept) {
      this.integer(0, 0, 'metadata')
      return
    }
    this.integer(length + 1, Number.MAX_SAFE_INTEGER, 'length of metadata')
    memory.keepMetadata(this.#length, length)
    this.#reserve(length)
    if (length <= MOST_KEPT_METADATA / 8) copyBytes(source, at, length, this.#bytes, this.#length)
    else this.#bytes.set(source.subarray(at, at + length), this.#length)
    this.#length += length
  }

  #copy(source: Uint8Array, at: number, length: number): void {
    this.#reserve(length)
    copyBytes(source, at, length, this.#bytes, this.#length)
    this.#length += length
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return
    const grown = new Uint8Array(2 * this.#bytes.length + size)
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
  }
}
