import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tempFolder } from '../support/tempFolder.js'

const options: Readonly<Record<string, readonly string[]>> = {
  http: [
    'bridges',
    'connections',
    'rounds',
    'seconds',
    'quick',
    'no-rival',
    'cells',
    'workers',
    'mix',
    'doc',
  ],
  query: ['size', 'quick', 'no-rival', 'dialects', 'doc'],
  backfill: ['size', 'rounds', 'shared', 'only', 'doc', 'senders', 'anvil'],
  events: ['readers', 'idle', 'protocol', 'events', 'rounds', 'seconds'],
  merkle: ['size'],
  memory: ['size', 'shared', 'settle', 'seconds', 'restarts', 'threshold', 'doc'],
  requestLines: ['lines', 'requests'],
  pages: ['pages', 'rounds', 'seconds', 'connections'],
  idle: ['networks', 'poll', 'settle', 'seconds', 'doc'],
}

for (const [name, flags] of Object.entries(options))
  test(`--help of the ${name} bench explains each option and its default`, () => {
    const file = fileURLToPath(new URL(`../../bench/${name}.js`, import.meta.url))
    const { status, stdout } = spawnSync(process.execPath, [file, '--help'], { encoding: 'utf8' })
    assert.equal(status, 0)
    const lines = stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => /^ {2}--([a-z-]+)(?: …)? {2,}\S.* \(default: .+\)$/.exec(line)?.[1]),
      flags,
      stdout,
    )
  })

const built = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))

test('without the shared folder the backfill bench and the shared tests say so in one line and leave no files', (t) => {
  const folder = tempFolder(t)
  const env = { ...process.env, TMPDIR: folder, BDS_SHARED_DIR: '/nowhere/shared' }
  const runs: [args: string[], line: string][] = [
    [
      [built('bench/backfill.js'), '--shared', '/nowhere/shared'],
      '/nowhere/shared/replay/synth-rpc.mjs is not there: --shared names the folder that holds the generator, --anvil needs none\n',
    ],
    [
      [built('test/run.js'), 'shared'],
      '/nowhere/shared is not there: set BDS_SHARED_DIR to the folder of shared test data\n',
    ],
    [
      [built('test/run.js'), '--minutes=60', 'shared/faultMatrix.test.js'],
      '/nowhere/shared is not there: set BDS_SHARED_DIR to the folder of shared test data\n',
    ],
  ]
  for (const [args, line] of runs) {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env })
    assert.deepEqual([status, stdout, stderr], [1, '', line])
  }
  assert.deepEqual(readdirSync(folder), [])
})
