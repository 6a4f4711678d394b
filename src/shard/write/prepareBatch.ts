import type { TreeHasher } from '../../merkle/hasher.js'
import type { BlockBatch, ForwardLeaf } from '../../protocol/chainEvent.js'
import {
  DEPOSIT_LEAF_PREIMAGE_BYTES,
  L1_INFO_LEAF_PREIMAGE_BYTES,
  writeDepositLeafPreimage,
  writeL1InfoLeafPreimage,
} from '../../protocol/preimages.js'
import type { MetadataHashes } from './metadataHashes.js'

/** Every hash that a batch's events ask for, worked out in bulk before the transaction; in the order of the events. */
export interface PreparedBatch {
  /** 32 bytes per new leaf of the local exit tree: deposits, and leaves of ForwardLET. */
  readonly depositLeaves: Uint8Array
  /** keccak-256 of each such leaf's metadata. */
  readonly metadataHashes: readonly Uint8Array[]
  /** 32 bytes per new leaf of the L1 info tree: its global exit root, and the leaf. */
  readonly globalExitRoots: Uint8Array
  readonly l1InfoLeaves: Uint8Array
}

export function prepareBatch(
  batch: BlockBatch,
  hasher: TreeHasher,
  metadataHashes: MetadataHashes,
): PreparedBatch {
  const deposits: ForwardLeaf[] = []
  const exitRoots: Uint8Array[] = []
  for (const { events } of batch.blocks)
    for (const event of events) {
      if (event.type === 'deposit') deposits.push(event)
      else if (event.type === 'forwardLet') deposits.push(...event.newLeaves)
      else if (event.type === 'l1InfoLeaf') exitRoots.push(event.mainnetExitRoot, event.rollupExitRoot)
    }
  const hashes = deposits.map((deposit) => metadataHashes.get(deposit.metadata))
  const globalExitRoots = hashGlobalExitRoots(hasher, exitRoots)
  return {
    depositLeaves: hashDeposits(hasher, deposits, hashes),
    metadataHashes: hashes,
    globalExitRoots,
    l1InfoLeaves: hashL1InfoLeaves(hasher, batch, globalExitRoots),
  }
}

function hashDeposits(
  hasher: TreeHasher,
  deposits: readonly ForwardLeaf[],
  metadataHashes: readonly Uint8Array[],
): Uint8Array {
  const length = DEPOSIT_LEAF_PREIMAGE_BYTES
  const preimages = new Uint8Array(length * deposits.length)
  for (let index = 0; index < deposits.length; index++)
    writeDepositLeafPreimage(preimages, length * index, deposits[index]!, metadataHashes[index]!)
  return hasher.hashMessages(preimages, length, deposits.length)
}

function hashGlobalExitRoots(hasher: TreeHasher, exitRoots: readonly Uint8Array[]): Uint8Array {
  const count = exitRoots.length / 2
  const pairs = new Uint8Array(64 * count)
  for (let index = 0; index < exitRoots.length; index++) pairs.set(exitRoots[index]!, 32 * index)
  const roots = new Uint8Array(32 * count)
  hasher.hashPairs(pairs, count, roots)
  return roots
}

function hashL1InfoLeaves(hasher: TreeHasher, batch: BlockBatch, globalExitRoots: Uint8Array): Uint8Array {
  const length = L1_INFO_LEAF_PREIMAGE_BYTES
  const count = globalExitRoots.length / 32
  const preimages = new Uint8Array(length * count)
  let index = 0
  for (const { header, events } of batch.blocks)
    for (const event of events) {
      if (event.type !== 'l1InfoLeaf') continue
      const globalExitRoot = globalExitRoots.subarray(32 * index, 32 * index + 32)
      writeL1InfoLeafPreimage(preimages, length * index, {
        globalExitRoot,
        parentHash: header.parentHash,
        timestampSec: header.timestampSec,
      })
      index++
    }
  return hasher.hashMessages(preimages, length, count)
}
