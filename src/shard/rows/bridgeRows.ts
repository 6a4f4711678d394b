import { CHECKSUM_ADDRESS_BYTES } from '../../protocol/checksumAddress.js'
import { encodeGlobalIndexBytes } from '../../protocol/globalIndex.js'
import { type MetadataDigest, shownMetadata } from '../../protocol/metadata.js'
import type { DepositCount, NetworkId } from '../../protocol/units.js'
import { type FieldPlace, type FieldPlaces, NO_VALUE, ROW_BASES } from '../../query/packedRows.js'
import type { BridgeFields } from '../../query/records.js'
import { isFixed, omitsNull, type RowTemplate, showsField } from '../../query/rowTemplate.js'
import { type DepositRow, depositFields } from '../../store/layout/depositRow.js'
import type { SenderRow } from '../../store/layout/senderRow.js'
import { TOKEN_ADDRESS_AT, type TokenEntry } from '../../store/layout/smallRows.js'
import type { ClaimPath } from '../readiness/claimPath.js'
import { claimsListedDeposit } from '../snapshot/claimedContent.js'
import type { ShardView } from '../snapshot/shardView.js'
import { NOWHERE } from './arenaSlots.js'
import type { RowPacker } from './packedPage.js'
import type { PlacedShard, PlacedTable, RowShards } from './placedShard.js'
import type { RowArena } from './rowArena.js'
import { placesOf, type Sources } from './rowSources.js'

/** What the shards tell of one deposit. */
interface BridgeRowFacts {
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  readonly row: DepositRow
  readonly sender: SenderRow | undefined
  readonly token: TokenEntry
  readonly metadata: Uint8Array | MetadataDigest
  readonly path: ClaimPath
  /** Transaction of the claim in force. */
  readonly claimTransactionHash: Uint8Array | null
  /** Whether that claim, if there is one, paid this deposit's content. */
  readonly claimMatches: boolean
}

/** Where the fields of a row stand, and what is worked out for it. */
const bases = { row: 0, sender: 1, token: 2, origin: 3, claimHash: 4, metadata: 5, own: 6 } as const
const values = { depositCount: 0, metadataLength: 1, ready: 2, l1InfoTreeIndex: 3 } as const

/** What a row has of its own. */
const own = { decimalIndex: 0, leafHash: 8 } as const

const MESSAGE = 1
/** Bytes of a global index above the deposit count. */
const GLOBAL_INDEX_HEAD_BYTES = 28
const HASH_BYTES = 32

/**
 * A global index in decimal as digits that all rows of a network share, and a number of 48 bits behind them. An L1's is 2^64, which is
 * 184467440 and then 73709551616, and the deposit count: up to the last one the sum has eleven digits.
 */
interface DecimalIndex {
  readonly head: string
  /** The number of deposit 0. */
  readonly first: number
}

/** @returns undefined for a network whose indexes have no such form. */
function decimalIndexOf(networkId: NetworkId): DecimalIndex | undefined {
  if (networkId === 0) return { head: '184467440', first: 73_709_551_616 }
  return networkId <= 2 ** 16 ? { head: '', first: (networkId - 1) * 2 ** 32 } : undefined
}

function globalIndexPlace(networkId: NetworkId): FieldPlace {
  const head = encodeGlobalIndexBytes(networkId, 0 as DepositCount).subarray(0, GLOBAL_INDEX_HEAD_BYTES)
  return {
    kind: 'hexValue',
    value: values.depositCount,
    head: Buffer.from(head).toString('hex'),
    decimal: { head: decimalIndexOf(networkId)?.head ?? '', base: bases.own, offset: own.decimalIndex },
  }
}

