import type { L1InfoLeafNumbers } from '../../store/layout/l1InfoLeafRow.js'
import { Uint32Column } from '../sets/uint32Column.js'

/** What `L1InfoColumns` reads of the L1 shard's snapshot. */
export interface L1InfoSource {
  /** Epoch of the snapshot. Not that of the status board, which may be newer or older. */
  readonly epoch: number
  readonly leafCount: number
  getLeafNumbers(index: number): L1InfoLeafNumbers
}

/**
 * Block, rollup exit version and covered L1 deposits of every L1 info leaf, kept by each query thread. The columns grow with the tree,
 * start anew after a reorg, and are never longer than the snapshot.
 */
export class L1InfoColumns {
  /** Ascending. */
  readonly blockNumbers: number[] = []
  /** UNRESOLVABLE_VERSION for a root that no known settlements lead to, as right after the etrog upgrade. */
  readonly rollupExitVersions = new Uint32Column()
  /** Number of L1 deposits that the leaf's mainnet exit root commits to. */
  readonly mainnetCovered = new Uint32Column()
  #epoch = -1

  /** Epoch of the entries. When it moves, earlier entries are void. */
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

  /** Number of leaves in blocks at or below `block`. They are the first ones, since blocks ascend. */
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
