import { type FieldPlaces, NO_VALUE, ROW_BASES } from '../../query/packedRows.js'
import { CLAIM_HASH_BYTES } from '../../store/layout/claimRow.js'
import { DEPOSIT_BYTES, depositFields } from '../../store/layout/depositRow.js'
import { TOKEN_ADDRESS_AT, TOKEN_ENTRY_BYTES } from '../../store/layout/smallRows.js'
import { CLAIM_HASHES_PER_CHUNK, DEPOSITS_PER_CHUNK } from '../../store/layout/tables.js'
import type { ClaimFacts } from '../readiness/claimFacts.js'
import type { ClaimPath } from '../readiness/claimPath.js'
import { claimsListedDeposit } from '../snapshot/claimedContent.js'
import type { ShardView } from '../snapshot/shardView.js'
import { bridgeBases, bridgeSources, bridgeValues } from './bridgeSources.js'
import { NOWHERE } from './chunkSlots.js'
import type { RowPacker } from './packedPage.js'
import { PlacedBytes } from './placedBytes.js'
import { PlacedChunks } from './placedChunks.js'
import { PlacedLinks } from './placedLinks.js'
import { PlacedSenders } from './placedSenders.js'
import type { RowArena, RowSink } from './rowArena.js'
import { placesOf } from './rowSources.js'

const MESSAGE = 1
const NO_BYTES = new Uint8Array(0)

interface Destination {
  path: ClaimPath
  /** Claims that were made there; undefined for a network that is not indexed here. */
  readonly claims: { readonly links: PlacedLinks; readonly hashes: PlacedChunks } | undefined
  /** Page that the path is of. */
  page: number
}

/** Puts one bridge after another into the arena, as `bridgeSources` says where each field stands. */
export class BridgePacker implements RowPacker {
  readonly #claimFacts: ClaimFacts
  readonly #source: ShardView
  readonly arena: RowArena
  readonly places: FieldPlaces
  readonly #deposits: PlacedChunks
  readonly #senders: PlacedSenders
  readonly #tokens: PlacedBytes
  readonly #metadata: PlacedBytes
  /** Those indexed here. */
  readonly #destinations = new Map<number, Destination>()
  /** The others of this page: senders name any number they like. */
  readonly #strangers = new Map<number, Destination>()
  #destinationNetwork = -1
  #destination: Destination | undefined
  #page = 0

