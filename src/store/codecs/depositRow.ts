import type { Hash } from '../../protocol/chainEvent.js'
import type { ChecksumAddress } from '../../protocol/records.js'
import type { BlockNumber, NetworkId } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'
import { decodeChecksumAddress, encodeChecksumAddress } from './checksumAddress.js'

/** What table `deposits` holds of one deposit. Token and metadata are ids of their dictionaries; the sender has its own table. */
export interface DepositRow {
  readonly transactionHash: Hash
  readonly blockNumber: BlockNumber
  readonly timestampSec: number
  readonly logIndex: number
  readonly leafType: number
  /** A leaf of ForwardLET: there is no BridgeEvent. */
  readonly isForwardLeaf: boolean
  readonly tokenId: number
  readonly metadataId: number
  readonly destinationNetwork: NetworkId
  readonly destinationAddress: ChecksumAddress
  /** 32 bytes, big-endian. */
  readonly amount: Uint8Array
}

/** Bytes of one row; row i of a chunk starts at i · DEPOSIT_BYTES. */
export const DEPOSIT_BYTES = 119

const at = {
  transactionHash: 0,
  blockNumber: 32,
  timestampSec: 38,
  logIndex: 44,
  leafType: 48,
  flags: 49,
  tokenId: 50,
  metadataId: 54,
  destinationNetwork: 58,
  destinationAddress: 62,
  amount: 87,
} as const

const FLAG_FORWARD_LEAF = 1

export function encodeDepositRow(bytes: Uint8Array, offset: number, row: DepositRow): void {
  bytes.set(row.transactionHash, offset + at.transactionHash)
  writeUint48(bytes, offset + at.blockNumber, row.blockNumber)
  writeUint48(bytes, offset + at.timestampSec, row.timestampSec)
  writeUint32(bytes, offset + at.logIndex, row.logIndex)
  bytes[offset + at.leafType] = row.leafType
  bytes[offset + at.flags] = row.isForwardLeaf ? FLAG_FORWARD_LEAF : 0
  writeUint32(bytes, offset + at.tokenId, row.tokenId)
  writeUint32(bytes, offset + at.metadataId, row.metadataId)
  writeUint32(bytes, offset + at.destinationNetwork, row.destinationNetwork)
  encodeChecksumAddress(bytes, offset + at.destinationAddress, row.destinationAddress)
  bytes.set(row.amount, offset + at.amount)
}

/** @returns byte fields are views into `bytes`. */
export function decodeDepositRow(bytes: Uint8Array, offset: number): DepositRow {
  return {
    transactionHash: bytes.subarray(offset, offset + 32),
    blockNumber: readUint48(bytes, offset + at.blockNumber) as BlockNumber,
    timestampSec: readUint48(bytes, offset + at.timestampSec),
    logIndex: readUint32(bytes, offset + at.logIndex),
    leafType: bytes[offset + at.leafType]!,
    isForwardLeaf: (bytes[offset + at.flags]! & FLAG_FORWARD_LEAF) !== 0,
    tokenId: readUint32(bytes, offset + at.tokenId),
    metadataId: readUint32(bytes, offset + at.metadataId),
    destinationNetwork: readUint32(bytes, offset + at.destinationNetwork) as NetworkId,
    destinationAddress: decodeChecksumAddress(bytes, offset + at.destinationAddress),
    amount: bytes.subarray(offset + at.amount, offset + at.amount + 32),
  }
}

// Single fields: filters read nothing else.

export function depositDestinationNetwork(bytes: Uint8Array, offset: number): NetworkId {
  return readUint32(bytes, offset + at.destinationNetwork) as NetworkId
}

export function depositLeafType(bytes: Uint8Array, offset: number): number {
  return bytes[offset + at.leafType]!
}

export function depositBlockNumber(bytes: Uint8Array, offset: number): number {
  return readUint48(bytes, offset + at.blockNumber)
}

export function depositTimestampSec(bytes: Uint8Array, offset: number): number {
  return readUint48(bytes, offset + at.timestampSec)
}
