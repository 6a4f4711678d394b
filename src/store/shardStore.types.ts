import type { TableName } from './layout/tables.js'

/**
 * Consistent reads of one shard. A value of `get` is valid until this thread's next read of any shard, since all reads share one
 * buffer: decode it in place, copy what must live longer. Entries of `list` are copies that the caller may keep.
 */
export interface ReadView {
  get(table: TableName, key: Uint8Array): Uint8Array | undefined
  /** Entries with start ≤ key < end, ascending; with `reverse`, entries with start > key ≥ end, descending. */
  list(
    table: TableName,
    range: { start: Uint8Array; end: Uint8Array; limit?: number; reverse?: boolean },
  ): Array<{
    key: Uint8Array
    value: Uint8Array
  }>
}

/** Reads and writes inside the open transaction of the shard's writer. Reads see the writes before them. */
export interface WriteView extends ReadView {
  /** Stores a copy of `value`. */
  put(table: TableName, key: Uint8Array, value: Uint8Array): void
  /** As `put`, for what no reader's answer depends on: no undo is kept, and the transaction does not count as a commit for it. */
  putUnseen(table: TableName, key: Uint8Array, value: Uint8Array): void
  /** As `remove`, in the way of `putUnseen`. */
  removeUnseen(table: TableName, key: Uint8Array): void
  remove(table: TableName, key: Uint8Array): void
  /** Removes all entries of a table, at the same cost for any size. No undo is kept. */
  clear(table: TableName): void
  /**
   * The writes after this call belong to `blockNumber`: the old value of each key is kept as the block's undo when the block first
   * changes it. undefined: no undo is kept (checkpoint, finality, blocks at or below the undo floor).
   */
  setUndoBlock(blockNumber: number | undefined): void
  /**
   * Puts back the old values of every block above `blockNumber`, newest block first, and removes the undo records of those blocks.
   * @param onRestored called for each key that is put back or removed, perhaps several times; the key is valid during the call.
   */
  undoAbove(blockNumber: number, onRestored?: (table: TableName, key: Uint8Array) => void): void
  /** Removes the undo records of blocks at or below `blockNumber`. */
  forgetUndo(blockNumber: number): void
}

/** Read side of one shard, one per thread. */
export interface ShardStoreReader extends ReadView {
  /**
   * Takes the newest snapshot. Call it before the first read of each task.
   * @returns number of commits that changed the shard so far. At an equal number everything read before still holds. undefined in
   * a store of an older build that did not count them.
   */
  refresh(): number | undefined
  /** Releases the snapshot, so that the writer may reuse its pages. Call it in a `finally` after each task. */
  release(): void
  /**
   * Writes a copy of the shard's newest state into `folder`, which exists and is empty, while others go on reading and writing. Free
   * pages are left out. The pages of that state can't be reused until the copy ends, and no caller can end it early.
   */
  copyTo(folder: string): Promise<void>
  close(): Promise<void>
}

/** What LMDB tells of one shard's file and its readers. */
export interface StoreFigures {
  /** Address space that the file is mapped into. */
  readonly mapBytes: number
  /** Pages of the file that no table has: of these the next commits take theirs, but for those that a reader's snapshot still shows. */
  readonly freeBytes: number
  /** Snapshots that are open, in all processes. */
  readonly readers: number
  /** Transactions since the oldest of them: pages that were freed since can't be used again. */
  readonly oldestReader: number
}

/** Write side of one shard: exactly one in the process. */
export interface ShardStoreWriter extends ReadView {
  /** Runs `body` in one transaction. When it throws, everything is rolled back and the error is passed on. Synchronous: no await inside. */
  transact<T>(body: (view: WriteView) => T): T
  /** Size of the shard's file: pages in use and free ones. */
  fileBytes(): number
  figures(): StoreFigures
  close(): Promise<void>
}
