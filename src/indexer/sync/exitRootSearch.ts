import type { StatusRow } from '../../board/statusBoard.js'
import type { Hash } from '../../protocol/chainEvent.js'
import { encodeHex } from '../../protocol/hex.js'
import type { LeafCount, Lineage, NetworkId } from '../../protocol/units.js'
import type {
  FoundExitRoot,
  LineageSpan,
  LocalExitRoots,
  Settlement,
} from '../../shard/localExitRoots.types.js'
import { type Proposer, proposeOrThrow } from '../../shard/proposer.js'
import type { SettlementReader } from '../../shard/readiness/l1ShardReader.js'
import type { Clock } from '../../telemetry/clocks.js'

/** How long one step may take: the thread also has a chain to follow. */
const SLICE_MS = 20
/** Roots computed between two looks at the clock: about a millisecond. */
const COUNTS_AT_ONCE = 128
const NOWHERE: Place = { lineage: 0, leafCount: 0 }

/** A state of the local exit tree. */
interface Place {
  readonly lineage: number
  readonly leafCount: number
}

interface UnknownRoot {
  readonly root: Hash
  /** Place of the last known root settled before it: roots are mostly settled in the order of their leaf counts. */
  readonly after: Place
}

/** The leaf counts `from` + 1 … `to` of a lineage. */
interface Stretch {
  readonly lineage: number
  readonly from: number
  readonly to: number
}

/** One run over leaf counts that compares their roots with the roots searched for. */
interface Pass {
  readonly roots: RootSet
  readonly stretches: Iterator<Stretch, void>
  /** True while the pass is in the stretches where its roots most likely are. */
  isLikely: boolean
  readonly end: () => void
}

export interface ExitRootSearchOptions {
  readonly networkId: NetworkId
  readonly exitRoots: LocalExitRoots
  readonly proposer: Proposer
  readonly settlements: SettlementReader
  readonly clock: Pick<Clock, 'now'>
  /** This network's row of the status board. */
  readonly row: StatusRow
  /** The L1's row. */
  readonly l1: StatusRow
}

/**
 * Finds the leaf counts of roots that were settled inside a block. Any leaf count can be settled, but only roots at block ends are
 * stored: a root per deposit would make backfill expensive. A settled root that is not stored is searched for leaf count by leaf
 * count: first from the root settled before it on, then in every lineage from its start. A root that is found nowhere is also
 * compared with the roots of leaves that are appended later.
 */
export class ExitRootSearch {
  readonly #options: ExitRootSearchOptions
  #reorgs = -1
  /** Epoch and deposit count of the tree at the last step. */
  #seenTree: readonly [number, number] = [-1, -1]
  #seenL1Commits = -1
  #l1Epoch = -1
  #nextVersion = 0
  /** Settlements that were listed; those from `#waitingAt` on are not looked up yet. */
  #waiting: readonly Settlement[] = []
  #waitingAt = 0
  #lastKnown = NOWHERE
  /** Roots that are not stored and wait for their pass. */
  #unknown: UnknownRoot[] = []
  #pass: Pass | undefined
  /** Roots found nowhere in the tree up to `#searchedTo`. */
  #lost = new RootSet()
  #searchedTo = NOWHERE
  #found: FoundExitRoot[] = []
  /** Whether the last look had anything to search for. */
  #hasSearched = false

  constructor(options: ExitRootSearchOptions) {
    this.#options = options
  }

  /** True while a search is unfinished, or the L1 has committed since the last step. */
  get hasWork(): boolean {
    return (
      this.isBehind || this.#pass !== undefined || this.#options.l1.get('commits') !== this.#seenL1Commits
    )
  }

  /** True until every settled root was searched for where it most likely is. */
  get isBehind(): boolean {
    return this.#waitingAt < this.#waiting.length || this.#unknown.length > 0 || this.#pass?.isLikely === true
  }

