import type { NetworkId } from '../../protocol/units.js'
import { tokenKey, uint32Key } from '../../store/codecs/keys.js'
import type { Counters } from '../../store/codecs/metaValues.js'
import { decodeUint32, encodeTokenEntry, encodeUint32 } from '../../store/codecs/smallRows.js'
import type { WriteView } from '../../store/shardStore.types.js'
import type { KnownAddress } from './addressBook.js'

/** Ids remembered per dictionary. */
const CAPACITY = 100_000

/**
 * Interns tokens (and message origins) and metadata: a row holds 4 bytes instead of 24 or hundreds.
 * The ids that are remembered here belong to the stored state: `forget` them after a failed transaction and after a reorg.
 */
export class Dictionaries {
  /** By network, then by the text of the address. */
  readonly #tokenIds = new Map<NetworkId, Map<string, number>>()
  #tokensKept = 0
  /** Keyed by the hash object that `MetadataHashes` hands out for this metadata. */
  readonly #metadataIds = new Map<Uint8Array, number>()

  tokenId(view: WriteView, counters: Counters, network: NetworkId, address: KnownAddress): number {
    let ids = this.#tokenIds.get(network)
    let id = ids?.get(address.text)
    if (id !== undefined) return id
    const key = tokenKey(network, address.bytes)
    const stored = view.get('tokenIds', key)
    if (stored === undefined) {
      id = counters.tokens++
      view.put('tokens', uint32Key(id), encodeTokenEntry({ network, address }))
      view.put('tokenIds', key, encodeUint32(id))
    } else {
      id = decodeUint32(stored)
    }
    if (this.#tokensKept >= CAPACITY) this.forget()
    ids = this.#tokenIds.get(network) ?? new Map()
    this.#tokenIds.set(network, ids.set(address.text, id))
    this.#tokensKept++
    return id
  }

  /** @param hash keccak-256 of `metadata`, from `MetadataHashes`. */
  metadataId(view: WriteView, counters: Counters, metadata: Uint8Array, hash: Uint8Array): number {
    let id = this.#metadataIds.get(hash)
    if (id !== undefined) return id
    const stored = view.get('metadataIds', hash)
    if (stored === undefined) {
      id = counters.metadata++
      view.put('metadata', uint32Key(id), metadata)
      view.put('metadataIds', hash, encodeUint32(id))
    } else {
      id = decodeUint32(stored)
    }
    if (this.#metadataIds.size >= CAPACITY) this.#metadataIds.clear()
    this.#metadataIds.set(hash, id)
    return id
  }

  forget(): void {
    this.#tokenIds.clear()
    this.#tokensKept = 0
    this.#metadataIds.clear()
  }
}
