import type { Hash } from '../../protocol/chainEvent.js'
import type { CoveredCounts, Settlement } from '../localExitRoots.types.js'
import type { FormerRoot } from '../sets/formerReach.js'

/** What the settlements read of the L1 shard's snapshot. */
export interface SettlementSource {
  readonly epoch: number
  /** Newest version of the rollup exit tree that a settlement made. */
  readonly newestVersion: number
  /** Settlements of one network in versions `from` … `to`, ascending. */
  listSettlements(networkId: number, from: number, to: number): readonly Settlement[]
}

/** What the settlements read of the source network's snapshot. */
export interface LocalExitRootSource {
  readonly networkId: number
  readonly epoch: number
  /** Moves with each BackwardLET: what a root of an earlier lineage surely covers shrinks. */
  readonly lineage: number
  /** Moves with each block that adds roots. */
  readonly leafCount: number
  /** Increases when roots settled inside a block were found. */
  readonly settledInsideBlocks: number
  findCovered(localExitRoot: Hash): CoveredCounts | undefined
}

/**
 * Look-ups in a row, per update, of roots that were unknown before and still are: bounds what a source network far behind the
 * L1 can cost a task. Those that are found do not count, each is found once.
 */
const RECHECKS = 1024

interface UnknownRoot {
  readonly position: number
  readonly localExitRoot: Hash
}

/**
 * How many deposits of one source network each of its settlements covers. A root that the source's shard does not know yet
 * covers nothing: a lower bound, filled in when the source has caught up.
 */
export class SettledCoverage {
  readonly #versions: number[] = []
  readonly #covered: number[] = []
  /** By position; none in a tree that was never cut. */
  readonly #former = new Map<number, FormerRoot>()
  /** By position. */
  #unknown: UnknownRoot[] = []
  /** Where the next recheck starts in `#unknown`, and how many of it are due. */
  #cursor = 0
  #due = 0
  /** Newest settlement whose root is known, by position. */
  #newestKnown = -1
  #listedVersion = -1
  #l1Epoch = -1
  #sourceEpoch = -1
  #lineage = -1
  #leafCount = -1
  #settledInsideBlocks = -1
  #generation = 0

  /** Moves when the coverage of a settlement that was there before changed. */
  get generation(): number {
    return this.#generation
  }

  /** True while roots that are unknown wait to be looked up again, though no shard has moved. */
  get isBehind(): boolean {
    return this.#due > 0
  }

  update(l1: SettlementSource, source: LocalExitRootSource): void {
    if (
      l1.epoch !== this.#l1Epoch ||
      source.epoch !== this.#sourceEpoch ||
      source.lineage !== this.#lineage
    ) {
      this.#l1Epoch = l1.epoch
      this.#sourceEpoch = source.epoch
      this.#lineage = source.lineage
      this.#versions.length = 0
      this.#covered.length = 0
      this.#former.clear()
      this.#unknown = []
      this.#due = 0
      this.#newestKnown = -1
      this.#listedVersion = -1
      this.#generation++
    } else if (
      source.leafCount !== this.#leafCount ||
      source.settledInsideBlocks !== this.#settledInsideBlocks
    ) {
      this.#due = this.#unknown.length
      // Roots are settled in the order in which the source makes them: what it has come to know follows what it knew.
      this.#cursor = this.#unknown.findIndex(({ position }) => position > this.#newestKnown)
      if (this.#cursor < 0) this.#cursor = 0
    }
    this.#leafCount = source.leafCount
    this.#settledInsideBlocks = source.settledInsideBlocks
    this.#recheck(source)
    if (this.#listedVersion === l1.newestVersion) return
    // Of versions that are complete: a rollup added with a root of its own may stand in the next one already.
    const from = this.#listedVersion + 1
    for (const { version, localExitRoot } of l1.listSettlements(source.networkId, from, l1.newestVersion)) {
      const position = this.#versions.length
      const covered = source.findCovered(localExitRoot)
      this.#versions.push(version)
      this.#covered.push(0)
      if (covered === undefined) this.#unknown.push({ position, localExitRoot })
      else this.#learn(position, covered)
      this.#listedVersion = version
    }
    this.#listedVersion = l1.newestVersion
  }

  /** All deposits below are covered by a rollup exit root of `version`; 0 when nothing was settled, or nothing known. */
  at(version: number): number {
    const position = this.#positionAt(version)
    return position < 0 ? 0 : this.#covered[position]!
  }

  /** The root of an older lineage in the rollup exit tree of `version`, where it may cover regrown deposits. */
  formerAt(version: number): FormerRoot | undefined {
    return this.#former.size === 0 ? undefined : this.#former.get(this.#positionAt(version))
  }

  /** Of the newest settlement up to `version`; −1 when there is none. */
  #positionAt(version: number): number {
    let low = 0
    let high = this.#versions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#versions[middle]! <= version) low = middle + 1
      else high = middle
    }
    return low - 1
  }

  #learn(position: number, { below, former }: CoveredCounts): void {
    this.#covered[position] = below
    if (former !== undefined) this.#former.set(position, former)
    this.#newestKnown = Math.max(this.#newestKnown, position)
  }

  /** Goes round the unknown ones, with at most RECHECKS in vain per update, until each was looked up since the source last moved. */
  #recheck(source: LocalExitRootSource): void {
    const found = new Set<UnknownRoot>()
    for (let inVain = 0; this.#due > 0 && inVain < RECHECKS; this.#due--) {
      if (this.#cursor >= this.#unknown.length) this.#cursor = 0
      const root = this.#unknown[this.#cursor++]!
      const covered = source.findCovered(root.localExitRoot)
      if (covered === undefined) inVain++
      else {
        inVain = 0
        this.#learn(root.position, covered)
        found.add(root)
      }
    }
    if (found.size === 0) return
    this.#generation++
    const next = this.#unknown[this.#cursor]
    this.#unknown = this.#unknown.filter((root) => !found.has(root))
    this.#cursor = next === undefined ? 0 : Math.max(0, this.#unknown.indexOf(next))
  }
}
