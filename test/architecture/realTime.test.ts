import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sourceFile } from './importRules.js'

// A sleep is too short on a busy machine and wasted on an idle one; a bound on real time fails with the one and hides a slow-down on
// the other. So time is passed in (`test/support/virtualClock.ts`), or moved by the test (`context.mock.timers`,
// `context.mock.method(performance, 'now', …)`), or an event says when to go on.

const root = fileURLToPath(new URL('../../../test', import.meta.url))
const FOLDERS = ['unit', 'property', 'simulation', 'http', 'support']
/** Here nothing is asked again and again either: what is tested is in the test's own hands. */
const WITHOUT_POLLS = ['unit', 'property', 'simulation']

/** Ways to read the real time or to let it pass. */
const REAL_TIME =
  /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bhrtime\b|\bmonotonicMs\(|(?<!\.)\bset(?:Timeout|Interval)\(|\bglobalThis\.set|timers\/promises|\bAbortSignal\.timeout\(/
const POLLS = /\/until\.js'/

const EXCEPTIONS: Readonly<Record<string, string>> = {
  'support/until.ts': 'the one poll, for what sends no event',
  'support/serviceProcess.ts': 'kills a process that does not start',
  'support/pausedService.ts': 'a paused process stands still in real time only',
  'support/clusterContract.ts': 'ends the questions to real servers that hang',
  'simulation/runSeeds.ts': 'a program that prints how long it took',
  'unit/telemetry/clocks.test.ts': 'compares the real clocks of two threads',
  'unit/cell/cellThread.test.ts': 'another thread counts its connections now and then, and tells nobody',
  'unit/http/limits/connections.test.ts': 'the kernel tells nobody when its table of connections has changed',
}

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return sourceFile(relative(root, path), readFileSync(path, 'utf8'))
    }),
)

test('no unit test, property, simulation or test of the wire reads the real time or lets it pass', () => {
  assert.ok(files.length > 300, `only ${files.length} files`)
  assert.deepEqual(
    files
      .filter(needsRealTime)
      .map(({ path }) => path)
      .toSorted(),
    Object.keys(EXCEPTIONS).toSorted(),
  )
})

test('negative control: clocks, sleeps and polls are reported, virtual ones and comments are not', () => {
  const found = (path: string, ...lines: string[]): string[] =>
    lines.filter((line) => needsRealTime(sourceFile(path, line)))
  const real = [
    'const startedMs = performance.now()',
    'assert.ok(Date.now() - startedMs < 100)',
    'const today = new Date()',
    'process.hrtime.bigint()',
    'assert.ok(monotonicMs() > before)',
    'await new Promise((resolve) => setTimeout(resolve, 5))',
    'globalThis.setTimeout(resolve, 5)',
    'setInterval(look, 10)',
    "import { setTimeout as delay } from 'node:timers/promises'",
    'AbortSignal.timeout(2_000)',
  ]
  assert.deepEqual(found('http/a.test.ts', ...real), real)
  const virtual = [
    "context.mock.timers.enable({ apis: ['setTimeout', 'Date'] })",
    "context.mock.method(performance, 'now', () => nowMs)",
    'await clock.sleep(60_000, signal)',
    'const at = new Date(NOON_MS + 5_000)',
    'clock.unixMs()',
    '// setTimeout(resolve, 5)',
  ]
  assert.deepEqual(found('unit/a.test.ts', ...virtual), [])
  const poll = "import { until } from '../support/until.js'"
  assert.deepEqual([found('unit/a.test.ts', poll), found('http/a.test.ts', poll)], [[poll], []])
})

function needsRealTime({ path, code }: { readonly path: string; readonly code: string }): boolean {
  const [folder = ''] = path.split('/')
  return REAL_TIME.test(code) || (WITHOUT_POLLS.includes(folder) && POLLS.test(code))
}
