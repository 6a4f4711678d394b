import { type ChecksumAddress, decodeChecksumAddress } from '../../protocol/checksumAddress.js'
import type { BlockNumber, ClaimOrdinal, DepositCount, NetworkId } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'

/**
 * What table `claims` holds of one claim. The token is an id of the dictionary; the claimer and the transaction hash have
 * tables of their own.
 */
export interface ClaimRow {
  readonly blockNumber: BlockNumber
  readonly timestampSec: number
  readonly logIndex: number
  /** 32 bytes, as emitted. */
  readonly globalIndex: Uint8Array
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  /**
   * SetClaim: no amount, token, destination address or claimer of its own (the fields are zero); amount, token and
   * addresses come from the deposit. Its row of senders names who sent the transaction, twice.
   */
  readonly isSetByAdministrator: boolean
  readonly tokenId: number
  readonly destinationAddress: ChecksumAddress
  /** 32 bytes, big-endian. */
  readonly amount: Uint8Array
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

/** Byte fields are the caller's to write, where they begin: they are copied on from elsewhere. */
export function encodeClaimRow(
  bytes: Uint8Array,
  offset: number,
  row: Omit<ClaimRow, 'globalIndex' | 'destinationAddress' | 'amount'>,
): void {
  writeUint48(bytes, offset + claimFields.blockNumber, row.blockNumber)
  writeUint48(bytes, offset + claimFields.timestampSec, row.timestampSec)
  writeUint32(bytes, offset + claimFields.logIndex, row.logIndex)
  writeUint32(bytes, offset + claimFields.sourceNetwork, row.sourceNetwork)
  writeUint32(bytes, offset + claimFields.depositCount, row.depositCount)
  bytes[offset + claimFields.flags] = row.isSetByAdministrator ? FLAG_SET_BY_ADMINISTRATOR : 0
  writeUint32(bytes, offset + claimFields.tokenId, row.tokenId)
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

/** Whether an administrator set the claim: `flags` of a row. */
export function isSetByAdministrator(flags: number): boolean {
  return (flags & FLAG_SET_BY_ADMINISTRATOR) !== 0
}

/** The claim in force of one deposit: its ordinal, one more so that 0 is none. */

/** Bytes of one link; link i of a chunk starts at i · CLAIM_LINK_BYTES. A chunk ends after its last claimed deposit. */
export const CLAIM_LINK_BYTES = 4

/** `undefined`: not claimed. */
export function encodeClaimLink(bytes: Uint8Array, offset: number, ordinal: ClaimOrdinal | undefined): void {
  writeUint32(bytes, offset, ordinal === undefined ? 0 : ordinal + 1)
}

/** @returns undefined when the deposit is not claimed, also beyond the chunk's end. */
export function decodeClaimLink(bytes: Uint8Array, offset: number): ClaimOrdinal | undefined {
  if (offset + CLAIM_LINK_BYTES > bytes.length) return undefined
  const ordinalPlusOne = readUint32(bytes, offset)
  return ordinalPlusOne === 0 ? undefined : ((ordinalPlusOne - 1) as ClaimOrdinal)
}

/** Whether the deposit is claimed. */
export function hasClaimLink(bytes: Uint8Array, offset: number): boolean {
  return (
    offset + CLAIM_LINK_BYTES <= bytes.length &&
    (bytes[offset]! | bytes[offset + 1]! | bytes[offset + 2]! | bytes[offset + 3]!) !== 0
  )
}
