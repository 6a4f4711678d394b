import type { Hash } from '../../protocol/chainEvent.js'
import type { BlockNumber, LeafCount } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'

/** What table `l1InfoLeaves` holds of one leaf of the L1 info tree. */
export interface L1InfoLeafRow {
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
  readonly globalExitRoot: Hash
  /** Hash of the block before: part of the leaf. */
  readonly previousBlockHash: Hash
  /** The leaf itself, as hashed into the tree. */
  readonly hash: Hash
  readonly timestampSec: number
  readonly blockNumber: BlockNumber
  /** Leaves of the L1's local exit tree under `mainnetExitRoot`. */
  readonly mainnetLeafCount: LeafCount
  /** Version of the rollup exit tree that makes `rollupExitRoot`, or UNRESOLVABLE_VERSION. */
  readonly rollupExitVersion: number
}

/** Bytes of one row; row i of a chunk starts at i · L1_INFO_LEAF_BYTES. */
export const L1_INFO_LEAF_BYTES = 180

const at = {
  mainnetExitRoot: 0,
  rollupExitRoot: 32,
  globalExitRoot: 64,
  previousBlockHash: 96,
  hash: 128,
  timestampSec: 160,
  blockNumber: 166,
  mainnetLeafCount: 172,
  rollupExitVersion: 176,
} as const

export function encodeL1InfoLeafRow(bytes: Uint8Array, offset: number, row: L1InfoLeafRow): void {
  bytes.set(row.mainnetExitRoot, offset + at.mainnetExitRoot)
  bytes.set(row.rollupExitRoot, offset + at.rollupExitRoot)
  bytes.set(row.globalExitRoot, offset + at.globalExitRoot)
  bytes.set(row.previousBlockHash, offset + at.previousBlockHash)
  bytes.set(row.hash, offset + at.hash)
  writeUint48(bytes, offset + at.timestampSec, row.timestampSec)
  writeUint48(bytes, offset + at.blockNumber, row.blockNumber)
  writeUint32(bytes, offset + at.mainnetLeafCount, row.mainnetLeafCount)
  writeUint32(bytes, offset + at.rollupExitVersion, row.rollupExitVersion)
}

/** @returns byte fields are copies, which cost no more than views (`decodeDepositRow`). */
export function decodeL1InfoLeafRow(bytes: Uint8Array, offset: number): L1InfoLeafRow {
  const hashAt = (start: number) => bytes.slice(offset + start, offset + start + 32)
  return {
    mainnetExitRoot: hashAt(at.mainnetExitRoot),
    rollupExitRoot: hashAt(at.rollupExitRoot),
    globalExitRoot: hashAt(at.globalExitRoot),
    previousBlockHash: hashAt(at.previousBlockHash),
    hash: hashAt(at.hash),
    timestampSec: readUint48(bytes, offset + at.timestampSec),
    blockNumber: readUint48(bytes, offset + at.blockNumber) as BlockNumber,
    mainnetLeafCount: readUint32(bytes, offset + at.mainnetLeafCount) as LeafCount,
    rollupExitVersion: readUint32(bytes, offset + at.rollupExitVersion),
  }
}

/** Numbers of a leaf: what readers keep of every leaf there is. */
export type L1InfoLeafNumbers = Pick<L1InfoLeafRow, 'blockNumber' | 'mainnetLeafCount' | 'rollupExitVersion'>

/** The numbers alone, without a view per hash. */
export function decodeL1InfoLeafNumbers(bytes: Uint8Array, offset: number): L1InfoLeafNumbers {
  return {
    blockNumber: readUint48(bytes, offset + at.blockNumber) as BlockNumber,
    mainnetLeafCount: readUint32(bytes, offset + at.mainnetLeafCount) as LeafCount,
    rollupExitVersion: readUint32(bytes, offset + at.rollupExitVersion),
  }
}