export const bridgeSources: Sources<BridgeFields, BridgeRowFacts> = {
  transactionHash: {
    place: { kind: 'hash', base: bases.row, offset: depositFields.transactionHash },
    of: ({ row }) => row.transactionHash,
  },
  depositCount: {
    place: { kind: 'value', value: values.depositCount },
    of: (facts) => facts.depositCount,
  },
  sourceNetwork: {
    place: (networkId) => ({ kind: 'constant', number: networkId }),
    of: (facts) => facts.sourceNetwork,
  },
  destinationNetwork: {
    place: { kind: 'uint32', base: bases.row, offset: depositFields.destinationNetwork },
    of: ({ row }) => row.destinationNetwork,
  },
  originAddress: {
    place: { kind: 'address', base: bases.origin, offset: 0 },
    // The sender of a message is its own originAddress.
    of: (facts) => (facts.row.leafType === MESSAGE ? facts.token.address : (facts.sender?.caller ?? null)),
  },
  destinationAddress: {
    place: { kind: 'address', base: bases.row, offset: depositFields.destinationAddress },
    of: ({ row }) => row.destinationAddress,
  },
  amount: {
    place: { kind: 'amount', base: bases.row, offset: depositFields.amount },
    of: ({ row }) => row.amount,
  },
  timestampSec: {
    place: { kind: 'uint48', base: bases.row, offset: depositFields.timestampSec },
    of: ({ row }) => row.timestampSec,
  },
  readyForClaim: {
    place: { kind: 'flag', value: values.ready },
    of: (facts) => facts.claimTransactionHash === null && facts.path.isReady(facts.depositCount),
  },
  blockNumber: {
    place: { kind: 'uint48', base: bases.row, offset: depositFields.blockNumber },
    of: ({ row }) => row.blockNumber,
  },
  logIndex: {
    place: { kind: 'uint32', base: bases.row, offset: depositFields.logIndex },
    of: ({ row }) => row.logIndex,
  },
  leafType: {
    place: { kind: 'uint8', base: bases.row, offset: depositFields.leafType },
    of: ({ row }) => row.leafType,
  },
  tokenNetwork: {
    place: { kind: 'uint32', base: bases.token, offset: 0 },
    of: (facts) => facts.token.network,
  },
  tokenAddress: {
    place: { kind: 'address', base: bases.token, offset: TOKEN_ADDRESS_AT },
    of: (facts) => facts.token.address,
  },
  metadata: {
    place: { kind: 'bytes', base: bases.metadata, lengthValue: values.metadataLength },
    of: (facts) => shownMetadata(facts.metadata).metadata,
  },
  metadataLength: { of: (facts) => shownMetadata(facts.metadata).metadataLength },
  metadataHash: { of: (facts) => shownMetadata(facts.metadata).metadataHash },
  transactionSender: {
    place: { kind: 'address', base: bases.sender, offset: CHECKSUM_ADDRESS_BYTES },
    of: (facts) => facts.sender?.transactionSender ?? null,
  },
  globalIndex: {
    place: globalIndexPlace,
    of: (facts) => encodeGlobalIndexBytes(facts.sourceNetwork, facts.depositCount),
  },
  claimTransactionHash: {
    place: { kind: 'hash', base: bases.claimHash, offset: 0 },
    of: (facts) => facts.claimTransactionHash,
  },
  l1InfoTreeIndex: {
    place: { kind: 'value', value: values.l1InfoTreeIndex },
    of: (facts) => facts.path.findUsable(facts.depositCount) ?? null,
  },
  claimMatches: { of: (facts) => (facts.claimMatches ? undefined : false) },
}

/** What a row has only where its template asks for it. */
interface Wanted {
  readonly leafHash: boolean
  readonly decimalIndex: boolean
  /** Whether a row without a sender must lack the field. */
  readonly noNullSender: boolean
}

function wantedBy(template: RowTemplate): Wanted {
  return {
    leafHash: showsField(template, 'leafHash'),
    decimalIndex: template.some(
      (part) => !isFixed(part) && part.field === 'globalIndex' && part.encoding !== 'hex',
    ),
    noNullSender: omitsNull(template, 'originAddress') || omitsNull(template, 'transactionSender'),
  }
}

/** One destination of the page's bridges. */
interface Destination {
  readonly path: ClaimPath
  /** undefined for a network that is not indexed here. */
  readonly placed: PlacedShard | undefined
  readonly links: PlacedTable | undefined
}

/** Puts the bridges of one network into the arena. */
export class BridgeRows implements RowPacker {
  readonly arena: RowArena
  readonly places: FieldPlaces
  readonly #shards: RowShards
  readonly #placed: PlacedShard
  /** Those of this page: senders name any number they like. */
  readonly #destinations = new Map<number, Destination>()
  readonly #decimalIndex: DecimalIndex | undefined
  #destinationNetwork = -1
  #destination: Destination | undefined
  #template: RowTemplate | undefined
  #wanted: Wanted = { leafHash: false, decimalIndex: false, noNullSender: false }
  /** Leaves of one tile of the exit tree; of none at the beginning of a page. */
  #leaves = new Uint8Array(0)
  #tile = -1

  constructor(shards: RowShards, arena: RowArena, placed: PlacedShard) {
    this.#shards = shards
    this.arena = arena
    this.#placed = placed
    const { networkId } = placed.view
    this.#decimalIndex = decimalIndexOf(networkId)
    this.places = {
      ...placesOf(bridgeSources, networkId),
      leafHash: { kind: 'hash', base: bases.own, offset: own.leafHash },
    }
  }

