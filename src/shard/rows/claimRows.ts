import { CHECKSUM_ADDRESS_BYTES } from '../../protocol/checksumAddress.js'
import type { NetworkId } from '../../protocol/units.js'
import { type FieldPlaces, ROW_BASES } from '../../query/packedRows.js'
import type { ClaimFields } from '../../query/records.js'
import { type RowTemplate, showsField } from '../../query/rowTemplate.js'
import { type ClaimRow, claimFields, isSetByAdministrator } from '../../store/layout/claimRow.js'
import { depositFields } from '../../store/layout/depositRow.js'
import type { SenderRow } from '../../store/layout/senderRow.js'
import { TOKEN_ADDRESS_AT } from '../../store/layout/smallRows.js'
import type { ClaimedContent } from '../snapshot/claimedContent.js'
import type { ShardView } from '../snapshot/shardView.js'
import { NOWHERE } from './arenaSlots.js'
import type { RowPacker } from './packedPage.js'
import type { PlacedShard, RowShards } from './placedShard.js'
import type { RowArena } from './rowArena.js'
import { placesOf, type Sources } from './rowSources.js'

/** What the shards tell of one claim. */
interface ClaimRowFacts {
  readonly destinationNetwork: NetworkId
  readonly row: ClaimRow
  readonly transactionHash: Uint8Array
  readonly bridgeTransactionHash: Uint8Array | null
  /** What was claimed: as the event says, or the deposit. */
  readonly content: ClaimedContent
  readonly sender: SenderRow | undefined
}

/** Where the fields of a row stand. */
const bases = { row: 0, hash: 1, sender: 2, token: 3, deposit: 4, metadata: 5 } as const
const values = { metadataLength: 0, isMessage: 1 } as const

const MESSAGE = 1

export const claimSources: Sources<ClaimFields, ClaimRowFacts> = {
  transactionHash: {
    place: { kind: 'hash', base: bases.hash, offset: 0 },
    of: (facts) => facts.transactionHash,
  },
  globalIndex: {
    place: { kind: 'hash', base: bases.row, offset: claimFields.globalIndex },
    of: ({ row }) => row.globalIndex,
  },
  amount: {
    place: { kind: 'amount', base: bases.row, offset: claimFields.amount },
    of: ({ content }) => content.amount,
  },
  timestampSec: {
    place: { kind: 'uint48', base: bases.row, offset: claimFields.timestampSec },
    of: ({ row }) => row.timestampSec,
  },
  bridgeTransactionHash: {
    place: { kind: 'hash', base: bases.deposit, offset: depositFields.transactionHash },
    of: (facts) => facts.bridgeTransactionHash,
  },
  blockNumber: {
    place: { kind: 'uint48', base: bases.row, offset: claimFields.blockNumber },
    of: ({ row }) => row.blockNumber,
  },
  logIndex: {
    place: { kind: 'uint32', base: bases.row, offset: claimFields.logIndex },
    of: ({ row }) => row.logIndex,
  },
  sourceNetwork: {
    place: { kind: 'uint32', base: bases.row, offset: claimFields.sourceNetwork },
    of: ({ row }) => row.sourceNetwork,
  },
  depositCount: {
    place: { kind: 'uint32', base: bases.row, offset: claimFields.depositCount },
    of: ({ row }) => row.depositCount,
  },
  destinationNetwork: {
    place: (networkId) => ({ kind: 'constant', number: networkId }),
    of: (facts) => facts.destinationNetwork,
  },
  destinationAddress: {
    place: { kind: 'address', base: bases.row, offset: claimFields.destinationAddress },
    of: ({ content }) => content.destinationAddress,
  },
  tokenNetwork: {
    place: { kind: 'uint32', base: bases.token, offset: 0 },
    of: ({ content }) => content.token.network,
  },
  tokenAddress: {
    place: { kind: 'address', base: bases.token, offset: TOKEN_ADDRESS_AT },
    of: ({ content }) => content.token.address,
  },
  caller: {
    place: { kind: 'address', base: bases.sender, offset: 0 },
    // An administrator's SetClaim has no caller; the stored row repeats the transaction's sender there.
    of: (facts) => (facts.row.isSetByAdministrator ? null : (facts.sender?.caller ?? null)),
  },
  transactionSender: {
    place: { kind: 'address', base: bases.sender, offset: CHECKSUM_ADDRESS_BYTES },
    of: (facts) => facts.sender?.transactionSender ?? null,
  },
}

