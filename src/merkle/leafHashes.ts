import { bridgeEventAt, copyBytes } from '../protocol/abiBytes.js'
import type { ForwardLeaf, Hash } from '../protocol/chainEvent.js'
import { writeUint256 } from '../protocol/uint256.js'
import type { Hasher } from './hasher.js'

/** The fields of a deposit's leaf. Events and the leaves of ForwardLET have the amount as a bigint, stored rows as 32 bytes. */
export type DepositLeafFields = Omit<ForwardLeaf, 'metadata' | 'amount'> & {
  readonly amount: bigint | Uint8Array
}

/**
 * Bytes of a deposit leaf's preimage: leaf type 1 ‖ origin network 4 ‖ origin address 20 ‖ destination network 4 ‖
 * destination address 20 ‖ amount 32 ‖ keccak(metadata) 32, integers big-endian.
 */
export const DEPOSIT_LEAF_PREIMAGE_BYTES = 113
/** Offset of the metadata's hash in a deposit leaf's preimage. */
export const METADATA_HASH_AT = 81
/** Bytes of an L1 info leaf's preimage: global exit root 32 ‖ parent block hash 32 ‖ timestamp u64 big-endian. */
export const L1_INFO_LEAF_PREIMAGE_BYTES = 72

/**
 * Writes a deposit leaf's preimage at `offset`.
 * @param metadataHash keccak-256 of the event's metadata bytes, also when there are none.
 * @throws RangeError when a field does not fit its width.
 * @see DepositContractV2.getLeafValue (agglayer-contracts)
 */
export function writeDepositLeafPreimage(
  target: Uint8Array,
  offset: number,
  leaf: DepositLeafFields,
  metadataHash: Hash,
): void {
  target.set(bytes('metadata hash', metadataHash, 32), offset + METADATA_HASH_AT)
  const view = new DataView(target.buffer, target.byteOffset + offset, DEPOSIT_LEAF_PREIMAGE_BYTES)
  view.setUint8(0, uint('leaf type', leaf.leafType, 0xff))
  view.setUint32(1, uint('origin network', leaf.originNetwork, 0xffff_ffff))
  target.set(bytes('origin address', leaf.originAddress, 20), offset + 5)
  view.setUint32(25, uint('destination network', leaf.destinationNetwork, 0xffff_ffff))
  target.set(bytes('destination address', leaf.destinationAddress, 20), offset + 29)
  if (typeof leaf.amount === 'bigint') writeUint256(target, offset + 49, leaf.amount)
  else target.set(bytes('amount', leaf.amount, 32), offset + 49)
}

/**
 * Copies a deposit leaf's preimage from a BridgeEvent's data, in the encoding that contracts write: all but its last field, the
 * hash of the metadata.
 */
export function copyDepositLeafPreimage(
  target: Uint8Array,
  offset: number,
  data: Uint8Array,
  start: number,
): void {
  target[offset] = data[start + bridgeEventAt.leafType]!
  copyBytes(data, start + bridgeEventAt.originNetwork, 4, target, offset + 1)
  copyBytes(data, start + bridgeEventAt.originAddress, 20, target, offset + 5)
  copyBytes(data, start + bridgeEventAt.destinationNetwork, 4, target, offset + 25)
  copyBytes(data, start + bridgeEventAt.destinationAddress, 20, target, offset + 29)
  copyBytes(data, start + bridgeEventAt.amount, 32, target, offset + 49)
}

/** Preimage of one deposit leaf: 113 fresh bytes. */
export function depositLeafPreimage(leaf: DepositLeafFields, metadataHash: Hash): Uint8Array {
  const preimage = new Uint8Array(DEPOSIT_LEAF_PREIMAGE_BYTES)
  writeDepositLeafPreimage(preimage, 0, leaf, metadataHash)
  return preimage
}

/** The fields of a leaf of the L1 info tree. */
export interface L1InfoLeafFields {
  readonly globalExitRoot: Hash
  /** Hash of the block before the one that added the leaf. */
  readonly parentHash: Hash
  /** Timestamp of the block that added the leaf. It is a uint64 in the contract, and a number can't hold all of those. */
  readonly timestampSec: number | bigint
}

