import { equalBytes } from '../../protocol/abiBytes.js'
import type { Address, Sender } from '../../protocol/chainEvent.js'
import { CHECKSUM_ADDRESS_BYTES } from '../../protocol/checksumAddress.js'
import type { NetworkId } from '../../protocol/units.js'
import { type MetaName, metaKey } from '../../store/layout/keys.js'
import {
  decodeSenderRow,
  ordinalOfSenderRow,
  SENDER_BYTES,
  type SenderNote,
  senderAdditionKey,
  senderKindEnd,
  senderNotes,
  senderRowKey,
} from '../../store/layout/senderRow.js'
import { encodeUint32 } from '../../store/layout/smallRows.js'
import { listKinds, SENDERS_PER_CHUNK } from '../../store/layout/tables.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import { senderWatermark } from '../position/chainPosition.js'
import type { SenderNotes } from '../senders.types.js'
import { listHas } from '../sets/ordinalList.js'
import { readList } from '../snapshot/listReads.js'
import { findCorrection, listedAddresses } from '../snapshot/senderOverlay.js'
import type { AddressBook } from './addressBook.js'
import type { ListAppender } from './listAppender.js'
import { refuse } from './refuse.js'
import { RowAppender } from './rowAppender.js'

export type SenderKind = 'deposit' | 'claim'

const kinds = {
  deposit: { table: 'depositSenders', watermark: 'depositSenders', list: listKinds.depositsBySender },
  claim: { table: 'claimSenders', watermark: 'claimSenders', list: listKinds.claimsBySender },
} as const

const nameOfNote = (note: number): keyof SenderNotes =>
  note === senderNotes.unknown ? 'unknown' : 'provisional'

/** Counts the noted rows one by one. The writer calls it at its start and after a revert, and keeps the numbers up to date itself. */
export function countSenderNotes(view: ReadView): SenderNotes {
  const counts = { provisional: 0, unknown: 0 }
  for (const kind of ['deposit', 'claim'] as const)
    for (const { value } of view.list('senderNotes', {
      start: senderRowKey(kind, 0),
      end: senderKindEnd(kind),
    }))
      counts[nameOfNote(value[0]!)]++
  return counts
}

/**
 * Stores senders of deposits or claims inside one transaction, in the order of the rows and without gaps.
 *
 * A sender may be found long after its deposit was stored, yet its undo belongs to the deposit's block. That is right only because sender
 * tables have keys of their own, written in the order of the rows. So a sender that is found while an older one is missing is not stored
 * before the watermark reaches its row.
 */
export class Senders {
  /** Change of the numbers of noted rows in this transaction. */
  readonly newNotes = { provisional: 0, unknown: 0 }
  readonly #kind: SenderKind
  readonly #networkId: NetworkId
  readonly #view: WriteView
  readonly #lists: ListAppender
  readonly #addresses: AddressBook
  readonly #rows: RowAppender
  readonly #list: (typeof kinds)[SenderKind]['list']
  readonly #watermarkName: MetaName
  #storedWatermark: number

