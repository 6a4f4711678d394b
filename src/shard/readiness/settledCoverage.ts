import type { Hash } from '../../protocol/chainEvent.js'
import type { CoveredCounts, Settlement } from '../localExitRoots.types.js'
import type { FormerRoot } from '../sets/formerReach.js'

/** What `SettledCoverage` reads of the L1 shard's snapshot. */
export interface SettlementSource {
  readonly epoch: number
  /** Newest version of the rollup exit tree that a settlement made. */
  readonly newestVersion: number
  /** Settlements of one network in versions `from` … `to`, ascending. */
  listSettlements(networkId: number, from: number, to: number): readonly Settlement[]
}

/** What `SettledCoverage` reads of the source network's snapshot. */
export interface LocalExitRootSource {
  readonly networkId: number
  readonly epoch: number
  /** Grows with each BackwardLET, after which roots of older lineages cover less. */
  readonly lineage: number
  /** Grows with each block that adds roots. */
  readonly leafCount: number
  /** Grows when roots that were settled inside a block are found. */
  readonly settledInsideBlocks: number
  findCovered(localExitRoot: Hash): CoveredCounts | undefined
}

/**
 * An update stops after this many look-ups in a row of roots that are still unknown. This limits what a source network that is far
 * behind the L1 costs one task. Look-ups that succeed do not count: each root is found only once.
 */
const RECHECKS = 1024

interface UnknownRoot {
  readonly position: number
  readonly localExitRoot: Hash
}

/**
 * How many deposits of one source network each of its settlements covers. A root that the source's shard does not know yet counts as
 * covering nothing, until the source has indexed it.
 */
export class SettledCoverage {
  readonly #versions: number[] = []
  readonly #covered: number[] = []
  /** By position of the settlement; empty for a tree that was never cut. */
  readonly #former = new Map<number, FormerRoot>()
  /** Settlements whose root is unknown, by position. */
  #unknown: UnknownRoot[] = []
  /** Index in `#unknown` at which the next recheck starts. */
  #cursor = 0
  /** Number of unknown roots still to look up. */
  #due = 0
  /** Position of the newest settlement whose root is known. */
  #newestKnown = -1
  #listedVersion = -1
  #l1Epoch = -1
  #sourceEpoch = -1
  #lineage = -1
  #leafCount = -1
  #settledInsideBlocks = -1
  #generation = 0

  /** Grows when the coverage of an existing settlement changes, not when settlements are appended. */
  get generation(): number {
    return this.#generation
  }

  /** True while unknown roots are still to be looked up again: the next task must update even if no shard has moved. */
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
      // Roots are settled in the order in which the source makes them, so the newly known ones follow the newest known one.
      this.#cursor = this.#unknown.findIndex(({ position }) => position > this.#newestKnown)
      if (this.#cursor < 0) this.#cursor = 0
    }
    this.#leafCount = source.leafCount
    this.#settledInsideBlocks = source.settledInsideBlocks
    this.#recheck(source)
    if (this.#listedVersion === l1.newestVersion) return
    // Only versions up to the newest complete one: a rollup that was added with a root may already have an entry in the next one.
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

  /** The rollup exit root of `version` covers all deposits below this count; 0 when nothing was settled, or its root is unknown. */
  at(version: number): number {
    const position = this.#positionAt(version)
    return position < 0 ? 0 : this.#covered[position]!
  }

  /** The network's root in the rollup exit tree of `version`, if it is of an older lineage and may cover regrown deposits. */
  formerAt(version: number): FormerRoot | undefined {
    return this.#former.size === 0 ? undefined : this.#former.get(this.#positionAt(version))
  }

  /** Position of the newest settlement up to `version`; −1 when there is none. */
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

  /**
   * Looks up the unknown roots in turn, until each was looked up once since the source last moved. Stops earlier after RECHECKS
   * look-ups in vain; the next update goes on from there.
   */
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
