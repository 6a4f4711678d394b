import { existsSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { FatalError } from '../errors/chainErrors.js'
import { readLimits } from '../telemetry/processLimits.js'
import { writeUint48 } from './layout/bytes.js'
import { metaKey } from './layout/keys.js'
import { decodeCommits } from './layout/metaValues.js'
import { type TableName, tables } from './layout/tables.js'
import { fileBytesOf } from './shardDirectory.js'
import type {
  ReadView,
  ShardStoreReader,
  ShardStoreWriter,
  StoreFigures,
  WriteView,
} from './shardStore.types.js'
import { assertStoreFiles } from './storeFiles.js'
import { decodeUndoPart, UndoPart, undoKey } from './undo.js'

/**
 * The only file that knows LMDB. One environment per shard, one named database per table.
 *
 * All openers in one process share one environment, and the first opener's flags hold for all: after a read-only opener no
 * writer could write, and mixed sync options throw. So readers and writers use the same options, and main opens every shard first.
 */
const OPTIONS = {
  encoding: 'binary',
  keyEncoding: 'binary',
  cache: false,
  maxDbs: 64,
  // Far more than threads × shards × processes: tools open the store beside the service, and slots of killed processes stay in use.
  maxReaders: 4096,
} as const

type Databases = Record<TableName, Database<Uint8Array, Uint8Array>>

const tableNames = Object.keys(tables) as TableName[]

const MIB = 2 ** 20

/**
 * Transactions are refused when less than this is free. No transaction ever adds as much. The first commit on a full disk fails
 * cleanly, but the commits after it damage the heap of the process (lmdb 3.5.6: `malloc(): invalid next size`).
 */
const MIN_FREE_BYTES = 64 * MIB

/** The process's limit on file sizes (RLIMIT_FSIZE) stops a growing file as a full disk does. */
const FILE_SIZE_LIMIT = readLimits()?.fileSize ?? Number.POSITIVE_INFINITY

function freeBytesOf(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  if (FILE_SIZE_LIMIT === Number.POSITIVE_INFINITY) return bavail * bsize
  return Math.min(bavail * bsize, FILE_SIZE_LIMIT - fileBytesOf(directory))
}

/** Turns an error of opening a shard into one line for the operator. LMDB's own texts are several lines, for programmers. */
export function openFault(directory: string, error: unknown): FatalError {
  if (error instanceof FatalError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new FatalError(`${directory} can't be opened: ${message.split('\n')[0]}`)
}

/** @throws FatalError when the disk has no room for a new shard in this folder. */
export function assertReserve(directory: string): void {
  const free = freeBytesOf(directory)
  if (free < MIN_FREE_BYTES) throw new FatalError(diskFull(directory, free).message)
}

function diskFull(directory: string, free: number): Error {
  const message = `no space left for ${directory}: ${Math.floor(free / MIB)} MiB free, ${MIN_FREE_BYTES / MIB} MiB kept in reserve`
  return Object.assign(new Error(message), { code: 'ENOSPC' })
}

const COMMITS = metaKey('commits')

const ALL_KEYS = { start: Uint8Array.of(0), end: Uint8Array.of(0xff) }

/** A key above every key of table `undo`. */
const UNDO_END = undoKey(2 ** 48 - 1, 0xffff)

/** A check that may refuse a store by its table `meta`. */
type CheckMeta = (meta: Pick<ReadView, 'get'>) => void

function openDatabases(
  directory: string,
  checkMeta?: CheckMeta,
): { root: RootDatabase; databases: Databases } {
  assertStoreFiles(directory, 'write')
  // Without noSubdir, lmdb-js would take a path with a dot in its last part for a file name.
  const root = open({ path: directory, noSubdir: false, ...OPTIONS })
  try {
    const meta = root.openDB({ name: tables.meta, ...OPTIONS })
    checkMeta?.({ get: (_table, key) => readValue(meta, key) })
  } catch (error) {
    // The refusal is the error to report. A failed close of an unused store does not matter.
    root.close().catch(() => undefined)
    throw error
  }
  // One transaction for all tables: opening a table for the first time is a write, and waits for a writer's transaction.
  const databases = root.transactionSync(() =>
    Object.fromEntries(
      tableNames.map((name) => [name, root.openDB({ name: tables[name], ...OPTIONS })] as const),
    ),
  ) as Databases
  return { root, databases }
}

/**
 * A plain view of a value of lmdb-js. The value itself is lmdb-js's shared buffer with a changed `length` property: `set` and
 * `copy` would still see all 16 MB of it, and a Buffer's `slice` does not copy.
 */
function plain(bytes: Uint8Array, length: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, length)
}

/** Longest value, in bytes, that is read through a kept view: rows and chunks are shorter. */
const MAX_KEPT_VIEW = 4096
/** Views of lmdb-js's shared buffer by length. Values have few lengths, and making a view per read took a tenth of a row's time. */
const keptViews = new Array<Uint8Array | undefined>(MAX_KEPT_VIEW + 1).fill(undefined)
/** The buffer of these views. lmdb-js changes to a larger one when a value does not fit. */
let viewedBuffer: Uint8Array | undefined

/** As `plain`, for values of `getBinaryFast`, without a new view. Valid until the next read: values of one length share a view. */
function plainValue(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  if (length > MAX_KEPT_VIEW) return plain(bytes, length)
  if (bytes !== viewedBuffer) {
    keptViews.fill(undefined)
    viewedBuffer = bytes
  }
  let view = keptViews[length]
  if (view === undefined) {
    view = plain(bytes, length)
    keptViews[length] = view
  }
  return view
}

function readValue(database: Database, key: Uint8Array): Uint8Array | undefined {
  const bytes = database.getBinaryFast(key)
  return bytes === undefined ? undefined : plainValue(bytes)
}

function readView(databases: Databases): ReadView {
  return {
    get: (table, key) => readValue(databases[table], key),
    list(table, { start, end, limit, reverse }) {
      const bounds = reverse
        ? { start, end, exclusiveStart: true, inclusiveEnd: true, reverse }
        : { start, end }
      const entries: { key: Uint8Array; value: Uint8Array }[] = []
      // Always read to its end: a half-read range holds its snapshot.
      for (const { key, value } of databases[table].getRange(
        limit === undefined ? bounds : { ...bounds, limit },
      ))
        entries.push({ key: plain(key, key.length), value: plain(value, value.length) })
      return entries
    },
  }
}

/** One transaction. Writes go to the tables at once; the old values go to the undo record of the current block. */
class Transaction implements WriteView {
  readonly #databases: Databases
  readonly get: ReadView['get']
  readonly list: ReadView['list']
  #undoBlock: number | undefined
  #undo = new UndoPart()
  #isChanged = false

  constructor(databases: Databases, view: ReadView) {
    this.#databases = databases
    this.get = view.get
    this.list = view.list
  }

  put(table: TableName, key: Uint8Array, value: Uint8Array): void {
    if (this.#undoBlock !== undefined) this.#undo.record(table, key, () => this.get(table, key))
    this.#isChanged = true
    // Inside a transaction LMDB copies the value at once, so the caller may reuse its buffer.
    this.#databases[table].put(key, value)
  }

  putUnseen(table: TableName, key: Uint8Array, value: Uint8Array): void {
    this.#databases[table].put(key, value)
  }

  removeUnseen(table: TableName, key: Uint8Array): void {
    this.#databases[table].remove(key)
  }

  remove(table: TableName, key: Uint8Array): void {
    if (this.#undoBlock !== undefined) this.#undo.record(table, key, () => this.get(table, key))
    this.#isChanged = true
    this.#databases[table].remove(key)
  }

  clear(table: TableName): void {
    this.#isChanged = true
    // Part of the transaction, despite its name: the pages are freed when it commits.
    this.#databases[table].clearSync()
  }

  /** Adds one to the number of commits if the transaction changed anything (see `ShardStoreReader.refresh`). Never undone: a rewind counts as one more commit. */
  countCommit(): void {
    if (!this.#isChanged) return
    const count = new Uint8Array(6)
    writeUint48(count, 0, (decodeCommits(this.get('meta', COMMITS)) ?? 0) + 1)
    this.#databases.meta.put(COMMITS, count)
  }

  setUndoBlock(blockNumber: number | undefined): void {
    if (blockNumber === this.#undoBlock) return
    this.flushUndo()
    this.#undoBlock = blockNumber
  }

  /** Stores the collected old values as the next part of the block's undo record. */
  flushUndo(): void {
    if (this.#undoBlock === undefined || this.#undo.isEmpty) return
    const block = this.#undoBlock
    const [last] = this.list('undo', {
      start: undoKey(block + 1, 0),
      end: undoKey(block, 0),
      limit: 1,
      reverse: true,
    })
    const part = last === undefined ? 0 : ((last.key[6]! << 8) | last.key[7]!) + 1
    this.#databases.undo.put(undoKey(block, part), this.#undo.encode())
    this.#undo = new UndoPart()
  }

  undoAbove(blockNumber: number, onRestored?: (table: TableName, key: Uint8Array) => void): void {
    this.setUndoBlock(undefined)
    for (;;) {
      // One record at a time: those of a deep reorg may not fit into memory together.
      const [newest] = this.list('undo', {
        start: UNDO_END,
        end: undoKey(blockNumber + 1, 0),
        limit: 1,
        reverse: true,
      })
      if (newest === undefined) return
      this.#isChanged = true
      for (const { table, key, value } of decodeUndoPart(newest.value)) {
        if (value === undefined) this.#databases[table].remove(key)
        else this.#databases[table].put(key, value)
        onRestored?.(table, key)
      }
      this.#databases.undo.remove(newest.key)
    }
  }

  forgetUndo(blockNumber: number): void {
    const keys = [...this.#databases.undo.getKeys({ start: undoKey(0, 0), end: undoKey(blockNumber + 1, 0) })]
    for (const key of keys) this.#databases.undo.remove(key)
  }
}

/**
 * Opens a shard for writing, and makes it if it is missing. Only one thread of a process may write a shard. Errors of LMDB are
 * passed on and leave the store as it was.
 * @param freeBytes returns the free space of the directory's disk; tests pass their own.
 * @param checkMeta throws to refuse a store. It runs before missing tables are made, so a refused store is unchanged.
 * @param onCommit told how long LMDB took for each commit, after the body had written everything.
 */
export function openShardStoreWriter(
  directory: string,
  freeBytes = freeBytesOf,
  checkMeta?: CheckMeta,
  onCommit: (seconds: number) => void = () => undefined,
): ShardStoreWriter {
  const { root, databases } = openDatabases(directory, checkMeta)
  const view = readView(databases)
  let hasFreePages = false
  return {
    ...view,
    transact(body) {
      const free = freeBytes(directory)
      if (free < MIN_FREE_BYTES) throw diskFull(directory, free)
      if (!hasFreePages) ensureFreePages(root, databases)
      hasFreePages = true
      let writtenAtMs = 0
      const result = root.transactionSync(() => {
        const transaction = new Transaction(databases, view)
        const returned = body(transaction)
        transaction.flushUndo()
        transaction.countCommit()
        writtenAtMs = performance.now()
        return returned
      })
      onCommit((performance.now() - writtenAtMs) / 1000)
      return result
    },
    figures: () => figuresOf(root, databases),
    fileBytes: () => fileBytesOf(directory),
    close: () => root.close(),
  }
}

/**
 * Gives a store without free pages some, by writing an entry once more as it is. In such a store, which is what LMDB's compact copy makes, a
 * transaction may not free more page numbers than half a page has room for (251 at 4 KiB), as the first that clears a table of a mebibyte does: when
 * lmdb 3.5.6 makes room for their list, `mdb_page_alloc` looks for the last entry of a list that has a page but no entry yet, and what is in memory
 * behind that page becomes the list's: the process ends, or takes pages that are in use. Every transaction leaves such an entry, so once is enough.
 */
function ensureFreePages(root: RootDatabase, databases: Databases): void {
  const { free } = withoutTimers(() => root.getStats()) as EnvironmentStats
  root.resetReadTxn()
  if (free.entryCount > 0) return
  // A table without entries is that of a new store, whose first transactions free a page or two.
  const [entry] = readView(databases).list('meta', { ...ALL_KEYS, limit: 1 })
  root.resetReadTxn()
  if (entry === undefined) return
  root.transactionSync(() => {
    databases.meta.put(entry.key, entry.value)
  })
}

/** Of LMDB's statistics: pages of one table. */
interface TableStats {
  readonly entryCount: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface EnvironmentStats {
  readonly pageSize: number
  readonly mapSize: number
  readonly lastPageNumber: number
  readonly lastTxnId: number
  readonly root: TableStats
  readonly free: TableStats
}

/** The two pages with which a file of LMDB begins. */
const META_PAGES = 2

function figuresOf(root: RootDatabase, databases: Databases): StoreFigures {
  // Before the statistics, which take a snapshot of their own.
  const transactions = root
    .readerList()
    .split('\n')
    .map((line) => Number(/ (\d+)$/.exec(line)?.[1] ?? Number.NaN))
    .filter((transaction) => !Number.isNaN(transaction))
  const stats = withoutTimers(() => root.getStats()) as EnvironmentStats
  const tables = Object.values(databases).map((database) => database.getStats() as TableStats)
  root.resetReadTxn()
  const pagesOf = (table: TableStats): number =>
    table.treeBranchPageCount + table.treeLeafPageCount + table.overflowPages
  const used = [stats.root, stats.free, ...tables].reduce((sum, table) => sum + pagesOf(table), META_PAGES)
  return {
    mapBytes: stats.mapSize,
    freeBytes: Math.max(0, stats.lastPageNumber + 1 - used) * stats.pageSize,
    readers: transactions.length,
    oldestReader: Math.max(0, ...transactions.map((transaction) => stats.lastTxnId - transaction)),
  }
}

/**
 * Runs `body` without lmdb-js's timer. The first read of a snapshot sets a timer to release the snapshot at the next turn of the
 * event loop. Our `release` does that already, and in a query thread under load the event loop has no turns, so the timers would
 * pile up without end (150 bytes per task and shard).
 */
function withoutTimers<T>(body: () => T): T {
  const { setTimeout } = globalThis
  // lmdb-js only checks that the timer is truthy.
  globalThis.setTimeout = (() => true) as unknown as typeof setTimeout
  try {
    return body()
  } finally {
    globalThis.setTimeout = setTimeout
  }
}

/**
 * Opens a shard for reading. Call `refresh` before the first read of a task and `release` in a `finally` after it, for each shard
 * that the task reads. lmdb-js itself renews the snapshot on a timer, which never fires in a query thread that blocks in
 * `Atomics.wait` (500 of 500 reads were stale). And while an idle thread holds a snapshot, the writer can't reuse pages (400
 * small commits took 34 MiB, with both calls 260 KiB).
 */
export function openShardStoreReader(directory: string): ShardStoreReader {
  // LMDB would make anew, and empty, what somebody has removed under the service.
  statSync(join(directory, 'data.mdb'))
  const { root, databases } = openDatabases(directory)
  return readerOf(root, databases)
}

function readerOf(root: RootDatabase, databases: Databases): ShardStoreReader {
  return {
    ...readView(databases),
    refresh() {
      root.resetReadTxn()
      return decodeCommits(withoutTimers(() => databases.meta.getBinaryFast(COMMITS)))
    },
    release: () => root.resetReadTxn(),
    // Compact: a plain copy also has the older of the two states that LMDB may start from, whose pages a writer has overwritten meanwhile. It has
    // no free pages, to which a writer sees first: `ensureFreePages`.
    copyTo: (folder) => root.backup(folder, true),
    close: () => root.close(),
  }
}

/** Tables that came without a new schema: a store that no newer build has written to lacks them, and nothing is in them. */
const MAY_BE_MISSING: ReadonlySet<TableName> = new Set(['feed', 'claimable'])
const NO_ENTRIES = { getBinaryFast: () => undefined, getRange: () => [] } as unknown as Databases[TableName]

/**
 * Opens a shard read-only, in a process other than the service's, which may be running. All reads see one snapshot until
 * `release`, as long as nothing is awaited in between.
 * @throws FatalError, one clear line, when there is no shard.
 */
export function openShardStoreSnapshot(directory: string): ShardStoreReader {
  if (!existsSync(join(directory, 'data.mdb'))) throw new FatalError(`${directory} holds no data`)
  let root: RootDatabase
  try {
    assertStoreFiles(directory, 'read')
    root = open({ path: directory, noSubdir: false, readOnly: true, ...OPTIONS })
  } catch (error) {
    throw openFault(directory, error)
  }
  const databases = Object.fromEntries(
    tableNames.map((name) => {
      const database = root.openDB({ name: tables[name], ...OPTIONS })
      if ((database as typeof database | undefined) === undefined && MAY_BE_MISSING.has(name))
        return [name, NO_ENTRIES] as const
      // Against its types, lmdb-js returns undefined when there is no such table and none may be made.
      if ((database as typeof database | undefined) === undefined)
        throw new FatalError(`${directory} has no table ${name}: it is incomplete, or of another version`)
      return [name, database] as const
    }),
  ) as Databases
  return readerOf(root, databases)
}
