import type { Hash } from '../../protocol/chainEvent.js'
import type { BlockNumber, LeafCount } from '../../protocol/units.js'
import { readUint32, readUint48, writeUint32, writeUint48 } from './bytes.js'

/** One L1 info leaf as table `l1InfoLeaves` holds it. */
export interface L1InfoLeafRow {
  readonly mainnetExitRoot: Hash
  readonly rollupExitRoot: Hash
  readonly globalExitRoot: Hash
  /** Hash of the block before the leaf's block. The leaf's hash includes it. */
  readonly previousBlockHash: Hash
  /** The leaf itself: the hash that is in the tree. */
  readonly hash: Hash
  readonly timestampSec: number
  readonly blockNumber: BlockNumber
  /** Leaf count of the L1's local exit tree whose root is `mainnetExitRoot`. */
  readonly mainnetLeafCount: LeafCount
  /** Version of the rollup exit tree whose root is `rollupExitRoot`, or UNRESOLVABLE_VERSION. */
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

/** @returns byte fields are copies, which are cheaper than views (see `decodeDepositRow`). */
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

/** The number fields of a leaf that readers keep in memory for all leaves. */
export type L1InfoLeafNumbers = Pick<L1InfoLeafRow, 'blockNumber' | 'mainnetLeafCount' | 'rollupExitVersion'>

/** As `decodeL1InfoLeafRow`, without the hashes. */
export function decodeL1InfoLeafNumbers(bytes: Uint8Array, offset: number): L1InfoLeafNumbers {
  return {
    blockNumber: readUint48(bytes, offset + at.blockNumber) as BlockNumber,
    mainnetLeafCount: readUint32(bytes, offset + at.mainnetLeafCount) as LeafCount,
    rollupExitVersion: readUint32(bytes, offset + at.rollupExitVersion),
  }
}
