import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { FatalError } from '../../errors/chainErrors.js'
import { makeDataFolder } from './dataFolder.js'
import { KernelLock } from './kernelLock.js'
import { announcePresence, type FolderRole, type Presence, whoIsPresent } from './presence.js'
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
      return new HeldFolder(dataDir, role)
    } catch (error) {
      if (!(error instanceof InUseError)) {
        if (role === 'read' && isNothingToLock(error)) return NOTHING_HELD
        throw new FatalError(`data_dir ${dataDir} can't be locked: ${(error as Error).message}`)
      }
      if (attempt === TRIES) throw new FatalError(`data_dir ${dataDir} ${error.message}`)
    }
    // Blocks the thread: nothing else may run in this process before the folder is locked.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, randomInt(LONGEST_PAUSE_MS))
  }
}

const NOTHING_HELD: FolderLock = { files: [], release: () => undefined }

/** There is no folder, or it is on a read-only disk, where LMDB has no reader slots to protect. */
function isNothingToLock(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'EROFS'
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
    if (writing === 'held') throw this.#inUseBy(before)
    // A writer of an older build holds no kernel lock: only its text shows it.
    if (before !== undefined && before.pidNamespace === undefined && isRunning(before, this.#me))
      throw this.#inUseBy(before)
    // Rivals are looked for before this process announces itself, and again after it. A process that finds a rival already here leaves
    // without having been seen. So when two processes have refused each other, the first to try again wins.
    this.#assertNoRival()
    this.#presence = announcePresence(this.#dataDir, this.#me, this.#role)
    if (this.#presence === undefined && !(hasSharedLock && writing === 'taken'))
      throw new Error('the command flock (util-linux) is missing, and no socket can be made in the folder')
    this.#assertNoRival()
    // An older build, or a person, may have removed a file after we opened it and before we locked it.
    if (!this.#files.every((file) => file.isInPlace()))
      throw new InUseError('is being taken by another process that starts now')
    if (this.#role === 'write') owner.write(this.#me)
  }

  #assertNoRival(): void {
    const rival = whoIsPresent(this.#dataDir, this.#me, this.#presence).find(
      (other) => !other.isOfOurNamespace || (this.#role === 'write' && other.role === 'write'),
    )
    if (rival !== undefined)
      throw inUse(`process ${rival.pid}${rival.isOfOurNamespace ? '' : ` ${ELSEWHERE}`}`)
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
    if (joined === 'held') throw new InUseError('is being taken by another process that starts now')
    if (joined === 'unavailable') return false
    const first = openers.record()
    if (first === undefined || !sharesNamespace(first, this.#me)) throw this.#inUseBy(first)
    return true
  }

  #inUseBy(record: ProcessRecord | undefined): InUseError {
    if (record === undefined) return inUse('another process')
    const isNear = record.pidNamespace === undefined || sharesNamespace(record, this.#me)
    return inUse(`process ${record.pid}${isNear ? '' : ` on host ${record.host} ${ELSEWHERE}`}`)
  }
}

const ELSEWHERE = 'in another pid namespace (another container)'

function inUse(owner: string): InUseError {
  return new InUseError(`is in use by ${owner}: stop it first, or choose another data_dir`)
}
