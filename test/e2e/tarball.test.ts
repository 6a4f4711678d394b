import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tempFolder } from '../support/tempFolder.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })
  assert.equal(status, 0, stderr)
  return stdout
}

interface Entry {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly dev?: true
}

test('the tarball fixes every package that a user gets by version and hash, and brings none of development', (t) => {
  const folder = tempFolder(t)
  const tarball = run(process.execPath, ['.ci/packTarball.mjs', '--pack-destination', folder], root).trim()
  run('tar', ['-xzf', tarball, '--strip-components=1'], folder)
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const manifest = read('package.json') as Record<string, Record<string, string> | undefined>
  assert.deepEqual([manifest.devDependencies, manifest.scripts], [undefined, undefined])
  const { packages } = read('npm-shrinkwrap.json') as { packages: Record<string, Entry> }
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as typeof manifest
  const { '': top, ...others } = packages
  assert.equal('devDependencies' in top!, false)
  for (const name of Object.keys({ ...own.dependencies, ...own.optionalDependencies }))
    assert.ok(`node_modules/${name}` in others, name)
  for (const name of Object.keys(own.devDependencies!))
    assert.equal(`node_modules/${name}` in others, false, name)
  for (const [place, { integrity, resolved, dev }] of Object.entries(others)) {
    assert.match(integrity ?? '', /^sha512-/, place)
    assert.deepEqual([resolved, dev], [undefined, undefined], place)
  }
  // One copy, without the fault by which many small fragments of a message take much memory.
  const sockets = Object.keys(others).filter((place) => place.endsWith('node_modules/ws'))
  assert.deepEqual(sockets, ['node_modules/ws'])
  const [major = 0, minor = 0, patch = 0] = others['node_modules/ws']!.version!.split('.').map(Number)
  assert.ok(
    major > 8 || (major === 8 && (minor > 21 || (minor === 21 && patch >= 1))),
    `ws ${major}.${minor}.${patch}`,
  )
  for (const file of [
    'SECURITY.md',
    'docs/operations.md',
    'dist/src/cli/bds.js',
    'dist/src/cli/bds.sh',
    'dist/bundle/threads',
  ])
    assert.ok(run('ls', [join(folder, file)], folder).length > 0, file)
})
