import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brokenLinks, missingNames, missingPaths, readPages, unknownScripts } from './documents.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const pages = readPages(root)
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}

test('every relative link of every document leads to a file, and to a heading of it', () => {
  assert.ok(pages.length > 20, `only ${pages.length} pages below ${root}`)
  assert.deepEqual(brokenLinks(root, pages), [])
})

test('every file and folder of src/ and test/ that a document names exists', () => {
  const map = pages.find(({ file }) => file === 'docs/architecture.md')
  assert.ok(map !== undefined && map.text.match(/`src\//g)!.length > 100)
  assert.deepEqual(missingPaths(root, pages), [])
})

test('every function that a document places in a file is defined in that file', () => {
  assert.deepEqual(missingNames(root, pages), [])
})

test('every npm script that a document tells the reader to run is in package.json', () => {
  assert.deepEqual(unknownScripts(pages, scripts), [])
})

test('decisions are numbered one by one, in file name and heading', () => {
  const decisions = pages.filter(({ file }) => file.startsWith('docs/decisions/'))
  const numbered = decisions
    .map(({ file, text }) => [file.slice(15, 19), /^# (\d+)\./.exec(text)?.[1]])
    .sort()
  const expected = decisions.map((_, index) => [String(index + 1).padStart(4, '0'), String(index + 1)])
  assert.deepEqual(numbered, expected)
})

test('negative control: the checks of documents report each kind of mistake', () => {
  const text = [
    '# A heading of ours, with `code`',
    '[file](none.md) [anchor](README.md#none) [own](#none) `[code](code.md)`',
    '[web](https://example.org/none.md) [fine](README.md) [also fine](#a-heading-of-ours-with-code)',
    'npm run none, npm run build',
    '`src/none/` `test/none.ts` and `src/cli/program.ts`: `main`, `none`',
  ].join('\n')
  const page = { file: 'README.md', text }
  assert.deepEqual(brokenLinks(root, [page]), [
    'README.md: none.md',
    'README.md: README.md#none',
    'README.md: #none',
    // The README on disk has other headings than this text.
    'README.md: #a-heading-of-ours-with-code',
  ])
  assert.deepEqual(unknownScripts([page], scripts), ['README.md: npm run none'])
  assert.deepEqual(missingPaths(root, [page]), ['README.md: src/none/', 'README.md: test/none.ts'])
  assert.deepEqual(missingNames(root, [page]), ['README.md: src/cli/program.ts has no none'])
})
