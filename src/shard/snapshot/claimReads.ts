import { InvariantError } from '../../errors/invariantError.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { ClaimOrdinal, NetworkId } from '../../protocol/units.js'
import { readUint48 } from '../../store/layout/bytes.js'
import {
  CLAIM_BYTES,
  CLAIM_HASH_BYTES,
  CLAIM_LINK_BYTES,
  type ClaimRow,
  claimBlockNumber,
  claimFields,
  decodeClaimLink,
  decodeClaimRow,
  hasClaimLink,
} from '../../store/layout/claimRow.js'
import { chunkKey, claimLinkKey, uint32Key } from '../../store/layout/keys.js'
import {
  CLAIM_HASHES_PER_CHUNK,
  CLAIM_LINKS_PER_CHUNK,
  CLAIMS_PER_CHUNK,
  type TableName,
} from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { ChunkReader } from './chunkReader.js'
import { SenderReads } from './senderReads.js'
import type { SnapshotState } from './snapshotState.js'

/** Claims made on one network, their senders, and which deposits they claim. Rows are copies. */
export class ClaimReads {
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly #networkId: NetworkId
  readonly #claims: ChunkReader
  readonly #hashes: ChunkReader
  readonly senders: SenderReads
  /** Readers of claim links by source network: a page of claims or bridges needs few of them. */
  readonly #links = new Map<number, ChunkReader>()

  constructor(view: ReadView, state: SnapshotState, networkId: NetworkId) {
    this.#view = view
    this.#state = state
    this.#networkId = networkId
    this.#claims = new ChunkReader(view, 'claims', CLAIMS_PER_CHUNK, (ordinal) =>
      chunkKey(ordinal, CLAIMS_PER_CHUNK),
    )
    this.#hashes = new ChunkReader(view, 'claimHashes', CLAIM_HASHES_PER_CHUNK, (ordinal) =>
      chunkKey(ordinal, CLAIM_HASHES_PER_CHUNK),
    )
    this.senders = new SenderReads('claim', view, state, networkId)
  }

  reset(): void {
    this.#claims.reset()
    this.#hashes.reset()
    this.senders.reset()
    for (const links of this.#links.values()) links.reset()
  }

  /** Number of claims, in force or not: one more than the newest ordinal. */
  get count(): number {
    return this.#state.counters.claims
  }

  /** @param ordinal must be below `count`. @throws InvariantError when the row is missing. */
  get(ordinal: number): ClaimRow {
    const chunk = this.#claims.find(ordinal)
    const offset = this.#claims.offset(ordinal) * CLAIM_BYTES
    if (chunk === undefined || chunk.length < offset + CLAIM_BYTES) throw this.#missing(`claim ${ordinal}`)
    return decodeClaimRow(chunk.slice(offset, offset + CLAIM_BYTES), 0)
  }

  /** Unix seconds, keeping the chunk for neighbours. @param ordinal must be below `count`. @throws InvariantError when the row is missing. */
  getTimestampSec(ordinal: number): number {
    const chunk = this.#claims.find(ordinal)
    const offset = this.#claims.offset(ordinal) * CLAIM_BYTES
    if (chunk === undefined || chunk.length < offset + CLAIM_BYTES) throw this.#missing(`claim ${ordinal}`)
    return readUint48(chunk, offset + claimFields.timestampSec)
  }

  /** First claim in or after a block; `count` if there is none. */
  firstFromBlock(blockNumber: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      // Most chunks are read once only: none is copied.
      const chunk = this.chunkOf(middle)
      if (claimBlockNumber(chunk, this.#claims.offset(middle) * CLAIM_BYTES) < blockNumber) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Chunk with the row of a claim. @returns the store's own bytes, valid until the next read. @throws InvariantError when the row is missing. */
  chunkOf(ordinal: number): Uint8Array {
    return this.#storedChunk('claims', ordinal, CLAIMS_PER_CHUNK, CLAIM_BYTES)
  }

  /** Chunk with the transaction hash of a claim. @returns and @throws as `chunkOf`. */
  hashChunkOf(ordinal: number): Uint8Array {
    return this.#storedChunk('claimHashes', ordinal, CLAIM_HASHES_PER_CHUNK, CLAIM_HASH_BYTES)
  }

  /** Chunk with the claim link of a deposit; undefined when no deposit of the chunk is claimed. @returns bytes valid until the next read. */
  linkChunkOf(sourceNetwork: number, depositCount: number): Uint8Array | undefined {
    return this.#view.get('claimLinks', claimLinkKey(sourceNetwork, depositCount))
  }

  /** @param ordinal must be below `count`. @throws InvariantError when the row is missing. */
  getTransactionHash(ordinal: number): Hash {
    const chunk = this.#hashes.find(ordinal)
    const offset = this.#hashes.offset(ordinal) * CLAIM_HASH_BYTES
    if (chunk === undefined || chunk.length < offset + CLAIM_HASH_BYTES)
      throw this.#missing(`transaction hash of claim ${ordinal}`)
    return chunk.slice(offset, offset + CLAIM_HASH_BYTES)
  }

  /** Ordinal of a deposit's claim in force; undefined while there is none. */
  findOf(sourceNetwork: number, depositCount: number): ClaimOrdinal | undefined {
    const links = this.#linksOf(sourceNetwork)
    const chunk = links.find(depositCount)
    return chunk === undefined
      ? undefined
      : decodeClaimLink(chunk, links.offset(depositCount) * CLAIM_LINK_BYTES)
  }

  /** Calls `visit` with each of the deposits `from` … `below` − 1 that has a claim in force, ascending. */
  eachClaimed(
    sourceNetwork: number,
    from: number,
    below: number,
    visit: (depositCount: number) => void,
  ): void {
    const links = this.#linksOf(sourceNetwork)
    for (let first = from; first < below; ) {
      const chunkStart = first - links.offset(first)
      const end = Math.min(below, chunkStart + CLAIM_LINKS_PER_CHUNK)
      const chunk = links.find(first)
      if (chunk !== undefined)
        for (let depositCount = first; depositCount < end; depositCount++)
          if (hasClaimLink(chunk, (depositCount - chunkStart) * CLAIM_LINK_BYTES)) visit(depositCount)
      first = end
    }
  }

  /** Ordinals of the claims that are no longer in force, ascending. */
  listOutOfForce(): number[] {
    if (this.#state.counters.claimsOutOfForce === 0) return []
    return this.#view
      .list('claimsOutOfForce', { start: uint32Key(0), end: uint32Key(this.count) })
      .map(({ key }) => readUint32BigEndian(key, 0))
  }

  #storedChunk(table: TableName, ordinal: number, rowsPerChunk: number, rowBytes: number): Uint8Array {
    const chunk = this.#view.get(table, chunkKey(ordinal, rowsPerChunk))
    if (chunk === undefined || chunk.length < ((ordinal % rowsPerChunk) + 1) * rowBytes)
      throw this.#missing(`row ${ordinal} of ${table}`)
    return chunk
  }

  #linksOf(sourceNetwork: number): ChunkReader {
    let links = this.#links.get(sourceNetwork)
    if (links === undefined) {
      links = new ChunkReader(this.#view, 'claimLinks', CLAIM_LINKS_PER_CHUNK, (ordinal) =>
        claimLinkKey(sourceNetwork, ordinal),
      )
      this.#links.set(sourceNetwork, links)
    }
    return links
  }

  #missing(what: string): InvariantError {
    return new InvariantError(`network ${this.#networkId}: ${what} is missing, ${this.count} are counted`, {
      networkId: this.#networkId,
    })
  }
}
