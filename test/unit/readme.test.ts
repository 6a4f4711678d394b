import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

test('README can be read in one sitting: at most 170 lines', () => {
  assert.ok(readme.split('\n').length <= 170, `${readme.split('\n').length} lines`)
})

test('README leads to every page of docs/ that a user needs', () => {
  for (const page of ['api', 'configuration', 'operations', 'benches', 'glossary'])
    assert.match(readme, new RegExp(`\\(docs/${page}\\.md\\)`))
})
