import { readUint32BigEndian } from '../protocol/abiBytes.js'
import { uint256OfParts } from '../protocol/uint256.js'
import { CommandFormatError } from './commandFormatError.js'
import {
  ADDRESS_BYTES,
  ADDRESS_SLOTS,
  addressSlot,
  areSame,
  CommandMemory,
  HASH_BYTES,
} from './commandMemory.js'

const word = new Uint8Array(32)
const double = new DataView(new ArrayBuffer(8))

/**
 * Reads the fields of one command, one after another, and believes none of them: each method throws a CommandFormatError when the
 * bytes end too early, or are not exactly what `CommandWriter` writes. So no two byte strings say the same. Methods that end in `At`
 * return where a field's bytes lie in `bytes`; all others return copies.
 */
export class CommandReader {
  readonly memory = new CommandMemory()
  readonly version: number
  /** The command; never written to. */
  readonly bytes: Uint8Array
  /** Length of the value whose place `uint256At` or `metadataAt` returned last. */
  length = 0
  #at = 0

  /** @param version of the command: what its fields may say depends on it. */
  constructor(bytes: Uint8Array, version: number) {
    this.version = version
    // Not a Buffer: its `slice` would return views.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** The byte that is read next. */
  get at(): number {
    return this.#at
  }

  /** Bytes that are not read yet. */
  get left(): number {
    return this.bytes.length - this.#at
  }

  integer(most: number, field: string): number {
    const { bytes } = this
    const from = this.#at
    const first = bytes[from]
    // Most numbers take one byte.
    if (first !== undefined && first < 0x80 && first <= most) {
      this.#at = from + 1
      return first
    }
    let value = 0
    let scale = 1
    // Eight bytes of seven bits each hold every number up to 2^53 − 1, which is the largest limit.
    for (let at = from; at < from + 8; at++) {
      const byte = bytes[at]
      if (byte === undefined) return this.fail(field, 'the bytes end within a number', from)
      value += (byte & 0x7f) * scale
      scale *= 128
      if (byte >= 0x80) continue
      if (byte === 0 && at > from) return this.fail(field, 'a number is longer than it has to be', from)
      if (value > most) return this.fail(field, `${value} exceeds ${most}`, from)
      this.#at = at + 1
      return value
    }
    return this.fail(field, 'a number of more than 8 bytes', from)
  }

  /** A number of things that take at least `least` bytes each: no more than there can be. */
  count(least: number, field: string): number {
    const from = this.#at
    const count = this.integer(Number.MAX_SAFE_INTEGER, field)
    if (count * least > this.left)
      return this.fail(field, `${count} of at least ${least} bytes each, ${this.left} bytes are left`, from)
    return count
  }

  double(field: string): number {
    const at = this.takeAt(8, field)
    for (let byte = 0; byte < 8; byte++) double.setUint8(byte, this.bytes[at + byte]!)
    const value = double.getFloat64(0, true)
    if (!Number.isFinite(value) || value < 0 || Object.is(value, -0))
      return this.fail(field, `${value} is not a finite number from 0 on`, at)
    return value
  }

  /** The next `length` bytes; a copy. */
  copy(length: number, field: string): Uint8Array {
    return this.#copy(this.takeAt(length, field), length)
  }

  hash(field: string): Uint8Array {
    return this.#copy(this.takeAt(HASH_BYTES, field), HASH_BYTES)
  }

  /** Where the hash of an event's transaction lies. @param isSame as it was written in front of it. */
  transactionAt(isSame: boolean, field: string): number {
    const { memory } = this
    const before = memory.transactionAt
    if (isSame) return before === 0 ? this.fail(field, 'there is no event before it') : before
    const at = this.takeAt(HASH_BYTES, field)
    if (before !== 0 && areSame(this.bytes, before, this.bytes, at, HASH_BYTES))
      return this.fail(field, 'the same as before is written again', at)
    memory.transactionAt = at
    return at
  }

  transaction(isSame: boolean, field: string): Uint8Array {
    return this.#copy(this.transactionAt(isSame, field), HASH_BYTES)
  }

  addressAt(field: string): number {
    const { memory, bytes } = this
    const from = this.#at
    const named = this.integer(ADDRESS_SLOTS, field)
    if (named > 0) {
      memory.slot = named - 1
      const at = memory.addressAt[named - 1]!
      return at === 0 ? this.fail(field, `no address stood in slot ${named - 1}`, from) : at
    }
    const at = this.takeAt(ADDRESS_BYTES, field)
    const slot = addressSlot(bytes, at)
    const before = memory.addressAt[slot]!
    if (before !== 0 && areSame(bytes, before, bytes, at, ADDRESS_BYTES))
      return this.fail(field, 'the same as before is written again', from)
    memory.slot = slot
    memory.keepAddress(slot, at)
    return at
  }

  address(field: string): Uint8Array {
    return this.#copy(this.addressAt(field), ADDRESS_BYTES)
  }

  /** Where a number of `length` bytes lies, big-endian and without leading zeros. */
  uint256At(mostBytes: number, field: string): number {
    const from = this.#at
    const length = this.integer(mostBytes, `length of ${field}`)
    const at = this.takeAt(length, field)
    if (length > 0 && this.bytes[at] === 0) return this.fail(field, 'a number begins with a zero byte', from)
    this.length = length
    return at
  }

  bigint(mostBytes: number, field: string): bigint {
    const at = this.uint256At(mostBytes, field)
    word.fill(0)
    word.set(this.bytes.subarray(at, at + this.length), 32 - this.length)
    return uint256OfParts((part) => readUint32BigEndian(word, 4 * part))
  }

  /** Where metadata of `length` bytes lie. */
  metadataAt(field: string): number {
    const { memory, bytes } = this
    const { slot } = memory
    const from = this.#at
    const written = this.integer(Number.MAX_SAFE_INTEGER, field)
    const keptAt = memory.metadataAt[slot]!
    const keptLength = memory.metadataLength[slot]!
    if (written === 0) {
      this.length = keptLength
      return keptAt
    }
    const length = written - 1
    const at = this.takeAt(length, field)
    if (length === keptLength && areSame(bytes, keptAt, bytes, at, length))
      return this.fail(field, 'the same as before are written again', from)
    memory.keepMetadata(at, length)
    this.length = length
    return at
  }

  metadata(field: string): Uint8Array {
    return this.#copy(this.metadataAt(field), this.length)
  }

  /** Where the next `length` bytes lie. */
  takeAt(length: number, field: string): number {
    const at = this.#at
    if (length > this.left) return this.fail(field, `${length} bytes are needed, ${this.left} are left`)
    this.#at = at + length
    return at
  }

  /** @throws CommandFormatError unless everything was read. */
  end(): void {
    if (this.left > 0) this.fail('end', `${this.left} bytes are left over`)
  }

  /** @param at where the field began; without it: here. @throws CommandFormatError */
  fail(field: string, problem: string, at = this.#at): never {
    throw new CommandFormatError('malformed', at, field, problem)
  }

  #copy(at: number, length: number): Uint8Array {
    return this.bytes.slice(at, at + length)
  }
}
