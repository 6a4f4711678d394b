import type { FieldPlaces } from '../../query/packedRows.js'
import {
  CLAIM_BYTES,
  CLAIM_HASH_BYTES,
  claimFields,
  isSetByAdministrator,
} from '../../store/layout/claimRow.js'
import { DEPOSIT_BYTES } from '../../store/layout/depositRow.js'
import { TOKEN_ENTRY_BYTES } from '../../store/layout/smallRows.js'
import { CLAIM_HASHES_PER_CHUNK, CLAIMS_PER_CHUNK, DEPOSITS_PER_CHUNK } from '../../store/layout/tables.js'
import type { ShardView } from '../snapshot/shardView.js'
import { NOWHERE } from './chunkSlots.js'
import { claimBases, claimSources } from './claimSources.js'
import type { RowPacker } from './packedPage.js'
import { PlacedBytes } from './placedBytes.js'
import { PlacedChunks } from './placedChunks.js'
import { PlacedSenders } from './placedSenders.js'
import type { RowArena, RowSink } from './rowArena.js'
import { placesOf } from './rowSources.js'

/** The task's snapshot of a network; undefined for one that is not indexed here. */
type FindShard = (networkId: ShardView['networkId']) => ShardView | undefined

/** Puts one claim after another into the arena, as `claimSources` says where each field stands. */
export class ClaimPacker implements RowPacker {
  readonly #find: FindShard
  readonly #claimView: ShardView
  readonly arena: RowArena
  readonly places: FieldPlaces
  readonly #claims: PlacedChunks
  readonly #hashes: PlacedChunks
  readonly #senders: PlacedSenders
  readonly #tokens: PlacedBytes
  /** Those indexed here. */
  readonly #sources = new Map<number, PlacedSource>()
  #sourceNetwork = -1
  #source: PlacedSource | undefined

  constructor(find: FindShard, view: ShardView, arena: RowArena) {
    this.#find = find
    this.#claimView = view
    this.arena = arena
    this.places = placesOf(claimSources, view.networkId)
    const { claims } = view
    this.#claims = new PlacedChunks(arena, arena.slots.claims, CLAIMS_PER_CHUNK, CLAIM_BYTES, (ordinal) =>
      claims.chunkOf(ordinal),
    )
    this.#hashes = new PlacedChunks(
      arena,
      arena.slots.hashes,
      CLAIM_HASHES_PER_CHUNK,
      CLAIM_HASH_BYTES,
      (ordinal) => claims.hashChunkOf(ordinal),
    )
    this.#senders = new PlacedSenders(arena, (ordinal) => claims.senders.chunkOf(ordinal))
    this.#tokens = new PlacedBytes(arena)
  }

  begin(sink: RowSink): void {
    const { version, state } = this.#claimView
    this.arena.begin(sink)
    this.#claims.begin(version)
    this.#hashes.begin(version)
    this.#senders.begin(version, state.resolvedClaimSenders)
    this.#tokens.begin(state.epoch)
    this.#sourceNetwork = -1
  }

  /** Not a claim whose fields, or whose deposit, must be looked up in other ways. */
  pack(ordinal: number): boolean {
    const { arena } = this
    arena.makeRoom(TOKEN_ENTRY_BYTES, 0)
    const row = this.#claims.placeOf(ordinal)
    if (isSetByAdministrator(arena.input[row + claimFields.flags]!)) return false
    const source = this.#sourceOf(arena.view.getUint32(row + claimFields.sourceNetwork, true))
    const depositCount = arena.view.getUint32(row + claimFields.depositCount, true)
    // A cut of the exit tree may have given the deposit count to another deposit.
    if (source !== undefined && source.view.deposits.archivedAt(depositCount).length > 0) return false
    const isDepositKnown = source !== undefined && depositCount < source.view.deposits.count
    const deposit = isDepositKnown ? source.deposits.placeOf(depositCount) : NOWHERE
    const tokenId = arena.view.getUint32(row + claimFields.tokenId, true)
    let token = this.#tokens.find(tokenId)
    if (token === NOWHERE)
      token = this.#tokens.place(tokenId, this.#claimView.dictionary.peekTokenBytes(tokenId))
    const sender = this.#senders.placeOf(ordinal)
    const hash = this.#hashes.placeOf(ordinal)
    const { numbers } = arena
    const at = arena.addRow(0)
    numbers[at + claimBases.row] = arena.address(row)
    numbers[at + claimBases.hash] = arena.address(hash)
    numbers[at + claimBases.sender] = arena.address(sender)
    numbers[at + claimBases.token] = arena.address(token)
    numbers[at + claimBases.deposit] = arena.address(deposit)
    return true
  }

  #sourceOf(networkId: number): PlacedSource | undefined {
    if (networkId !== this.#sourceNetwork) {
      this.#source = this.#makeSource(networkId)
      this.#sourceNetwork = networkId
    }
    return this.#source
  }

  #makeSource(networkId: number): PlacedSource | undefined {
    // Asked for in each task: that is what brings the view up to the task's snapshot.
    const view = this.#find(networkId as ShardView['networkId'])
    if (view === undefined) return undefined
    let source = this.#sources.get(networkId)
    if (source === undefined) {
      const { arena } = this
      const deposits = new PlacedChunks(
        arena,
        arena.slots.deposits,
        DEPOSITS_PER_CHUNK,
        DEPOSIT_BYTES,
        (depositCount) => view.deposits.chunkOf(depositCount),
      )
      source = { view, deposits }
      this.#sources.set(networkId, source)
    }
    source.deposits.begin(view.version)
    return source
  }
}

interface PlacedSource {
  readonly view: ShardView
  readonly deposits: PlacedChunks
}
