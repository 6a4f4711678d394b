import { InvariantError } from '../../errors/invariantError.js'
import { PackedDeposit } from '../../events/packedEvents.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import {
  DEPOSIT_LEAF_PREIMAGE_BYTES,
  L1_INFO_LEAF_PREIMAGE_BYTES,
  METADATA_HASH_AT,
  writeDepositLeafPreimage,
  writeL1InfoLeafPreimage,
} from '../../merkle/leafHashes.js'
import { copyBytes } from '../../protocol/abiBytes.js'
import type { BlockBatch, BlockHeader, ForwardLeaf, Hash } from '../../protocol/chainEvent.js'
import type { MetadataHashes } from './metadataHashes.js'
import type { WriterMemory } from './writerMemory.js'

/** Every hash that a batch's events need, computed in bulk before the transaction, in the order of the events. */
export interface PreparedBatch {
  /** 32 bytes per new leaf of the local exit tree: deposits, and leaves of ForwardLET. */
  readonly depositLeaves: Uint8Array
  /** For each of these leaves, the number of its metadata in `MetadataHashes`; −1: not remembered there. */
  readonly metadataNumbers: Int32Array
  /** keccak-256 of metadata that are not remembered, by position of the leaf. */
  readonly ownMetadataHashes: ReadonlyMap<number, Uint8Array>
  /** Global exit root of each new L1 info leaf, 32 bytes each. */
  readonly globalExitRoots: Uint8Array
  /** Hash of each new L1 info leaf, 32 bytes each. */
  readonly l1InfoLeaves: Uint8Array
}

/** Preimages of the current batch. Reused, since new memory of this size for each batch would start full garbage collections. */
let preimages = new Uint8Array(0)

/** Computes a batch's hashes. May empty the writer's `MetadataHashes` first, so the result's numbers are valid until the next batch. */
export function prepareBatch(
  batch: BlockBatch,
  { hasher, metadataHashes, dictionaries }: Pick<WriterMemory, 'hasher' | 'metadataHashes' | 'dictionaries'>,
): PreparedBatch {
  if (metadataHashes.trim()) dictionaries.forget()
  const exitRoots: Uint8Array[] = []
  let count = 0
  for (const { events } of batch.blocks)
    for (const event of events) {
      const { type } = event
      if (type === 'deposit') count++
      else if (type === 'forwardLet') count += event.newLeaves.length
      else if (type === 'l1InfoLeaf') exitRoots.push(event.mainnetExitRoot, event.rollupExitRoot)
    }
  const metadataNumbers = new Int32Array(count)
  if (preimages.length < DEPOSIT_LEAF_PREIMAGE_BYTES * count)
    preimages = new Uint8Array(2 * DEPOSIT_LEAF_PREIMAGE_BYTES * count)
  const ownMetadataHashes = new Map<number, Uint8Array>()
  let next = 0
  const add = (deposit: ForwardLeaf): void => {
    const at = DEPOSIT_LEAF_PREIMAGE_BYTES * next
    metadataNumbers[next] = -1
    // A message's metadata hardly ever come again, so they are not remembered.
    if (deposit.leafType !== 0 && metadataLength(deposit) > 0) {
      const hash = hasher.hash(deposit.metadata)
      ownMetadataHashes.set(next, hash)
      writeDepositLeafPreimage(preimages, at, deposit, hash)
    } else metadataNumbers[next] = writePreimage(at, deposit, metadataHashes)
    next++
  }
  for (const { events } of batch.blocks)
    for (const event of events) {
      const { type } = event
      if (type === 'deposit') add(event)
      else if (type === 'forwardLet') event.newLeaves.forEach(add)
    }
  const globalExitRoots = hashGlobalExitRoots(hasher, exitRoots)
  return {
    depositLeaves: hasher.hashMessages(preimages, DEPOSIT_LEAF_PREIMAGE_BYTES, count),
    metadataNumbers,
    ownMetadataHashes,
    globalExitRoots,
    l1InfoLeaves: hashL1InfoLeaves(hasher, batch, globalExitRoots),
  }
}

function metadataLength(deposit: ForwardLeaf): number {
  return deposit instanceof PackedDeposit ? deposit.metadataLength : deposit.metadata.length
}

/** Writes a deposit leaf's preimage. @returns the number of its metadata. */
function writePreimage(at: number, deposit: ForwardLeaf, metadataHashes: MetadataHashes): number {
  if (!(deposit instanceof PackedDeposit)) {
    const number = metadataHashes.numberOf(deposit.metadata)
    writeDepositLeafPreimage(preimages, at, deposit, metadataHashes.hash(number))
    return number
  }
  const { logs, metadataAt, metadataLength: length } = deposit
  const number = metadataHashes.numberAt(logs.words, metadataAt / 4, length)
  deposit.copyPreimage(preimages, at)
  copyBytes(metadataHashes.hash(number), 0, 32, preimages, at + METADATA_HASH_AT)
  return number
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
        parentHash: getParentHash(header),
        timestampSec: header.timestampSec,
      })
      index++
    }
  return hasher.hashMessages(preimages, length, count)
}

/** The parent hash of a block with an L1 info leaf. */
export function getParentHash({ number, parentHash }: BlockHeader): Hash {
  if (parentHash === undefined) throw new InvariantError(`the parent hash of block ${number} was not read`)
  return parentHash
}
