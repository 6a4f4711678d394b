import { decodeChecksumAddress } from '../../protocol/checksumAddress.js'
import type { BlockNumber, ClaimOrdinal, DepositCount, NetworkId } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32 } from './bytes.js'
import { type EventRow, encodeEventNumbers } from './eventRow.js'

/**
 * One claim as table `claims` holds it. The token is a dictionary id; the sender and the transaction hash have tables of their own.
 */
export interface ClaimRow extends EventRow {
  /** 32 bytes, as emitted. */
  readonly globalIndex: Uint8Array
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  /**
   * Made by SetClaim. Such a claim has no amount, token or destination address of its own: the fields are zero, and readers take
   * them from the deposit. Its sender row names the sender of the transaction twice.
   */
  readonly isSetByAdministrator: boolean
}

/** Bytes of one row; row i of a chunk starts at i · CLAIM_BYTES. */
export const CLAIM_BYTES = 118

/** Where each field of a row begins. */
export const claimFields = {
  blockNumber: 0,
  timestampSec: 6,
  logIndex: 12,
  globalIndex: 16,
  sourceNetwork: 48,
  depositCount: 52,
  flags: 56,
  tokenId: 57,
  destinationAddress: 61,
  amount: 86,
} as const

const FLAG_SET_BY_ADMINISTRATOR = 1

/** Writes the number fields. The caller copies the byte fields itself, to the offsets in `claimFields`. */
export function encodeClaimRow(
  bytes: Uint8Array,
  offset: number,
  row: Omit<ClaimRow, 'globalIndex' | 'destinationAddress' | 'amount'>,
): void {
  encodeEventNumbers(bytes, offset, claimFields, row)
  writeUint32(bytes, offset + claimFields.sourceNetwork, row.sourceNetwork)
  writeUint32(bytes, offset + claimFields.depositCount, row.depositCount)
  bytes[offset + claimFields.flags] = row.isSetByAdministrator ? FLAG_SET_BY_ADMINISTRATOR : 0
}

/** @returns byte fields are views into `bytes`. */
export function decodeClaimRow(bytes: Uint8Array, offset: number): ClaimRow {
  return {
    blockNumber: claimBlockNumber(bytes, offset),
    timestampSec: readUint48(bytes, offset + claimFields.timestampSec),
    logIndex: readUint32(bytes, offset + claimFields.logIndex),
    globalIndex: bytes.subarray(offset + claimFields.globalIndex, offset + claimFields.globalIndex + 32),
    sourceNetwork: readUint32(bytes, offset + claimFields.sourceNetwork) as NetworkId,
    depositCount: readUint32(bytes, offset + claimFields.depositCount) as DepositCount,
    isSetByAdministrator: isSetByAdministrator(bytes[offset + claimFields.flags]!),
    tokenId: readUint32(bytes, offset + claimFields.tokenId),
    destinationAddress: decodeChecksumAddress(bytes, offset + claimFields.destinationAddress),
    amount: bytes.subarray(offset + claimFields.amount, offset + claimFields.amount + 32),
  }
}

/** Bytes of one transaction hash in table `claimHashes`. */
export const CLAIM_HASH_BYTES = 32

export function claimBlockNumber(bytes: Uint8Array, offset: number): BlockNumber {
  return readUint48(bytes, offset + claimFields.blockNumber) as BlockNumber
}

/** Whether an administrator set the claim. @param flags the row's byte at `claimFields.flags`. */
export function isSetByAdministrator(flags: number): boolean {
  return (flags & FLAG_SET_BY_ADMINISTRATOR) !== 0
}

/**
 * Bytes of one claim link: the ordinal of a deposit's claim in force plus one; 0 = not claimed. Link i of a chunk starts at
 * i · CLAIM_LINK_BYTES. A chunk ends after its last claimed deposit.
 */
export const CLAIM_LINK_BYTES = 4

/** @param ordinal undefined: not claimed. */
export function encodeClaimLink(bytes: Uint8Array, offset: number, ordinal: ClaimOrdinal | undefined): void {
  writeUint32(bytes, offset, ordinal === undefined ? 0 : ordinal + 1)
}

/** @returns undefined when the deposit is not claimed, also beyond the chunk's end. */
export function decodeClaimLink(bytes: Uint8Array, offset: number): ClaimOrdinal | undefined {
  if (offset + CLAIM_LINK_BYTES > bytes.length) return undefined
  const ordinalPlusOne = readUint32(bytes, offset)
  return ordinalPlusOne === 0 ? undefined : ((ordinalPlusOne - 1) as ClaimOrdinal)
}

/** Whether the deposit is claimed: as `decodeClaimLink`, without decoding. */
export function hasClaimLink(bytes: Uint8Array, offset: number): boolean {
  return (
    offset + CLAIM_LINK_BYTES <= bytes.length &&
    (bytes[offset]! | bytes[offset + 1]! | bytes[offset + 2]! | bytes[offset + 3]!) !== 0
  )
}
