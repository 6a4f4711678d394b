import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const project = new URL('../../../', import.meta.url)
const unitTests = foldersBelow(fileURLToPath(new URL('test/unit', project)))
const rooms = foldersBelow(fileURLToPath(new URL('src', project)))

/** Tests of what is not in `src`: the benches' own options, and the helpers of the tests. */
const BESIDE_SRC = ['bench', 'support']

test('each folder below test/unit is a folder of src, or bench or support', () => {
  assert.ok(unitTests.length > 40, `only ${unitTests.length} folders of unit tests`)
  assert.deepEqual(strangers(unitTests, rooms), [])
})

test('negative control: a folder below test/unit that src does not have is reported', () => {
  assert.deepEqual(
    strangers(['bench', 'shard', 'shard/attic', 'support', 'write'], ['bench', 'shard', 'shard/write']),
    ['shard/attic', 'write'],
  )
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

function strangers(folders: readonly string[], rooms: readonly string[]): string[] {
  return folders.filter((folder) => !rooms.includes(folder) && !BESIDE_SRC.includes(folder))
}

/** Folders below `root` that hold files, as `shard/write`. */
function foldersBelow(root: string): string[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return [...new Set(files.map((entry) => relative(root, entry.parentPath)))].filter((path) => path !== '')
}
