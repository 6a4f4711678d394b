import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const project = new URL('../../../', import.meta.url)
const unitTests = foldersBelow(fileURLToPath(new URL('test/unit', project)))
const rooms = foldersBelow(fileURLToPath(new URL('src', project)))

const root = fileURLToPath(new URL('test', project))
const support = join(root, 'support')
/** Tests of what is not in `src`: the helpers of the tests, and the models of the benches. */
const BESIDE_SRC = ['support', 'bench']
/** Modules through which a process is started, by the end of their path. */
const STARTERS = /(node:child_process|\/serviceProcess\.js|\/testDevnet\.js|\/devnet\/(anvil|start)\.js)$/

test('each folder below test/unit is a folder of src, or support, or bench', () => {
  assert.ok(unitTests.length > 40, `only ${unitTests.length} folders of unit tests`)
  assert.deepEqual(strangers(unitTests, rooms), [])
})

test('negative control: a folder below test/unit that src does not have is reported', () => {
  assert.deepEqual(strangers(['shard', 'shard/attic', 'support', 'write'], ['shard', 'shard/write']), [
    'shard/attic',
    'write',
  ])
})

test('no two unit tests have the same file name', () => {
  const names = readdirSync(fileURLToPath(new URL('test/unit', project)), {
    recursive: true,
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
})

test('a test that starts a process is in test/e2e: no unit or property test can start one', () => {
  const files = ['unit', 'property'].flatMap((kind) => filesBelow(`test/${kind}`))
  assert.ok(files.length > 150, `only ${files.length} files`)
  assert.deepEqual(
    files.filter((file) => startsProcesses(readFileSync(file, 'utf8'))),
    [],
  )
})

test('negative control: an import through which a process is started is reported, one of its types is not', () => {
  const texts = [
    "import { spawn } from 'node:child_process'",
    "import {\n  startService,\n  type Exit,\n} from '../../support/serviceProcess.js'",
    "import type { ServiceProcess } from '../../support/serviceProcess.js'",
  ]
  assert.deepEqual(texts.map(startsProcesses), [true, true, false])
})

test('a helper in test/support is one that several folders of tests share', () => {
  const users = new Map<string, Set<string>>()
  for (const file of filesBelow('test').filter((name) => name.endsWith('.ts')))
    for (const [, to] of readFileSync(file, 'utf8').matchAll(/'(\.[^']*)\.js'/g)) {
      const helper = `${join(dirname(file), to!)}.ts`
      users.set(helper, (users.get(helper) ?? new Set()).add(file))
    }
  const foldersOf = (helper: string, seen: readonly string[] = []): string[] =>
    [...(users.get(helper) ?? [])]
      .filter((user) => !seen.includes(user))
      .flatMap((user) => {
        if (user.startsWith(support)) return foldersOf(user, [...seen, helper])
        const [kind, area = ''] = relative(root, user).split('/')
        return [kind === 'unit' ? `unit/${area}` : kind!]
      })
  const helpers = filesBelow('test/support')
  assert.ok(helpers.length > 30, `only ${helpers.length} helpers`)
  assert.deepEqual(
    helpers.filter((helper) => new Set(foldersOf(helper)).size < 2),
    [],
  )
})

function startsProcesses(text: string): boolean {
  return [...text.matchAll(/^import (?!type )[^']*'([^']+)'/gm)].some(([, name]) => STARTERS.test(name!))
}

function filesBelow(folder: string): string[] {
  const root = fileURLToPath(new URL(folder, project))
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

function strangers(folders: readonly string[], rooms: readonly string[]): string[] {
  return folders.filter((folder) => !rooms.includes(folder) && !BESIDE_SRC.includes(folder))
}

/** Folders below `root` that hold files, as `shard/write`. */
function foldersBelow(root: string): string[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return [...new Set(files.map((entry) => relative(root, entry.parentPath)))].filter((path) => path !== '')
}
