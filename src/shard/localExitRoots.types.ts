import type { Hash } from '../protocol/chainEvent.js'
import type { LocalExitRootEntry } from '../store/layout/smallRows.js'
import type { FormerRoot } from './sets/formerReach.js'

/** A lineage of the local exit tree. Leaves below `cut` belong to older lineages; it grew up to `leafCount` leaves. */
export interface LineageSpan {
  readonly cut: number
  readonly leafCount: number
}

/** A settled exit root with its lineage and leaf count. */
export interface FoundExitRoot extends LocalExitRootEntry {
  readonly root: Hash
}

/** The roots of a network's local exit tree, as the search for roots settled inside a block needs them. */
export interface LocalExitRoots {
  /** Increases when blocks, and roots with them, are taken back. */
  epoch(): number
  /** Indexed by lineage number. */
  lineages(): readonly LineageSpan[]
  /** undefined for a root that the shard does not know. */
  find(root: Hash): LocalExitRootEntry | undefined
  /** Roots of the tree at these leaf counts, 32 bytes each. @param leafCounts ascending. */
  rootsAt(lineage: number, leafCounts: readonly number[]): Uint8Array
  /** Stores found roots. Their undo belongs to the checkpoint's block. */
  add(found: readonly FoundExitRoot[]): void
}

/** A local exit root that a rollup settled: its leaf in the rollup exit tree from `version` on. */
export interface Settlement {
  readonly version: number
  readonly localExitRoot: Hash
}

/** The current deposits that a local exit root covers. */
export interface CoveredCounts {
  /** All deposits below. */
  readonly below: number
  /** Set where the root may also cover regrown deposits above. */
  readonly former: FormerRoot | undefined
}
