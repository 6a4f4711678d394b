import { equalBytes } from '../../protocol/abiBytes.js'
import { metaKey } from '../../store/layout/keys.js'
import {
  ordinalOfAddition,
  ordinalOfSenderRow,
  SENDER_BYTES,
  senderAdditionKey,
  senderRowKey,
} from '../../store/layout/senderRow.js'
import { decodeUint32, encodeUint32 } from '../../store/layout/smallRows.js'
import { SENDERS_PER_CHUNK } from '../../store/layout/tables.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'

/**
 * Corrections of senders that are stored already. The sender tables and the lists by sender must be written in the order of the rows,
 * or their undo would not be exact. So corrections are stored in tables of their own, and readers apply them.
 */

/** Number of commits with corrections; 0 = none. It never falls, so an unchanged number means that nothing was corrected in between. */
export function readCorrectionCount(view: ReadView): number {
  const stored = view.get('meta', metaKey('senderCorrections'))
  return stored === undefined ? 0 : decodeUint32(stored)
}

/** Adds one to `readCorrectionCount`. Call it while no undo is kept. */
export function countCorrections(view: WriteView): void {
  view.put('meta', metaKey('senderCorrections'), encodeUint32(readCorrectionCount(view) + 1))
}

/** The corrected sender row. @returns a copy; undefined when the row was never corrected. */
export function findCorrection(
  view: ReadView,
  kind: 'deposit' | 'claim',
  ordinal: number,
): Uint8Array | undefined {
  const stored = view.get('senderCorrections', senderRowKey(kind, ordinal))
  return stored === undefined ? undefined : new Uint8Array(stored)
}

/** A chunk of senders with corrections applied. @param ordinal any row of the chunk. @param chunk is not changed. @returns a copy. */
export function withCorrections(
  view: ReadView,
  kind: 'deposit' | 'claim',
  ordinal: number,
  chunk: Uint8Array,
): Uint8Array {
  const first = ordinal - (ordinal % SENDERS_PER_CHUNK)
  // `chunk` may be the store's own bytes, which the next read overwrites.
  const shown = new Uint8Array(chunk)
  const range = { start: senderRowKey(kind, first), end: senderRowKey(kind, first + SENDERS_PER_CHUNK) }
  for (const { key, value } of view.list('senderCorrections', range)) {
    const offset = SENDER_BYTES * (ordinalOfSenderRow(key) - first)
    if (offset + SENDER_BYTES <= shown.length) shown.set(value, offset)
  }
  return shown
}

/** Ordinals that corrections added to the list of an address, ascending. */
export function listAdditions(view: ReadView, kind: 'deposit' | 'claim', address: Uint8Array): number[] {
  const start = senderAdditionKey(kind, address, 0)
  const end = senderAdditionKey(kind, address, 0xffff_ffff)
  const ordinals = view.list('senderAdditions', { start, end }).map(({ key }) => ordinalOfAddition(key))
  return ordinals
}

/** The addresses under which a row is listed: caller and transaction sender, or one address if they are equal. */
export function listedAddresses(row: {
  readonly caller: AddressBytes
  readonly transactionSender: AddressBytes
}): Uint8Array[] {
  const [caller, transactionSender] = [row.caller.bytes, row.transactionSender.bytes]
  return equalBytes(caller, transactionSender) ? [caller] : [caller, transactionSender]
}

interface AddressBytes {
  readonly bytes: Uint8Array
}
