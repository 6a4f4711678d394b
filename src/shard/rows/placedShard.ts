import type { NetworkId } from '../../protocol/units.js'
import { CLAIM_BYTES, CLAIM_HASH_BYTES, CLAIM_LINK_BYTES } from '../../store/layout/claimRow.js'
import { DEPOSIT_BYTES } from '../../store/layout/depositRow.js'
import { isNobody, SENDER_BYTES } from '../../store/layout/senderRow.js'
import { TOKEN_ENTRY_BYTES } from '../../store/layout/smallRows.js'
import {
  CLAIM_HASHES_PER_CHUNK,
  CLAIM_LINKS_PER_CHUNK,
  CLAIMS_PER_CHUNK,
  DEPOSITS_PER_CHUNK,
  SENDERS_PER_CHUNK,
} from '../../store/layout/tables.js'
import type { ClaimFacts } from '../readiness/claimFacts.js'
import type { ShardView } from '../snapshot/shardView.js'
import { type ArenaSlots, NOWHERE } from './arenaSlots.js'
import type { RowArena } from './rowArena.js'

/** What rows are packed from. */
export interface RowShards {
  readonly claimFacts: ClaimFacts
  /** The task's snapshot of one network; undefined for a network that is not indexed. */
  find(networkId: NetworkId): ShardView | undefined
  /** What the arena has of a shard, brought up to the task's snapshot. */
  placed(view: ShardView): PlacedShard
}

/** Bytes of a leaf of an exit tree. */
const LEAF_BYTES = 32

/** What placed bytes are good under. */
interface Stamp {
  value: number
}

/** Rows of one table of one shard in the arena. */
export class PlacedTable {
  readonly #slots: ArenaSlots
  readonly #owner: number
  readonly #stamp: Stamp
  readonly #rowsPerChunk: number
  readonly #rowBytes: number
  readonly #read: (ordinal: number) => Uint8Array | undefined

  /** @param read gives the chunk with a row, as the store's own bytes. */
  constructor(
    arena: RowArena,
    slots: ArenaSlots,
    stamp: Stamp,
    rowsPerChunk: number,
    rowBytes: number,
    read: (ordinal: number) => Uint8Array | undefined,
  ) {
    this.#slots = slots
    this.#owner = arena.nextOwner()
    this.#stamp = stamp
    this.#rowsPerChunk = rowsPerChunk
    this.#rowBytes = rowBytes
    this.#read = read
  }

  /** Place of a row, for a table whose reader throws when the chunk ends before it. */
  placeOf(ordinal: number): number {
    const row = ordinal % this.#rowsPerChunk
    const number = (ordinal - row) / this.#rowsPerChunk
    const at = row * this.#rowBytes
    const place = this.#slots.find(this.#owner, number, this.#stamp.value, at + this.#rowBytes)
    return at + (place === NOWHERE ? this.#put(number, ordinal) : place)
  }

  /** Place of a row, for a table that may lack it: NOWHERE where the chunk ends before it, or is not there. */
  findPlace(ordinal: number): number {
    const row = ordinal % this.#rowsPerChunk
    const number = (ordinal - row) / this.#rowsPerChunk
    let place = this.#slots.find(this.#owner, number, this.#stamp.value, 0)
    if (place === NOWHERE) place = this.#put(number, ordinal)
    const at = row * this.#rowBytes
    return at + this.#rowBytes > this.#slots.lengthOf(this.#owner, number) ? NOWHERE : place + at
  }

  #put(number: number, ordinal: number): number {
    return this.#slots.put(this.#owner, number, this.#stamp.value, this.#read(ordinal))
  }
}

/**
 * What the arena has of one shard. Chunks are good while the shard has had no other commit; entries of the dictionary, which
 * only a rewind gives to other ids, while it stands in the same epoch.
 */
export class PlacedShard {
  readonly view: ShardView
  readonly deposits: PlacedTable
  readonly claims: PlacedTable
  readonly claimHashes: PlacedTable
  /** Leaves of the exit tree, by deposit count. */
  readonly leaves: PlacedTable
  readonly #arena: RowArena
  readonly #commits: Stamp = { value: -1 }
  readonly #depositSenders: PlacedTable
  readonly #claimSenders: PlacedTable
  /** By source network. */
  readonly #claimLinks = new Map<number, PlacedTable>()
  readonly #tokens: ArenaSlots
  readonly #metadata: ArenaSlots
  readonly #longMetadata: ArenaSlots
  /** Owner of what the dictionary has in the slots. */
  readonly #dictionary: number
  #epoch = -1
  #resolvedDeposits = 0
  #resolvedClaims = 0