  /** Searches for one slice of time, and stores the roots it finds. @throws what `propose` throws: the search begins anew then. */
  async step(): Promise<void> {
    const found = this.search()
    try {
      if (found.length > 0) await proposeOrThrow(this.#options.proposer, { type: 'addSettledRoots', found })
    } catch (error) {
      this.#startAnew(-1)
      throw error
    }
    this.stored()
  }

  /** Searches for one slice of time. @returns the roots that it has found, until `stored` says that the shard has them. */
  search(): readonly FoundExitRoot[] {
    const { clock, exitRoots, row, l1 } = this.#options
    const l1Commits = l1.get('commits')
    const tree = [row.get('epoch'), row.get('depositCount')] as const
    const isSame = tree[0] === this.#seenTree[0] && tree[1] === this.#seenTree[1]
    this.#hasSearched = !isSame || this.hasWork
    if (!this.#hasSearched) return []
    const reorgs = exitRoots.reorgs()
    if (reorgs !== this.#reorgs) this.#startAnew(reorgs)
    const untilMs = clock.now() + SLICE_MS
    try {
      if (l1Commits !== this.#seenL1Commits) this.#listSettlements()
      this.#seenL1Commits = l1Commits
      this.#seenTree = tree
      while (this.#advance() && clock.now() < untilMs);
    } catch (error) {
      this.#startAnew(-1)
      throw error
    }
    return this.#found
  }

  /** The shard has the roots that `search` has found. */
  stored(): void {
    if (!this.#hasSearched) return
    this.#found = []
    if (!this.isBehind) this.#options.row.set('searchedL1Commits', this.#seenL1Commits)
  }

  #startAnew(reorgs: number): void {
    this.#reorgs = reorgs
    this.#seenL1Commits = -1
    this.#l1Epoch = -1
    this.#lost = new RootSet()
    this.#searchedTo = NOWHERE
    this.#found = []
  }

  #listSettlements(): void {
    const { settlements: reader, networkId } = this.#options
    const { epoch, newestVersion, settlements } = reader.readSettlements(networkId, (l1Epoch) => {
      if (l1Epoch !== this.#l1Epoch) this.#listAnew()
      return this.#nextVersion
    })
    this.#l1Epoch = epoch
    this.#nextVersion = newestVersion + 1
    this.#waiting = [...this.#waiting.slice(this.#waitingAt), ...settlements]
    this.#waitingAt = 0
  }

  /** Lists settlements from the first one again. `#lost` stays: it depends on the tree only, not on the L1. */
  #listAnew(): void {
    this.#nextVersion = 0
    this.#waiting = []
    this.#waitingAt = 0
    this.#lastKnown = NOWHERE
    this.#unknown = []
    this.#pass = undefined
  }

  /** Looks up one settlement, or searches one stretch. @returns false when there is nothing to do. */
  #advance(): boolean {
    const settlement = this.#waiting[this.#waitingAt]
    if (settlement !== undefined) {
      this.#waitingAt++
      this.#lookUp(settlement.localExitRoot)
      return true
    }
    this.#pass ??= this.#nextPass()
    if (this.#pass === undefined) return false
    const { value, done } = this.#pass.stretches.next()
    if (done === true) {
      this.#pass.end()
      this.#pass = undefined
    } else this.#compare(this.#pass.roots, value)
    return true
  }

  #lookUp(root: Hash): void {
    const known = this.#options.exitRoots.find(root)
    if (known !== undefined) this.#lastKnown = known
    else if (!this.#lost.has(root)) this.#unknown.push({ root, after: this.#lastKnown })
  }

  #nextPass(): Pass | undefined {
    const spans = this.#options.exitRoots.lineages()
    const lineage = spans.length - 1
    const tip = { lineage, leafCount: spans[lineage]!.leafCount }
    const before = this.#searchedTo
    const isAtTip = before.lineage === tip.lineage && before.leafCount === tip.leafCount
    if (this.#lost.size > 0 && !isAtTip) {
      const end = () => {
        this.#searchedTo = tip
      }
      return { roots: this.#lost, stretches: stretchesBehind(spans, before), isLikely: false, end }
    }
    this.#searchedTo = tip
    if (this.#unknown.length === 0) return undefined
    const roots = new RootSet()
    for (const unknown of this.#unknown) roots.add(unknown)
    this.#unknown = []
    const end = () => {
      for (const unknown of roots.values()) this.#lost.add(unknown)
    }
    const pass: Pass = {
      roots,
      stretches: likelyFirst(spans, roots, () => (pass.isLikely = false)),
      isLikely: true,
      end,
    }
    return pass
  }

  #compare(roots: RootSet, { lineage, from, to }: Stretch): void {
    const leafCounts = Array.from({ length: to - from }, (_, index) => from + 1 + index)
    const bytes = this.#options.exitRoots.rootsAt(lineage, leafCounts)
    for (const [index, leafCount] of leafCounts.entries()) {
      const root = roots.take(bytes, 32 * index)
      if (root !== undefined)
        this.#found.push({ root, lineage: lineage as Lineage, leafCount: leafCount as LeafCount })
    }
  }
}

/** All leaf counts appended after a place. */
function* stretchesBehind(
  spans: readonly LineageSpan[],
  { lineage, leafCount }: Place,
): Generator<Stretch, void> {
  for (let later = lineage; later < spans.length; later++) {
    const span = spans[later]!
    yield* stretches(later, later === lineage ? Math.max(leafCount, span.cut) : span.cut, span.leafCount)
  }
}

/**
 * First the leaf counts from the root settled before each of `roots` on, newest lineage first. Then, if some roots are not found by
 * then, all leaf counts.
 */
function* likelyFirst(
  spans: readonly LineageSpan[],
  roots: RootSet,
  likelyIsDone: () => void,
): Generator<Stretch, void> {
  for (let lineage = spans.length - 1; lineage >= 0; lineage--) {
    const { cut, leafCount } = spans[lineage]!
    for (let from = cut; ; ) {
      from = Math.max(from, roots.firstBehind(lineage, cut))
      if (from >= leafCount) break
      const to = Math.min(leafCount, from + COUNTS_AT_ONCE)
      yield { lineage, from, to }
      from = to
    }
  }
  likelyIsDone()
  for (let lineage = spans.length - 1; lineage >= 0 && roots.size > 0; lineage--)
    for (const stretch of stretches(lineage, spans[lineage]!.cut, spans[lineage]!.leafCount)) {
      if (roots.size === 0) return
      yield stretch
    }
}

function* stretches(lineage: number, from: number, end: number): Generator<Stretch, void> {
  for (let at = from; at < end; at += COUNTS_AT_ONCE)
    yield { lineage, from: at, to: Math.min(end, at + COUNTS_AT_ONCE) }
}

/** The roots that a pass searches for. */
class RootSet {
  readonly #roots = new Map<string, UnknownRoot>()
  /** The first three bytes of each root: they rule out nearly every other root without building a hex key. */
  readonly #begins = new Set<number>()

  get size(): number {
    return this.#roots.size
  }

  values(): Iterable<UnknownRoot> {
    return this.#roots.values()
  }

  has(root: Hash): boolean {
    return this.#roots.has(encodeHex(root))
  }

  add(unknown: UnknownRoot): void {
    this.#begins.add(beginOf(unknown.root, 0))
    this.#roots.set(encodeHex(unknown.root), unknown)
  }

  /** Removes the root at `offset` from the set. @returns undefined when it is not in the set. */
  take(bytes: Uint8Array, offset: number): Hash | undefined {
    if (!this.#begins.has(beginOf(bytes, offset))) return undefined
    const key = encodeHex(bytes.subarray(offset, offset + 32))
    const root = this.#roots.get(key)?.root
    this.#roots.delete(key)
    return root
  }

  /** The smallest leaf count of the lineage after which a root of the set is likely; Infinity when none is likely in it. */
  firstBehind(lineage: number, cut: number): number {
    let first = Number.POSITIVE_INFINITY
    for (const { after } of this.#roots.values())
      if (after.lineage <= lineage)
        first = Math.min(first, after.lineage === lineage ? Math.max(cut, after.leafCount) : cut)
    return first
  }
}

function beginOf(bytes: Uint8Array, offset: number): number {
  return (bytes[offset]! << 16) | (bytes[offset + 1]! << 8) | bytes[offset + 2]!
}
