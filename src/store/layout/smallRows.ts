import type { Address, BlockHeader, Hash } from '../../protocol/chainEvent.js'
import {
  CHECKSUM_ADDRESS_BYTES,
  type ChecksumAddress,
  decodeChecksumAddress,
  encodeChecksumAddress,
} from '../../protocol/checksumAddress.js'
import type { MetadataDigest } from '../../protocol/metadata.js'
import type { BlockNumber, LeafCount, Lineage, NetworkId } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'

/** Values of the small tables. `encode…` returns fresh bytes; byte fields of `decode…` are views into `bytes`. */

/** Table `headers`: hash 32, parent hash 32 (zeros: unknown), timestamp u48. */
export function encodeHeader(header: BlockHeader): Uint8Array {
  const bytes = new Uint8Array(70)
  bytes.set(header.hash, 0)
  if (header.parentHash !== undefined) bytes.set(header.parentHash, 32)
  writeUint48(bytes, 64, header.timestampSec)
  return bytes
}

export function decodeHeader(number: BlockNumber, bytes: Uint8Array): BlockHeader {
  const parentHash = bytes.subarray(32, 64)
  return {
    number,
    hash: bytes.subarray(0, 32),
    ...(parentHash.every((byte) => byte === 0) ? {} : { parentHash }),
    timestampSec: readUint48(bytes, 64),
  }
}

/** Offset of the address in a token's entry. */
export const TOKEN_ADDRESS_AT = 4
export const TOKEN_ENTRY_BYTES = TOKEN_ADDRESS_AT + CHECKSUM_ADDRESS_BYTES

/** Table `tokens`: a token, or the origin of a message. */
export interface TokenEntry {
  readonly network: NetworkId
  readonly address: ChecksumAddress
}

export function encodeTokenEntry(token: TokenEntry): Uint8Array {
  const bytes = new Uint8Array(TOKEN_ENTRY_BYTES)
  writeUint32(bytes, 0, token.network)
  encodeChecksumAddress(bytes, TOKEN_ADDRESS_AT, token.address)
  return bytes
}

export function decodeTokenEntry(bytes: Uint8Array): TokenEntry {
  return {
    network: readUint32(bytes, 0) as NetworkId,
    address: decodeChecksumAddress(bytes, TOKEN_ADDRESS_AT),
  }
}

/** Table `longMetadata`: length u32, hash 32. */
export function encodeMetadataDigest({ length, hash }: MetadataDigest): Uint8Array {
  const bytes = new Uint8Array(36)
  writeUint32(bytes, 0, length)
  bytes.set(hash, 4)
  return bytes
}

export function decodeMetadataDigest(bytes: Uint8Array): MetadataDigest {
  return { length: readUint32(bytes, 0), hash: bytes.subarray(4, 36) }
}

/** Value of the tables that hold one uint32: an id, index, version or cut. */
export function encodeUint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  writeUint32(bytes, 0, value)
  return bytes
}

export function decodeUint32(bytes: Uint8Array): number {
  return readUint32(bytes, 0)
}

/** The version of the local exit tree that a local exit root belongs to. */
export interface LocalExitRootEntry {
  readonly lineage: Lineage
  readonly leafCount: LeafCount
}

/** Table `settledInsideBlocks`. */
export function encodeLocalExitRootEntry(entry: LocalExitRootEntry): Uint8Array {
  const bytes = new Uint8Array(8)
  writeUint32(bytes, 0, entry.lineage)
  writeUint32(bytes, 4, entry.leafCount)
  return bytes
}

export function decodeLocalExitRootEntry(bytes: Uint8Array): LocalExitRootEntry {
  return { lineage: readUint32(bytes, 0) as Lineage, leafCount: readUint32(bytes, 4) as LeafCount }
}

/** Table `injectedGers`. */
export interface InjectedGerEntry {
  readonly globalExitRoot: Hash
  readonly blockNumber: BlockNumber
}

export function encodeInjectedGerEntry(entry: InjectedGerEntry): Uint8Array {
  const bytes = new Uint8Array(38)
  bytes.set(entry.globalExitRoot, 0)
  writeUint48(bytes, 32, entry.blockNumber)
  return bytes
}

export function decodeInjectedGerEntry(bytes: Uint8Array): InjectedGerEntry {
  return { globalExitRoot: bytes.subarray(0, 32), blockNumber: readUint48(bytes, 32) as BlockNumber }
}

/** Table `gerStates`: the newest injection of a global exit root, and whether it is still in force. */
export interface GerState {
  readonly injectionOrdinal: number
  readonly isInForce: boolean
}

export function encodeGerState(state: GerState): Uint8Array {
  const bytes = new Uint8Array(5)
  writeUint32(bytes, 0, state.injectionOrdinal)
  bytes[4] = state.isInForce ? 1 : 0
  return bytes
}

export function decodeGerState(bytes: Uint8Array): GerState {
  return { injectionOrdinal: readUint32(bytes, 0), isInForce: bytes[4] === 1 }
}

/** Table `rollups`. */
export interface RollupEntry {
  readonly chainId: bigint
  readonly rollupAddress: Address
}

export function encodeRollupEntry(entry: RollupEntry): Uint8Array {
  const bytes = new Uint8Array(28)
  writeUint32(bytes, 0, Number(entry.chainId & 0xffff_ffffn))
  writeUint32(bytes, 4, Number(entry.chainId >> 32n))
  bytes.set(entry.rollupAddress, 8)
  return bytes
}

export function decodeRollupEntry(bytes: Uint8Array): RollupEntry {
  return {
    chainId: (BigInt(readUint32(bytes, 4)) << 32n) | BigInt(readUint32(bytes, 0)),
    rollupAddress: bytes.subarray(8, 28),
  }
}
