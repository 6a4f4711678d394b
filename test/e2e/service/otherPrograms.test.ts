import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { csvLine } from '../../../src/cli/input/csv.js'
import { buildSmallWorld } from '../../support/fakeChainScenario.js'
import { skipWithout } from '../../support/installedProgram.js'
import { startBds } from '../../support/serviceProcess.js'
import { serveWorld } from '../../support/serviceWorld.js'
import { storeSmallWorld } from './storedWorld.js'

// What `bds` writes for other programs, read by those programs.

interface Told {
  readonly networks: readonly {
    readonly network_id: number
    readonly bytes: number
    readonly chunks: readonly { readonly sha256: string }[]
  }[]
}

async function backUp(context: TestContext, name: string): Promise<string> {
  const { configFile } = await serveWorld(context, buildSmallWorld().world)
  const file = configFile('data')
  await storeSmallWorld(file)
  const to = join(dirname(file), name)
  const { exited, stderr } = startBds(context, ['backup', '--config', file, '--to', to])
  assert.equal((await exited).code, 0, stderr.join('\n'))
  return to
}

test('tar, gzip and sha256sum make a store of a backup', {
  skip: skipWithout('tar', 'gzip', 'sha256sum'),
}, async (context) => {
  const file = await backUp(context, 'one.tar')
  const folder = join(dirname(file), 'unpacked')
  mkdirSync(folder)
  execFileSync('tar', ['-xf', file, '-C', folder])
  const { networks } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Told
  assert.deepEqual(
    networks.map(({ network_id }) => network_id),
    [1, 2, 0],
  )
  for (const { bytes, chunks } of networks) {
    const pieces = chunks.map(({ sha256 }) => join(folder, `${sha256}.gz`))
    for (const [at, { sha256 }] of chunks.entries())
      assert.ok(execFileSync('sha256sum', [pieces[at]!]).toString().startsWith(`${sha256} `))
    const store = execFileSync('gzip', ['-dc', ...pieces], { maxBuffer: 2 ** 28 })
    assert.equal(store.length, bytes)
    // The number that LMDB's first page begins with, after the head of the page.
    assert.equal(store.readUInt32LE(24), 0xbeefc0de)
  }
})

test('the manifest has the SHA-256 of itself', { skip: skipWithout('python3') }, async (context) => {
  const path = join(await backUp(context, 'many'), 'manifest.json')
  const script = [
    'import hashlib,json,sys',
    'told=json.load(open(sys.argv[1]))',
    'own=told.pop("sha256")',
    'text=json.dumps(told,separators=(",",":"),ensure_ascii=False)',
    'print(hashlib.sha256(text.encode()).hexdigest()==own)',
  ].join('\n')
  assert.equal(execFileSync('python3', ['-c', script, path]).toString(), 'True\n')
})

test("another program's parser reads the values of CSV", { skip: skipWithout('python3') }, () => {
  const values = [
    'plain',
    'with, comma',
    'with "quotes"',
    'two\nlines',
    null,
    true,
    7,
    '12345678901234567890',
  ]
  const read = execFileSync(
    'python3',
    [
      '-c',
      'import csv,io,json,sys;print(json.dumps(list(csv.reader(io.StringIO(sys.stdin.buffer.read().decode(),newline="")))))',
    ],
    { input: csvLine(values) + csvLine(['next']) },
  )
  assert.deepEqual(JSON.parse(read.toString()), [
    ['plain', 'with, comma', 'with "quotes"', 'two\nlines', '', 'true', '7', '12345678901234567890'],
    ['next'],
  ])
})
