import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Address } from '../../protocol/chainEvent.js'
import {
  CHECKSUM_ADDRESS_BYTES,
  type ChecksumAddress,
  decodeChecksumAddress,
} from '../../protocol/checksumAddress.js'
import { writeUint32BigEndian } from './bytes.js'

/** The sender of a deposit or a claim as tables `depositSenders` and `claimSenders` hold it. */
export interface SenderRow {
  readonly caller: ChecksumAddress
  readonly transactionSender: ChecksumAddress
}

/** Bytes of one row; row i of a chunk starts at i · SENDER_BYTES. */
export const SENDER_BYTES = 2 * CHECKSUM_ADDRESS_BYTES

/** Whether the row is all zeros, which stands for no sender: no endpoint knew the transaction. */
export function isNobody(bytes: Uint8Array, offset: number): boolean {
  let at = offset + CHECKSUM_ADDRESS_BYTES
  const end = offset + SENDER_BYTES
  // No account has the zero address, so the transaction sender alone decides, mostly with its first byte.
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
 * Kinds of rows in the keys of tables `senderNotes`, `senderCorrections` and `senderAdditions`; the numbers are stored. Each key
 * belongs to one row, so that a write long after the row's block can be part of that block's undo: no other block touches the
 * key, except the one whose BackwardLET cuts the row off.
 */
export const senderKinds = { deposit: 0, claim: 1, archivedDeposit: 2 } as const

export type NotedKind = keyof typeof senderKinds

/** Why the sender of a row is asked for again; the numbers are stored. */
export const senderNotes = {
  /** The caller is tx.from because no trace was available. */
  provisional: 0,
  /** No endpoint knows the transaction: the row has no sender. */
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

/** A key above every key of a kind. */
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
