import type { TreeHasher } from '../../merkle/hasher.js'
import {
  getTile,
  type LineageLink,
  TILE_WIDTH,
  type TreeSource,
  tileIndexOf,
} from '../../merkle/treeTiles.js'
import { readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { NetworkId } from '../../protocol/units.js'
import { lineageStretchKey, trees } from '../../store/layout/keys.js'
import { decodeUint32, type LocalExitRootEntry } from '../../store/layout/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import type { CoveredCounts } from '../localExitRoots.types.js'
import { CountRanges } from '../sets/countRanges.js'
import { KeptTiles } from './keptTiles.js'
import { findLocalExitRoot, readSettledInsideBlocks } from './localExitRoots.js'
import type { SnapshotState } from './snapshotState.js'
import { readLineages, tileReader } from './tiles.js'

const LEAF_BYTES = 32

/** The local exit tree of one network: its lineages, roots and tiles. */
export class ExitTreeReads implements TreeSource {
  /** Leaves that lie together. */
  readonly leavesPerTile = TILE_WIDTH
  readonly hasher: TreeHasher
  readonly tiles: KeptTiles
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly networkId: NetworkId
  #lineages: LineageLink[] | undefined
  readonly #regrown = new Map<number, CountRanges>()
  #settledInsideBlocks: number | undefined

  constructor(view: ReadView, state: SnapshotState, networkId: NetworkId, hasher: TreeHasher) {
    this.#view = view
    this.#state = state
    this.networkId = networkId
    this.hasher = hasher
    this.tiles = new KeptTiles(tileReader(view, trees.localExitTree))
  }

  reset(): void {
    this.#lineages = undefined
    this.#regrown.clear()
    this.#settledInsideBlocks = undefined
    this.tiles.reset()
  }

  get epoch(): number {
    return this.#state.epoch
  }

  /** Number of the newest lineage. */
  get lineage(): number {
    return this.#state.counters.lineage
  }

  /** Leaves of the newest lineage, which are the deposits served. */
  get leafCount(): number {
    return this.#state.counters.deposits
  }

  /** Number of stored roots that were settled inside a block. */
  get settledInsideBlocks(): number {
    this.#settledInsideBlocks ??= readSettledInsideBlocks(this.#view)
    return this.#settledInsideBlocks
  }

  /** Indexed by lineage number. A tree that was never cut has one. */
  get lineages(): readonly LineageLink[] {
    this.#lineages ??= readLineages(this.#view, this.lineage)
    return this.#lineages
  }

  /**
   * The leaves of current deposits that lie beside each other, from a multiple of `leavesPerTile` on.
   * @param depositCount one of them. @returns the store's own bytes, valid until the next read; zeros behind the last deposit.
   */
  peekLeaves(depositCount: number): Uint8Array {
    const tile = getTile(this, this.lineage, 0, tileIndexOf(0, depositCount))
    return tile.subarray(0, LEAF_BYTES * TILE_WIDTH)
  }

  /** The leaf of a current deposit. @returns fresh memory. */
  getLeaf(depositCount: number): Hash {
    const from = LEAF_BYTES * (depositCount % TILE_WIDTH)
    return this.peekLeaves(depositCount).slice(from, from + LEAF_BYTES)
  }

  /** Lineage and leaf count of a root; undefined for a root that this shard does not know. */
  findRoot(localExitRoot: Hash): LocalExitRootEntry | undefined {
    return findLocalExitRoot(this.#view, localExitRoot)
  }

  /**
   * Number of current deposits that a tree of an older lineage holds for certain: those below every later cut. Of the deposits
   * above the lowest cut, it holds only the regrown ones (`regrown`).
   */
  sharedLeafCount({ lineage, leafCount }: LocalExitRootEntry): number {
    let shared: number = leafCount
    for (let later = lineage + 1; later <= this.lineage; later++)
      shared = Math.min(shared, this.lineages[later]!.cut)
    return shared
  }

  /** Regrown deposits of an older lineage: counts at or above the lowest later cut where that lineage has the same leaf as the current tree. */
  regrown(lineage: number): CountRanges {
    let ranges = this.#regrown.get(lineage)
    if (ranges === undefined) {
      ranges = this.#readRegrown(lineage)
      this.#regrown.set(lineage, ranges)
    }
    return ranges
  }

  /** The current deposits that a root commits to; undefined for a root that this shard does not know. */
  findCovered(localExitRoot: Hash): CoveredCounts | undefined {
    const entry = this.findRoot(localExitRoot)
    if (entry === undefined) return undefined
    const below = this.sharedLeafCount(entry)
    return { below, former: below < entry.leafCount ? entry : undefined }
  }

  #readRegrown(lineage: number): CountRanges {
    if (lineage === this.lineage) return CountRanges.none
    const range = { start: lineageStretchKey(lineage, 0), end: lineageStretchKey(lineage + 1, 0) }
    const stretches = this.#view.list('regrownStretches', range)
    return new CountRanges(
      stretches.flatMap(({ key, value }) => [readUint32BigEndian(key, 2), decodeUint32(value)]),
    )
  }
}