  constructor(arena: RowArena, view: ShardView) {
    this.#arena = arena
    this.view = view
    const { slots } = arena
    const { deposits, claims, exitTree } = view
    const chunks = (...of: [ArenaSlots, number, number, (ordinal: number) => Uint8Array]): PlacedTable =>
      new PlacedTable(arena, of[0], this.#commits, of[1], of[2], of[3])
    this.deposits = chunks(slots.deposits, DEPOSITS_PER_CHUNK, DEPOSIT_BYTES, (count) =>
      deposits.chunkOf(count),
    )
    this.#depositSenders = chunks(slots.senders, SENDERS_PER_CHUNK, SENDER_BYTES, (count) =>
      deposits.senders.chunkOf(count),
    )
    this.claims = chunks(slots.claims, CLAIMS_PER_CHUNK, CLAIM_BYTES, (ordinal) => claims.chunkOf(ordinal))
    this.claimHashes = chunks(slots.claimHashes, CLAIM_HASHES_PER_CHUNK, CLAIM_HASH_BYTES, (ordinal) =>
      claims.hashChunkOf(ordinal),
    )
    this.leaves = chunks(slots.leaves, exitTree.leavesPerTile, LEAF_BYTES, (count) =>
      exitTree.peekLeaves(count),
    )
    this.#claimSenders = chunks(slots.senders, SENDERS_PER_CHUNK, SENDER_BYTES, (ordinal) =>
      claims.senders.chunkOf(ordinal),
    )
    this.#tokens = slots.tokens
    this.#metadata = slots.metadata
    this.#longMetadata = slots.longMetadata
    this.#dictionary = arena.nextOwner()
  }

  /** Call it once the shard stands at the task's snapshot: what was placed before and holds no more is read again from here on. */
  follow(): void {
    const { commits, state } = this.view
    if (commits === this.#commits.value) return
    this.#epoch = state.epoch
    this.#resolvedDeposits = state.resolvedDepositSenders
    this.#resolvedClaims = state.resolvedClaimSenders
    // Last: after a failed read the next page asks again.
    this.#commits.value = commits
  }

  /** Place of a token. */
  placeOfToken(id: number): number {
    const slots = this.#tokens
    const owner = this.#dictionary
    const place = slots.find(owner, id, this.#epoch, TOKEN_ENTRY_BYTES)
    return place === NOWHERE
      ? slots.put(owner, id, this.#epoch, this.view.dictionary.peekTokenBytes(id))
      : place
  }

  /** Place of metadata; NOWHERE when it is too long for a list. */
  findMetadata(id: number): number {
    const owner = this.#dictionary
    const place = this.#metadata.find(owner, id, this.#epoch, 0)
    return place === NOWHERE ? this.#findLongMetadata(id) : place
  }

  /** Length of metadata that was just found. @param place where. */
  metadataLength(id: number, place: number): number {
    const slots = place < this.#longMetadata.from ? this.#metadata : this.#longMetadata
    return slots.lengthOf(this.#dictionary, id)
  }

  /** Place of a deposit's sender; NOWHERE while it is not known, or if it never will be. */
  findDepositSender(depositCount: number): number {
    return depositCount < this.#resolvedDeposits
      ? this.#unlessNobody(this.#depositSenders.placeOf(depositCount))
      : NOWHERE
  }

  /** The same of a claim. */
  findClaimSender(ordinal: number): number {
    return ordinal < this.#resolvedClaims ? this.#unlessNobody(this.#claimSenders.placeOf(ordinal)) : NOWHERE
  }

  /** Links from the deposits of one network to their claims here. */
  claimLinks(source: number): PlacedTable {
    let links = this.#claimLinks.get(source)
    if (links === undefined) {
      const { claims } = this.view
      links = new PlacedTable(
        this.#arena,
        this.#arena.slots.claimLinks,
        this.#commits,
        CLAIM_LINKS_PER_CHUNK,
        CLAIM_LINK_BYTES,
        (depositCount) => claims.linkChunkOf(source, depositCount),
      )
      this.#claimLinks.set(source, links)
    }
    return links
  }

  /** Metadata that is too long for most slots, or not placed yet. */
  #findLongMetadata(id: number): number {
    const owner = this.#dictionary
    const place = this.#longMetadata.find(owner, id, this.#epoch, 0)
    if (place !== NOWHERE) return place
    const bytes = this.view.dictionary.peekListed(id)
    if (bytes === undefined) return NOWHERE
    const slots = bytes.length > this.#metadata.slotBytes ? this.#longMetadata : this.#metadata
    return slots.put(owner, id, this.#epoch, bytes)
  }

  #unlessNobody(place: number): number {
    return isNobody(this.#arena.input, place) ? NOWHERE : place
  }
}
