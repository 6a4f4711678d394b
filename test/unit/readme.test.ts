import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readmeTables } from '../support/readmeTables.js'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

for (const [name, render] of Object.entries(readmeTables))
  test(`README's table of ${name} says what the code says, row by row`, () => {
    const table = render()
    // With the empty lines around it, so that a row too many is seen as well.
    assert.ok(readme.includes(`\n\n${table}\n\n`), `README.md should hold:\n\n${table}`)
  })
