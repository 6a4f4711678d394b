import { InvariantError } from '../../errors/invariantError.js'
import type { NetworkId } from '../../protocol/units.js'
import {
  type ArchivedDeposit,
  DEPOSIT_BYTES,
  type DepositRow,
  decodeArchivedDeposit,
  decodeDepositRow,
  depositBlockNumber,
  depositDestinationNetwork,
  depositLeafType,
  depositTimestampSec,
} from '../../store/layout/depositRow.js'
import { chunkKey, uint32Key } from '../../store/layout/keys.js'
import { DEPOSITS_PER_CHUNK } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { ChunkReader } from './chunkReader.js'
import { SenderReads } from './senderReads.js'
import type { SnapshotState } from './snapshotState.js'

const NO_DEPOSITS: readonly ArchivedDeposit[] = []

/** Deposits of one network and their senders. Rows are copies. */
export class DepositReads {
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly #networkId: NetworkId
  readonly #deposits: ChunkReader
  readonly senders: SenderReads
  /** The archived deposits read so far, and their epoch. */
  #archive = { epoch: -1, size: 0, byCount: new Map<number, readonly ArchivedDeposit[]>() }

  constructor(view: ReadView, state: SnapshotState, networkId: NetworkId) {
    this.#view = view
    this.#state = state
    this.#networkId = networkId
    this.#deposits = new ChunkReader(view, 'deposits', DEPOSITS_PER_CHUNK, (ordinal) =>
      chunkKey(ordinal, DEPOSITS_PER_CHUNK),
    )
    this.senders = new SenderReads('deposit', view, state, networkId)
  }

  reset(): void {
    this.#deposits.reset()
    this.senders.reset()
  }

  /** Number of deposits served: the leaves of the newest lineage. */
  get count(): number {
    return this.#state.counters.deposits
  }

  /** undefined when this deposit is not indexed (yet). */
  find(depositCount: number): DepositRow | undefined {
    return depositCount < this.count ? this.get(depositCount) : undefined
  }

  /** @param depositCount must be below `count`. @throws InvariantError when the row is missing. */
  get(depositCount: number): DepositRow {
    const chunk = this.#peekChunk(depositCount)
    const offset = this.#deposits.offset(depositCount) * DEPOSIT_BYTES
    return decodeDepositRow(chunk, offset)
  }

  /** Destination network alone, without keeping the chunk. @param depositCount must be below `count`. */
  peekDestinationNetwork(depositCount: number): NetworkId {
    const chunk = this.#peekChunk(depositCount)
    return depositDestinationNetwork(chunk, this.#deposits.offset(depositCount) * DEPOSIT_BYTES)
  }

  /** Destination network alone, keeping the chunk for neighbours. @param depositCount must be below `count`. */
  getDestinationNetwork(depositCount: number): NetworkId {
    const chunk = this.#keptChunk(depositCount)
    return depositDestinationNetwork(chunk, this.#deposits.offset(depositCount) * DEPOSIT_BYTES)
  }

  /** @param depositCount must be below `count`. */
  getLeafType(depositCount: number): number {
    const chunk = this.#keptChunk(depositCount)
    return depositLeafType(chunk, this.#deposits.offset(depositCount) * DEPOSIT_BYTES)
  }

  /** Unix seconds, keeping the chunk for neighbours. @param depositCount must be below `count`. */
  getTimestampSec(depositCount: number): number {
    const chunk = this.#keptChunk(depositCount)
    return depositTimestampSec(chunk, this.#deposits.offset(depositCount) * DEPOSIT_BYTES)
  }

  /** First deposit in or after a block; `count` if there is none. */
  firstFromBlock(blockNumber: number): number {
    return this.#first(depositBlockNumber, blockNumber)
  }

  /**
   * Reads the timestamps of one chunk's deposits.
   * @param first the chunk's first deposit. @param times takes the timestamps. @returns their number.
   */
  readTimes(first: number, times: Float64Array): number {
    const rows = Math.min(DEPOSITS_PER_CHUNK, this.count - first)
    const chunk = this.chunkOf(first + rows - 1)
    for (let row = 0; row < rows; row++) times[row] = depositTimestampSec(chunk, row * DEPOSIT_BYTES)
    return rows
  }

  /** First deposit at or after a time. Only for a network whose times never fall (`SnapshotState.doTimesFall`). */
  firstFromTimestamp(timestampSec: number): number {
    return this.#first(depositTimestampSec, timestampSec)
  }

  /** Chunk with the row of a deposit. @returns the store's own bytes, valid until the next read. @throws InvariantError when the row is missing. */
  chunkOf(depositCount: number): Uint8Array {
    const chunk = this.#view.get('deposits', chunkKey(depositCount, DEPOSITS_PER_CHUNK))
    if (chunk === undefined || chunk.length < ((depositCount % DEPOSITS_PER_CHUNK) + 1) * DEPOSIT_BYTES)
      throw this.#missing(`deposit ${depositCount}`)
    return chunk
  }

  /** The archived deposits of this count, newest first: at most one per cut. */
  archivedAt(depositCount: number): readonly ArchivedDeposit[] {
    return this.#archived()?.get(depositCount) ?? NO_DEPOSITS
  }

  /** All archived deposits: an administrator's cuts made them, so they are few. */
  listArchived(): ArchivedDeposit[] {
    return [...(this.#archived()?.values() ?? [])].flat()
  }

  /** By deposit count; undefined for a tree that was never cut. */
  #archived(): ReadonlyMap<number, readonly ArchivedDeposit[]> | undefined {
    const { archivedDeposits } = this.#state.counters
    if (archivedDeposits === 0) return undefined
    const { epoch } = this.#state
    if (this.#archive.epoch !== epoch || this.#archive.size > archivedDeposits)
      this.#archive = { epoch, size: 0, byCount: new Map() }
    this.#readArchive(archivedDeposits)
    return this.#archive.byCount
  }

  /** Reads what was added to the archive. It only grows except in a reorg, so what was read stays valid within an epoch. */
  #readArchive(size: number): void {
    const archive = this.#archive
    if (archive.size === size) return
    const added = this.#view.list('archivedDeposits', {
      start: uint32Key(archive.size),
      end: uint32Key(size),
    })
    for (const { value } of added) {
      const deposit = decodeArchivedDeposit(value)
      const others = archive.byCount.get(deposit.depositCount) ?? NO_DEPOSITS
      archive.byCount.set(deposit.depositCount, [deposit, ...others])
    }
    archive.size = size
  }

  #first(fieldOf: (chunk: Uint8Array, offset: number) => number, least: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const chunk = this.#keptChunk(middle)
      if (fieldOf(chunk, this.#deposits.offset(middle) * DEPOSIT_BYTES) < least) low = middle + 1
      else high = middle
    }
    return low
  }

  #keptChunk(depositCount: number): Uint8Array {
    return this.#checked(depositCount, this.#deposits.find(depositCount))
  }

  #peekChunk(depositCount: number): Uint8Array {
    return this.#checked(depositCount, this.#deposits.peek(depositCount))
  }

  #checked(depositCount: number, chunk: Uint8Array | undefined): Uint8Array {
    if (chunk === undefined || chunk.length < (this.#deposits.offset(depositCount) + 1) * DEPOSIT_BYTES)
      throw this.#missing(`deposit ${depositCount}`)
    return chunk
  }

  #missing(what: string): InvariantError {
    return new InvariantError(`network ${this.#networkId}: ${what} is missing, ${this.count} are counted`, {
      networkId: this.#networkId,
    })
  }
}
