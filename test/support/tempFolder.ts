import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A test's context, or `{ after }` of node:test for what a whole file shares. */
export interface Cleaner {
  after(body: () => void | Promise<void>): void
}

/**
 * A folder of its own for one test, removed when the test ends. A process that the test started later is ended later,
 * too: what it writes meanwhile is removed with the test's process, so that no error hides the test's own.
 */
export function tempFolder(context: Cleaner): string {
  const folder = mkdtempSync(join(tmpdir(), 'bds-test-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  context.after(() => {
    try {
      remove()
    } catch {
      process.once('exit', remove)
    }
  })
  return folder
}

/** Points the operating system's folder for temporary files to one of the test's own, until the test ends. */
export function ownTmpdir(context: Cleaner): string {
  const folder = tempFolder(context)
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  context.after(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  return folder
}
