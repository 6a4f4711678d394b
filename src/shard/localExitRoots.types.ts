import type { Hash } from '../protocol/chainEvent.js'
import type { LocalExitRootEntry } from '../store/codecs/smallRows.js'

/** A lineage of the local exit tree: the leaf counts above `cut`, up to `leafCount`, are its own. */
export interface LineageSpan {
  readonly cut: number
  readonly leafCount: number
}

/** An exit root, and the tree that it was found to be the root of. */
export interface FoundExitRoot extends LocalExitRootEntry {
  readonly root: Hash
}

/** The roots of a network's local exit tree, to find one that was settled inside a block. */
export interface LocalExitRoots {
  /** Moves when blocks are taken back, and roots with them. */
  epoch(): number
  /** By number. */
  lineages(): readonly LineageSpan[]
  /** undefined for a root that the shard has not met. */
  find(root: Hash): LocalExitRootEntry | undefined
  /** Roots of the tree at these leaf counts, 32 bytes each. @param leafCounts ascending. */
  rootsAt(lineage: number, leafCounts: readonly number[]): Uint8Array
  /** Stores what was found, at the checkpoint: it is undone with the checkpoint's block. */
  add(found: readonly FoundExitRoot[]): void
}
