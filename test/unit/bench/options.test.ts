import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const options: Readonly<Record<string, readonly string[]>> = {
  http: ['bridges', 'connections', 'rounds', 'seconds', 'quick', 'no-rival', 'doc'],
  query: ['size', 'quick', 'no-rival', 'doc'],
  backfill: ['size', 'rounds', 'shared', 'only', 'doc', 'senders', 'anvil'],
  merkle: ['size'],
}

for (const [name, flags] of Object.entries(options))
  test(`--help of the ${name} bench tells what each option is for and what holds without it`, () => {
    const file = fileURLToPath(new URL(`../../../bench/${name}.js`, import.meta.url))
    const { status, stdout } = spawnSync(process.execPath, [file, '--help'], { encoding: 'utf8' })
    assert.equal(status, 0)
    const lines = stdout.trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => /^ {2}--([a-z-]+)(?: …)? {2,}\S.* \(default: .+\)$/.exec(line)?.[1]),
      flags,
      stdout,
    )
  })
