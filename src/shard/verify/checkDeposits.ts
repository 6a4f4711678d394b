import { DEPOSIT_LEAF_PREIMAGE_BYTES, writeDepositLeafPreimage } from '../../merkle/leafHashes.js'
import { getTile, TILE_WIDTH, type TreeSource, tileIndexOf } from '../../merkle/treeTiles.js'
import { readUint256 } from '../../store/layout/bytes.js'
import { DEPOSIT_BYTES, decodeDepositRow } from '../../store/layout/depositRow.js'
import { SENDER_BYTES } from '../../store/layout/senderRow.js'
import { DEPOSITS_PER_CHUNK, SENDERS_PER_CHUNK } from '../../store/layout/tables.js'
import { senderWatermark } from '../position/chainPosition.js'
import { BoundedCache } from '../sets/boundedCache.js'
import { DictionaryReads } from '../snapshot/dictionaryReads.js'
import { SnapshotState } from '../snapshot/snapshotState.js'
import { localExitTreeSource } from '../snapshot/tiles.js'
import {
  ChainOrder,
  type ChunkedTable,
  chunksOf,
  DamageError,
  expectHash,
  type VerifyContext,
} from './check.js'

const CACHED_HASHES = 4096

const depositTable: ChunkedTable = {
  table: 'deposits',
  rowName: 'deposit',
  rowBytes: DEPOSIT_BYTES,
  rowsPerChunk: DEPOSITS_PER_CHUNK,
}

/** Checks that no deposit is missing, that deposits are in the order of the chain, and that each one hashes to its leaf in the local exit tree. */
export function checkDeposits(context: VerifyContext): string {
  const { view, networkId, hasher, counters } = context
  const dictionary = new DictionaryReads(view, new SnapshotState(view), networkId)
  const hashes = new BoundedCache<number, Uint8Array>(CACHED_HASHES)
  const metadataHash = (id: number): Uint8Array => {
    const known = hashes.get(id)
    if (known !== undefined) return known
    const hash = hasher.hash(dictionary.getMetadata(id))
    hashes.set(id, hash)
    return hash
  }
  const tree = localExitTreeSource(view, hasher, counters.lineage)
  const order = new ChainOrder(context, 'deposit')
  const preimages = new Uint8Array(DEPOSIT_LEAF_PREIMAGE_BYTES * DEPOSITS_PER_CHUNK)
  for (const { first, bytes, rows } of chunksOf(view, depositTable, counters.deposits)) {
    for (let index = 0; index < rows; index++) {
      const row = decodeDepositRow(bytes, DEPOSIT_BYTES * index)
      order.expectNext(first + index, row.blockNumber, row.logIndex, row.isForwardLeaf)
      const origin = dictionary.getToken(row.tokenId)
      const leaf = {
        leafType: row.leafType,
        originNetwork: origin.network,
        originAddress: origin.address.bytes,
        destinationNetwork: row.destinationNetwork,
        destinationAddress: row.destinationAddress.bytes,
        amount: readUint256(row.amount, 0),
      }
      writeDepositLeafPreimage(
        preimages,
        DEPOSIT_LEAF_PREIMAGE_BYTES * index,
        leaf,
        metadataHash(row.metadataId),
      )
    }
    const leaves = hasher.hashMessages(
      preimages.subarray(0, DEPOSIT_LEAF_PREIMAGE_BYTES * rows),
      DEPOSIT_LEAF_PREIMAGE_BYTES,
      rows,
    )
    expectLeaves(tree, counters.lineage, first, leaves, 'deposit')
  }
  return `${counters.deposits} deposits`
}

/** Compares leaves with a tree's leaves from position `first` on. @param leaves 32 bytes each. */
export function expectLeaves(
  tree: TreeSource,
  lineage: number,
  first: number,
  leaves: Uint8Array,
  rowName: string,
): void {
  for (let at = 0; at < leaves.length; at += 32) {
    const position = first + at / 32
    const tile = getTile(tree, lineage, 0, tileIndexOf(0, position))
    const offset = 32 * (position % TILE_WIDTH)
    expectHash(
      `leaf of ${rowName} ${position}`,
      leaves.subarray(at, at + 32),
      tile.subarray(offset, offset + 32),
    )
  }
}

/** Checks that every deposit and claim below the watermark has a sender row, and no other has one. */
export function checkSenders({ view, counters }: VerifyContext): string {
  const details: string[] = []
  for (const kind of ['deposit', 'claim'] as const) {
    const watermark = senderWatermark(view, kind)
    const rows = kind === 'deposit' ? counters.deposits : counters.claims
    if (watermark > rows)
      throw new DamageError(`senders of ${watermark} ${kind}s are counted, but only ${rows} ${kind}s`)
    const table: ChunkedTable = {
      table: kind === 'deposit' ? 'depositSenders' : 'claimSenders',
      rowName: `sender of ${kind}`,
      rowBytes: SENDER_BYTES,
      rowsPerChunk: SENDERS_PER_CHUNK,
    }
    for (const _ of chunksOf(view, table, watermark));
    details.push(`${watermark} of ${rows} ${kind}s`)
  }
  return details.join(', ')
}
