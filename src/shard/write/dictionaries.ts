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

/** What is read and counted up in a transaction; addresses and metadata go by their numbers in the writer's memory. */
interface DictionaryTransaction {
  readonly view: WriteView
  readonly counters: Counters
  readonly memory: { readonly addresses: AddressBook; readonly metadataHashes: MetadataHashes }
}

/**
 * Interns tokens (and message origins) and metadata: a row holds 4 bytes instead of 24 or hundreds.
 * The ids that are remembered here belong to the stored state: `forget` them after a failed transaction and after a reorg.
 */
export class Dictionaries {
  /** By network and number of the address. */
  readonly #tokenIds = new Map<number, number>()
  /** By number of the metadata. */
  readonly #metadataIds = new Map<number, number>()

  /** @param number the address's number in the address book, whose `trim` voids what is remembered here. */
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
   * @param number of remembered metadata in the writer's memory, whose `trim` voids what is remembered here.
   * @param holder whose metadata they are: asked for them only when they have no id yet, since packed events copy nothing before.
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

  /** The same for metadata that are not remembered. @param hash its keccak-256. */
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
