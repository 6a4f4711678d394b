import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { FatalError } from '../../errors/chainErrors.js'
import { makeDataFolder } from './dataFolder.js'
import { KernelLock } from './kernelLock.js'
import { announcePresence, type FolderRole, type Presence, type Present, whoIsPresent } from './presence.js'
import { describeProcess, isRunning, type ProcessRecord, sharesNamespace } from './processRecord.js'

/**
 * A data folder that this process has locked for itself. LMDB alone refuses nobody. Two writers would overwrite each other's
 * progress; and LMDB frees reader slots whose pid it can't find, so processes in two containers would free each other's snapshots
 * while they are read.
 */
export interface FolderLock {
  /** Paths of the files that are locked. */
  readonly files: readonly string[]
  release(): void
}

/**
 * The writer holds an exclusive lock on it. Its text names the current or last writer. Older builds had no kernel lock: they only
 * wrote the text.
 */
const WRITER_FILE = 'bds.lock'
/** Every process that has the folder open holds a shared lock on it. Its text names their pid namespace; processes of other namespaces are refused. */
const OPENERS_FILE = 'bds.openers'

/** How often locking is tried: two processes that start at once may refuse each other, and a process that is ending needs a moment. */
const TRIES = 5
const LONGEST_PAUSE_MS = 150

/** Another process has the folder open. The message continues a sentence that starts with the folder's name. */
class InUseError extends Error {}

/**
 * Locks a folder for this process until `release`, or until the process ends in whatever way. Any number of readers and one
 * writer may hold it, all of one pid namespace.
 * @throws FatalError, one line that names the process that holds the folder.
 */
export function lockFolder(dataDir: string, role: FolderRole): FolderLock {
  if (role === 'write') makeDataFolder(dataDir)
  for (let attempt = 1; ; attempt++) {
    try {
      return role === 'write' ? new HeldFolder(dataDir, role) : holdToRead(dataDir)
    } catch (error) {
      if (!(error instanceof InUseError)) {
        throw new FatalError(`data_dir ${dataDir} can't be locked: ${(error as Error).message}`)
      }
      if (attempt === TRIES) throw new FatalError(`data_dir ${dataDir} ${error.message}`)
    }
    // Blocks the thread: nothing else may run in this process before the folder is locked.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, randomInt(LONGEST_PAUSE_MS))
  }
}

const NOTHING_HELD: FolderLock = { files: [], release: () => undefined }

/** @throws InUseError. */
function holdToRead(dataDir: string): FolderLock {
  try {
    return new HeldFolder(dataDir, 'read')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return NOTHING_HELD
    if (code === 'EROFS') return new ReadOnlyFolder(dataDir)
    throw error
  }
}

class HeldFolder implements FolderLock {
  readonly #dataDir: string
  readonly #role: FolderRole
  readonly #me = describeProcess()
  readonly #files: KernelLock[] = []
  #presence: Presence | undefined

  /** @throws InUseError. */
  constructor(dataDir: string, role: FolderRole) {
    this.#dataDir = dataDir
    this.#role = role
    try {
      this.#take()
    } catch (error) {
      this.release()
      throw error
    }
  }

  get files(): readonly string[] {
    return this.#files.map(({ path }) => path)
  }

