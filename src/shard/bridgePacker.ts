import { NO_VALUE } from '../protocol/packedRows.js'
import { DEPOSIT_BYTES, depositFields } from '../store/codecs/depositRow.js'
import { SENDER_BYTES } from '../store/codecs/senderRow.js'
import { DEPOSITS_PER_CHUNK, SENDERS_PER_CHUNK } from '../store/tables.js'
import type { ClaimPath } from './claimPath.js'
import { PlacedBytes } from './placedBytes.js'
import { PlacedChunk } from './placedChunk.js'
import type { ShardReaders } from './reader.js'
import { NOWHERE, type RowArena } from './rowArena.js'
import type { ShardView } from './shardView.js'

/** Bases of a row in the arena, and behind them its values. */
export const bridgeBases = { row: 0, sender: 1, token: 2, origin: 3, claimHash: 4, metadata: 5 } as const
export const bridgeValues = { depositCount: 0, metadataLength: 1, ready: 2, l1InfoTreeIndex: 3 } as const
const VALUES = 8

/** Where the address stands in a dictionary's entry of a token: behind its network. */
export const TOKEN_ADDRESS_AT = 4
const MESSAGE = 1
/** Two chunks, an entry of a token, a hash. */
const INPUT_BYTES = 2 * 4096 + 64 + 32

/** Puts one bridge after another into the arena. What a row says is what `bridgeRow` says. */
export class BridgePacker {
  readonly #shards: ShardReaders
  readonly #source: ShardView
  readonly #arena: RowArena
  readonly #resolvedSenders: number
  readonly #deposits: PlacedChunk
  readonly #senders: PlacedChunk
  readonly #tokens: PlacedBytes
  readonly #metadata: PlacedBytes
  #destinationNetwork = -1
  #path: ClaimPath | undefined

  constructor(shards: ShardReaders, source: ShardView, arena: RowArena) {
    this.#shards = shards
    this.#source = source
    this.#arena = arena
    this.#resolvedSenders = source.state.resolvedDepositSenders
    const { deposits } = source
    this.#deposits = new PlacedChunk(arena, DEPOSITS_PER_CHUNK, DEPOSIT_BYTES, (depositCount) =>
      deposits.chunkOf(depositCount),
    )
    this.#senders = new PlacedChunk(arena, SENDERS_PER_CHUNK, SENDER_BYTES, (depositCount) =>
      deposits.senderChunkOf(depositCount),
    )
    this.#tokens = new PlacedBytes(arena)
    this.#metadata = new PlacedBytes(arena)
  }

  /** @returns false for a bridge whose metadata has no room at all. */
  pack(depositCount: number): boolean {
    const arena = this.#arena
    if (!arena.hasRoom(INPUT_BYTES, 0)) arena.flush()
    const row = this.#deposits.placeOf(depositCount)
    const metadataId = arena.view.getUint32(row + depositFields.metadataId, true)
    const metadata = this.#source.dictionary.getMetadata(metadataId)
    if (!arena.fits(metadata.length)) return false
    if (!arena.hasRoom(INPUT_BYTES + metadata.length, metadata.length)) {
      arena.flush()
      return this.pack(depositCount)
    }
    const sender = depositCount < this.#resolvedSenders ? this.#senders.placeOf(depositCount) : NOWHERE
    const token = this.#placeToken(arena.view.getUint32(row + depositFields.tokenId, true))
    const isMessage = arena.input[row + depositFields.leafType] === MESSAGE
    const path = this.#pathTo(arena.view.getUint32(row + depositFields.destinationNetwork, true))
    const claims = path.destination?.claims
    const claim = claims?.findOf(this.#source.networkId, depositCount)
    const { numbers } = arena
    const at = arena.addRow(metadata.length)
    numbers[at + bridgeBases.row] = arena.address(row)
    numbers[at + bridgeBases.sender] = arena.address(sender)
    numbers[at + bridgeBases.token] = arena.address(token)
    numbers[at + bridgeBases.origin] = arena.address(isMessage ? token + TOKEN_ADDRESS_AT : sender)
    numbers[at + bridgeBases.claimHash] = arena.address(
      claim === undefined ? NOWHERE : arena.place(claims!.getTransactionHash(claim)),
    )
    numbers[at + bridgeBases.metadata] = arena.address(
      this.#metadata.find(metadataId) ?? this.#metadata.place(metadataId, metadata),
    )
    const values = at + VALUES
    numbers[values + bridgeValues.depositCount] = depositCount
    numbers[values + bridgeValues.metadataLength] = metadata.length
    numbers[values + bridgeValues.ready] = claim === undefined && depositCount < path.readyBelow ? 1 : 0
    numbers[values + bridgeValues.l1InfoTreeIndex] = path.findUsable(depositCount) ?? NO_VALUE
    return true
  }

  #placeToken(id: number): number {
    return this.#tokens.find(id) ?? this.#tokens.place(id, this.#source.dictionary.getTokenBytes(id))
  }

  #pathTo(destinationNetwork: number): ClaimPath {
    if (this.#path === undefined || destinationNetwork !== this.#destinationNetwork) {
      this.#path = this.#shards.claimFacts.path(this.#source, destinationNetwork as ShardView['networkId'])
      this.#destinationNetwork = destinationNetwork
    }
    return this.#path
  }
}
