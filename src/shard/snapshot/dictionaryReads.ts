import { InvariantError } from '../../errors/invariantError.js'
import { LISTED_METADATA_BYTES, type MetadataDigest, WHOLE_METADATA_BYTES } from '../../protocol/metadata.js'
import type { NetworkId } from '../../protocol/units.js'
import { uint32Key } from '../../store/layout/keys.js'
import { decodeMetadataDigest, decodeTokenEntry, type TokenEntry } from '../../store/layout/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { SlotCache } from '../sets/slotCache.js'
import type { SnapshotState } from './snapshotState.js'

const CACHED_TOKENS = 4096
const CACHED_METADATA = 1024
/** Longer metadata is not kept. A token's metadata has 192 to 320 bytes; a message's may have any length, and rarely comes again. */
const CACHED_METADATA_BYTES = 1024
/** Digests kept of metadata that is too long for pages: a page of 1,000 rows with the same metadata reads it once. */
const CACHED_DIGESTS = 4096

/** Tokens and metadata, which rows name by id. Within an epoch an id always means the same entry. */
export class DictionaryReads {
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly #networkId: NetworkId
  readonly #tokens = new SlotCache<TokenEntry>(CACHED_TOKENS)
  readonly #metadata = new SlotCache<Uint8Array>(CACHED_METADATA)
  readonly #digests = new SlotCache<MetadataDigest>(CACHED_DIGESTS)
  /** For each slot, the id that was asked for last: only metadata that is asked for twice is kept. */
  readonly #metBefore = new Float64Array(CACHED_METADATA).fill(-1)
  #epoch = -1

  constructor(view: ReadView, state: SnapshotState, networkId: NetworkId) {
    this.#view = view
    this.#state = state
    this.#networkId = networkId
  }

  /** @throws InvariantError when the entry is missing. */
  getToken(id: number): TokenEntry {
    this.#followEpoch()
    let token = this.#tokens.get(id)
    if (token === undefined) {
      // The decoded entry has views of the bytes, so it gets a copy: the next read overwrites the store's bytes.
      token = decodeTokenEntry(new Uint8Array(this.#stored('tokens', id)))
      this.#tokens.set(id, token)
    }
    return token
  }

  /**
   * The entry as stored: network u32, address 20, checksum mask 5.
   * @returns bytes valid until the next read. @throws InvariantError when the entry is missing.
   */
  peekTokenBytes(id: number): Uint8Array {
    return this.#stored('tokens', id)
  }

  /** @returns a copy. @throws InvariantError when the entry is missing. */
  getMetadata(id: number): Uint8Array {
    return new Uint8Array(this.peekMetadata(id))
  }

  /**
   * As `getMetadata`, without a copy the first time: most metadata of messages is read only once.
   * @returns bytes valid until the next read.
   */
  peekMetadata(id: number): Uint8Array {
    this.#followEpoch()
    const cached = this.#metadata.get(id)
    if (cached !== undefined) return cached
    const stored = this.#stored('metadata', id)
    if (stored.length > CACHED_METADATA_BYTES) return stored
    const slot = id % CACHED_METADATA
    if (this.#metBefore[slot] === id) {
      const metadata = new Uint8Array(stored)
      this.#metadata.set(id, metadata)
      return metadata
    }
    this.#metBefore[slot] = id
    return stored
  }

  /**
   * Metadata that is short enough to be shown in pages.
   * @returns bytes valid until the next read; undefined for longer metadata, whose digest is then kept.
   */
  peekListed(id: number): Uint8Array | undefined {
    this.#followEpoch()
    if (this.#digests.get(id) !== undefined) return undefined
    const bytes = this.peekMetadata(id)
    if (bytes.length <= LISTED_METADATA_BYTES) return bytes
    this.#digests.set(id, this.#readDigest(id))
    return undefined
  }

  /** The metadata as a page shows it: whole, or its digest. @returns copies. */
  getListed(id: number): Uint8Array | MetadataDigest {
    const bytes = this.peekListed(id)
    return bytes === undefined ? this.#digests.get(id)! : new Uint8Array(bytes)
  }

  /** The metadata as the answer about a single row shows it: whole up to a higher limit, else its digest. @returns copies. */
  getWhole(id: number): Uint8Array | MetadataDigest {
    const bytes = this.peekMetadata(id)
    return bytes.length > WHOLE_METADATA_BYTES ? this.#readDigest(id) : new Uint8Array(bytes)
  }

  #readDigest(id: number): MetadataDigest {
    return decodeMetadataDigest(new Uint8Array(this.#stored('longMetadata', id)))
  }

  /** Empties the caches in a new epoch: a reorg may have given an id to another entry. */
  #followEpoch(): void {
    const { epoch } = this.#state
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    this.#tokens.clear()
    this.#metadata.clear()
    this.#digests.clear()
  }

  /** @returns the store's own bytes, valid until the next read. */
  #stored(table: 'tokens' | 'metadata' | 'longMetadata', id: number): Uint8Array {
    const bytes = this.#view.get(table, uint32Key(id))
    if (bytes === undefined)
      throw new InvariantError(`network ${this.#networkId}: entry ${id} of table ${table} is missing`, {
        networkId: this.#networkId,
      })
    return bytes
  }
}