/**
 * Writes an L1 info leaf's preimage at `offset`.
 * @throws RangeError when a field does not fit its width, or the timestamp is a number that may have been rounded.
 * @see PolygonZkEVMGlobalExitRootV2.getLeafValue (agglayer-contracts)
 */
export function writeL1InfoLeafPreimage(target: Uint8Array, offset: number, leaf: L1InfoLeafFields): void {
  target.set(bytes('global exit root', leaf.globalExitRoot, 32), offset)
  target.set(bytes('parent hash', leaf.parentHash, 32), offset + 32)
  const view = new DataView(target.buffer, target.byteOffset + offset, L1_INFO_LEAF_PREIMAGE_BYTES)
  view.setBigUint64(64, uint64('timestamp', leaf.timestampSec))
}

/** Preimage of one leaf of the L1 info tree: 72 fresh bytes. */
export function l1InfoLeafPreimage(leaf: L1InfoLeafFields): Uint8Array {
  const preimage = new Uint8Array(L1_INFO_LEAF_PREIMAGE_BYTES)
  writeL1InfoLeafPreimage(preimage, 0, leaf)
  return preimage
}

function uint64(name: string, value: number | bigint): bigint {
  if (typeof value === 'number') return BigInt(uint(name, value, Number.MAX_SAFE_INTEGER))
  if (value < 0n || value >> 64n !== 0n) throw new RangeError(`${name} ${value} is not a uint64`)
  return value
}

function uint(name: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new RangeError(`${name} ${value} is out of range 0 … ${max}`)
  return value
}

function bytes(name: string, value: Uint8Array, length: number): Uint8Array {
  if (value.length !== length) throw new RangeError(`${name} has ${value.length} bytes, not ${length}`)
  return value
}

/** The fields of a deposit's leaf with the metadata itself, of any length. */
export interface DepositLeaf extends DepositLeafFields {
  readonly metadata: Uint8Array
}

/** keccak-256 of no bytes: the metadata hash of deposits without metadata (most of them). */
const EMPTY_HASH: Hash = Buffer.from(
  'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  'hex',
)

/** Hashes deposits to leaves of the local exit tree. @returns 32 bytes per deposit, fresh: ready for `appendLeaves`. */
export function hashDepositLeaves(hasher: Hasher, deposits: readonly DepositLeaf[]): Uint8Array {
  const preimages = new Uint8Array(DEPOSIT_LEAF_PREIMAGE_BYTES * deposits.length)
  deposits.forEach((deposit, i) => {
    const metadataHash = deposit.metadata.length === 0 ? EMPTY_HASH : hasher.hash(deposit.metadata)
    writeDepositLeafPreimage(preimages, DEPOSIT_LEAF_PREIMAGE_BYTES * i, deposit, metadataHash)
  })
  return hasher.hashMessages(preimages, DEPOSIT_LEAF_PREIMAGE_BYTES, deposits.length)
}

const onePreimage = new Uint8Array(DEPOSIT_LEAF_PREIMAGE_BYTES)

/** Hashes one deposit to its leaf. @returns 32 bytes, fresh. */
export function hashDepositLeaf(hasher: Hasher, deposit: DepositLeaf): Uint8Array {
  const { metadata } = deposit
  writeDepositLeafPreimage(
    onePreimage,
    0,
    deposit,
    metadata.length === 0 ? EMPTY_HASH : hasher.hash(metadata),
  )
  return hasher.hash(onePreimage)
}

/** Hashes leaves of the L1 info tree. @returns 32 bytes per leaf, fresh: ready for `appendLeaves`. */
export function hashL1InfoLeaves(hasher: Hasher, leaves: readonly L1InfoLeafFields[]): Uint8Array {
  const preimages = new Uint8Array(L1_INFO_LEAF_PREIMAGE_BYTES * leaves.length)
  leaves.forEach((leaf, i) => {
    writeL1InfoLeafPreimage(preimages, L1_INFO_LEAF_PREIMAGE_BYTES * i, leaf)
  })
  return hasher.hashMessages(preimages, L1_INFO_LEAF_PREIMAGE_BYTES, leaves.length)
}
