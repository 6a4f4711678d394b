import type { Hash } from '../protocol/chainEvent.js'
import type { LocalExitRootEntry } from '../store/layout/smallRows.js'
import type { FormerRoot } from './sets/formerReach.js'

/** A lineage of the local exit tree. It shares the leaves below `cut` with older lineages and grew to `leafCount` leaves. */
export interface LineageSpan {
  readonly cut: number
  readonly leafCount: number
}

/** A settled local exit root with its lineage and leaf count. */
export interface FoundExitRoot extends LocalExitRootEntry {
  readonly root: Hash
}

/** The roots of a network's local exit tree, for the search for roots that were settled inside a block. */
export interface LocalExitRoots {
  /** Number of reorgs: each may have taken back blocks and their roots. A cut takes no root back. */
  reorgs(): number
  /** Indexed by lineage number. */
  lineages(): readonly LineageSpan[]
  /** undefined for a root that the shard does not know. */
  find(root: Hash): LocalExitRootEntry | undefined
  /** Roots of the tree at these leaf counts, 32 bytes each. @param leafCounts ascending. */
  rootsAt(lineage: number, leafCounts: readonly number[]): Uint8Array
}

/** A local exit root that a rollup settled: its leaf in the rollup exit tree from `version` on. */
export interface Settlement {
  readonly version: number
  readonly localExitRoot: Hash
}

/** The current deposits that a local exit root commits to. */
export interface CoveredCounts {
  /** It commits to all deposits below this count. */
  readonly below: number
  /** Set when the root may also commit to regrown deposits above. */
  readonly former: FormerRoot | undefined
}
