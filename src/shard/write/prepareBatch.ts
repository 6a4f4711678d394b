import type { TreeHasher } from '../../merkle/hasher.js'
import {
  copyDepositLeafPreimage,
  DEPOSIT_LEAF_PREIMAGE_BYTES,
  L1_INFO_LEAF_PREIMAGE_BYTES,
  METADATA_HASH_AT,
  writeDepositLeafPreimage,
  writeL1InfoLeafPreimage,
} from '../../merkle/leafHashes.js'
import { bridgeEventAt, copyBytes, readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { BlockBatch, BlockHeader, DepositRows, ForwardLeaf, Hash } from '../../protocol/chainEvent.js'
import { refuse } from './refuse.js'
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

/**
 * Computes a batch's hashes. May empty the writer's `MetadataHashes` first, so the result's numbers are valid until the next batch.
 * @throws Refusal when the parent hash of a block with an L1 info leaf is missing.
 */
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
      else if (type === 'depositRows') count += event.to - event.from
      else if (type === 'forwardLet') count += event.newLeaves.length
      else if (type === 'l1InfoLeaf') exitRoots.push(event.mainnetExitRoot, event.rollupExitRoot)
    }
  const metadataNumbers = new Int32Array(count)
  if (preimages.length < DEPOSIT_LEAF_PREIMAGE_BYTES * count)
    preimages = new Uint8Array(2 * DEPOSIT_LEAF_PREIMAGE_BYTES * count)
  const ownMetadataHashes = new Map<number, Uint8Array>()
  let next = 0
  const add = (deposit: ForwardLeaf): void => {
    const { metadata } = deposit
    const at = DEPOSIT_LEAF_PREIMAGE_BYTES * next
    let hash: Uint8Array
    if (isRemembered(deposit.leafType, metadata.length)) {
      const number = metadataHashes.numberOf(metadata)
      metadataNumbers[next] = number
      hash = metadataHashes.hash(number)
    } else {
      metadataNumbers[next] = -1
      hash = hasher.hash(metadata)
      ownMetadataHashes.set(next, hash)
    }
    writeDepositLeafPreimage(preimages, at, deposit, hash)
    next++
  }
  const addRows = ({ logs, from, to }: DepositRows): void => {
    const { bytes, words } = logs
    for (let row = from; row < to; row++) {
      const start = logs.dataStart(row)
      const metadataAt = start + bridgeEventAt.metadata
      const length = readUint32BigEndian(bytes, start + bridgeEventAt.metadataLength)
      const at = DEPOSIT_LEAF_PREIMAGE_BYTES * next
      let hash: Uint8Array
      if (isRemembered(bytes[start + bridgeEventAt.leafType]!, length)) {
        const number = metadataHashes.numberAt(words, metadataAt / 4, length)
        metadataNumbers[next] = number
        hash = metadataHashes.hash(number)
      } else {
        metadataNumbers[next] = -1
        hash = hasher.hash(bytes.subarray(metadataAt, metadataAt + length))
        ownMetadataHashes.set(next, hash)
      }
      copyDepositLeafPreimage(preimages, at, bytes, start)
      copyBytes(hash, 0, 32, preimages, at + METADATA_HASH_AT)
      next++
    }
  }
  for (const { events } of batch.blocks)
    for (const event of events) {
      const { type } = event
      if (type === 'deposit') add(event)
      else if (type === 'depositRows') addRows(event)
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

/** Whether metadata are remembered: a message's hardly ever come again. */
function isRemembered(leafType: number, length: number): boolean {
  return leafType === 0 || length === 0
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

/** The parent hash of a block with an L1 info leaf. @throws Refusal when the block does not name it. */
export function getParentHash({ number, parentHash }: BlockHeader): Hash {
  if (parentHash === undefined) refuse('parent_unknown', `the parent hash of block ${number} was not read`)
  return parentHash
}
