import type { Address } from '../../protocol/chainEvent.js'
import type { ChecksumAddress } from '../../protocol/records.js'
import { checksumMask } from '../../store/codecs/checksumAddress.js'
import { latin1 } from '../../store/codecs/keys.js'

/** An address with everything that the tables want of it. */
export interface KnownAddress extends ChecksumAddress {
  /** The 20 bytes as `latin1` text: list key, and part of map keys. */
  readonly text: string
}

/** Entries kept; about 300 bytes each. Senders and receivers repeat much more often than this. */
const CAPACITY = 100_000

/** Works out EIP-55 masks, one keccak per address that is not remembered. Depends on nothing stored: a reorg leaves it valid. */
export class AddressBook {
  readonly #keccak256: (bytes: Uint8Array) => Uint8Array
  readonly #known = new Map<string, KnownAddress>()

  constructor(keccak256: (bytes: Uint8Array) => Uint8Array) {
    this.#keccak256 = keccak256
  }

  get(address: Address): KnownAddress {
    const text = latin1(address)
    let known = this.#known.get(text)
    if (known === undefined) {
      if (this.#known.size >= CAPACITY) this.#known.clear()
      known = {
        bytes: new Uint8Array(address),
        checksumMask: checksumMask(address, this.#keccak256),
        text,
      }
      this.#known.set(text, known)
    }
    return known
  }
}
