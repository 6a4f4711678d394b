import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { test } from 'node:test'

const folder = new URL('../../../bundle/threads/', import.meta.url)
const threads = readdirSync(folder).filter((name) => name.endsWith('.js'))
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

test('an indexer thread and a query thread are one file each, and load besides only Node and libraries of few files', () => {
  assert.deepEqual(threads.sort(), ['indexer.worker.js', 'query.worker.js'])
  const wide = ['viem', 'viem/utils', '@sinclair/typebox']
  for (const name of threads)
    for (const [, loaded] of read(name).matchAll(/^(?:import|export) (?:.* from )?"([^"]+)";$/gm)) {
      assert.doesNotMatch(loaded!, /^[./]/, name)
      assert.ok(!wide.includes(loaded!), `${name} loads ${loaded}`)
      if (builtinModules.includes(loaded!)) assert.fail(`${name} names ${loaded} without node:`)
    }
})

test('the licences of the bundled libraries are in a file beside them', () => {
  const licences = read('LICENSES.txt').split('\n---\n\n')
  for (const library of ['viem', 'abitype', 'ox', '@noble/hashes', '@sinclair/typebox']) {
    const own = licences.find((text) => text.startsWith(`${library}\n\n`))
    assert.match(own ?? 'no licence', /Permission is hereby granted/, library)
  }
})
