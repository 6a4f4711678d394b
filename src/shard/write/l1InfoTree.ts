import { appendLeaves } from '../../merkle/appendOnlyTree.js'
import { getRoot, getRootsAtCounts } from '../../merkle/treeProofs.js'
import type { TreeSink } from '../../merkle/treeTiles.js'
import { equalBytes } from '../../protocol/abiBytes.js'
import type { BlockHeader, Hash, L1InfoLeafEvent } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { LeafCount } from '../../protocol/units.js'
import { trees } from '../../store/layout/keys.js'
import { encodeL1InfoLeafRow, L1_INFO_LEAF_BYTES } from '../../store/layout/l1InfoLeafRow.js'
import { encodeUint32 } from '../../store/layout/smallRows.js'
import { L1_INFO_LEAVES_PER_CHUNK } from '../../store/layout/tables.js'
import { encodeEventPlace, eventPlaceKey, placeOfEvent } from '../../store/places/eventPlace.js'
import { tileWriter } from '../snapshot/tiles.js'
import { getParentHash } from './prepareBatch.js'
import { refuse } from './refuse.js'
import { RowAppender } from './rowAppender.js'
import type { WriteTransaction } from './writeTransaction.js'

/** Appends leaves to the L1 info tree inside one transaction: rows, look-up by global exit root, tree. Checks published roots. */
export class L1InfoTree {
  readonly #transaction: WriteTransaction
  readonly #rows: RowAppender
  readonly #sink: TreeSink
  /** Number of the batch's leaves that are in the tree. */
  #appended = 0
  /** Number of the batch's leaves that `append` has taken. */
  #taken = 0
  #roots: { leafCount: number; expected: Hash; source: string }[] = []

  constructor(transaction: WriteTransaction) {
    const { view, memory, counters } = transaction
    this.#transaction = transaction
    this.#rows = new RowAppender(
      view,
      'l1InfoLeaves',
      L1_INFO_LEAF_BYTES,
      L1_INFO_LEAVES_PER_CHUNK,
      counters.l1InfoLeaves,
    )
    this.#sink = {
      hasher: memory.hasher,
      tiles: tileWriter(view, trees.l1InfoTree),
      lineages: [{ cut: 0 }],
    }
  }

  has(globalExitRoot: Hash): boolean {
    return this.#transaction.view.get('l1InfoIndexByGer', globalExitRoot) !== undefined
  }

  /** Adds the batch's next leaf. @returns false when its global exit root is there already: nothing was added then. */
  append(
    header: BlockHeader,
    event: L1InfoLeafEvent,
    mainnetLeafCount: LeafCount,
    rollupExitVersion: number,
  ): boolean {
    const { view, prepared, counters } = this.#transaction
    const start = 32 * this.#taken
    const globalExitRoot = prepared.globalExitRoots.subarray(start, start + 32)
    if (this.has(globalExitRoot)) return false
    this.#taken++
    const offset = this.#rows.append()
    encodeL1InfoLeafRow(this.#rows.bytes, offset, {
      mainnetExitRoot: event.mainnetExitRoot,
      rollupExitRoot: event.rollupExitRoot,
      globalExitRoot,
      previousBlockHash: getParentHash(header),
      hash: prepared.l1InfoLeaves.subarray(start, start + 32),
      timestampSec: header.timestampSec,
      blockNumber: header.number,
      mainnetLeafCount,
      rollupExitVersion,
    })
    view.put(
      'eventPlaces',
      eventPlaceKey('l1InfoLeaf', counters.l1InfoLeaves),
      encodeEventPlace(placeOfEvent(header, event)),
    )
    view.put('l1InfoIndexByGer', globalExitRoot, encodeUint32(counters.l1InfoLeaves))
    counters.l1InfoLeaves++
    return true
  }

  /** The next flush checks that the first `leafCount` leaves have this root. */
  expectRoot(leafCount: number, expected: Hash, source: string): void {
    this.#roots.push({ leafCount, expected, source })
  }

  /** Writes the leaves. @throws Refusal when a root differs from the published one. */
  flush(): void {
    this.#rows.flush()
    if (this.#appended < this.#taken) {
      const leaves = this.#transaction.prepared.l1InfoLeaves.subarray(32 * this.#appended, 32 * this.#taken)
      const before = this.#transaction.counters.l1InfoLeaves - (this.#taken - this.#appended)
      appendLeaves(this.#sink, 0, before, leaves)
      this.#appended = this.#taken
    }
    const newest = this.#roots.at(-1)
    if (newest === undefined) return
    // The newest root commits to all leaves before it. The older ones are computed only after a mismatch, to name the first.
    if (!equalBytes(getRoot(this.#sink, 0, newest.leafCount), newest.expected)) this.#refuseFirstMismatch()
    this.#roots = []
  }

  /** Finds the first root that differs. @throws Refusal always. */
  #refuseFirstMismatch(): never {
    const leafCounts = this.#roots.map(({ leafCount }) => leafCount)
    const roots = getRootsAtCounts(this.#sink, 0, leafCounts)
    const rootAt = (index: number): Hash => roots.subarray(32 * index, 32 * index + 32)
    const first = this.#roots.findIndex(({ expected }, index) => !equalBytes(rootAt(index), expected))
    const { source, expected, leafCount } = this.#roots[first]!
    refuse(
      'l1_info_root_mismatch',
      `${source} says L1 info root ${encodeHex(expected)}, but ${leafCount} leaves give ${encodeHex(rootAt(first))}`,
    )
  }
}
