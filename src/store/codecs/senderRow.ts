import type { ChecksumAddress } from '../../protocol/records.js'
import { CHECKSUM_ADDRESS_BYTES, decodeChecksumAddress } from './checksumAddress.js'

/** Who made a deposit or a claim, as tables `depositSenders` and `claimSenders` hold it. */
export interface SenderRow {
  readonly caller: ChecksumAddress
  readonly transactionSender: ChecksumAddress
}

/** Bytes of one row; row i of a chunk starts at i · SENDER_BYTES. */
export const SENDER_BYTES = 2 * CHECKSUM_ADDRESS_BYTES

/** A row of zeros stands for no sender: no endpoint knew the transaction. */
export function isNobody(bytes: Uint8Array, offset: number): boolean {
  let at = offset + CHECKSUM_ADDRESS_BYTES
  const end = offset + SENDER_BYTES
  // No account has the zero address, and others mostly end the search at once.
  while (at < end && bytes[at] === 0) at++
  return at === end
}

/** @returns views into `bytes`; undefined for nobody. */
export function decodeSenderRow(bytes: Uint8Array, offset: number): SenderRow | undefined {
  if (isNobody(bytes, offset)) return undefined
  return {
    caller: decodeChecksumAddress(bytes, offset),
    transactionSender: decodeChecksumAddress(bytes, offset + CHECKSUM_ADDRESS_BYTES),
  }
}
