import type { Hash } from '../../protocol/chainEvent.js'
import type { ChecksumAddress } from '../../protocol/records.js'
import type { BlockNumber, DepositCount, NetworkId } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'
import { decodeChecksumAddress, encodeChecksumAddress } from './checksumAddress.js'

/** What table `claims` holds of one claim. The token is an id of the dictionary; the claimer has its own table. */
export interface ClaimRow {
  readonly transactionHash: Hash
  readonly blockNumber: BlockNumber
  readonly timestampSec: number
  readonly logIndex: number
  /** 32 bytes, as emitted. */
  readonly globalIndex: Uint8Array
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
  /**
   * SetClaim: no amount, token, destination address or claimer of its own (the fields are zero); amount, token and
   * addresses come from the deposit.
   */
  readonly isSetByAdministrator: boolean
  readonly tokenId: number
  readonly destinationAddress: ChecksumAddress
  /** 32 bytes, big-endian. */
  readonly amount: Uint8Array
}

/** Bytes of one row; row i of a chunk starts at i · CLAIM_BYTES. */
export const CLAIM_BYTES = 150

const at = {
  transactionHash: 0,
  blockNumber: 32,
  timestampSec: 38,
  logIndex: 44,
  globalIndex: 48,
  sourceNetwork: 80,
  depositCount: 84,
  flags: 88,
  tokenId: 89,
  destinationAddress: 93,
  amount: 118,
} as const

const FLAG_SET_BY_ADMINISTRATOR = 1

export function encodeClaimRow(bytes: Uint8Array, offset: number, row: ClaimRow): void {
  bytes.set(row.transactionHash, offset + at.transactionHash)
  writeUint48(bytes, offset + at.blockNumber, row.blockNumber)
  writeUint48(bytes, offset + at.timestampSec, row.timestampSec)
  writeUint32(bytes, offset + at.logIndex, row.logIndex)
  bytes.set(row.globalIndex, offset + at.globalIndex)
  writeUint32(bytes, offset + at.sourceNetwork, row.sourceNetwork)
  writeUint32(bytes, offset + at.depositCount, row.depositCount)
  bytes[offset + at.flags] = row.isSetByAdministrator ? FLAG_SET_BY_ADMINISTRATOR : 0
  writeUint32(bytes, offset + at.tokenId, row.tokenId)
  encodeChecksumAddress(bytes, offset + at.destinationAddress, row.destinationAddress)
  bytes.set(row.amount, offset + at.amount)
}

/** @returns byte fields are views into `bytes`. */
export function decodeClaimRow(bytes: Uint8Array, offset: number): ClaimRow {
  return {
    transactionHash: bytes.subarray(offset, offset + 32),
    blockNumber: readUint48(bytes, offset + at.blockNumber) as BlockNumber,
    timestampSec: readUint48(bytes, offset + at.timestampSec),
    logIndex: readUint32(bytes, offset + at.logIndex),
    globalIndex: bytes.subarray(offset + at.globalIndex, offset + at.globalIndex + 32),
    sourceNetwork: readUint32(bytes, offset + at.sourceNetwork) as NetworkId,
    depositCount: readUint32(bytes, offset + at.depositCount) as DepositCount,
    isSetByAdministrator: (bytes[offset + at.flags]! & FLAG_SET_BY_ADMINISTRATOR) !== 0,
    tokenId: readUint32(bytes, offset + at.tokenId),
    destinationAddress: decodeChecksumAddress(bytes, offset + at.destinationAddress),
    amount: bytes.subarray(offset + at.amount, offset + at.amount + 32),
  }
}
