import type { HaltReason } from '../../board/haltReason.js'
import { ChainDataError } from '../../errors/chainDataError.js'
import { appendLeaves, startLineage } from '../../merkle/appendOnlyTree.js'
import { isSameHash } from '../../merkle/branch.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getLeaf, getRoot, getRootsAtCounts } from '../../merkle/treeProofs.js'
import type { TreeSink } from '../../merkle/treeTiles.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { lineageKey, trees } from '../../store/layout/keys.js'
import type { Counters } from '../../store/layout/metaValues.js'
import { encodeUint32 } from '../../store/layout/smallRows.js'
import { hashKinds } from '../../store/layout/tables.js'
import type { WriteView } from '../../store/shardStore.types.js'
import type { LineageSpan } from '../localExitRoots.types.js'
import { readLineageSpans } from '../snapshot/localExitRoots.js'
import { readLineages, tileWriter } from '../snapshot/tiles.js'
import type { HashRunAppender } from './hashRunAppender.js'
import { cutRegrown, noteRegrown } from './regrownLeaves.js'

/** A root that the chain tells, of the leaves there are at that moment. */
interface ToldRoot {
  readonly root: Hash
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
  /** Leaf counts whose roots are asked for, and what was told of some, by their position. */
  #leafCounts: number[] = []
  #told = new Map<number, ToldRoot>()
  #sink: TreeSink | undefined
  #formerSpans: readonly LineageSpan[] | undefined

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

  /** Takes the batch's next leaf in. The caller counts it in `counters.deposits`. @returns its position. */
  take(): number {
    return this.#taken++
  }

  /** @param position in the batch. */
  leafOf(position: number): Hash {
    return this.#leaves.subarray(32 * position, 32 * position + 32)
  }

  /**
   * Notes the root of the leaves there are now among the exit roots, and checks it when the chain told it.
   * @param told never kept beyond the next flush.
   */
  noteRoot(told?: ToldRoot): void {
    if (told !== undefined) this.#told.set(this.#leafCounts.length, told)
    this.#leafCounts.push(this.#counters.deposits)
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
    cutRegrown(this.#view, parent + 1, cut)
    this.#formerSpans = undefined
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
      if (lineage > 0) noteRegrown(this.#view, this.#tree(), this.#former(), deposits - added, leaves)
      this.#appended = this.#taken
    }
    const leafCounts = this.#leafCounts
    if (leafCounts.length === 0) return
    const roots = getRootsAtCounts(this.#tree(), lineage, leafCounts)
    for (const [index, { root, reason, source }] of this.#told) {
      const got = roots.subarray(32 * index, 32 * index + 32)
      if (!isSameHash(got, root))
        throw new ChainDataError(
          reason,
          `${source} tells exit root ${encodeHex(root)}, got ${encodeHex(got)} from ${leafCounts[index]} deposits`,
        )
    }
    // One block may tell a root twice: behind a BackwardLET, and at its end.
    for (let index = 0; index < leafCounts.length; index++)
      if (leafCounts[index] !== leafCounts[index - 1])
        this.#hashRuns.append(hashKinds.localExitRoots, roots, 32 * index, lineage, leafCounts[index]!)
    this.#leafCounts = []
    this.#told.clear()
  }

  /** Lineages older than the newest: they do not grow any more. */
  #former(): readonly LineageSpan[] {
    this.#formerSpans ??= readLineageSpans(this.#view, this.#counters).slice(0, -1)
    return this.#formerSpans
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
