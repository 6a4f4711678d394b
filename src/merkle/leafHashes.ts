import type { Hash } from '../protocol/chainEvent.js'
import type { Hasher } from './hasher.js'
import {
  DEPOSIT_LEAF_PREIMAGE_BYTES,
  type DepositLeafFields,
  L1_INFO_LEAF_PREIMAGE_BYTES,
  type L1InfoLeafFields,
  writeDepositLeafPreimage,
  writeL1InfoLeafPreimage,
} from './preimages.js'

/** A deposit as the local exit tree sees it: with its metadata, of any length. */
export interface DepositLeaf extends DepositLeafFields {
  readonly metadata: Uint8Array
}

/** keccak-256 of no bytes: the metadata hash of deposits without metadata (most of them). */
const EMPTY_HASH: Hash = Buffer.from(
  'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470',
  'hex',
)

/** Leaves of the local exit tree for deposits in order. @returns 32 bytes per deposit, fresh: ready for `appendLeaves`. */
export function hashDepositLeaves(hasher: Hasher, deposits: readonly DepositLeaf[]): Uint8Array {
  const preimages = new Uint8Array(DEPOSIT_LEAF_PREIMAGE_BYTES * deposits.length)
  deposits.forEach((deposit, i) => {
    const metadataHash = deposit.metadata.length === 0 ? EMPTY_HASH : hasher.hash(deposit.metadata)
    writeDepositLeafPreimage(preimages, DEPOSIT_LEAF_PREIMAGE_BYTES * i, deposit, metadataHash)
  })
  return hasher.hashMessages(preimages, DEPOSIT_LEAF_PREIMAGE_BYTES, deposits.length)
}

const onePreimage = new Uint8Array(DEPOSIT_LEAF_PREIMAGE_BYTES)

/** Leaf of one deposit. @returns 32 bytes, fresh. */
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

/** Leaves of the L1 info tree in order. @returns 32 bytes per leaf, fresh: ready for `appendLeaves`. */
export function hashL1InfoLeaves(hasher: Hasher, leaves: readonly L1InfoLeafFields[]): Uint8Array {
  const preimages = new Uint8Array(L1_INFO_LEAF_PREIMAGE_BYTES * leaves.length)
  leaves.forEach((leaf, i) => {
    writeL1InfoLeafPreimage(preimages, L1_INFO_LEAF_PREIMAGE_BYTES * i, leaf)
  })
  return hasher.hashMessages(preimages, L1_INFO_LEAF_PREIMAGE_BYTES, leaves.length)
}
