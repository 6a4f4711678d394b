import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { test } from 'node:test'

const folder = new URL('../../../bundle/threads/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.js'))
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')

/** What a file loads before its first line: modules of Node, libraries, and other files of the folder as `./name.js`. */
function loadedBy(name: string): string[] {
  return [...read(name).matchAll(/^(?:import|export)(?: [^"]*? from)? "([^"]+)";$/gm)].map(
    ([, loaded]) => loaded!,
  )
}

const isOfNode = (name: string): boolean => name.startsWith('node:') || builtinModules.includes(name)

/** Files that the main thread of `bds run` loads. */
function filesToRun(): Set<string> {
  const found = new Set<string>()
  const waiting = ['./program.js', `./${files.find((name) => /^runVerb-/.test(name))}`]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (found.has(next)) continue
    found.add(next)
    waiting.push(...loadedBy(next).filter((name) => name.startsWith('./')))
  }
  return found
}

test('each thread is one file, and loads besides only Node and the two libraries with files of their own', () => {
  const threads = files.filter((name) => name.endsWith('.worker.js'))
  for (const name of ['cell', 'indexer', 'query', 'watchdog', 'presence'].map(
    (thread) => `${thread}.worker.js`,
  ))
    assert.ok(threads.includes(name), name)
  for (const name of threads)
    for (const loaded of loadedBy(name))
      assert.ok(isOfNode(loaded) || ['lmdb', 'piscina'].includes(loaded), `${name} loads ${loaded}`)
})

test('the main thread of `bds run` loads some dozens of files, not the six hundred that they are made of', () => {
  const needed = filesToRun()
  assert.ok(needed.size < 60, String(needed.size))
  const libraries = [...needed].flatMap(loadedBy).filter((name) => !name.startsWith('./') && !isOfNode(name))
  assert.deepEqual([...new Set(libraries)], ['lmdb'])
})

test('the licences of the bundled libraries are in a file beside them', () => {
  const licences = read('LICENSES.txt').split('\n---\n\n')
  for (const library of [
    'viem',
    'abitype',
    'ox',
    '@noble/hashes',
    '@sinclair/typebox',
    'ajv',
    'ws',
    'pino',
  ]) {
    const own = licences.find((text) => text.startsWith(`${library}\n\n`))
    assert.match(own ?? 'no licence', /Permission is hereby granted/, library)
  }
})
