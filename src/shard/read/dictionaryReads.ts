import { InvariantError } from '../../errors/invariantError.js'
import type { NetworkId } from '../../protocol/units.js'
import { uint32Key } from '../../store/codecs/keys.js'
import { decodeTokenEntry, type TokenEntry } from '../../store/codecs/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { copyOf } from '../chunkReader.js'
import { SlotCache } from '../slotCache.js'
import type { SnapshotState } from '../snapshotState.js'

const CACHED_TOKENS = 4096
const CACHED_METADATA = 1024
/** Metadata of a token is 192 to 320 bytes; that of a message can be anything, and is not worth keeping. */
const CACHED_METADATA_BYTES = 1024

interface StoredToken {
  readonly token: TokenEntry
  readonly bytes: Uint8Array
}

/** Tokens and metadata, which rows name by their id. An id means the same to the end of its epoch. */
export class DictionaryReads {
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly #networkId: NetworkId
  readonly #tokens = new SlotCache<StoredToken>(CACHED_TOKENS)
  readonly #metadata = new SlotCache<Uint8Array>(CACHED_METADATA)
  #epoch = -1

  constructor(view: ReadView, state: SnapshotState, networkId: NetworkId) {
    this.#view = view
    this.#state = state
    this.#networkId = networkId
  }

  /** @throws InvariantError when the entry is missing. */
  getToken(id: number): TokenEntry {
    return this.#getToken(id).token
  }

  /** The entry as it is stored: network u32, address 20, checksum mask 5. @throws InvariantError when it is missing. */
  getTokenBytes(id: number): Uint8Array {
    return this.#getToken(id).bytes
  }

  /** @throws InvariantError when the entry is missing. */
  getMetadata(id: number): Uint8Array {
    this.#followEpoch()
    const cached = this.#metadata.get(id)
    if (cached !== undefined) return cached
    const metadata = this.#get('metadata', id)
    if (metadata.length <= CACHED_METADATA_BYTES) this.#metadata.set(id, metadata)
    return metadata
  }

  #getToken(id: number): StoredToken {
    this.#followEpoch()
    let stored = this.#tokens.get(id)
    if (stored === undefined) {
      const bytes = this.#get('tokens', id)
      stored = { token: decodeTokenEntry(bytes), bytes }
      this.#tokens.set(id, stored)
    }
    return stored
  }

  /** A reorg may have given an id to another entry. */
  #followEpoch(): void {
    if (this.#state.epoch === this.#epoch) return
    this.#epoch = this.#state.epoch
    this.#tokens.clear()
    this.#metadata.clear()
  }

  #get(table: 'tokens' | 'metadata', id: number): Uint8Array {
    const bytes = copyOf(this.#view.get(table, uint32Key(id)))
    if (bytes === undefined)
      throw new InvariantError(`network ${this.#networkId}: entry ${id} of table ${table} is missing`, {
        networkId: this.#networkId,
      })
    return bytes
  }
}
