import { tempFolder } from './tempFolder.js'

interface Cleaner {
  after(body: () => void): void
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