  constructor(
    kind: SenderKind,
    view: WriteView,
    parts: { readonly networkId: NetworkId; readonly lists: ListAppender; readonly addresses: AddressBook },
  ) {
    const { networkId, lists, addresses } = parts
    this.#kind = kind
    this.#networkId = networkId
    this.#view = view
    this.#lists = lists
    this.#addresses = addresses
    this.#list = kinds[kind].list
    this.#watermarkName = kinds[kind].watermark
    this.#storedWatermark = senderWatermark(view, kind)
    this.#rows = new RowAppender(
      view,
      kinds[kind].table,
      SENDER_BYTES,
      SENDERS_PER_CHUNK,
      this.#storedWatermark,
    )
  }

  get watermark(): number {
    return this.#rows.count
  }

  /** Stores the sender of the row that was just added, if it is known and no older one is missing. @param origin see `add`. */
  offer(ordinal: number, sender: Sender | null, origin?: Address): void {
    if (sender !== null && ordinal === this.#rows.count) this.add(ordinal, sender, origin)
  }

  /**
   * Stores the sender of the row at the watermark.
   * @param origin `originShownAsSender` of the row: it is listed under this address, too.
   * @throws Refusal when `ordinal` is not the watermark.
   */
  add(ordinal: number, sender: Sender, origin?: Address): void {
    this.#expectNext(ordinal)
    const caller = this.#addresses.numberOf(sender.caller)
    // Mostly both are the same account, and comparing is cheaper than a look-up.
    const transactionSender = equalBytes(sender.transactionSender, sender.caller)
      ? caller
      : this.#addresses.numberOf(sender.transactionSender)
    const offset = this.#rows.append()
    const { bytes } = this.#rows
    this.#addresses.copy(caller, bytes, offset)
    this.#addresses.copy(transactionSender, bytes, offset + CHECKSUM_ADDRESS_BYTES)
    this.#lists.appendByAddress(this.#list, caller, ordinal)
    if (transactionSender !== caller) this.#lists.appendByAddress(this.#list, transactionSender, ordinal)
    if (sender.isProvisional === true) this.#note(ordinal, senderNotes.provisional)
    if (origin === undefined) return
    const shown = this.#addresses.numberOf(origin)
    if (shown !== caller && shown !== transactionSender)
      this.#lists.appendByAddress(this.#list, shown, ordinal)
  }

  /** Stores that no endpoint knows the transaction: the sender row is zero. @param origin see `add`: the only list that has the row. */
  addUnknown(ordinal: number, origin?: Address): void {
    this.#expectNext(ordinal)
    const offset = this.#rows.append()
    const { bytes } = this.#rows
    bytes.fill(0, offset, offset + SENDER_BYTES)
    if (origin !== undefined)
      this.#lists.appendByAddress(this.#list, this.#addresses.numberOf(origin), ordinal)
    this.#note(ordinal, senderNotes.unknown)
  }

  /** @returns a copy of the stored row, or null at and above the watermark. */
  row(ordinal: number): Uint8Array | null {
    if (ordinal >= this.#rows.count) return null
    const { bytes, offset } = this.#rows.read(ordinal)
    return bytes.slice(offset, offset + SENDER_BYTES)
  }

  /** The row with its correction, if there is one; null as `row`. */
  shownRow(ordinal: number): Uint8Array | null {
    return findCorrection(this.#view, this.#kind, ordinal) ?? this.row(ordinal)
  }

  /** Whether the row's caller is provisional, so that its sender is asked for again. */
  isProvisional(ordinal: number): boolean {
    return this.#view.get('senderNotes', senderRowKey(this.#kind, ordinal))?.[0] === senderNotes.provisional
  }

  /**
   * Stores a later answer as the correction of a row, and adds the row to the lists of its new addresses. It stays in its old lists.
   * Writes only keys of this row, so the undo can belong to the row's own block. @returns whether the shown sender changed.
   */
  correct(ordinal: number, sender: Sender): boolean {
    const isProvisional = sender.isProvisional === true
    if (!isProvisional || !this.isProvisional(ordinal)) this.#dropNote(ordinal)
    if (isProvisional) this.#note(ordinal, senderNotes.provisional)
    const row = new Uint8Array(SENDER_BYTES)
    this.#addresses.copy(this.#addresses.numberOf(sender.caller), row, 0)
    this.#addresses.copy(this.#addresses.numberOf(sender.transactionSender), row, CHECKSUM_ADDRESS_BYTES)
    const shown = this.shownRow(ordinal)
    if (shown !== null && equalBytes(shown, row)) return false
    this.#view.put('senderCorrections', senderRowKey(this.#kind, ordinal), row)
    for (const address of listedAddresses(decodeSenderRow(row, 0)!))
      if (!listHas(readList(this.#view, this.#networkId, this.#list, address), ordinal))
        this.#view.put('senderAdditions', senderAdditionKey(this.#kind, address, ordinal), Uint8Array.of(0))
    return true
  }

  /** Removes row `count` and all after it, with their notes and corrections. The caller removes them from the lists. */
  truncate(count: number): void {
    const behind = { start: senderRowKey(this.#kind, count), end: senderKindEnd(this.#kind) }
    for (const { key } of this.#view.list('senderNotes', behind)) this.#dropNote(ordinalOfSenderRow(key))
    for (const { key, value } of this.#view.list('senderCorrections', behind)) {
      for (const address of listedAddresses(decodeSenderRow(value, 0)!)) {
        const addition = senderAdditionKey(this.#kind, address, ordinalOfSenderRow(key))
        if (this.#view.get('senderAdditions', addition)) this.#view.remove('senderAdditions', addition)
      }
      this.#view.remove('senderCorrections', key)
    }
    this.#rows.truncate(count)
  }

  flush(): void {
    this.#rows.flush()
    if (this.#rows.count === this.#storedWatermark) return
    this.#storedWatermark = this.#rows.count
    this.#view.put('meta', metaKey(this.#watermarkName), encodeUint32(this.#storedWatermark))
  }

  #note(ordinal: number, note: SenderNote): void {
    if (this.isProvisional(ordinal)) return
    this.#view.put('senderNotes', senderRowKey(this.#kind, ordinal), Uint8Array.of(note))
    this.newNotes[nameOfNote(note)]++
  }

  #dropNote(ordinal: number): void {
    const key = senderRowKey(this.#kind, ordinal)
    const note = this.#view.get('senderNotes', key)?.[0]
    if (note === undefined) return
    this.#view.remove('senderNotes', key)
    this.newNotes[nameOfNote(note)]--
  }

  #expectNext(ordinal: number): void {
    if (ordinal !== this.#rows.count)
      refuse('not_at_watermark', `sender ${ordinal} for ${this.#watermarkName}, expected ${this.#rows.count}`)
  }
}
