import assert from 'node:assert/strict'
import { dirname, join } from 'node:path'
import { before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { init } from 'es-module-lexer'
import { findBreaches, readSourceFiles, sourceFile, unusedKeepers } from './importRules.js'

const emitted = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'src')
const sources = join(emitted, '..', '..', 'src')

before(() => init)

test('no room imports a room that it may not know', async () => {
  const files = await readSourceFiles(emitted, sources)
  assert.ok(files.length > 40, `only ${files.length} files below ${sources}`)
  assert.deepEqual(findBreaches(files), [])
})

test('every library that one file keeps to itself is really used somewhere', async () => {
  assert.deepEqual(unusedKeepers(await readSourceFiles(emitted, sources)), [])
})

test('negative control: the checker sees each kind of breach', () => {
  const breaches = findBreaches([
    sourceFile(
      'api/routes.js',
      `import { a } from '../shard/reader.js'\nimport { b } from '../errors/answers.js'`,
    ),
    sourceFile('http/server.js', `const uws = require('uWebSockets.js')\nawait import('../store/tables.js')`),
    sourceFile('http/other.js', `const uws = require('uWebSockets.js-modern')`),
    sourceFile('shard/reader.js', `export { open } from 'lmdb'\nprocess.env.HOME\nprocess.exit(1)`),
    sourceFile(
      'shard/wasm.js',
      `// WebAssembly. in a comment\n/* WebAssembly. */\nnew WebAssembly.Instance(m)`,
    ),
    sourceFile('http/pool.js', `import { Piscina } from 'piscina'`),
    sourceFile('pool/index.js', `export * from './query.worker.js'`),
    sourceFile('kitchen/sink.js', ''),
    sourceFile('main.js', `import './http/server.js'\nprocess.exit(0)`),
  ])
  assert.deepEqual(breaches, [
    'api/routes.js imports shard/reader.js: api may not import shard',
    'http/server.js imports store/tables.js: http may not import store',
    'pool/index.js: a barrel file',
    'pool/index.js imports pool/query.worker.js: a thread entry is no module',
    'kitchen/sink.js: the room kitchen is not on the plan',
    'uWebSockets.js is used by http/server.js and http/other.js: only one file may',
    'shard/reader.js uses lmdb: only store may',
    'shard/wasm.js uses WebAssembly: only merkle may',
    'shard/reader.js uses process.env: only config may',
    'http/pool.js uses piscina: only pool may',
    'shard/reader.js uses process.exit: only main may',
    'process.exit is used by shard/reader.js and main.js: only one file may',
  ])
})