/** Whether rows show what only the claimed deposit tells. */
export function showsDeposit(template: RowTemplate): boolean {
  return showsField(template, 'depositMetadata') || showsField(template, 'isMessage')
}

/** Puts the claims on one network into the arena. */
export class ClaimRows implements RowPacker {
  readonly arena: RowArena
  readonly places: FieldPlaces
  readonly #shards: RowShards
  readonly #placed: PlacedShard
  #template: RowTemplate | undefined
  /** Whether the rows show what only the claimed deposit tells. */
  #showsDeposit = false
  #sourceNetwork = -1
  /** undefined for a network that is not indexed here. */
  #source: PlacedShard | undefined

  constructor(shards: RowShards, arena: RowArena, placed: PlacedShard) {
    this.#shards = shards
    this.arena = arena
    this.#placed = placed
    this.places = {
      ...placesOf(claimSources, placed.view.networkId),
      depositMetadata: { kind: 'bytes', base: bases.metadata, lengthValue: values.metadataLength },
      isMessage: { kind: 'flag', value: values.isMessage },
    }
  }

  begin(template: RowTemplate): void {
    this.#placed.follow()
    if (template !== this.#template) {
      this.#template = template
      this.#showsDeposit = showsDeposit(template)
    }
    this.#sourceNetwork = -1
  }

  /** Not a claim whose fields, or whose deposit, must be looked up in other ways. */
  pack(ordinal: number): boolean {
    const { arena } = this
    const placed = this.#placed
    const row = placed.claims.placeOf(ordinal)
    if (isSetByAdministrator(arena.input[row + claimFields.flags]!)) return false
    const source = this.#sourceOf(arena.view.getUint32(row + claimFields.sourceNetwork, true))
    const depositCount = arena.view.getUint32(row + claimFields.depositCount, true)
    // A cut of the exit tree may have given the deposit count to another deposit.
    if (source !== undefined && source.view.deposits.archivedAt(depositCount).length > 0) return false
    const isDepositKnown = source !== undefined && depositCount < source.view.deposits.count
    const deposit = isDepositKnown ? source.deposits.placeOf(depositCount) : NOWHERE
    let metadata = NOWHERE
    let metadataLength = 0
    if (this.#showsDeposit) {
      if (!isDepositKnown) return false
      const metadataId = arena.view.getUint32(deposit + depositFields.metadataId, true)
      metadata = source.findMetadata(metadataId)
      if (metadata === NOWHERE) return false
      metadataLength = source.metadataLength(metadataId, metadata)
    }
    const token = placed.placeOfToken(arena.view.getUint32(row + claimFields.tokenId, true))
    const sender = placed.findClaimSender(ordinal)
    const hash = placed.claimHashes.placeOf(ordinal)
    const { numbers } = arena
    const at = arena.addRow(metadataLength)
    numbers[at + bases.row] = arena.address(row)
    numbers[at + bases.hash] = arena.address(hash)
    numbers[at + bases.sender] = arena.address(sender)
    numbers[at + bases.token] = arena.address(token)
    numbers[at + bases.deposit] = arena.address(deposit)
    if (this.#showsDeposit) {
      numbers[at + bases.metadata] = arena.address(metadata)
      const valuesAt = at + ROW_BASES
      numbers[valuesAt + values.metadataLength] = metadataLength
      numbers[valuesAt + values.isMessage] = arena.input[deposit + depositFields.leafType] === MESSAGE ? 1 : 0
    }
    return true
  }

  isShort(ordinal: number): boolean {
    if (!this.#showsDeposit) return true
    const { view } = this.arena
    const row = this.#placed.claims.placeOf(ordinal)
    const source = this.#sourceOf(view.getUint32(row + claimFields.sourceNetwork, true))
    const depositCount = view.getUint32(row + claimFields.depositCount, true)
    // A row without a deposit has no metadata; which deposit of several was claimed is looked up where it is written.
    if (source === undefined || depositCount >= source.view.deposits.count) return true
    if (source.view.deposits.archivedAt(depositCount).length > 0) return false
    const deposit = source.deposits.placeOf(depositCount)
    return source.findMetadata(view.getUint32(deposit + depositFields.metadataId, true)) !== NOWHERE
  }

  #sourceOf(networkId: number): PlacedShard | undefined {
    if (networkId !== this.#sourceNetwork) {
      const view = this.#shards.find(networkId as ShardView['networkId'])
      this.#source = view && this.#shards.placed(view)
      this.#sourceNetwork = networkId
    }
    return this.#source
  }
}
