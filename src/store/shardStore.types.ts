import type { TableName } from './layout/tables.js'

/**
 * Consistent reads of one shard. A value of `get` is valid until the next read of any shard in this thread (they share
 * one buffer): decode in place, copy what must live longer. Entries of `list` are the caller's own.
 */
export interface ReadView {
  get(table: TableName, key: Uint8Array): Uint8Array | undefined
  /** Entries with start ≤ key < end, ascending (descending with `reverse`: then start > key ≥ end is walked downwards). Fully read before it returns. */
  list(
    table: TableName,
    range: { start: Uint8Array; end: Uint8Array; limit?: number; reverse?: boolean },
  ): Array<{
    key: Uint8Array
    value: Uint8Array
  }>
}

/** Reads and writes inside the one open transaction of the shard's writer. Reads see the writes before them. */
export interface WriteView extends ReadView {
  /** Stores a copy of `value`. */
  put(table: TableName, key: Uint8Array, value: Uint8Array): void
  remove(table: TableName, key: Uint8Array): void
  /** Empties a table as a whole, whatever its size: nothing of it can be undone. */
  clear(table: TableName): void
  /**
   * From here on, what is written belongs to `blockNumber`: the old value of each key is kept the first time the block
   * touches it. `undefined`: no undo is kept (checkpoint, finality, blocks at or below the undo floor).
   */
  setUndoBlock(blockNumber: number | undefined): void
  /** Puts back what every block above `blockNumber` changed, newest first, and forgets those blocks' undo records. */
  undoAbove(blockNumber: number): void
  /** Forgets the undo records of blocks at or below `blockNumber`. */
  forgetUndo(blockNumber: number): void
}

/** Read side of one shard, one per thread. */
export interface ShardStoreReader extends ReadView {
  /**
   * Takes the newest snapshot. Call it before the first read of each task.
   * @returns number of commits that changed the shard so far: equal numbers mean the same snapshot, and all that was read of
   * it still holds. undefined in a store whose writer did not count yet.
   */
  refresh(): number | undefined
  /** Lets the snapshot go, so that the writer may reuse its pages. Call it in a `finally` after each task. */
  release(): void
  close(): Promise<void>
}

/** Write side of one shard: exactly one in the process. */
export interface ShardStoreWriter extends ReadView {
  /** Runs `body` in one transaction; a throw rolls everything back and is passed on. Synchronous: no await inside. */
  transact<T>(body: (view: WriteView) => T): T
  /** Size of the shard's file: pages in use and free ones. */
  fileBytes(): number
  close(): Promise<void>
}