  begin(template: RowTemplate): void {
    this.#placed.follow()
    if (template !== this.#template) {
      this.#template = template
      this.#wanted = wantedBy(template)
    }
    this.#tile = -1
    this.#destination = undefined
    if (this.#destinations.size > 0) this.#destinations.clear()
  }

  /** Not a bridge with optional fields: its metadata is too long for a list, or its claim paid other content; nor one that lacks a field. */
  pack(depositCount: number): boolean {
    const { arena } = this
    const wanted = this.#wanted
    const placed = this.#placed
    const row = placed.deposits.placeOf(depositCount)
    const metadataId = arena.view.getUint32(row + depositFields.metadataId, true)
    const metadata = placed.findMetadata(metadataId)
    if (metadata === NOWHERE) return false
    const token = placed.placeOfToken(arena.view.getUint32(row + depositFields.tokenId, true))
    const sender = placed.findDepositSender(depositCount)
    if (wanted.noNullSender && sender === NOWHERE) return false
    if (wanted.decimalIndex && this.#decimalIndex === undefined) return false
    const destination = this.#destinationOf(
      arena.view.getUint32(row + depositFields.destinationNetwork, true),
    )
    const { path } = destination
    const claim = this.#findClaim(destination, depositCount)
    if (claim !== NOWHERE && !claimsListedDeposit(placed.view, depositCount, path.destination!, claim))
      return false
    const claimHash = claim === NOWHERE ? NOWHERE : destination.placed!.claimHashes.placeOf(claim)
    const isMessage = arena.input[row + depositFields.leafType] === MESSAGE
    const metadataLength = placed.metadataLength(metadataId, metadata)
    const { numbers } = arena
    const at = arena.addRow(metadataLength)
    numbers[at + bases.row] = arena.address(row)
    numbers[at + bases.sender] = arena.address(sender)
    numbers[at + bases.token] = arena.address(token)
    numbers[at + bases.origin] = arena.address(isMessage ? token + TOKEN_ADDRESS_AT : sender)
    numbers[at + bases.claimHash] = arena.address(claimHash)
    numbers[at + bases.metadata] = arena.address(metadata)
    if (wanted.decimalIndex || wanted.leafHash) this.#addOwn(at, depositCount)
    const valuesAt = at + ROW_BASES
    numbers[valuesAt + values.depositCount] = depositCount
    numbers[valuesAt + values.metadataLength] = metadataLength
    numbers[valuesAt + values.ready] = claim === NOWHERE && path.isReady(depositCount) ? 1 : 0
    numbers[valuesAt + values.l1InfoTreeIndex] = path.findUsable(depositCount) ?? NO_VALUE
    return true
  }

  #addOwn(at: number, depositCount: number): void {
    const { arena } = this
    const place = arena.ownPlace(at)
    arena.numbers[at + bases.own] = arena.address(place)
    if (this.#wanted.decimalIndex) {
      const index = this.#decimalIndex!.first + depositCount
      const at48 = place + own.decimalIndex
      arena.view.setUint32(at48, index % 2 ** 32, true)
      arena.view.setUint16(at48 + 4, Math.floor(index / 2 ** 32), true)
    }
    if (!this.#wanted.leafHash) return
    const { exitTree } = this.#placed.view
    const inTile = depositCount % exitTree.leavesPerTile
    if (this.#tile !== depositCount - inTile) {
      // A copy: the next read takes what was read.
      this.#leaves = new Uint8Array(exitTree.peekLeaves(depositCount))
      this.#tile = depositCount - inTile
    }
    const from = HASH_BYTES * inTile
    arena.input.set(this.#leaves.subarray(from, from + HASH_BYTES), place + own.leafHash)
  }

  /** Ordinal of the claim in force; NOWHERE while there is none. */
  #findClaim({ links }: Destination, depositCount: number): number {
    const link = links === undefined ? NOWHERE : links.findPlace(depositCount)
    // A link is the ordinal and one more, 0 for none.
    return link === NOWHERE ? NOWHERE : this.arena.view.getUint32(link, true) - 1
  }

  #destinationOf(networkId: number): Destination {
    if (this.#destination === undefined || networkId !== this.#destinationNetwork) {
      this.#destination = this.#destinations.get(networkId) ?? this.#addDestination(networkId)
      this.#destinationNetwork = networkId
    }
    return this.#destination
  }

  #addDestination(networkId: number): Destination {
    const { view } = this.#placed
    const path = this.#shards.claimFacts.path(view, networkId as ShardView['networkId'])
    const placed = path.destination && this.#shards.placed(path.destination)
    const destination = { path, placed, links: placed?.claimLinks(view.networkId) }
    this.#destinations.set(networkId, destination)
    return destination
  }
}
