import { isSameHash } from '../../merkle/branch.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import type { LineageLink } from '../../merkle/nodeStore.js'
import type { TreeSource } from '../../merkle/treeTiles.js'
import { EMPTY_TREE_ROOT } from '../../merkle/zeroHashes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import type { LeafCount, Lineage, NetworkId } from '../../protocol/units.js'
import { trees } from '../../store/codecs/keys.js'
import type { LocalExitRootEntry } from '../../store/codecs/smallRows.js'
import type { ReadView } from '../../store/shardStore.types.js'
import { findExitRoot } from '../hashRuns.js'
import { KeptTiles } from '../keptTiles.js'
import type { SnapshotState } from '../snapshotState.js'
import { readLineages, tileReader } from '../tiles.js'

const ZERO = new Uint8Array(32)
/** "No deposits" shows up as Z32 or as 32 zero bytes, depending on contract and version. */
const NO_LEAVES: LocalExitRootEntry = { lineage: 0 as Lineage, leafCount: 0 as LeafCount }

/** The local exit tree of one network: its lineages, its roots, its tiles. */
export class ExitTreeReads implements TreeSource {
  readonly hasher: TreeHasher
  readonly tiles: KeptTiles
  readonly #view: ReadView
  readonly #state: SnapshotState
  readonly networkId: NetworkId
  #lineages: LineageLink[] | undefined

  constructor(view: ReadView, state: SnapshotState, networkId: NetworkId, hasher: TreeHasher) {
    this.#view = view
    this.#state = state
    this.networkId = networkId
    this.hasher = hasher
    this.tiles = new KeptTiles(tileReader(view, trees.localExitTree))
  }

  reset(): void {
    this.#lineages = undefined
    this.tiles.reset()
  }

  get epoch(): number {
    return this.#state.epoch
  }

  /** Newest lineage. */
  get lineage(): number {
    return this.#state.counters.lineage
  }

  /** Leaves of the newest lineage = deposits served. */
  get leafCount(): number {
    return this.#state.counters.deposits
  }

  /** By number of the lineage. A tree that was never cut has one. */
  get lineages(): readonly LineageLink[] {
    this.#lineages ??= readLineages(this.#view, this.lineage)
    return this.#lineages
  }

  /** Which tree the root is the root of; undefined for a root that this shard has not seen. */
  findRoot(localExitRoot: Hash): LocalExitRootEntry | undefined {
    if (isSameHash(localExitRoot, ZERO) || isSameHash(localExitRoot, EMPTY_TREE_ROOT)) return NO_LEAVES
    return findExitRoot(this.#view, localExitRoot)
  }

  /**
   * Deposits, as they are now, that a tree of an earlier lineage holds too: those below every cut since. A leaf count alone is
   * not enough, since deposit counts are used again after a cut.
   */
  sharedLeafCount({ lineage, leafCount }: LocalExitRootEntry): number {
    let shared: number = leafCount
    for (let later = lineage + 1; later <= this.lineage; later++)
      shared = Math.min(shared, this.lineages[later]!.cut)
    return shared
  }

  /** Deposits, as they are now, that the root commits to; undefined for a root that this shard has not seen. */
  findCoveredCount(localExitRoot: Hash): number | undefined {
    const entry = this.findRoot(localExitRoot)
    return entry === undefined ? undefined : this.sharedLeafCount(entry)
  }
}
