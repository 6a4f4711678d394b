import { InvariantError } from '../../errors/invariantError.js'
import type { Address, Sender } from '../../protocol/chainEvent.js'
import { equalBytes } from '../../store/codecs/bytes.js'
import { CHECKSUM_ADDRESS_BYTES } from '../../store/codecs/checksumAddress.js'
import { type MetaName, metaKey } from '../../store/codecs/keys.js'
import { SENDER_BYTES } from '../../store/codecs/senderRow.js'
import { decodeUint32, encodeUint32 } from '../../store/codecs/smallRows.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import { listKinds, SENDERS_PER_CHUNK } from '../../store/tables.js'
import type { AddressBook } from './addressBook.js'
import type { ListAppender } from './listAppender.js'
import { RowAppender } from './rowAppender.js'

export type SenderKind = 'deposit' | 'claim'

const kinds = {
  deposit: { table: 'depositSenders', watermark: 'depositSenders', list: listKinds.depositsBySender },
  claim: { table: 'claimSenders', watermark: 'claimSenders', list: listKinds.claimsBySender },
} as const

/** First deposit or claim whose sender is not stored: all below it are. */
export function senderWatermark(view: ReadView, kind: SenderKind): number {
  const stored = view.get('meta', metaKey(kinds[kind].watermark))
  return stored === undefined ? 0 : decodeUint32(stored)
}

/**
 * Senders of deposits or claims, dense and in order, inside one transaction.
 *
 * They may arrive long after their deposits, yet their undo belongs to the deposit's block. That is right only because
 * senders touch keys of their own, in the order of the deposits: so a sender that is known while an older one is not
 * yet, waits until the watermark reaches it.
 */
export class Senders {
  readonly #view: WriteView
  readonly #lists: ListAppender
  readonly #addresses: AddressBook
  readonly #rows: RowAppender
  readonly #list: (typeof kinds)[SenderKind]['list']
  readonly #watermarkName: MetaName
  #storedWatermark: number

  constructor(kind: SenderKind, view: WriteView, lists: ListAppender, addresses: AddressBook) {
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

  /** Keeps the sender of the row that was just made, if it is known and no older one is open. @param own as `add` takes it. */
  offer(ordinal: number, sender: Sender | null, own?: Address): void {
    if (sender !== null && ordinal === this.#rows.count) this.add(ordinal, sender, own)
  }

  /**
   * @param own an address that the row shows besides: the origin of a message whose caller may be another.
   * @throws InvariantError when `ordinal` is not the watermark.
   */
  add(ordinal: number, sender: Sender, own?: Address): void {
    this.#expectNext(ordinal)
    const caller = this.#addresses.numberOf(sender.caller)
    // Mostly the same account: comparing is cheaper than looking up.
    const transactionSender = equalBytes(sender.transactionSender, sender.caller)
      ? caller
      : this.#addresses.numberOf(sender.transactionSender)
    const offset = this.#rows.append()
    const { bytes } = this.#rows
    this.#addresses.copy(caller, bytes, offset)
    this.#addresses.copy(transactionSender, bytes, offset + CHECKSUM_ADDRESS_BYTES)
    this.#lists.appendTo(this.#list, caller, ordinal)
    if (transactionSender !== caller) this.#lists.appendTo(this.#list, transactionSender, ordinal)
    if (own === undefined) return
    const origin = this.#addresses.numberOf(own)
    if (origin !== caller && origin !== transactionSender) this.#lists.appendTo(this.#list, origin, ordinal)
  }

  /**
   * A claim set by an administrator has nobody, nor has what no node can tell: the row is zero, and in no list but that of
   * @param own as above.
   */
  addNobody(ordinal: number, own?: Address): void {
    this.#expectNext(ordinal)
    const offset = this.#rows.append()
    const { bytes } = this.#rows
    bytes.fill(0, offset, offset + SENDER_BYTES)
    if (own !== undefined) this.#lists.appendTo(this.#list, this.#addresses.numberOf(own), ordinal)
  }

  /** @returns a copy of the stored row, or null at and above the watermark. */
  row(ordinal: number): Uint8Array | null {
    if (ordinal >= this.#rows.count) return null
    const { bytes, offset } = this.#rows.read(ordinal)
    return bytes.slice(offset, offset + SENDER_BYTES)
  }

  /** Drops row `count` and all behind it; the lists are the caller's business. */
  truncate(count: number): void {
    this.#rows.truncate(count)
  }

  flush(): void {
    this.#rows.flush()
    if (this.#rows.count === this.#storedWatermark) return
    this.#storedWatermark = this.#rows.count
    this.#view.put('meta', metaKey(this.#watermarkName), encodeUint32(this.#storedWatermark))
  }

  #expectNext(ordinal: number): void {
    if (ordinal !== this.#rows.count)
      throw new InvariantError(`sender ${ordinal} for ${this.#watermarkName}, expected ${this.#rows.count}`)
  }
}
