import { latin1 } from '../../store/codecs/keys.js'

/** Bytes of metadata remembered, at most; a token's metadata has a few hundred. */
const CAPACITY_BYTES = 16 * 2 ** 20

/** keccak-256 of metadata, remembered: most deposits repeat their token's. */
export class MetadataHashes {
  readonly #keccak256: (bytes: Uint8Array) => Uint8Array
  readonly #known = new Map<string, Uint8Array>()
  #bytes = 0

  constructor(keccak256: (bytes: Uint8Array) => Uint8Array) {
    this.#keccak256 = keccak256
  }

  /** @returns the same object for the same metadata as long as it is remembered. */
  get(metadata: Uint8Array): Uint8Array {
    const text = latin1(metadata)
    let hash = this.#known.get(text)
    if (hash === undefined) {
      if (this.#bytes >= CAPACITY_BYTES) {
        this.#known.clear()
        this.#bytes = 0
      }
      hash = this.#keccak256(metadata)
      this.#known.set(text, hash)
      this.#bytes += metadata.length
    }
    return hash
  }
}
