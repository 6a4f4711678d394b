import type { ChecksumAddress } from '../../protocol/records.js'
import { CHECKSUM_ADDRESS_BYTES, decodeChecksumAddress, encodeChecksumAddress } from './checksumAddress.js'

/** Who made a deposit or a claim, as tables `depositSenders` and `claimSenders` hold it. */
export interface SenderRow {
  readonly caller: ChecksumAddress
  readonly transactionSender: ChecksumAddress
}

/** Bytes of one row; row i of a chunk starts at i · SENDER_BYTES. */
export const SENDER_BYTES = 2 * CHECKSUM_ADDRESS_BYTES

export function encodeSenderRow(bytes: Uint8Array, offset: number, row: SenderRow): void {
  encodeChecksumAddress(bytes, offset, row.caller)
  encodeChecksumAddress(bytes, offset + CHECKSUM_ADDRESS_BYTES, row.transactionSender)
}

/**
 * A claim set by an administrator has no sender: its row is zero and must not be shown (`ClaimRow.isSetByAdministrator`).
 * @returns views into `bytes`.
 */
export function decodeSenderRow(bytes: Uint8Array, offset: number): SenderRow {
  return {
    caller: decodeChecksumAddress(bytes, offset),
    transactionSender: decodeChecksumAddress(bytes, offset + CHECKSUM_ADDRESS_BYTES),
  }
}
