import type { Hash } from '../../protocol/chainEvent.js'
import {
  CHECKSUM_ADDRESS_BYTES,
  type ChecksumAddress,
  decodeChecksumAddress,
  encodeChecksumAddress,
} from '../../protocol/checksumAddress.js'
import type { L1InfoTreeIndex } from '../../protocol/units.js'
import { readUint32, writeUint32 } from '../layout/bytes.js'

/** A deposit of another network of which this network's feed has told that it can be claimed here, as table `claimable` holds it. */
export interface ClaimableRow {
  readonly transactionHash: Hash
  readonly destinationAddress: ChecksumAddress
  readonly leafType: number
  readonly l1InfoTreeIndex: L1InfoTreeIndex
}

const at = {
  transactionHash: 0,
  destinationAddress: 32,
  leafType: 32 + CHECKSUM_ADDRESS_BYTES,
  l1InfoTreeIndex: 33 + CHECKSUM_ADDRESS_BYTES,
} as const

const CLAIMABLE_BYTES = 37 + CHECKSUM_ADDRESS_BYTES

/** @returns fresh bytes. */
export function encodeClaimableRow(row: ClaimableRow): Uint8Array {
  const bytes = new Uint8Array(CLAIMABLE_BYTES)
  bytes.set(row.transactionHash, at.transactionHash)
  encodeChecksumAddress(bytes, at.destinationAddress, row.destinationAddress)
  bytes[at.leafType] = row.leafType
  writeUint32(bytes, at.l1InfoTreeIndex, row.l1InfoTreeIndex)
  return bytes
}

/** @returns byte fields are views into `bytes`. */
export function decodeClaimableRow(bytes: Uint8Array): ClaimableRow {
  return {
    transactionHash: bytes.subarray(at.transactionHash, at.transactionHash + 32),
    destinationAddress: decodeChecksumAddress(bytes, at.destinationAddress),
    leafType: bytes[at.leafType]!,
    l1InfoTreeIndex: readUint32(bytes, at.l1InfoTreeIndex) as L1InfoTreeIndex,
  }
}