  constructor(claimFacts: ClaimFacts, source: ShardView, arena: RowArena) {
    this.#claimFacts = claimFacts
    this.#source = source
    this.arena = arena
    this.places = placesOf(bridgeSources, source.networkId)
    const { deposits } = source
    this.#deposits = new PlacedChunks(
      arena,
      arena.slots.deposits,
      DEPOSITS_PER_CHUNK,
      DEPOSIT_BYTES,
      (depositCount) => deposits.chunkOf(depositCount),
    )
    this.#senders = new PlacedSenders(arena, (depositCount) => deposits.senders.chunkOf(depositCount))
    this.#tokens = new PlacedBytes(arena)
    this.#metadata = new PlacedBytes(arena)
  }

  begin(sink: RowSink): void {
    const { version, state } = this.#source
    this.arena.begin(sink)
    this.#deposits.begin(version)
    this.#senders.begin(version, state.resolvedDepositSenders)
    this.#tokens.begin(state.epoch)
    this.#metadata.begin(state.epoch)
    this.#destination = undefined
    if (this.#strangers.size > 0) this.#strangers.clear()
    this.#page++
  }

  /** Not a bridge with optional fields: its metadata is too long for a list, or its claim paid other content. */
  pack(depositCount: number): boolean {
    const { arena } = this
    const row = this.#deposits.placeOf(depositCount)
    const metadataId = arena.view.getUint32(row + depositFields.metadataId, true)
    let metadata = this.#metadata.find(metadataId)
    // The store's own bytes: placed before anything else is read.
    const bytes = metadata === NOWHERE ? this.#source.dictionary.peekListed(metadataId) : NO_BYTES
    if (bytes === undefined) return false
    const metadataLength = metadata === NOWHERE ? bytes.length : this.#metadata.lengthOf(metadataId)
    if (arena.makeRoom(TOKEN_ENTRY_BYTES + bytes.length, metadataLength)) return this.pack(depositCount)
    if (metadata === NOWHERE) metadata = this.#metadata.place(metadataId, bytes)
    const sender = this.#senders.placeOf(depositCount)
    const token = this.#placeToken(arena.view.getUint32(row + depositFields.tokenId, true))
    const isMessage = arena.input[row + depositFields.leafType] === MESSAGE
    const { path, claims } = this.#destinationOf(
      arena.view.getUint32(row + depositFields.destinationNetwork, true),
    )
    const claim = claims === undefined ? NOWHERE : claims.links.findOf(depositCount)
    if (claim !== NOWHERE && !claimsListedDeposit(this.#source, depositCount, path.destination!, claim))
      return false
    const claimHash = claim === NOWHERE ? NOWHERE : claims!.hashes.placeOf(claim)
    const { numbers } = arena
    const at = arena.addRow(metadataLength)
    numbers[at + bridgeBases.row] = arena.address(row)
    numbers[at + bridgeBases.sender] = arena.address(sender)
    numbers[at + bridgeBases.token] = arena.address(token)
    numbers[at + bridgeBases.origin] = arena.address(isMessage ? token + TOKEN_ADDRESS_AT : sender)
    numbers[at + bridgeBases.claimHash] = arena.address(claimHash)
    numbers[at + bridgeBases.metadata] = arena.address(metadata)
    const values = at + ROW_BASES
    numbers[values + bridgeValues.depositCount] = depositCount
    numbers[values + bridgeValues.metadataLength] = metadataLength
    numbers[values + bridgeValues.ready] = claim === NOWHERE && path.isReady(depositCount) ? 1 : 0
    numbers[values + bridgeValues.l1InfoTreeIndex] = path.findUsable(depositCount) ?? NO_VALUE
    return true
  }

  #placeToken(id: number): number {
    const token = this.#tokens.find(id)
    return token === NOWHERE ? this.#tokens.place(id, this.#source.dictionary.peekTokenBytes(id)) : token
  }

  #destinationOf(networkId: number): Destination {
    if (this.#destination === undefined || networkId !== this.#destinationNetwork) {
      this.#destination = this.#makeDestination(networkId)
      this.#destinationNetwork = networkId
    }
    return this.#destination
  }

  #makeDestination(networkId: number): Destination {
    let destination = this.#destinations.get(networkId) ?? this.#strangers.get(networkId)
    if (destination?.page === this.#page) return destination
    const path = this.#claimFacts.path(this.#source, networkId as ShardView['networkId'])
    if (destination === undefined) {
      destination = { path, claims: this.#claimsOn(path.destination), page: this.#page }
      const known = path.destination === undefined ? this.#strangers : this.#destinations
      known.set(networkId, destination)
    }
    destination.path = path
    destination.page = this.#page
    if (path.destination !== undefined) {
      destination.claims!.links.begin(path.destination.version)
      destination.claims!.hashes.begin(path.destination.version)
    }
    return destination
  }

  #claimsOn(view: ShardView | undefined): Destination['claims'] {
    if (view === undefined) return undefined
    const { arena } = this
    const { networkId } = this.#source
    return {
      links: new PlacedLinks(arena, (depositCount) => view.claims.linkChunkOf(networkId, depositCount)),
      hashes: new PlacedChunks(
        arena,
        arena.slots.hashes,
        CLAIM_HASHES_PER_CHUNK,
        CLAIM_HASH_BYTES,
        (ordinal) => view.claims.hashChunkOf(ordinal),
      ),
    }
  }
}
