import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tempFolder } from '../support/tempFolder.js'

const LAUNCHER = fileURLToPath(new URL('../../../src/cli/bds.sh', import.meta.url))

/** What the launcher starts `node` with on a machine of so many processors. It is called by a link, as npm makes one. */
function startedWith(t: TestContext, processors: number, env: NodeJS.ProcessEnv = {}, quota = ''): string[] {
  const folder = tempFolder(t)
  const program = (name: string, line: string): void =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 })
  program('nproc', `echo ${processors}`)
  program('cat', `[ "$1" = /sys/fs/cgroup/cpu.max ] && echo '${quota}'`)
  program('node', 'printf "%s\\n" "$MALLOC_MMAP_THRESHOLD_" "$@"')
  symlinkSync(LAUNCHER, join(folder, 'bds'))
  const { PATH } = process.env
  const said = execFileSync(join(folder, 'bds'), ['run', '--config', 'a file.toml'], {
    encoding: 'utf8',
    env: { PATH: `${folder}:${PATH}`, ...env },
  })
  return said.trimEnd().split('\n')
}

const program = LAUNCHER.replace(/sh$/, 'js')

for (const [processors, helpers] of [
  [1, 1],
  [2, 1],
  [7, 1],
  [8, 2],
  [16, 4],
  [64, 4],
] as const)
  test(`on ${processors} processors bds runs with ${helpers} helper threads of V8`, (t) => {
    assert.deepEqual(startedWith(t, processors), [
      '131072',
      `--v8-pool-size=${helpers}`,
      program,
      'run',
      '--config',
      'a file.toml',
    ])
  })

test('what the environment says of helper threads and of memory wins', (t) => {
  const env = { NODE_OPTIONS: '--enable-source-maps --v8-pool-size=3', MALLOC_MMAP_THRESHOLD_: '65536' }
  assert.deepEqual(startedWith(t, 2, env), ['65536', program, 'run', '--config', 'a file.toml'])
})

test('a MALLOC_MMAP_THRESHOLD_ that is set to nothing stays so', (t) => {
  assert.equal(startedWith(t, 2, { MALLOC_MMAP_THRESHOLD_: '' })[0], '')
})

for (const [quota, helpers] of [
  ['max 100000', 4],
  ['3200000 100000', 4],
  ['850000 100000', 2],
  ['50000 100000', 1],
  ['', 4],
] as const)
  test(`on 16 processors with the quota "${quota}" bds runs with ${helpers} helper threads of V8`, (t) => {
    assert.equal(startedWith(t, 16, {}, quota)[1], `--v8-pool-size=${helpers}`)
  })
