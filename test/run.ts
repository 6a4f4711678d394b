import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { NOT_INSTALLED } from './support/installedProgram.js'
import { sharedFolder } from './support/sharedFolder.js'
import { testFiles } from './testFiles.js'

/**
 * The test runner: `node dist/test/run.js http unit …` runs every test below the folders, the folders in the order named; a
 * single file may be named as well, as source or as compiled (`test/unit/service/rooms.test.ts`, `unit/rooms.test.js`), also before its
 * folder, so that it begins early. `--minutes=60` gives
 * each file that long instead of five, `--minutes-in-all=10` ends the run after that time; `--at-once=6` runs so many files beside each
 * other. A test that is skipped or left as "todo", and a
 * file or run without tests, counts as a failure: what does not run proves nothing. Only a test of a program that is not installed may be
 * skipped, and not in CI.
 */
const MINUTES_PER_FILE = 5

const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const numberOf = (option: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${option}=`))?.split('=')[1]
const minutes = numberOf('minutes')
const minutesInAll = numberOf('minutes-in-all')
// One more than there are processors: there is always a file that waits.
const filesAtOnce = Number(numberOf('at-once') ?? availableParallelism() + 1)
const files = [...new Set(folders.flatMap(testFiles))]
const faults: string[] = []
let tests = 0

const unknown = folders.filter((folder) => testFiles(folder).length === 0)
if (unknown.length > 0) {
  console.error(`no test file below ${unknown.join(', ')}`)
  process.exit(1)
}

// One line instead of a failure of each test that needs the folder.
if (folders.some((folder) => /^shared\b/.test(folder)) && !existsSync(sharedFolder())) {
  console.error(`${sharedFolder()} is not there: set BDS_SHARED_DIR to the folder of shared test data`)
  process.exit(1)
}

const stream = run({
  files,
  concurrency: filesAtOnce,
  timeout: 60_000 * Number(minutes ?? MINUTES_PER_FILE),
  ...(minutesInAll === undefined ? {} : { signal: AbortSignal.timeout(60_000 * Number(minutesInAll)) }),
})
stream.on('test:pass', ({ name, skip, todo }) => {
  // Node reports a file that holds no test as a passing test with the file's own name.
  if (files.includes(name)) faults.push(`no test in ${name}`)
  else tests += 1
  const isProgramMissing = typeof skip === 'string' && skip.startsWith(NOT_INSTALLED)
  if (skip !== undefined && skip !== false && (process.env.CI === 'true' || !isProgramMissing))
    faults.push(`skipped: ${name}`)
  if (todo !== undefined && todo !== false) faults.push(`todo: ${name}`)
})
stream.on('test:fail', ({ name }) => {
  faults.push(`failed: ${name}`)
})

const report = stream.compose(new spec())
report.pipe(process.stdout)
report.once('end', () => {
  if (tests === 0) faults.push('no test ran')
  for (const fault of faults) console.error(`✖ ${fault}`)
  process.exitCode = faults.length === 0 ? 0 : 1
})
