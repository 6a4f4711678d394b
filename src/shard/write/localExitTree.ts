import { appendLeaves, startLineage } from '../../merkle/appendOnlyTree.js'
import { HASH_BYTES } from '../../merkle/branch.js'
import type { TreeHasher } from '../../merkle/hasher.js'
import { getLeaf, getRoot, getRootsAtCounts } from '../../merkle/treeProofs.js'
import { getTile, TILE_WIDTH, type TreeSink, type TreeSource, tileIndexOf } from '../../merkle/treeTiles.js'
import { equalBytes, readUint32BigEndian } from '../../protocol/abiBytes.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import { lineageKey, lineageStretchKey, trees } from '../../store/layout/keys.js'
import type { Counters } from '../../store/layout/metaValues.js'
import { decodeUint32, encodeUint32 } from '../../store/layout/smallRows.js'
import { hashKinds } from '../../store/layout/tables.js'
import type { WriteView } from '../../store/shardStore.types.js'
import type { LineageSpan } from '../localExitRoots.types.js'
import type { ContradictionReason } from '../shardCommand.types.js'
import { readLineageSpans } from '../snapshot/localExitRoots.js'
import { readLineages, tileWriter } from '../snapshot/tiles.js'
import type { HashRunAppender } from './hashRunAppender.js'
import { refuse } from './refuse.js'

/** A root that an event names, to be compared with the root of the current leaves. */
interface PublishedRoot {
  readonly root: Hash
  /** Why the command is refused if they differ. */
  readonly reason: ContradictionReason
  /** The event and its block, for the error message. */
  readonly source: string
}

/**
 * The local exit tree inside one transaction. `flush` appends leaves and computes roots in bulk at the end of each stretch of blocks:
 * about one hash per leaf, and 32 per root.
 */
export class LocalExitTree {
  readonly #view: WriteView
  readonly #counters: Counters
  readonly #hasher: TreeHasher
  readonly #hashRuns: HashRunAppender
  readonly #leaves: Uint8Array
  /** Number of the batch's leaves that are in the tree. */
  #appended = 0
  /** Number of the batch's leaves that `take` has taken. */
  #taken = 0
  /** Leaf counts whose roots the next flush stores. */
  #leafCounts: number[] = []
  /** Published roots to compare these with, by position in `#leafCounts`. */
  #published = new Map<number, PublishedRoot>()
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

  /** Number of the batch's leaves that were taken: the next one's position in the batch. */
  get taken(): number {
    return this.#taken
  }

  /** Takes the batch's next leaf. The caller counts it in `counters.deposits`. @returns its position in the batch. */
  take(): number {
    return this.#taken++
  }

  /** Hash of one of the batch's leaves. @param position in the batch. */
  leafOf(position: number): Hash {
    return this.#leaves.subarray(32 * position, 32 * position + 32)
  }

  /**
   * The next flush stores the root of the current leaves among the local exit roots.
   * @param published if given, the flush checks that it is the same root.
   */
  noteRoot(published?: PublishedRoot): void {
    if (published !== undefined) this.#published.set(this.#leafCounts.length, published)
    this.#leafCounts.push(this.#counters.deposits)
  }

