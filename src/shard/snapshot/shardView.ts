import type { ShardVersion } from '../../board/version.js'
import { InvariantError } from '../../errors/invariantError.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { asDepositCount, type BlockNumber, type DepositCount, type NetworkId } from '../../protocol/units.js'
import { type ClaimableRow, decodeClaimableRow } from '../../store/feed/claimableRow.js'
import { uint32Key, uint32PairKey } from '../../store/layout/keys.js'
import type { FeedPlace } from '../../store/layout/metaValues.js'
import { hashKinds, type ListKind, listKinds } from '../../store/layout/tables.js'
import { decodeTokenMappingRow, type TokenMappingRow } from '../../store/layout/tokenMappingRow.js'
import {
  type EventPlace,
  eventPlaceKey,
  type PlacedKind,
  readEventPlace,
} from '../../store/places/eventPlace.js'
import type { ShardStoreReader } from '../../store/shardStore.types.js'
import { readHeaderAtOrBelow } from '../position/chainPosition.js'
import { isClaimableTold, readFeedPlace } from '../position/feedPosition.js'
import type { IndexedList } from '../sets/ordinalList.js'
import { ClaimReads } from './claimReads.js'
import { DepositReads } from './depositReads.js'
import { DictionaryReads } from './dictionaryReads.js'
import { ExitTreeReads } from './exitTreeReads.js'
import { type FeedEntry, readFeed } from './feedReads.js'
import { findByPrefix } from './hashRuns.js'
import { InjectionReads } from './injectionReads.js'
import { L1InfoReads } from './l1InfoReads.js'
import { readList } from './listReads.js'
import { SnapshotState } from './snapshotState.js'

/** Typed reads of one network's shard. All reads of a task see one snapshot. */
export class ShardView implements ShardVersion {
  readonly networkId: NetworkId
  readonly state: SnapshotState
  readonly deposits: DepositReads
  readonly claims: ClaimReads
  readonly dictionary: DictionaryReads
  readonly exitTree: ExitTreeReads
  readonly injections: InjectionReads
  /** Empty in the shard of an L2. */
  readonly l1Info: L1InfoReads
  readonly #store: ShardStoreReader
  #commits = -1

  constructor(networkId: NetworkId, store: ShardStoreReader, hasher: TreeHasher) {
    this.networkId = networkId
    this.#store = store
    this.state = new SnapshotState(store)
    this.deposits = new DepositReads(store, this.state, networkId)
    this.claims = new ClaimReads(store, this.state, networkId)
    this.dictionary = new DictionaryReads(store, this.state, networkId)
    this.exitTree = new ExitTreeReads(store, this.state, networkId, hasher)
    this.injections = new InjectionReads(store, this.state, networkId)
    this.l1Info = new L1InfoReads(store, this.state)
  }

  get commits(): number {
    return this.#commits
  }

  get epoch(): number {
    return this.state.epoch
  }

  /** Takes the newest snapshot. Forgets what was read of the one before, unless they are the same. */
  refresh(): void {
    const commits = this.#store.refresh()
    if (commits === this.#commits) return
    // A store of an older build that did not count its commits: each refresh counts as another one, with numbers that no store has.
    this.#commits = commits ?? Math.min(this.#commits, -1) - 1
    this.state.reset()
    this.deposits.reset()
    this.claims.reset()
    this.exitTree.reset()
    this.l1Info.reset()
  }

  /** Releases the snapshot. */
  release(): void {
    this.#store.release()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /** The stored list of one filter value: ordinals, ascending. */
  list(kind: ListKind, listKey: Uint8Array): IndexedList {
    return readList(this.#store, this.networkId, kind, listKey)
  }

  /** Deposits of a transaction, and of transactions whose hash starts with the same 8 bytes; ascending. */
  depositsOfTransaction(transactionHash: Hash): number[] {
    return findByPrefix(this.#store, hashKinds.depositsByTransaction, transactionHash)
  }

  /** Deposits with a leaf hash, and those whose leaf hash starts with the same 8 bytes; ascending. */
  depositsOfLeaf(leafHash: Hash): number[] {
    return findByPrefix(this.#store, hashKinds.depositsByLeafHash, leafHash)
  }

  /** Claims of a transaction, and of transactions whose hash starts with the same 8 bytes; ascending. */
  claimsOfTransaction(transactionHash: Hash): number[] {
    return findByPrefix(this.#store, hashKinds.claimsByTransaction, transactionHash)
  }

  /** Leaf types other than 0 that deposits of this network have. */
  listLeafTypes(): number[] {
    const kind = listKinds.depositsByLeafType
    return this.#store
      .list('listHeads', { start: Uint8Array.of(kind), end: Uint8Array.of(kind + 1) })
      .map(({ key }) => key[1]!)
  }

  /** Which feed the shard has, and which of its events are kept; undefined while it has none. */
  get feedPlace(): FeedPlace | undefined {
    return readFeedPlace(this.#store)
  }

  /** Events of the feed behind `after`, as `readFeed` has them. */
  listFeed(after: number, limit: number): FeedEntry[] {
    return readFeed(this.#store, after, limit)
  }

  /** Whether the feed was told of all that could be claimed here when the network had caught up. */
  get isClaimableTold(): boolean {
    return isClaimableTold(this.#store)
  }

  /** What the feed has told of deposits of one source that can be claimed here, in the order of their counts. @returns copies. */
  listClaimable(
    sourceNetwork: NetworkId,
  ): { readonly depositCount: DepositCount; readonly row: ClaimableRow }[] {
    const range = { start: uint32PairKey(sourceNetwork, 0), end: uint32PairKey(sourceNetwork + 1, 0) }
    return this.#store.list('claimable', range).map(({ key, value }) => ({
      depositCount: asDepositCount(readUint32BigEndian(key, 4)),
      row: decodeClaimableRow(value),
    }))
  }

  /** Where the event of a row stands that does not tell it itself; undefined where none is stored, as for rows from before schema 8. */
  findEventPlace(kind: PlacedKind, number: number): EventPlace | undefined {
    const stored = this.#store.get('eventPlaces', eventPlaceKey(kind, number))
    return stored === undefined ? undefined : readEventPlace(stored, 0)
  }

  /** Unix seconds of a block whose header is stored: one with events, or the last of a batch, as far back as undo reaches. */
  findHeaderTime(blockNumber: BlockNumber): number | undefined {
    const header = readHeaderAtOrBelow(this.#store, blockNumber)
    return header?.number === blockNumber ? header.timestampSec : undefined
  }

  /** @param ordinal must be below the number of mappings. @throws InvariantError when the row is missing. */
  getTokenMapping(ordinal: number): TokenMappingRow {
    return decodeTokenMappingRow(new Uint8Array(this.peekTokenMapping(ordinal)))
  }

  /** The row's bytes. @returns bytes valid until the next read. @throws as `getTokenMapping`. */
  peekTokenMapping(ordinal: number): Uint8Array {
    const bytes = this.#store.get('tokenMappings', uint32Key(ordinal))
    if (bytes === undefined)
      throw new InvariantError(`network ${this.networkId}: token mapping ${ordinal} is missing`, {
        networkId: this.networkId,
      })
    return bytes
  }
}
