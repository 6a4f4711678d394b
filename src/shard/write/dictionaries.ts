import type { ForwardLeaf } from '../../protocol/chainEvent.js'
import { LISTED_METADATA_BYTES } from '../../protocol/metadata.js'
import type { NetworkId } from '../../protocol/units.js'
import { tokenKey, uint32Key } from '../../store/layout/keys.js'
import type { Counters } from '../../store/layout/metaValues.js'
import {
  decodeUint32,
  encodeMetadataDigest,
  encodeTokenEntry,
  encodeUint32,
} from '../../store/layout/smallRows.js'
import type { WriteView } from '../../store/shardStore.types.js'
import type { AddressBook } from './addressBook.js'
import type { MetadataHashes } from './metadataHashes.js'

/** Ids remembered per dictionary. */
const CAPACITY = 100_000

/** The parts of a transaction that dictionaries use. Addresses and metadata are named by their numbers in the writer's memory. */
interface DictionaryTransaction {
  readonly view: WriteView
  readonly counters: Counters
  readonly memory: { readonly addresses: AddressBook; readonly metadataHashes: MetadataHashes }
}

/**
 * Gives ids to tokens (and message origins) and to metadata: a row then holds 4 bytes instead of 24 or hundreds. The ids remembered
 * here are those of the store: call `forget` after a failed transaction and after a reorg.
 */
export class Dictionaries {
  /** Ids by network and number of the address. */
  readonly #tokenIds = new Map<number, number>()
  /** Ids by number of the metadata. */
  readonly #metadataIds = new Map<number, number>()

  /** Id of a token. @param number of the address in the address book: when its `trim` voids numbers, call `forget`. */
  tokenId({ view, counters, memory }: DictionaryTransaction, network: NetworkId, number: number): number {
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

  /**
   * Id of metadata. @param number of the metadata in `MetadataHashes`: when its `trim` voids numbers, call `forget`.
   * @param holder the leaf. Its metadata are read only when no id is remembered, since a view is made of them then.
   */
  metadataId(context: DictionaryTransaction, number: number, holder: Pick<ForwardLeaf, 'metadata'>): number {
    const known = this.#metadataIds.get(number)
    if (known !== undefined) return known
    const hash = context.memory.metadataHashes.hash(number)
    const id = this.ownMetadataId(context, hash, holder.metadata)
    if (this.#metadataIds.size >= CAPACITY) this.#metadataIds.clear()
    this.#metadataIds.set(number, id)
    return id
  }

  /** Id of metadata that are not remembered in `MetadataHashes`. @param hash keccak-256 of the metadata. */
  ownMetadataId(
    { view, counters }: Pick<DictionaryTransaction, 'view' | 'counters'>,
    hash: Uint8Array,
    metadata: Uint8Array,
  ): number {
    const stored = view.get('metadataIds', hash)
    if (stored !== undefined) return decodeUint32(stored)
    const id = counters.metadata++
    view.put('metadata', uint32Key(id), metadata)
    view.put('metadataIds', hash, encodeUint32(id))
    const { length } = metadata
    if (length > LISTED_METADATA_BYTES)
      view.put('longMetadata', uint32Key(id), encodeMetadataDigest({ length, hash }))
    return id
  }

  forget(): void {
    this.#tokenIds.clear()
    this.#metadataIds.clear()
  }
}
