import type { DepositCount, Lineage } from '../../protocol/units.js'
import { readUint16, readUint32, writeUint16, writeUint32 } from './bytes.js'
import { DEPOSIT_BYTES, type DepositRow, decodeDepositRow } from './depositRow.js'
import { decodeSenderRow, SENDER_BYTES, type SenderRow } from './senderRow.js'

/** A deposit that BackwardLET cut off the local exit tree. */
export interface ArchivedDeposit {
  /** Lineage that held it. */
  readonly lineage: Lineage
  readonly depositCount: DepositCount
  readonly row: DepositRow
  /** null when it was not resolved before the cut. */
  readonly sender: SenderRow | null
}

const ROW_AT = 6

/** @param row DEPOSIT_BYTES bytes as stored. @param sender SENDER_BYTES bytes as stored, or null. @returns fresh bytes. */
export function encodeArchivedDeposit(
  lineage: number,
  depositCount: number,
  row: Uint8Array,
  sender: Uint8Array | null,
): Uint8Array {
  const bytes = new Uint8Array(ROW_AT + DEPOSIT_BYTES + (sender === null ? 0 : SENDER_BYTES))
  writeUint16(bytes, 0, lineage)
  writeUint32(bytes, 2, depositCount)
  bytes.set(row, ROW_AT)
  if (sender !== null) bytes.set(sender, ROW_AT + DEPOSIT_BYTES)
  return bytes
}

/** @returns byte fields are views into `bytes`. */
export function decodeArchivedDeposit(bytes: Uint8Array): ArchivedDeposit {
  return {
    lineage: readUint16(bytes, 0) as Lineage,
    depositCount: readUint32(bytes, 2) as DepositCount,
    row: decodeDepositRow(bytes, ROW_AT),
    sender:
      bytes.length > ROW_AT + DEPOSIT_BYTES ? (decodeSenderRow(bytes, ROW_AT + DEPOSIT_BYTES) ?? null) : null,
  }
}
