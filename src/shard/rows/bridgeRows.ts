import type { Hash } from '../../protocol/chainEvent.js'
import { CHECKSUM_ADDRESS_BYTES } from '../../protocol/checksumAddress.js'
import { encodeGlobalIndexBytes } from '../../protocol/globalIndex.js'
import { type MetadataDigest, shownMetadata } from '../../protocol/metadata.js'
import type { DepositCount, NetworkId } from '../../protocol/units.js'
import { type FieldPlace, type FieldPlaces, NO_VALUE, ROW_BASES } from '../../query/packedRows.js'
import type { BridgeFields, MoreBridgeFields } from '../../query/records.js'
import { isFixed, type RowTemplate, showsField } from '../../query/rowTemplate.js'
import { readUint48, writeUint32BigEndian, writeUint48BigEndian } from '../../store/layout/bytes.js'
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
const bases = {
  row: 0,
  sender: 1,
  token: 2,
  origin: 3,
  claimHash: 4,
  metadata: 5,
  own: 6,
  ownIfClaimed: 7,
  leaf: 8,
} as const
const values = { depositCount: 0, metadataLength: 1, claimStage: 2, l1InfoTreeIndex: 3 } as const

/** What a row has of its own. */
const own = { decimalIndex: 0, ulid: 8 } as const

/** Values of `claimStage`: the lowest bit says whether the bridge is ready. */
const stages = { open: 0, ready: 1, claimed: 2 } as const

const MESSAGE = 1
/** Bytes of a global index above the deposit count. */
const GLOBAL_INDEX_HEAD_BYTES = 28

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

