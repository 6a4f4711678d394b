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

/** `unavailable`: no command `flock`, no process to be had for it, or a file system that knows no such locks. */
export type LockOutcome = 'taken' | 'held' | 'unavailable'

const LONGEST_MS = 5_000

/**
 * A lock of the kernel on a file that is kept for ever. It belongs to the open file, not to a pid: every pid namespace of the
 * host sees it, and it goes with the process, however that ends.
 */
export class KernelLock {
  readonly path: string
  readonly #descriptor: number

  /** @throws what the system says. */
  constructor(path: string) {
    this.path = path
    // Nothing is truncated: another process may hold the file.
    this.#descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644)
  }

  /** Never waits. A lock that we hold already changes its kind; another process may take it in between. */
  take(kind: 'exclusive' | 'shared'): LockOutcome {
    // The child locks our open file, which it gets as descriptor 3, and ends; the lock stays with us.
    const { status, stderr } = spawnSync('flock', ['-n', kind === 'exclusive' ? '-x' : '-s', '3'], {
      stdio: ['ignore', 'ignore', 'pipe', this.#descriptor],
      timeout: LONGEST_MS,
      encoding: 'utf8',
    })
    if (status === 0) return 'taken'
    // Busybox ends with 1 after other faults, too, but tells them.
    return status === 1 && stderr === '' ? 'held' : 'unavailable'
  }

  /** Whether the file that we have open is the one that others find under its name. */
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

  /** Releases the lock. The file stays: if it were unlinked, two processes could lock two files of one name. */
  close(): void {
    closeSync(this.#descriptor)
  }
}
