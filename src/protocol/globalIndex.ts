import { readUint32BigEndian } from './abiBytes.js'
import { writeUint256 } from './uint256.js'
import type { DepositCount, NetworkId } from './units.js'

/** The deposit that a global index names. */
export interface GlobalIndexParts {
  readonly sourceNetwork: NetworkId
  readonly depositCount: DepositCount
}

const MAINNET_FLAG = 1n << 64n

/**
 * The canonical global index of a deposit: mainnet flag (bit 64), rollup index = source network − 1 (bits 63–32), deposit
 * count (bits 31–0).
 */
export function encodeGlobalIndex(sourceNetwork: NetworkId, depositCount: DepositCount): bigint {
  if (sourceNetwork === 0) return MAINNET_FLAG | BigInt(depositCount)
  return (BigInt(sourceNetwork - 1) << 32n) | BigInt(depositCount)
}

/** The same in 32 bytes, big-endian, fresh. */
export function encodeGlobalIndexBytes(sourceNetwork: NetworkId, depositCount: DepositCount): Uint8Array {
  const bytes = new Uint8Array(32)
  writeUint256(bytes, 0, encodeGlobalIndex(sourceNetwork, depositCount))
  return bytes
}

/**
 * Which deposit a global index names. Bridges before al-v0.3.1 accepted and emitted any unused bits. They are masked away,
 * as the contract does. So never compare whole global indexes: compare the deposits that they name.
 */
export function decodeGlobalIndex(globalIndex: bigint): GlobalIndexParts {
  const depositCount = Number(BigInt.asUintN(32, globalIndex)) as DepositCount
  // The rollup index, and above it the mainnet flag.
  const high = Number(BigInt.asUintN(33, globalIndex >> 32n))
  if (high >= 2 ** 32) return { sourceNetwork: 0 as NetworkId, depositCount }
  return { sourceNetwork: sourceOf(high), depositCount }
}

/** As `decodeGlobalIndex`, from 32 big-endian bytes at `offset`. */
export function decodeGlobalIndexBytes(bytes: Uint8Array, offset: number): GlobalIndexParts {
  const depositCount = readUint32BigEndian(bytes, offset + 28) as DepositCount
  if ((bytes[offset + 23]! & 1) === 1) return { sourceNetwork: 0 as NetworkId, depositCount }
  return { sourceNetwork: sourceOf(readUint32BigEndian(bytes, offset + 24)), depositCount }
}

function sourceOf(rollupIndex: number): NetworkId {
  // Rollup index 2^32 − 1 would be network 2^32, which no uint32 names and no rollup has.
  return Math.min(rollupIndex + 1, 0xffff_ffff) as NetworkId
}

/** A pre-etrog claim names the bare deposit count. Claimed on the L1, the deposit is network 1's, elsewhere the L1's. */
export function decodeV1Index(index: bigint, claimNetwork: NetworkId): GlobalIndexParts {
  return {
    sourceNetwork: (claimNetwork === 0 ? 1 : 0) as NetworkId,
    depositCount: Number(BigInt.asUintN(32, index)) as DepositCount,
  }
}
