import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Cleaner {
  after(body: () => void): void
}

/** A folder of its own for one test, removed when the test ends. */
export function tempFolder(context: Cleaner): string {
  const folder = mkdtempSync(join(tmpdir(), 'bds-test-'))
  context.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
