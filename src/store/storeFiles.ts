import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { FatalError } from '../errors/chainErrors.js'
import { describeProcess } from './folder/processRecord.js'

/** How a shard is going to be opened. LMDB starts a writer from an older state when the newest one may not have reached the disk. */
export type Opening = 'write' | 'read'

/**
 * Refuses the files of a shard that would end the process without a word once LMDB has them: LMDB checks neither what kind of file it is
 * given nor whether the data file is as long as its own pages say, and the kernel kills who reads a mapped page beyond the end (SIGBUS).
 * A shard that does not exist yet passes. Reads two pages of a file that is long enough.
 * @throws FatalError, one line; or the system's error.
 */
export function assertStoreFiles(directory: string, opening: Opening): void {
  assertLockFile(directory, opening)
  const path = join(directory, 'data.mdb')
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  // Before it's opened: opening a pipe waits for its other end.
  if (!stat.isFile()) throw fault(directory, 'data.mdb is not a file')
  // LMDB makes a new store of an empty file.
  if (stat.size === 0) return
  const file = new DataFile(path)
  try {
    for (let look = 1; look <= LOOKS; look++) {
      const state = stateToOpen(readStates(file, directory), opening)
      const lacking = lackingPage(file, state)
      if (lacking === undefined) return
      const { transaction } = stateToOpen(readStates(file, directory), opening)
      if (transaction === state.transaction)
        throw cutShort(directory, file, (Number(lacking) + 1) * state.pageBytes)
      // A writer in another thread or process has gone on: what was read meanwhile may be of two states.
    }
    // A file that a writer goes on changing is whole for that writer.
  } finally {
    file.close()
  }
}

const LOOKS = 5

function fault(directory: string, reason: string): FatalError {
  return new FatalError(`${directory} can't be opened: ${reason}`)
}

function cutShort(directory: string, file: DataFile, needed: number): FatalError {
  return fault(
    directory,
    `data.mdb is cut short: it has ${file.bytes} bytes, and its data end at byte ${needed} or later`,
  )
}

/**
 * LMDB crashes when it can't open its lock file, except on a read-only disk, where a reader needs none. It must not be opened here: closing it
 * would release the locks that LMDB has on it in this process.
 */
function assertLockFile(directory: string, opening: Opening): void {
  const path = join(directory, 'lock.mdb')
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isFile() === false) throw fault(directory, 'lock.mdb is not a file')
  if (stat === undefined && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw fault(directory, 'lock.mdb is a link to nothing')
  if (stat !== undefined) assertWritable(directory, path, opening)
  else if (opening === 'write' && existsSync(directory)) assertWritable(directory, directory, opening)
}

function assertWritable(directory: string, path: string, opening: Opening): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EROFS')
      throw fault(directory, `user ${process.getuid?.() ?? ''} has no right to read and write ${path}`)
    if (opening === 'write') throw fault(directory, 'it is on a read-only file system')
  }
}

// The data file as `lmdb/dependencies/lmdb/libraries/liblmdb/mdb.c` lays it out; all numbers are little endian.

/** `MDB_page_header`, at the start of each page. */
const HEADER_BYTES = 24
/** `MDB_meta`, after the header of the first two pages. */
const META_BYTES = 144
const MAGIC = 0xbeefc0de
/** In a meta page's flags: its transaction was committed before it had reached the disk. */
const NOT_SYNCED = 0x1000
const NO_PAGE = 2n ** 64n - 1n
const PAGE_SIZES: ReadonlySet<number> = new Set([512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536])

/** Of a leaf's node: the value is in pages of its own. */
const BIG_DATA = 0x01
/** Of a leaf's node: the value is the record of a tree. */
const SUB_DATA = 0x02

