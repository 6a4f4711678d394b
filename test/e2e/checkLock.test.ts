import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { tempFolder } from '../support/tempFolder.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const HASH = `sha512-${'A'.repeat(86)}==`

/** What `.ci/checkLock.mjs` says of a lock with these packages. */
function check(t: TestContext, packages: Record<string, object>): { code: number | null; told: string } {
  const file = join(tempFolder(t), 'lock.json')
  writeFileSync(file, JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } }))
  const { status, stderr } = spawnSync(process.execPath, [join(root, '.ci/checkLock.mjs'), file], {
    encoding: 'utf8',
  })
  return { code: status, told: stderr.replaceAll(`${file}: `, '').trim() }
}

test('a lock whose packages have a hash each and run nothing when they are installed is accepted', (t) => {
  const packages = {
    'node_modules/one': { version: '1.0.0', integrity: HASH },
    'node_modules/one/node_modules/@own/two': { version: '2.0.0', integrity: HASH },
    'node_modules/lmdb': { version: '3.5.6', integrity: HASH, hasInstallScript: true },
  }
  assert.deepEqual(check(t, packages), { code: 0, told: '' })
})

test('a package that runs a script when it is installed is refused by its name', (t) => {
  const entry = { version: '1.2.3', integrity: HASH, hasInstallScript: true }
  const { code, told } = check(t, { 'node_modules/good/node_modules/@own/evil': entry })
  assert.equal(code, 1)
  assert.match(
    told,
    /^@own\/evil 1\.2\.3 \(node_modules\/good\/node_modules\/@own\/evil\) has an install script: /,
  )
  // Another package under the name of an allowed one is not allowed.
  assert.match(check(t, { 'node_modules/lmdb': { ...entry, name: 'evil' } }).told, /^evil 1\.2\.3 /)
  assert.equal(check(t, { 'node_modules/constructor': entry }).code, 1)
})

test('a package without a strong hash, or from elsewhere than the registry, is refused', (t) => {
  for (const entry of [
    {},
    { integrity: '' },
    { integrity: 'sha1-qUqP5cyxm6YcTAhz05Hph5gvu9M=' },
    { integrity: HASH, resolved: 'git+ssh://git@host.example/evil.git#abc' },
    { integrity: HASH, link: true },
    { inBundle: true },
  ])
    assert.deepEqual(
      [entry, check(t, { 'node_modules/evil': { version: '1.2.3', ...entry } }).code],
      [entry, 1],
    )
})

test('a dependency that is wanted in a range of versions is refused', (t) => {
  for (const [wanted, code] of [
    ['1.2.3', 0],
    ['npm:@own/one@1.2.3-rc.1', 0],
    ['^1.2.3', 1],
    ['1.2.x', 1],
    ['npm:@own/one@^1.2.3', 1],
    ['github:own/one', 1],
  ] as const)
    assert.deepEqual([wanted, check(t, { '': { dependencies: { one: wanted } } }).code], [wanted, code])
})

test("every package that the check excuses is in one of the project's locks, with an install script", () => {
  const excused = readFileSync(join(root, '.ci/checkLock.mjs'), 'utf8')
    .split('const ALLOWED = {')[1]!
    .split('\n}')[0]!
  const names = [...excused.matchAll(/^ {2}'?([^':\s]+)'?:/gm)].map(([, name]) => name)
  const locked = ['package-lock.json', 'bench/package-lock.json'].flatMap((file) => {
    const { packages } = JSON.parse(readFileSync(join(root, file), 'utf8')) as {
      packages: Record<string, { hasInstallScript?: true }>
    }
    return Object.keys(packages).filter((place) => packages[place]!.hasInstallScript)
  })
  assert.deepEqual(names.sort(), locked.map((place) => place.replace(/^.*node_modules\//, '')).sort())
})
