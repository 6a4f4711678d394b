import type { ClaimProofRecord, L1InfoLeafRecord } from '../../protocol/records.js'
import { asciiBytes, type JsonWriter } from '../jsonWriter.js'
import { END_ARRAY, key } from './fields.js'

const OPENING = asciiBytes('{"proof":{"smtProofLocalExitRoot":[')
const ROLLUP_BRANCH = asciiBytes('],"smtProofRollupExitRoot":[')
const L1_INFO_TREE_LEAF = asciiBytes(',"l1InfoTreeLeaf":{"globalExitRoot":')
const BLOCK_NUMBER = key('blockNumber')
const TIMESTAMP = key('timestamp')
const L1_INFO_TREE_INDEX = key('l1InfoTreeIndex')
const MAINNET_EXIT_ROOT = key('mainnetExitRoot')
const ROLLUP_EXIT_ROOT = key('rollupExitRoot')
const PREVIOUS_BLOCK_HASH = key('previousBlockHash')
const HASH = key('hash')
const GLOBAL_INDEX = asciiBytes('},"globalIndex":')
const LEAF_HASH = key('leafHash')
const CLOSING = asciiBytes('}}')

/**
 * Texts of what the proofs under one leaf share, by the leaf and the branch that each of them has: a shard hands out the same
 * ones again. Made anew they took a tenth of a proof's time.
 */
const texts = new WeakMap<object, Uint8Array>()

/** Writes what `write` makes of `value`, or what it made of it before. */
function writeShared<Value extends object>(
  writer: JsonWriter,
  value: Value,
  write: (writer: JsonWriter, value: Value) => void,
): void {
  const text = texts.get(value)
  if (text !== undefined) {
    writer.append(text)
    return
  }
  const from = writer.length
  write(writer, value)
  texts.set(value, writer.bytes.slice(from, writer.length))
}

/** The one record with camelCase names: the caller hands it to the contract as it is. */
export function writeClaimProof(writer: JsonWriter, proof: ClaimProofRecord): void {
  writer.raw(OPENING)
  writer.nodes(proof.localExitRootBranch)
  writer.raw(ROLLUP_BRANCH)
  writeShared(writer, proof.rollupExitRootBranch, writeBranch)
  writer.raw(END_ARRAY)
  writeShared(writer, proof.leaf, writeLeaf)
  writer.raw(GLOBAL_INDEX)
  writer.hex(proof.globalIndex)
  writer.raw(LEAF_HASH)
  writer.hex(proof.leafHash)
  writer.raw(CLOSING)
}

function writeBranch(writer: JsonWriter, branch: Uint8Array): void {
  writer.nodes(branch)
}

function writeLeaf(writer: JsonWriter, leaf: L1InfoLeafRecord): void {
  writer.raw(L1_INFO_TREE_LEAF)
  writer.hex(leaf.globalExitRoot)
  writer.raw(BLOCK_NUMBER)
  writer.uint(leaf.blockNumber)
  writer.raw(TIMESTAMP)
  writer.uint(leaf.timestampSec)
  writer.raw(L1_INFO_TREE_INDEX)
  writer.uint(leaf.l1InfoTreeIndex)
  writer.raw(MAINNET_EXIT_ROOT)
  writer.hex(leaf.mainnetExitRoot)
  writer.raw(ROLLUP_EXIT_ROOT)
  writer.hex(leaf.rollupExitRoot)
  writer.raw(PREVIOUS_BLOCK_HASH)
  writer.hex(leaf.previousBlockHash)
  writer.raw(HASH)
  writer.hex(leaf.hash)
}
