import { PackedDeposit } from '../events/packedEvents.js'
import type { ForwardLeaf, Hash } from '../protocol/chainEvent.js'
import { writeUint256 } from '../protocol/uint256.js'

/** What a deposit's leaf is made of; events and the leaves of ForwardLET have these fields, stored rows the amount as 32 bytes. */
export type DepositLeafFields = Omit<ForwardLeaf, 'metadata' | 'amount'> & {
  readonly amount: bigint | Uint8Array
}

/**
 * Bytes of a deposit leaf's preimage: leaf type 1 ‖ origin network 4 ‖ origin address 20 ‖ destination network 4 ‖
 * destination address 20 ‖ amount 32 ‖ keccak(metadata) 32, integers big-endian.
 */
export const DEPOSIT_LEAF_PREIMAGE_BYTES = 113
/** Where the hash of the metadata stands in it. */
export const METADATA_HASH_AT = 81
/** Bytes of an L1 info leaf's preimage: global exit root 32 ‖ parent block hash 32 ‖ timestamp u64 big-endian. */
export const L1_INFO_LEAF_PREIMAGE_BYTES = 72

/**
 * Writes a deposit leaf's preimage at `offset`.
 * @param metadataHash keccak-256 of the event's metadata bytes (of no bytes when empty).
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
  if (leaf instanceof PackedDeposit) {
    leaf.copyPreimage(target, offset)
    return
  }
  const view = new DataView(target.buffer, target.byteOffset + offset, DEPOSIT_LEAF_PREIMAGE_BYTES)
  view.setUint8(0, uint('leaf type', leaf.leafType, 0xff))
  view.setUint32(1, uint('origin network', leaf.originNetwork, 0xffff_ffff))
  target.set(bytes('origin address', leaf.originAddress, 20), offset + 5)
  view.setUint32(25, uint('destination network', leaf.destinationNetwork, 0xffff_ffff))
  target.set(bytes('destination address', leaf.destinationAddress, 20), offset + 29)
  if (typeof leaf.amount === 'bigint') writeUint256(target, offset + 49, leaf.amount)
  else target.set(bytes('amount', leaf.amount, 32), offset + 49)
}

/** Preimage of one deposit leaf: 113 fresh bytes. See `writeDepositLeafPreimage`. */
export function depositLeafPreimage(leaf: DepositLeafFields, metadataHash: Hash): Uint8Array {
  const preimage = new Uint8Array(DEPOSIT_LEAF_PREIMAGE_BYTES)
  writeDepositLeafPreimage(preimage, 0, leaf, metadataHash)
  return preimage
}

/** What a leaf of the L1 info tree is made of. */
export interface L1InfoLeafFields {
  readonly globalExitRoot: Hash
  /** Hash of the block before the one that added the leaf. */
  readonly parentHash: Hash
  /** Timestamp of the block that added the leaf: a uint64 in the contract, beyond what a number holds exactly. */
  readonly timestampSec: number | bigint
}

/**
 * Writes an L1 info leaf's preimage at `offset`.
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
  const exact = BigInt(value)
  if (exact < 0n || exact >> 64n !== 0n) throw new RangeError(`${name} ${value} is not a uint64`)
  return exact
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
