import { spawnSync } from 'node:child_process'
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { type ProcessRecord, parseRecord } from './processRecord.js'

/** `unavailable`: there is no command `flock`, it can't be started, or the file system has no such locks. */
export type LockOutcome = 'taken' | 'held' | 'unavailable'

const LONGEST_MS = 5_000

/**
 * A kernel lock on a file that is never deleted. The lock belongs to the open file, not to a pid: every pid namespace of the
 * host sees it, and the kernel releases it when the process ends in whatever way.
 */
export class KernelLock {
  readonly path: string
  readonly #descriptor: number

  /**
   * @param access `write` makes the file if it is missing. The kernel locks a file that is open for reading just as well.
   * @throws the system's error.
   */
  constructor(path: string, access: 'write' | 'read' = 'write') {
    this.path = path
    // Not truncated: the text may be that of another process that holds the lock.
    const flags = access === 'write' ? constants.O_RDWR | constants.O_CREAT : constants.O_RDONLY
    this.#descriptor = openSync(path, flags, 0o644)
  }

  /** Never waits. If we already hold the lock, its kind changes; another process may take it in between. */
  take(kind: 'exclusive' | 'shared'): LockOutcome {
    // The child gets our open file as descriptor 3, locks it and ends. The lock stays with our open file.
    const { status, stderr } = spawnSync('flock', ['-n', kind === 'exclusive' ? '-x' : '-s', '3'], {
      stdio: ['ignore', 'ignore', 'pipe', this.#descriptor],
      timeout: LONGEST_MS,
      encoding: 'utf8',
    })
    if (status === 0) return 'taken'
    // Busybox also exits with 1 after other faults, but then it writes a message.
    return status === 1 && stderr === '' ? 'held' : 'unavailable'
  }

  /** Whether our open file is still the one at its path. */
  isInPlace(): boolean {
    const found = statSync(this.path, { throwIfNoEntry: false })
    const own = fstatSync(this.#descriptor)
    return found?.ino === own.ino && found.dev === own.dev
  }

  record(): ProcessRecord | undefined {
    return parseRecord(readFileSync(this.path, 'utf8'))
  }

  write(record: ProcessRecord): void {
    const text = `${JSON.stringify(record)}\n`
    writeSync(this.#descriptor, text, 0)
    ftruncateSync(this.#descriptor, Buffer.byteLength(text))
  }

  /** Releases the lock. The file stays: if it were deleted, two processes could lock two different files of the same path. */
  close(): void {
    closeSync(this.#descriptor)
  }
}
