import type { L1InfoLeafNumbers } from '../../store/layout/l1InfoLeafRow.js'
import { Uint32Column } from '../sets/uint32Column.js'

/** What the columns read of the L1 shard's snapshot. */
export interface L1InfoSource {
  /** Epoch of the snapshot itself, not of the status board, which may be ahead of it or behind. */
  readonly epoch: number
  readonly leafCount: number
  getLeafNumbers(index: number): L1InfoLeafNumbers
}

/**
 * What each pool worker remembers of every L1 info leaf: its block, the version of its rollup exit root, and the L1 deposits
 * it covers. Grows with the tree, starts anew after a reorg, and is never longer than the snapshot that is read.
 */
export class L1InfoColumns {
  /** Ascending. */
  readonly blockNumbers: number[] = []
  /** UNRESOLVABLE_VERSION where the root is no tree's, as right after the etrog upgrade. */
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
    for (let index = this.leafCount; index < source.leafCount; index++) {
      const leaf = source.getLeafNumbers(index)
      this.blockNumbers.push(leaf.blockNumber)
      this.rollupExitVersions.push(leaf.rollupExitVersion)
      this.mainnetCovered.push(leaf.mainnetLeafCount)
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