/** @param base of the row's own bytes. */
function globalIndexPlace(networkId: NetworkId, base: number = bases.own): FieldPlace {
  const head = encodeGlobalIndexBytes(networkId, 0 as DepositCount).subarray(0, GLOBAL_INDEX_HEAD_BYTES)
  return {
    kind: 'hexValue',
    value: values.depositCount,
    head: Buffer.from(head).toString('hex'),
    decimal: { head: decimalIndexOf(networkId)?.head ?? '', base, offset: own.decimalIndex },
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
    place: { kind: 'flag', value: values.claimStage },
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
    place: (networkId) => globalIndexPlace(networkId),
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

/** Fields that a row has only where its template asks for one of them, and where they stand. */
const moreFields: { readonly [Name in keyof MoreBridgeFields]: (networkId: NetworkId) => FieldPlace } = {
  leafHash: () => ({ kind: 'hash', base: bases.leaf, offset: 0 }),
  ulid: () => ({ kind: 'ulid', base: bases.own, offset: own.ulid }),
  claimStage: () => ({ kind: 'value', value: values.claimStage }),
  claimedGlobalIndex: (networkId) => globalIndexPlace(networkId, bases.ownIfClaimed),
}

/** Whether rows show what records have only then (`moreOfBridge`). */
export function showsMoreOfBridge(template: RowTemplate): boolean {
  return Object.keys(moreFields).some((field) => showsField(template, field))
}

/** @param leafHash its leaf of the exit tree. */
export function moreOfBridge(fields: BridgeFields, leafHash: Hash): MoreBridgeFields {
  const { timestampSec, sourceNetwork, depositCount, readyForClaim, claimTransactionHash } = fields
  const ulid = new Uint8Array(ULID_BYTES)
  writeUlid(ulid, 0, timestampSec, sourceNetwork, depositCount)
  const isClaimed = claimTransactionHash !== null
  return {
    leafHash,
    ulid,
    claimStage: isClaimed ? stages.claimed : readyForClaim ? stages.ready : stages.open,
    claimedGlobalIndex: isClaimed ? fields.globalIndex : null,
  }
}

const ULID_BYTES = 16

function writeUlid(
  bytes: Uint8Array,
  at: number,
  timestampSec: number,
  sourceNetwork: number,
  depositCount: number,
): void {
  writeUint48BigEndian(bytes, at, 1000 * timestampSec)
  bytes[at + 6] = 0
  writeUint32BigEndian(bytes, at + 7, sourceNetwork)
  bytes[at + 11] = 0
  writeUint32BigEndian(bytes, at + 12, depositCount)
}

/** What is looked up, or worked out, only where the template shows it. */
interface Wanted {
  readonly metadata: boolean
  readonly leafHash: boolean
  readonly ulid: boolean
  readonly decimalIndex: boolean
  /** Whether any of it is among the row's own bytes. */
  readonly own: boolean
}

const NOTHING: Wanted = { metadata: false, leafHash: false, ulid: false, decimalIndex: false, own: false }

function wantedBy(template: RowTemplate): Wanted {
  const leafHash = showsField(template, 'leafHash')
  const ulid = showsField(template, 'ulid')
  const decimalIndex = template.some(
    (part) =>
      !isFixed(part) &&
      (part.field === 'globalIndex' || part.field === 'claimedGlobalIndex') &&
      part.encoding !== 'hex',
  )
  const metadata = ['metadata', 'metadataLength', 'metadataHash'].some((field) => showsField(template, field))
  return { metadata, leafHash, ulid, decimalIndex, own: ulid || decimalIndex }
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
  #wanted: Wanted = NOTHING

  constructor(shards: RowShards, arena: RowArena, placed: PlacedShard) {
    this.#shards = shards
    this.arena = arena
    this.#placed = placed
    const { networkId } = placed.view
    this.#decimalIndex = decimalIndexOf(networkId)
    const more = Object.entries(moreFields).map(([name, placeOn]) => [name, placeOn(networkId)])
    this.places = { ...placesOf(bridgeSources, networkId), ...Object.fromEntries(more) }
  }

  begin(template: RowTemplate): void {
    this.#placed.follow()
    if (template !== this.#template) {
      this.#template = template
      this.#wanted = wantedBy(template)
    }
    this.#destination = undefined
    if (this.#destinations.size > 0) this.#destinations.clear()
  }

  /** Not a bridge whose metadata is too long for a list and shown, or whose claim paid other content; nor one of a network without a decimal form. */
  pack(depositCount: number): boolean {
    const { arena } = this
    const wanted = this.#wanted
    const placed = this.#placed
    const row = placed.deposits.placeOf(depositCount)
    let metadata = NOWHERE
    let metadataLength = 0
    if (wanted.metadata) {
      const metadataId = arena.view.getUint32(row + depositFields.metadataId, true)
      metadata = placed.findMetadata(metadataId)
      if (metadata === NOWHERE) return false
      metadataLength = placed.metadataLength(metadataId, metadata)
    }
    const token = placed.placeOfToken(arena.view.getUint32(row + depositFields.tokenId, true))
    const sender = placed.findDepositSender(depositCount)
    if (wanted.decimalIndex && this.#decimalIndex === undefined) return false
    const destination = this.#destinationOf(
      arena.view.getUint32(row + depositFields.destinationNetwork, true),
    )
    const { path } = destination
    const claim = this.#findClaim(destination, depositCount)
    if (claim !== NOWHERE && !claimsListedDeposit(placed.view, depositCount, path.destination!, claim))
      return false
    const claimHash = claim === NOWHERE ? NOWHERE : destination.placed!.claimHashes.placeOf(claim)
    const leaf = wanted.leafHash ? placed.leaves.placeOf(depositCount) : NOWHERE
    const isMessage = arena.input[row + depositFields.leafType] === MESSAGE
    const { numbers } = arena
    const at = arena.addRow(metadataLength)
    numbers[at + bases.row] = arena.address(row)
    numbers[at + bases.sender] = arena.address(sender)
    numbers[at + bases.token] = arena.address(token)
    numbers[at + bases.origin] = arena.address(isMessage ? token + TOKEN_ADDRESS_AT : sender)
    numbers[at + bases.claimHash] = arena.address(claimHash)
    numbers[at + bases.metadata] = arena.address(metadata)
    if (wanted.leafHash) numbers[at + bases.leaf] = arena.address(leaf)
    if (wanted.own) this.#addOwn(at, row, depositCount, claim !== NOWHERE)
    const valuesAt = at + ROW_BASES
    numbers[valuesAt + values.depositCount] = depositCount
    numbers[valuesAt + values.metadataLength] = metadataLength
    numbers[valuesAt + values.claimStage] =
      claim !== NOWHERE ? stages.claimed : path.isReady(depositCount) ? stages.ready : stages.open
    numbers[valuesAt + values.l1InfoTreeIndex] = path.findUsable(depositCount) ?? NO_VALUE
    return true
  }

  isShort(depositCount: number): boolean {
    if (!this.#wanted.metadata) return true
    const row = this.#placed.deposits.placeOf(depositCount)
    return (
      this.#placed.findMetadata(this.arena.view.getUint32(row + depositFields.metadataId, true)) !== NOWHERE
    )
  }

  #addOwn(at: number, row: number, depositCount: number, isClaimed: boolean): void {
    const { arena } = this
    const place = arena.ownPlace(at)
    arena.numbers[at + bases.own] = arena.address(place)
    arena.numbers[at + bases.ownIfClaimed] = isClaimed ? arena.address(place) : 0
    if (this.#wanted.ulid) {
      const timestampSec = readUint48(arena.input, row + depositFields.timestampSec)
      writeUlid(arena.input, place + own.ulid, timestampSec, this.#placed.view.networkId, depositCount)
    }
    if (this.#wanted.decimalIndex) {
      const index = this.#decimalIndex!.first + depositCount
      const at48 = place + own.decimalIndex
      arena.view.setUint32(at48, index % 2 ** 32, true)
      arena.view.setUint16(at48 + 4, Math.floor(index / 2 ** 32), true)
    }
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