  /** Root of the first `leafCount` leaves of the current tree. */
  rootAt(leafCount: number): Hash {
    this.flush()
    return getRoot(this.#tree(), this.#counters.lineage, leafCount)
  }

  /** Hash of a stored leaf. @returns fresh bytes. */
  leafAt(depositCount: number): Hash {
    this.flush()
    return getLeaf(this.#tree(), this.#counters.lineage, depositCount)
  }

  /** BackwardLET: starts a new lineage that shares the first `cut` leaves. The caller has checked the roots. */
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
   * @throws Refusal when a root differs from the published one.
   */
  flush(): void {
    const { lineage, deposits } = this.#counters
    if (this.#appended < this.#taken) {
      const added = this.#taken - this.#appended
      const leaves = this.#leaves.subarray(32 * this.#appended, 32 * this.#taken)
      appendLeaves(this.#tree(), lineage, deposits - added, leaves)
      for (let at = 0; at < added; at++)
        this.#hashRuns.append(hashKinds.depositsByLeafHash, leaves, 32 * at, deposits - added + at)
      if (lineage > 0) noteRegrown(this.#view, this.#tree(), this.#former(), deposits - added, leaves)
      this.#appended = this.#taken
    }
    const leafCounts = this.#leafCounts
    if (leafCounts.length === 0) return
    const roots = getRootsAtCounts(this.#tree(), lineage, leafCounts)
    for (const [index, { root, reason, source }] of this.#published) {
      const computed = roots.subarray(32 * index, 32 * index + 32)
      if (!equalBytes(computed, root))
        refuse(
          reason,
          `${source} says exit root ${encodeHex(root)}, but ${leafCounts[index]} deposits give ${encodeHex(computed)}`,
        )
    }
    // One block may note a root twice: after a BackwardLET, and at its end.
    for (let index = 0; index < leafCounts.length; index++)
      if (leafCounts[index] !== leafCounts[index - 1])
        this.#hashRuns.append(hashKinds.localExitRoots, roots, 32 * index, lineage, leafCounts[index]!)
    this.#leafCounts = []
    this.#published.clear()
  }

  /** All lineages but the newest. They do not grow any more, so they are kept. */
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

/**
 * Stores which of the appended leaves are regrown deposits: they equal the leaf of an older lineage at the same count, so that roots of
 * that lineage cover them.
 * @param former all lineages but the newest, by number. @param leaves 32·N bytes, appended from deposit count `from` on.
 */
export function noteRegrown(
  view: WriteView,
  tree: TreeSource,
  former: readonly LineageSpan[],
  from: number,
  leaves: Uint8Array,
): void {
  const end = from + leaves.length / HASH_BYTES
  for (const [lineage, { leafCount }] of former.entries()) {
    let isSame = false
    let begin = from
    const last = Math.min(end, leafCount)
    for (let depositCount = from; depositCount < last; ) {
      const tile = getTile(tree, lineage, 0, tileIndexOf(0, depositCount))
      const tileEnd = Math.min(last, depositCount - (depositCount % TILE_WIDTH) + TILE_WIDTH)
      // All leaves of the tile are compared before anything is stored: storing overwrites the tile's memory.
      const sames = Array.from({ length: tileEnd - depositCount }, (_, index) =>
        isSameLeaf(tile, (depositCount + index) % TILE_WIDTH, leaves, depositCount + index - from),
      )
      for (const same of sames) {
        if (same && !isSame) begin = depositCount
        if (!same && isSame) putStretch(view, lineage, begin, depositCount)
        isSame = same
        depositCount++
      }
    }
    if (isSame) putStretch(view, lineage, begin, last)
  }
}

/** Removes the regrown deposits at or above a cut. @param newest number of the lineage that starts with the cut. */
export function cutRegrown(view: WriteView, newest: number, cut: number): void {
  for (let lineage = 0; lineage < newest; lineage++) {
    const range = { start: lineageStretchKey(lineage, cut), end: lineageStretchKey(lineage + 1, 0) }
    for (const { key } of view.list('regrownStretches', range)) view.remove('regrownStretches', key)
    const before = lastBefore(view, lineage, cut)
    if (before !== undefined && before.end > cut)
      view.put('regrownStretches', lineageStretchKey(lineage, before.from), encodeUint32(cut))
  }
}

function isSameLeaf(tile: Uint8Array, inTile: number, leaves: Uint8Array, inLeaves: number): boolean {
  for (let byte = 0; byte < HASH_BYTES; byte++)
    if (tile[HASH_BYTES * inTile + byte] !== leaves[HASH_BYTES * inLeaves + byte]) return false
  return true
}

/** Stores a stretch. Joins it with a stretch that ends where it starts. */
function putStretch(view: WriteView, lineage: number, from: number, end: number): void {
  const before = lastBefore(view, lineage, from)
  const begin = before?.end === from ? before.from : from
  view.put('regrownStretches', lineageStretchKey(lineage, begin), encodeUint32(end))
}

/** The last stretch that starts before a count. */
function lastBefore(
  view: WriteView,
  lineage: number,
  depositCount: number,
): { readonly from: number; readonly end: number } | undefined {
  const [entry] = view.list('regrownStretches', {
    start: lineageStretchKey(lineage, depositCount),
    end: lineageStretchKey(lineage, 0),
    limit: 1,
    reverse: true,
  })
  return entry && { from: readUint32BigEndian(entry.key, 2), end: decodeUint32(entry.value) }
}
