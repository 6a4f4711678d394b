import { InvariantError } from '../../errors/invariantError.js'
import type { Address } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import { chunkKey } from '../../store/layout/keys.js'
import { decodeSenderRow, SENDER_BYTES, type SenderRow } from '../../store/layout/senderRow.js'
import { listKinds, SENDERS_PER_CHUNK } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { BoundedCache } from '../sets/boundedCache.js'
import { withMore } from '../sets/listAlgebra.js'
import { type IndexedList, listOf } from '../sets/ordinalList.js'
import { copyOf } from './chunkReader.js'
import { readList } from './listReads.js'
import { listAdditions, withCorrections } from './senderOverlay.js'
import type { SnapshotState } from './snapshotState.js'

const kinds = {
  deposit: { table: 'depositSenders', list: listKinds.depositsBySender, resolved: 'resolvedDepositSenders' },
  claim: { table: 'claimSenders', list: listKinds.claimsBySender, resolved: 'resolvedClaimSenders' },
} as const

/** Number of addresses whose added ordinals are kept in memory. It is small, since a busy contract may have very many. */
const KEPT_ADDITIONS = 64

/** Senders of the deposits, or of the claims, of one network, with later corrections applied. */
export class SenderReads {
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly #networkId: NetworkId
  readonly #kind: keyof typeof kinds
  #chunk: Uint8Array | undefined
  #chunkFirst = -1
  readonly #additions = new BoundedCache<string, readonly number[]>(KEPT_ADDITIONS)

  constructor(kind: keyof typeof kinds, view: ReadView, state: SnapshotState, networkId: NetworkId) {
    this.#kind = kind
    this.#view = view
    this.#state = state
    this.#networkId = networkId
  }

  reset(): void {
    this.#chunkFirst = -1
  }

  /** The watermark: senders of rows below it are stored. */
  get resolved(): number {
    return this.#state[kinds[this.#kind].resolved]
  }

  /**
   * Chunk with the sender of a row. @param ordinal must be below `resolved`.
   * @returns bytes valid until the next read. @throws InvariantError when the row is missing.
   */
  chunkOf(ordinal: number): Uint8Array {
    // Read before the chunk, since a read ends the validity of the store's bytes.
    const isCorrected = this.#state.senderCorrections > 0
    const chunk = this.#view.get(kinds[this.#kind].table, chunkKey(ordinal, SENDERS_PER_CHUNK))
    if (chunk === undefined || chunk.length < ((ordinal % SENDERS_PER_CHUNK) + 1) * SENDER_BYTES)
      throw new InvariantError(`network ${this.#networkId}: sender of ${this.#kind} ${ordinal} is missing`, {
        networkId: this.#networkId,
      })
    return isCorrected ? withCorrections(this.#view, this.#kind, ordinal, chunk) : chunk
  }

  /** @returns copies; undefined while the sender is not resolved, and when no endpoint knows the transaction. */
  find(ordinal: number): SenderRow | undefined {
    if (ordinal >= this.resolved) return undefined
    const row = ordinal % SENDERS_PER_CHUNK
    if (this.#chunkFirst !== ordinal - row || this.#chunk!.length < (row + 1) * SENDER_BYTES) {
      this.#chunkFirst = -1
      this.#chunk = copyOf(this.chunkOf(ordinal))
      this.#chunkFirst = ordinal - row
    }
    const offset = row * SENDER_BYTES
    return decodeSenderRow(this.#chunk!.slice(offset, offset + SENDER_BYTES), 0)
  }

  /** Rows whose caller or transaction sender is `address`. */
  by(address: Address): IndexedList {
    const list = readList(this.#view, this.#networkId, kinds[this.#kind].list, address)
    const { senderCorrections, epoch } = this.#state
    if (senderCorrections === 0) return list
    const key = `${senderCorrections} ${epoch} ${Buffer.from(address).toString('latin1')}`
    let added = this.#additions.get(key)
    if (added === undefined) {
      added = listAdditions(this.#view, this.#kind, address)
      this.#additions.set(key, added)
    }
    return added.length === 0 ? list : withMore(list, listOf(added))
  }
}