class DataFile {
  readonly #descriptor: number

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r')
  }

  get bytes(): number {
    return fstatSync(this.#descriptor).size
  }

  /** @returns undefined where the file ends before. */
  read(at: number, length: number): Buffer | undefined {
    const bytes = Buffer.alloc(length)
    return readSync(this.#descriptor, bytes, 0, length, at) === length ? bytes : undefined
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** `MDB_db`: one tree of pages. */
interface Tree {
  readonly depth: number
  readonly overflowPages: bigint
  readonly root: bigint
}

/** One committed state of the store, as a meta page has it. */
interface State {
  readonly pageBytes: number
  readonly flags: number
  /** The tree of free pages, and the one that holds the tables. */
  readonly trees: readonly [Tree, Tree]
  readonly lastPage: bigint
  readonly transaction: bigint
  readonly bootId: bigint
}

function treeAt(bytes: Buffer, at: number): Tree {
  return {
    depth: bytes.readUInt16LE(at + 6),
    overflowPages: bytes.readBigUInt64LE(at + 24),
    root: bytes.readBigUInt64LE(at + 40),
  }
}

interface States {
  /** Of the first two pages. A transaction overwrites the older one. */
  readonly metas: readonly [State, State]
  /** lmdb-js's own: the newest state that is known to have reached the disk. */
  readonly synced: State
}

/** @throws FatalError when the file is not LMDB's, or ends before its second page does. */
function readStates(file: DataFile, directory: string): States {
  const head = file.read(0, HEADER_BYTES + META_BYTES)
  const pageBytes = head?.readUInt32LE(HEADER_BYTES + 24) ?? 0
  const isStore = head?.readUInt32LE(HEADER_BYTES) === MAGIC && PAGE_SIZES.has(pageBytes)
  if (!isStore) throw fault(directory, 'data.mdb is not an LMDB store')
  if (file.bytes < 2 * pageBytes) throw cutShort(directory, file, 2 * pageBytes)
  return {
    metas: [stateAt(file, 0, pageBytes), stateAt(file, pageBytes, pageBytes)],
    synced: stateAt(file, pageBytes / 2, pageBytes),
  }
}

function stateAt(file: DataFile, at: number, pageBytes: number): State {
  const meta = file.read(at + HEADER_BYTES, META_BYTES)!
  return {
    pageBytes,
    flags: meta.readUInt16LE(28),
    trees: [treeAt(meta, 24), treeAt(meta, 72)],
    lastPage: meta.readBigUInt64LE(120),
    transaction: meta.readBigUInt64LE(128),
    bootId: meta.readBigInt64LE(136),
  }
}

/** The state that LMDB will open: `mdb_env_pick_meta`. */
function stateToOpen({ metas: [one, other], synced }: States, opening: Opening): State {
  if (opening === 'read') return newer(one, other)
  const { bootId } = describeProcess()
  const thisBoot = bootId === '' ? undefined : BigInt(`0x${bootId.split('-')[0]}`)
  // After a crash of the machine LMDB goes back to a state that has reached the disk.
  const safer = (left: State, right: State): State => {
    if (right.transaction === 0n) return left
    const latest = newer(left, right)
    if (latest.bootId === thisBoot || (latest.flags & NOT_SYNCED) === 0) return latest
    return latest === left ? right : left
  }
  return safer(safer(one, other), synced)
}

function newer(one: State, other: State): State {
  return one.transaction >= other.transaction ? one : other
}

/**
 * The first page found that the state uses and the file lacks. That the file is shorter than the state's last page says little: pages
 * that a transaction took at the end and gave up again were never written. So a short file's trees are followed, without the leaves of
 * those trees whose leaves name no further pages.
 */
function lackingPage(file: DataFile, state: State): bigint | undefined {
  const { pageBytes, lastPage, trees } = state
  const pages = BigInt(Math.floor(file.bytes / pageBytes))
  if (lastPage < pages) return undefined

  const inTree = ({ root, depth, overflowPages }: Tree, holdsTrees: boolean): bigint | undefined => {
    const readsLeaves = holdsTrees || overflowPages > 0n
    const inPage = (page: bigint, level: number): bigint | undefined => {
      if (page >= pages) return page
      if (level <= 1 && !readsLeaves) return undefined
      const bytes = file.read(Number(page) * pageBytes, pageBytes)
      if (bytes === undefined) return page
      try {
        for (const node of nodesOf(bytes)) {
          const lacking = level > 1 ? inPage(childOf(node), level - 1) : inValue(node)
          if (lacking !== undefined) return lacking
        }
      } catch (error) {
        // Damaged, or of another state: a writer is at work.
        if (error instanceof RangeError) return page
        throw error
      }
      return undefined
    }
    return root === NO_PAGE ? undefined : inPage(root, depth)
  }

  const inValue = (node: Buffer): bigint | undefined => {
    const flags = node.readUInt16LE(4)
    const value = node.subarray(8 + node.readUInt16LE(6))
    if ((flags & BIG_DATA) !== 0) {
      const last = value.readBigUInt64LE(0) + value.readBigUInt64LE(16) - 1n
      return last >= pages ? last : undefined
    }
    return (flags & SUB_DATA) === 0 ? undefined : inTree(treeAt(value, 0), false)
  }

  return inTree(trees[0], false) ?? inTree(trees[1], true)
}

/** Each node of a page, from its start to the end of the page. */
function nodesOf(page: Buffer): Buffer[] {
  const count = page.readUInt16LE(20) / 2
  return Array.from({ length: count }, (_, i) =>
    page.subarray(HEADER_BYTES + page.readUInt16LE(HEADER_BYTES + 2 * i)),
  )
}

/** The page that a branch's node leads to, a number of 48 bits. */
function childOf(node: Buffer): bigint {
  return BigInt(node.readUIntLE(0, 6))
}
