import { L1_INFO_LEAF_PREIMAGE_BYTES, writeL1InfoLeafPreimage } from '../../merkle/leafHashes.js'
import { getRoot } from '../../merkle/treeProofs.js'
import { trees } from '../../store/layout/keys.js'
import { decodeL1InfoLeafRow, L1_INFO_LEAF_BYTES } from '../../store/layout/l1InfoLeafRow.js'
import { decodeUint32 } from '../../store/layout/smallRows.js'
import { L1_INFO_LEAVES_PER_CHUNK } from '../../store/layout/tables.js'
import { findRootAtBlockEnd } from '../snapshot/hashRuns.js'
import { tileReader } from '../snapshot/tiles.js'
import {
  type ChunkedTable,
  chunksOf,
  countEntries,
  DamageError,
  expectEqual,
  expectHash,
  expectStored,
  type VerifyContext,
} from './check.js'
import { expectLeaves } from './checkDeposits.js'

const leafTable: ChunkedTable = {
  table: 'l1InfoLeaves',
  rowName: 'L1 info leaf',
  rowBytes: L1_INFO_LEAF_BYTES,
  rowsPerChunk: L1_INFO_LEAVES_PER_CHUNK,
}

/** Checks that each L1 info leaf hashes to its global exit root and to its leaf in the tree, and that look-ups find it. */
export function checkL1InfoLeaves(context: VerifyContext): string {
  const { view, hasher, counters, checkpoint } = context
  const tree = { hasher, tiles: tileReader(view, trees.l1InfoTree), lineages: [{ cut: 0 }] }
  const preimages = new Uint8Array(L1_INFO_LEAF_PREIMAGE_BYTES * L1_INFO_LEAVES_PER_CHUNK)
  let block = -1
  for (const { first, bytes, rows } of chunksOf(view, leafTable, counters.l1InfoLeaves)) {
    for (let at = 0; at < rows; at++) {
      const index = first + at
      const row = decodeL1InfoLeafRow(bytes, L1_INFO_LEAF_BYTES * at)
      if (row.blockNumber < block || row.blockNumber > (checkpoint?.number ?? -1))
        throw new DamageError(
          `L1 info leaf ${index} is of block ${row.blockNumber}, but the leaf before it is of block ${block}, and the checkpoint is ${checkpoint?.number ?? 'missing'}`,
        )
      block = row.blockNumber
      expectHash(
        `global exit root of L1 info leaf ${index}`,
        hasher.hashPair(row.mainnetExitRoot, row.rollupExitRoot),
        row.globalExitRoot,
      )
      const place = `index of the global exit root of L1 info leaf ${index}`
      const found = expectStored(place, view.get('l1InfoIndexByGer', row.globalExitRoot))
      expectEqual(place, index, decodeUint32(found))
      writeL1InfoLeafPreimage(preimages, L1_INFO_LEAF_PREIMAGE_BYTES * at, {
        globalExitRoot: row.globalExitRoot,
        parentHash: row.previousBlockHash,
        timestampSec: row.timestampSec,
      })
    }
    const length = L1_INFO_LEAF_PREIMAGE_BYTES
    const leaves = hasher.hashMessages(preimages.subarray(0, length * rows), length, rows)
    for (let at = 0; at < rows; at++) {
      const { hash } = decodeL1InfoLeafRow(bytes, L1_INFO_LEAF_BYTES * at)
      expectHash(`hash of L1 info leaf ${first + at}`, leaves.subarray(32 * at, 32 * at + 32), hash)
    }
    expectLeaves(tree, 0, first, leaves, 'L1 info leaf')
  }
  expectEqual('global exit roots in the index', counters.l1InfoLeaves, countEntries(view, 'l1InfoIndexByGer'))
  // Throws when a tile on the path from the next free position to the root is missing.
  getRoot(tree, 0, counters.l1InfoLeaves)
  return `${counters.l1InfoLeaves} leaves`
}

/** Checks that the mainnet exit root of each L1 info leaf is the root of as many deposits as the row says. */
export function checkMainnetCoverage({ view, counters }: VerifyContext): string {
  for (const { first, bytes, rows } of chunksOf(view, leafTable, counters.l1InfoLeaves))
    for (let at = 0; at < rows; at++) {
      const { mainnetExitRoot, mainnetLeafCount } = decodeL1InfoLeafRow(bytes, L1_INFO_LEAF_BYTES * at)
      const place = `deposits under the mainnet exit root of L1 info leaf ${first + at}`
      if (mainnetExitRoot.every((byte) => byte === 0)) {
        expectEqual(place, 0, mainnetLeafCount)
        continue
      }
      const entry = expectStored(place, findRootAtBlockEnd(view, mainnetExitRoot))
      expectEqual(place, entry.leafCount, mainnetLeafCount)
    }
  return `${counters.l1InfoLeaves} leaves`
}

/** Yields rollup exit root and version of every L1 info leaf. */
export function* rollupRootsOfLeaves({
  view,
  counters,
}: VerifyContext): Generator<{ index: number; rollupExitRoot: Uint8Array; version: number }> {
  for (const { first, bytes, rows } of chunksOf(view, leafTable, counters.l1InfoLeaves))
    for (let at = 0; at < rows; at++) {
      const { rollupExitRoot, rollupExitVersion } = decodeL1InfoLeafRow(bytes, L1_INFO_LEAF_BYTES * at)
      yield { index: first + at, rollupExitRoot, version: rollupExitVersion }
    }
}
