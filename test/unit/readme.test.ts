import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

test('README has at most 170 lines', () => {
  assert.ok(readme.split('\n').length <= 170, `${readme.split('\n').length} lines`)
})

test('README links every page of docs/', () => {
  for (const { name } of readdirSync(new URL('../../../docs', import.meta.url), { withFileTypes: true }))
    assert.ok(readme.includes(`(docs/${name})`), `no link to docs/${name}`)
})
