import type { NetworkId } from '../../protocol/units.js'
import { tokenKey, uint32Key } from '../../store/codecs/keys.js'
import type { Counters } from '../../store/codecs/metaValues.js'
import { decodeUint32, encodeTokenEntry, encodeUint32 } from '../../store/codecs/smallRows.js'
import type { WriteView } from '../../store/shardStore.types.js'
import type { WriteContext } from './writeContext.js'

/** Ids remembered per dictionary. */
const CAPACITY = 100_000

/**
 * Interns tokens (and message origins) and metadata: a row holds 4 bytes instead of 24 or hundreds.
 * The ids that are remembered here belong to the stored state: `forget` them after a failed transaction and after a reorg.
 */
export class Dictionaries {
  /** By network and number of the address. */
  readonly #tokenIds = new Map<number, number>()
  /** Keyed by the hash object that `MetadataHashes` hands out for this metadata. */
  readonly #metadataIds = new Map<Uint8Array, number>()

  /** @param number the address's number in the address book, whose `trim` voids what is remembered here. */
  tokenId(
    { view, counters, memory }: Pick<WriteContext, 'view' | 'counters' | 'memory'>,
    network: NetworkId,
    number: number,
  ): number {
    const place = network * 2 ** 21 + number
    let id = this.#tokenIds.get(place)
    if (id !== undefined) return id
    const address = memory.addresses.at(number)
    const key = tokenKey(network, address.bytes)
    const stored = view.get('tokenIds', key)
    if (stored === undefined) {
      id = counters.tokens++
      view.put('tokens', uint32Key(id), encodeTokenEntry({ network, address }))
      view.put('tokenIds', key, encodeUint32(id))
    } else {
      id = decodeUint32(stored)
    }
    if (this.#tokenIds.size >= CAPACITY) this.#tokenIds.clear()
    this.#tokenIds.set(place, id)
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
    this.#metadataIds.clear()
  }
}
