import { ChainDataError } from '../../errors/chainDataError.js'
import type { HaltReason } from '../../errors/haltReason.js'
import { appendLeaves, startLineage } from '../../merkle/appendOnlyTree.js'
import { isSameHash } from '../../merkle/branch.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getLeaf, getRoot, getRootsAtCounts } from '../../merkle/treeProofs.js'
import type { TreeSink } from '../../merkle/treeTiles.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { lineageKey, trees } from '../../store/codecs/keys.js'
import type { Counters } from '../../store/codecs/metaValues.js'
import { encodeUint32 } from '../../store/codecs/smallRows.js'
import type { WriteView } from '../../store/shardStore.types.js'
import { hashKinds } from '../../store/tables.js'
import { readLineages, tileWriter } from '../tiles.js'
import type { HashRunAppender } from './hashRunAppender.js'

/** A root that the chain tells, for the leaves there were at that moment. */
interface RootClaim {
  readonly leafCount: number
  /** undefined: nobody told it; it is only noted. */
  readonly expected: Hash | undefined
  readonly reason: HaltReason
  /** Who says so, for the error message. */
  readonly source: string
}

/**
 * The local exit tree inside one transaction. Leaves are appended and roots worked out in bulk when a stretch of blocks
 * ends (`flush`): appending costs about one hash per leaf, a root 32.
 */
export class LocalExitTree {
  readonly #view: WriteView
  readonly #counters: Counters
  readonly #hasher: TreeHasher
  readonly #hashRuns: HashRunAppender
  readonly #leaves: Uint8Array
  /** Leaves of the batch that are in the tree, and that wait for the next flush behind them. */
  #appended = 0
  #taken = 0
  #roots: RootClaim[] = []
  #sink: TreeSink | undefined

  constructor(options: {
    readonly view: WriteView
    readonly counters: Counters
    readonly hasher: TreeHasher
    readonly hashRuns: HashRunAppender
    /** 32 bytes per leaf that the batch will add, in order. */
    readonly leaves: Uint8Array
  }) {
    this.#view = options.view
    this.#counters = options.counters
    this.#hasher = options.hasher
    this.#hashRuns = options.hashRuns
    this.#leaves = options.leaves
  }

  /** Number of the batch's leaves that were taken in: the next one's position. */
  get taken(): number {
    return this.#taken
  }

  /** Takes the batch's next leaf in. The caller counts it in `counters.deposits`. @returns the leaf. */
  take(): Hash {
    const start = 32 * this.#taken++
    return this.#leaves.subarray(start, start + 32)
  }

  /**
   * Notes the root of the leaves there are now among the exit roots, and checks it when the chain told it.
   * @param expected never kept beyond the next flush.
   */
  noteRoot(source: string, reason: HaltReason, expected?: Hash): void {
    this.#roots.push({ leafCount: this.#counters.deposits, expected, reason, source })
  }

  /** Root of the first `leafCount` leaves now. */
  rootAt(leafCount: number): Hash {
    this.flush()
    return getRoot(this.#tree(), this.#counters.lineage, leafCount)
  }

  /** @returns fresh bytes. */
  leafAt(depositCount: number): Hash {
    this.flush()
    return getLeaf(this.#tree(), this.#counters.lineage, depositCount)
  }

  /** BackwardLET: goes on as a new lineage that shares the first `cut` leaves. The caller has checked the roots. */
  cut(cut: number): void {
    this.flush()
    const parent = this.#counters.lineage
    startLineage(this.#tree(), parent, cut)
    this.#counters.lineage = parent + 1
    this.#view.put('lineages', lineageKey(parent + 1), encodeUint32(cut))
    this.#sink = undefined
  }

  /**
   * Writes leaves and roots.
   * @throws ChainDataError when a root differs from what the chain told.
   */
  flush(): void {
    const { lineage, deposits } = this.#counters
    if (this.#appended < this.#taken) {
      const added = this.#taken - this.#appended
      const leaves = this.#leaves.subarray(32 * this.#appended, 32 * this.#taken)
      appendLeaves(this.#tree(), lineage, deposits - added, leaves)
      this.#appended = this.#taken
    }
    if (this.#roots.length === 0) return
    const roots = getRootsAtCounts(
      this.#tree(),
      lineage,
      this.#roots.map(({ leafCount }) => leafCount),
    )
    this.#roots.forEach(({ leafCount, expected, reason, source }, index) => {
      const root = roots.subarray(32 * index, 32 * index + 32)
      if (expected !== undefined && !isSameHash(root, expected))
        throw new ChainDataError(
          reason,
          `${source} tells exit root ${encodeHex(expected)}, got ${encodeHex(root)} from ${leafCount} deposits`,
        )
      // One block may tell a root twice: behind a BackwardLET, and at its end.
      if (leafCount !== this.#roots[index - 1]?.leafCount)
        this.#hashRuns.append(hashKinds.localExitRoots, root, lineage, leafCount)
    })
    this.#roots = []
  }

  #tree(): TreeSink {
    this.#sink ??= {
      hasher: this.#hasher,
      tiles: tileWriter(this.#view, trees.localExitTree),
      lineages: readLineages(this.#view, this.#counters.lineage),
    }
    return this.#sink
  }
}
