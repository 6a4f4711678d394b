import { isSameHash } from '../merkle/branch.js'
import type { Hash } from '../protocol/chainEvent.js'
import type { L1InfoLeafRecord } from '../protocol/records.js'
import { UNRESOLVABLE_VERSION } from '../store/tables.js'
import { Uint32Column } from './uint32Column.js'

/** What the columns read of the L1 shard's snapshot. */
export interface L1InfoSource {
  /** Epoch of the snapshot itself, not of the status board, which may be ahead of it or behind. */
  readonly epoch: number
  readonly l1InfoLeafCount: number
  getL1InfoLeaf(index: number): Pick<L1InfoLeafRecord, 'blockNumber' | 'mainnetExitRoot' | 'rollupExitRoot'>
  /** Number of settlements that make the root; undefined or UNRESOLVABLE_VERSION when no set of local exit roots makes it. */
  findRollupExitVersion(rollupExitRoot: Hash): number | undefined
  /** Deposits of this network, as they are now, that the root commits to; undefined for a root that the shard has not seen. */
  findCoveredCount(localExitRoot: Hash): number | undefined
}

/**
 * What each pool worker remembers of every L1 info leaf: its block, the version of its rollup exit root, and the L1 deposits
 * it covers. Grows with the tree, starts anew after a reorg, and is never longer than the snapshot that is read.
 */
export class L1InfoColumns {
  /** Ascending. */
  readonly blockNumbers: number[] = []
  /** UNRESOLVABLE_VERSION where the root is no tree's (chain-facts 2.5). */
  readonly rollupExitVersions = new Uint32Column()
  /** L1 deposits that the leaf's mainnet exit root commits to. */
  readonly mainnetCovered = new Uint32Column()
  #epoch = -1

  /** Moves when entries that were there before are void. */
  get epoch(): number {
    return this.#epoch
  }

  get leafCount(): number {
    return this.blockNumbers.length
  }

  update(source: L1InfoSource): void {
    if (source.epoch !== this.#epoch) {
      this.#epoch = source.epoch
      this.blockNumbers.length = 0
      this.rollupExitVersions.truncate(0)
      this.mainnetCovered.truncate(0)
    }
    // Most leaves repeat one of the roots of the leaf before: a comparison is cheaper than a look-up.
    let before: Pick<L1InfoLeafRecord, 'mainnetExitRoot' | 'rollupExitRoot'> | undefined
    for (let index = this.leafCount; index < source.l1InfoLeafCount; index++) {
      const leaf = source.getL1InfoLeaf(index)
      const version =
        before !== undefined && isSameHash(before.rollupExitRoot, leaf.rollupExitRoot)
          ? this.rollupExitVersions.at(index - 1)
          : (source.findRollupExitVersion(leaf.rollupExitRoot) ?? UNRESOLVABLE_VERSION)
      const covered =
        before !== undefined && isSameHash(before.mainnetExitRoot, leaf.mainnetExitRoot)
          ? this.mainnetCovered.at(index - 1)
          : (source.findCoveredCount(leaf.mainnetExitRoot) ?? 0)
      before = leaf
      this.blockNumbers.push(leaf.blockNumber)
      this.rollupExitVersions.push(version)
      this.mainnetCovered.push(covered)
    }
  }

  /** Leaves in blocks at or below `block`: a prefix, as blocks ascend. */
  leavesUpToBlock(block: number): number {
    let low = 0
    let high = this.blockNumbers.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.blockNumbers[middle]! <= block) low = middle + 1
      else high = middle
    }
    return low
  }
}
