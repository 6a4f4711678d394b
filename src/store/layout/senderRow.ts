import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Address } from '../../protocol/chainEvent.js'
import {
  CHECKSUM_ADDRESS_BYTES,
  type ChecksumAddress,
  decodeChecksumAddress,
} from '../../protocol/checksumAddress.js'
import { writeUint32BigEndian } from './bytes.js'

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

/**
 * Keys of what is known about senders beside their own tables. Each names one row, so that a write long after the row's block
 * belongs to that block's undo: no other block touches the key, but the one whose BackwardLET cuts the row off.
 */

/** Kinds of rows; the numbers are stored. */
export const senderKinds = { deposit: 0, claim: 1, archivedDeposit: 2 } as const

export type NotedKind = keyof typeof senderKinds

/** Why a row is asked for again; the numbers are stored. */
export const senderNotes = {
  /** Its caller is tx.from because no trace was available. */
  fallback: 0,
  /** No endpoint knows its transaction: it has no sender. */
  unknown: 1,
} as const

export type SenderNote = (typeof senderNotes)[keyof typeof senderNotes]

/** Tables `senderNotes` and `senderCorrections`. */
export function senderRowKey(kind: NotedKind, ordinal: number): Uint8Array {
  const key = new Uint8Array(5)
  key[0] = senderKinds[kind]
  writeUint32BigEndian(key, 1, ordinal)
  return key
}

/** Above every key of a kind. */
export function senderKindEnd(kind: NotedKind): Uint8Array {
  return Uint8Array.of(senderKinds[kind] + 1)
}

export function ordinalOfSenderRow(key: Uint8Array): number {
  return readUint32BigEndian(key, 1)
}

/** Table `senderAdditions`. */
export function senderAdditionKey(kind: NotedKind, address: Address, ordinal: number): Uint8Array {
  const key = new Uint8Array(25)
  key[0] = senderKinds[kind]
  key.set(address, 1)
  writeUint32BigEndian(key, 21, ordinal)
  return key
}

export function ordinalOfAddition(key: Uint8Array): number {
  return readUint32BigEndian(key, 21)
}
