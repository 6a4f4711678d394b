import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  findBreaches,
  readRoomPlan,
  readSourceFiles,
  sourceFile,
  unusedAllowances,
  unusedKeepers,
} from './importRules.js'

const project = new URL('../../../', import.meta.url)
const plan = readRoomPlan(readFileSync(new URL('docs/rooms.md', project), 'utf8'))
const files = readSourceFiles(fileURLToPath(new URL('src', project)))

test('the rooms are those of docs/rooms.md, and none imports a room that it may not know', () => {
  assert.ok(files.length > 40, `only ${files.length} files`)
  assert.deepEqual(findBreaches(files, plan), [])
})

test('docs/rooms.md allows no import that the code does not use', () => {
  assert.deepEqual(unusedAllowances(files, plan), [])
})

test('every library that only one file may import is imported somewhere', () => {
  assert.deepEqual(unusedKeepers(files), [])
})

test('negative control: the import checker reports each kind of breach', () => {
  const rooms = ['api', 'errors', 'query', 'http/wire', 'http', 'shard', 'wasm', 'pool', 'service']
  const small = new Map(rooms.map((room): [string, string[]] => [room, room === 'service' ? ['http'] : []]))
  small.set('attic', [])
  const breaches = findBreaches(
    [
      sourceFile(
        'api/routes.ts',
        `import { a } from '../shard/reader.js'\nimport { b } from '../errors/answers.js'`,
      ),
      sourceFile('errors/answers.ts', `import {\n  type A,\n  b,\n} from '../query/answer.js'`),
      sourceFile('query/answer.ts', `import type { C } from '../errors/answers.js'`),
      sourceFile(
        'http/server.ts',
        `const uws = require('uWebSockets.js')\nawait import('../shard/reader.js')`,
      ),
      sourceFile('http/wire/uws.ts', `const uws = require('uWebSockets.js-modern')`),
      sourceFile('shard/reader.ts', `export { open } from 'lmdb'\nprocess.env.HOME\nprocess.exit(1)`),
      sourceFile(
        'shard/wasm.ts',
        `// new WebAssembly.X in a comment\n/* new WebAssembly.X */\nnew WebAssembly.Instance(m)`,
      ),
      sourceFile('wasm/reader.ts', `import { Piscina } from 'piscina'`),
      sourceFile('pool/index.ts', `export * from './query.worker.js'`),
      sourceFile('kitchen/sink.ts', ''),
      sourceFile('service/main.ts', `import '../http/server.js'\nprocess.exit(0)`),
    ],
    small,
  )
  assert.deepEqual(breaches, [
    'api/routes.ts imports shard/reader.ts: api may not import shard',
    'errors/answers.ts imports query/answer.ts: errors may not import query',
    'http/server.ts imports shard/reader.ts: http may not import shard',
    'pool/index.ts: a barrel file',
    'pool/index.ts imports pool/query.worker.ts: a thread entry is no module',
    'kitchen/sink.ts: the room kitchen is not on the plan',
    'attic is on the plan and has no file',
    'http/server.ts uses uWebSockets.js: only http/wire may',
    'uWebSockets.js is used by http/server.ts and http/wire/uws.ts: only one file may',
    'shard/reader.ts uses lmdb: only store may',
    'shard/wasm.ts uses WebAssembly: only wasm may',
    'shard/reader.ts uses process.env: only config may',
    'wasm/reader.ts uses piscina: only pool may',
    'shard/reader.ts uses process.exit: only service may',
    'process.exit is used by shard/reader.ts and service/main.ts: only one file may',
    'one name for several files: shard/reader.ts, wasm/reader.ts',
    'files in a circle: errors/answers.ts → query/answer.ts → errors/answers.ts',
    'rooms in a circle: errors → query → errors',
  ])
})

test('negative control: the import checker reports a room with a thirteenth door', () => {
  const doors = Array.from({ length: 13 }, (_, at) => sourceFile(`store/door${at}.ts`, ''))
  const guest = sourceFile(
    'shard/guest.ts',
    doors.map((_, at) => `import './../store/door${at}.js'`).join('\n'),
  )
  const breaches = findBreaches(
    [...doors, guest],
    new Map([
      ['store', []],
      ['shard', ['store']],
    ]),
  )
  assert.deepEqual(breaches.length, 1)
  assert.match(breaches[0]!, /^store has 13 doors: /)
})
