import type { Hash } from '../../protocol/chainEvent.js'
import {
  type ChecksumAddress,
  decodeChecksumAddress,
  encodeChecksumAddress,
} from '../../protocol/checksumAddress.js'
import type { BlockNumber, NetworkId } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'

/** One token mapping as table `tokenMappings` holds it. */
export interface TokenMappingRow {
  readonly transactionHash: Hash
  readonly blockNumber: BlockNumber
  readonly timestampSec: number
  readonly logIndex: number
  readonly originNetwork: NetworkId
  readonly originTokenAddress: ChecksumAddress
  readonly wrappedTokenAddress: ChecksumAddress
  readonly metadataId: number
  /** 0 NewWrappedToken, 1 SetSovereignTokenAddress. */
  readonly tokenType: number
  readonly isNotMintable: boolean
  /** Whether the contract's `getTokenWrappedAddress` returns this wrapped token for the origin token now. */
  readonly isCurrent: boolean
  /** Whether RemoveLegacySovereignTokenAddress removed the mapping. The row stays as history. */
  readonly isRemoved: boolean
}

const TOKEN_MAPPING_BYTES = 108

const at = {
  transactionHash: 0,
  blockNumber: 32,
  timestampSec: 38,
  logIndex: 44,
  originNetwork: 48,
  originTokenAddress: 52,
  wrappedTokenAddress: 77,
  metadataId: 102,
  tokenType: 106,
  flags: 107,
} as const

const FLAG_NOT_MINTABLE = 1
const FLAG_CURRENT = 2
const FLAG_REMOVED = 4

/** @returns fresh bytes. */
export function encodeTokenMappingRow(row: TokenMappingRow): Uint8Array {
  const bytes = new Uint8Array(TOKEN_MAPPING_BYTES)
  bytes.set(row.transactionHash, at.transactionHash)
  writeUint48(bytes, at.blockNumber, row.blockNumber)
  writeUint48(bytes, at.timestampSec, row.timestampSec)
  writeUint32(bytes, at.logIndex, row.logIndex)
  writeUint32(bytes, at.originNetwork, row.originNetwork)
  encodeChecksumAddress(bytes, at.originTokenAddress, row.originTokenAddress)
  encodeChecksumAddress(bytes, at.wrappedTokenAddress, row.wrappedTokenAddress)
  writeUint32(bytes, at.metadataId, row.metadataId)
  bytes[at.tokenType] = row.tokenType
  bytes[at.flags] =
    (row.isNotMintable ? FLAG_NOT_MINTABLE : 0) |
    (row.isCurrent ? FLAG_CURRENT : 0) |
    (row.isRemoved ? FLAG_REMOVED : 0)
  return bytes
}

/** @returns byte fields are views into `bytes`. */
export function decodeTokenMappingRow(bytes: Uint8Array): TokenMappingRow {
  const flags = bytes[at.flags]!
  return {
    transactionHash: bytes.subarray(0, 32),
    blockNumber: readUint48(bytes, at.blockNumber) as BlockNumber,
    timestampSec: readUint48(bytes, at.timestampSec),
    logIndex: readUint32(bytes, at.logIndex),
    originNetwork: readUint32(bytes, at.originNetwork) as NetworkId,
    originTokenAddress: decodeChecksumAddress(bytes, at.originTokenAddress),
    wrappedTokenAddress: decodeChecksumAddress(bytes, at.wrappedTokenAddress),
    metadataId: readUint32(bytes, at.metadataId),
    tokenType: bytes[at.tokenType]!,
    isNotMintable: (flags & FLAG_NOT_MINTABLE) !== 0,
    isCurrent: (flags & FLAG_CURRENT) !== 0,
    isRemoved: (flags & FLAG_REMOVED) !== 0,
  }
}
