import type { Address } from '../../protocol/chainEvent.js'
import type { ChecksumAddress } from '../../protocol/records.js'
import { readUint32 } from '../../store/codecs/bytes.js'
import { checksumMask } from '../../store/codecs/checksumAddress.js'
import { latin1 } from '../../store/codecs/keys.js'

/** An address with everything that the tables want of it. */
export interface KnownAddress extends ChecksumAddress {
  /** The 20 bytes as `latin1` text: list key, and key of maps. */
  readonly text: string
}

interface Entry extends KnownAddress {
  /** Another address of the same hash. */
  readonly next: Entry | undefined
}

/** Entries kept; about 400 bytes each. Senders and receivers repeat much more often than this. */
const CAPACITY = 100_000

/** Odd numbers of this process: nobody can make addresses that share a hash on purpose. */
const multipliers = Array.from({ length: 5 }, () => Math.floor(Math.random() * 2 ** 31) * 2 + 1)

/**
 * Works out EIP-55 masks, one keccak per address that is not remembered. Depends on nothing stored: a reorg leaves it
 * valid. Looked up by a hash of the bytes, since making a text first took most of the time of a look-up.
 */
export class AddressBook {
  readonly #keccak256: (bytes: Uint8Array) => Uint8Array
  readonly #known = new Map<number, Entry>()
  #count = 0

  constructor(keccak256: (bytes: Uint8Array) => Uint8Array) {
    this.#keccak256 = keccak256
  }

  get(address: Address): KnownAddress {
    let hash = 0
    for (let word = 0; word < 5; word++)
      hash = (hash ^ Math.imul(readUint32(address, 4 * word), multipliers[word]!)) | 0
    const first = this.#known.get(hash)
    for (let entry = first; entry !== undefined; entry = entry.next)
      if (isSameAddress(entry.bytes, address)) return entry
    if (this.#count >= CAPACITY) {
      this.#known.clear()
      this.#count = 0
    }
    const entry: Entry = {
      bytes: new Uint8Array(address),
      checksumMask: checksumMask(address, this.#keccak256),
      text: latin1(address),
      next: this.#count === 0 ? undefined : first,
    }
    this.#known.set(hash, entry)
    this.#count++
    return entry
  }
}

function isSameAddress(a: Address, b: Address): boolean {
  for (let index = 0; index < 20; index++) if (a[index] !== b[index]) return false
  return true
}