  release(): void {
    this.#presence?.withdraw()
    for (const file of this.#files.splice(0).reverse()) file.close()
  }

  #take(): void {
    const openers = this.#open(OPENERS_FILE)
    const owner = this.#open(WRITER_FILE)
    const hasSharedLock = this.#join(openers)
    const writing = this.#role === 'write' ? owner.take('exclusive') : 'taken'
    const before = owner.record()
    if (writing === 'held') throw inUseBy(before, this.#me)
    if (isOlderWriter(before, this.#me)) throw inUseBy(before, this.#me)
    // Rivals are looked for before this process announces itself, and again after it. A process that finds a rival already here leaves
    // without having been seen. So when two processes have refused each other, the first to try again wins.
    this.#assertNoRival()
    this.#presence = announcePresence(this.#dataDir, this.#me, this.#role)
    if (this.#presence === undefined && !(hasSharedLock && writing === 'taken'))
      throw new Error('the command flock (util-linux) is missing, and no socket can be made in the folder')
    this.#assertNoRival()
    // An older build, or a person, may have removed a file after we opened it and before we locked it.
    if (!this.#files.every((file) => file.isInPlace())) throw new InUseError(BEING_TAKEN)
    if (this.#role === 'write') owner.write(this.#me)
  }

  #assertNoRival(): void {
    assertNoRival(whoIsPresent(this.#dataDir, this.#me, this.#presence), this.#role === 'write')
  }

  #open(name: string): KernelLock {
    const file = new KernelLock(join(this.#dataDir, name))
    this.#files.push(file)
    return file
  }

  /** Takes the openers' shared lock. @returns false where kernel locks are not available. */
  #join(openers: KernelLock): boolean {
    const alone = openers.take('exclusive')
    if (alone === 'taken') openers.write(this.#me)
    // While the lock changes from exclusive to shared, nobody holds it for a moment, so another process may write its text. The text
    // changes only under the exclusive lock: the record that we read under the shared lock is the same for all who share it.
    const joined = alone === 'unavailable' ? alone : openers.take('shared')
    if (joined === 'held') throw new InUseError(BEING_TAKEN)
    if (joined === 'unavailable') return false
    const first = openers.record()
    if (first === undefined || !sharesNamespace(first, this.#me)) throw inUseBy(first, this.#me)
    return true
  }
}

/**
 * A folder that is read through a read-only mount. Others may write to it through another mount, and here LMDB can't take a reader slot that
 * keeps them from reusing pages: so no writer is borne, in whatever pid namespace, and none can start until `release` where the lock file is there.
 * On a disk that is read-only for all, nobody holds the files.
 */
class ReadOnlyFolder implements FolderLock {
  readonly files: readonly string[] = []
  readonly #owner: KernelLock | undefined

  /** @throws InUseError. */
  constructor(dataDir: string) {
    const me = describeProcess()
    const openers = openIfThere(join(dataDir, OPENERS_FILE))
    try {
      if (openers !== undefined) assertNoStranger(openers, me)
    } finally {
      // Not kept: nothing can be written into it, so that its text would name others than its holder.
      openers?.close()
    }
    this.#owner = openIfThere(join(dataDir, WRITER_FILE))
    try {
      const outcome = this.#owner?.take('shared')
      const writer = this.#owner?.record()
      if (outcome === 'held' || isOlderWriter(writer, me)) throw inUseBy(writer, me)
      assertNoRival(whoIsPresent(dataDir, me), true)
    } catch (error) {
      this.release()
      throw error
    }
  }

  release(): void {
    this.#owner?.close()
  }
}

function openIfThere(path: string): KernelLock | undefined {
  try {
    return new KernelLock(path, 'read')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** @throws InUseError when processes of another pid namespace hold the openers' lock. */
function assertNoStranger(openers: KernelLock, me: ProcessRecord): void {
  // Where nobody holds it, its text is that of a process that has ended.
  if (openers.take('exclusive') !== 'held') return
  if (openers.take('shared') === 'held') throw new InUseError(BEING_TAKEN)
  const first = openers.record()
  if (first === undefined || !sharesNamespace(first, me)) throw inUseBy(first, me)
}

/** @throws InUseError when a process of another pid namespace is present, or a writer of ours where none may be. */
function assertNoRival(present: readonly Present[], isAloneToWrite: boolean): void {
  const rival = present.find((other) => !other.isOfOurNamespace || (isAloneToWrite && other.role === 'write'))
  if (rival !== undefined) throw inUse(`process ${rival.pid}${rival.isOfOurNamespace ? '' : ` ${ELSEWHERE}`}`)
}

/** Whether a writer of an older build holds the folder. It has no kernel lock: only its text shows it. */
function isOlderWriter(record: ProcessRecord | undefined, me: ProcessRecord): record is ProcessRecord {
  return record !== undefined && record.pidNamespace === undefined && isRunning(record, me)
}

function inUseBy(record: ProcessRecord | undefined, me: ProcessRecord): InUseError {
  if (record === undefined) return inUse('another process')
  const isNear = record.pidNamespace === undefined || sharesNamespace(record, me)
  // The text of one that has ended: a reader with a read-only mount holds the lock and can't write its own.
  if (isNear && !isRunning(record, me)) return inUse('another process')
  return inUse(`process ${record.pid}${isNear ? '' : ` on host ${record.host} ${ELSEWHERE}`}`)
}

const BEING_TAKEN = 'is being taken by another process that starts now'
const ELSEWHERE = 'in another pid namespace (another container)'

function inUse(owner: string): InUseError {
  return new InUseError(`is in use by ${owner}: stop it first, or choose another data_dir`)
}
