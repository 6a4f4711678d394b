import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  BridgesParameters,
  ClaimProofParameters,
  ClaimsParameters,
  ClaimTransactionParameters,
  L1InfoTreeIndexParameters,
  TokenMappingsParameters,
} from '../../src/api/querySchemas.js'
import { haltReasons } from '../../src/errors/haltReason.js'
import { readmeTables } from '../support/readmeTables.js'

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

for (const [name, render] of Object.entries(readmeTables))
  test(`README's table of ${name} says what the code says, row by row`, () => {
    const table = render()
    // With the empty lines around it, so that a row too many is seen as well.
    assert.ok(readme.includes(`\n\n${table}\n\n`), `README.md should hold:\n\n${table}`)
  })

/** The names that a table of parameters has in each of its columns. */
function parametersNamed(from: string, to: string): string[][] {
  const section = readme.slice(readme.indexOf(from), readme.indexOf(to))
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const named = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const row of rows) {
    const [names = '', ...meanings] = row.split('|').slice(1, -1)
    for (const [, name] of names.matchAll(/`([a-z_]+)`/g))
      for (const [list, meaning] of meanings.entries()) if (meaning.trim() !== '') named[list]!.add(name!)
  }
  return named.map((names) => [...names].sort())
}

const namesOf = ({ properties }: { readonly properties: object }) => Object.keys(properties).sort()

test('README names the parameters of each list, and no others', () => {
  assert.deepEqual(
    parametersNamed('### Parameters of the lists', '### Errors'),
    [BridgesParameters, ClaimsParameters, TokenMappingsParameters].map(namesOf),
  )
})

test('README names the parameters of each proof, and no others', () => {
  assert.deepEqual(
    parametersNamed('### Parameters of the proofs', '### Parameters of the lists'),
    [L1InfoTreeIndexParameters, ClaimProofParameters, ClaimTransactionParameters].map(namesOf),
  )
})

test('docs/operations.md tells of every halt reason, and of no other', () => {
  const text = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  const section = text.slice(text.indexOf('## Halts'), text.indexOf('## Chains that'))
  const told = [...section.matchAll(/^\| `([a-z0-9_]+)`/gm)].map(([, name]) => name)
  assert.deepEqual(told.sort(), haltReasons.filter((reason) => reason !== 'none').toSorted())
})

test('docs/operations.md tells of every metric, and of no other', () => {
  const project = new URL('../../../', import.meta.url)
  const text = readFileSync(new URL('docs/operations.md', project), 'utf8')
  const section = text.slice(text.indexOf('## Metrics'), text.indexOf('## Senders that'))
  const told = [...section.matchAll(/^\| [^|]+/gm)].flatMap(([cell]) => cell.match(/bds_[a-z_]+/g) ?? [])
  const sources = readdirSync(new URL('src', project), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(`src/${file}`, project), 'utf8'))
  const made = sources.flatMap((source) => [...source.matchAll(/'(bds_[a-z_]+)'/g)].map(([, name]) => name!))
  assert.deepEqual(told.sort(), [...new Set(made)].sort())
})
