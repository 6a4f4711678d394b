import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileMerkleModule } from '../src/wasm/wasmModule.js'
import { readOptions } from './micro/options.js'
import { benchRoot, commitLine, machineLine, requireRival, versionOf } from './micro/project.js'
import { markdownTable, targetTable, writeSection } from './micro/report.js'
import { dialectTables } from './query/dialects.js'
import { raceSize, type SizeResult } from './query/raceSize.js'
import { bytesRows, questionRows, targetsOf } from './query/report.js'
import { installSqlite } from './query/sqliteDatabase.js'

const values = readOptions({
  size: { type: 'string', help: 'one more size, in bridges (default: 10000 and 1000000 only)' },
  quick: { type: 'boolean', default: false, help: 'leave out the size of 1000000' },
  rival: { type: 'boolean', default: true, help: 'leave out SQLite, and installing it' },
  dialects: {
    type: 'boolean',
    default: false,
    help: 'only the answers of dialects beside those of our own API, with 10000 bridges',
  },
  doc: { type: 'boolean', default: false, help: 'write the figures into bench/README.md' },
})
const sizes = [
  ...new Set([
    10_000,
    ...(values.quick || values.dialects ? [] : [1_000_000]),
    ...(values.size === undefined ? [] : [Number(values.size)]),
  ]),
]
const MEASURED = `Measured at ${commitLine()}, ${new Date().toISOString().slice(0, 10)}, on ${machineLine()}`
const hasRival = values.rival && !values.dialects
/** Bytes on disk per bridge, measured with a million bridges: ours, and the rival's. */
const BRIDGE_BYTES = 650 + (hasRival ? 1_260 : 0)
/** While the rival's indexes are made, they take more space: in its log, and in sorted files. */
const SPACE_FACTOR = 2

if (hasRival) installSqlite()
const folder = mkdtempSync(join(tmpdir(), 'bds-bench-'))
try {
  const { bavail, bsize } = statfsSync(folder)
  const needed = SPACE_FACTOR * BRIDGE_BYTES * Math.max(...sizes)
  if (bavail * bsize < needed)
    throw new Error(
      `${Math.max(...sizes)} bridges need ${gigabytes(needed)} GB free in ${tmpdir()} (twice their size), ${gigabytes(bavail * bsize)} GB are`,
    )
  const compiled = compileMerkleModule()
  const results: SizeResult[] = []
  for (const size of sizes) {
    console.error(`${size} bridges`)
    results.push(await raceSize(folder, compiled, size, hasRival, values.dialects))
  }
  const dialects = [`${MEASURED}; ${sizes.at(-1)} bridges.`, ...dialectTables(results.at(-1)!.dialects)]
  tell('dialects', dialects.join('\n\n'))
  if (!values.dialects) report(results)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function report(results: readonly SizeResult[]): void {
  const rival = hasRival ? `better-sqlite3 ${versionOf('better-sqlite3', requireRival)}` : 'no rival'
  const targets = targetsOf(results)
  const body = [
    `${MEASURED}; ${rival}.`,
    targetTable(targets),
    '### Answers: µs of CPU time in the worker, medians',
    ...questionRows(results),
    '### Bytes on disk',
    ...bytesRows(results.at(-1)!),
    '### Writing',
    markdownTable(
      ['bridges', 'of network 0 per second of CPU time', 'blocks alone', 'senders alone', 'by the clock'],
      results.map(({ bridges, writing }) =>
        [
          ...[bridges, writing.perCpuSecond, writing.blocksPerCpuSecond, writing.sendersPerCpuSecond],
          writing.perSecond,
        ].map((rate) => rate.toFixed(0)),
      ),
    ),
  ].join('\n\n')
  tell('query', body)
  const file = join(benchRoot, 'results', `query-${Date.now()}.json`)
  mkdirSync(join(benchRoot, 'results'), { recursive: true })
  writeFileSync(
    file,
    JSON.stringify(
      { at: new Date().toISOString(), commit: commitLine(), machine: machineLine(), rival, targets, results },
      (_, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value),
      2,
    ),
  )
}

function tell(section: string, body: string): void {
  console.log(body)
  if (values.doc) writeSection(section, body)
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(0)
}
