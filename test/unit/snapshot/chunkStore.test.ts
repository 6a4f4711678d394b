import assert from 'node:assert/strict'
import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  openFolderSink,
  openFolderSource,
  openTarSink,
  openTarSource,
} from '../../../src/snapshot/chunkStore.js'
import { tempFolder } from '../../support/tempFolder.js'

const pieces = new Map([
  ['empty', new Uint8Array()],
  ['block', new Uint8Array(512).fill(7)],
  [`${'ab'.repeat(32)}.gz`, new Uint8Array(1_000).fill(9)],
])
const last = Buffer.from('{}')

test('a folder and a tar file give back each piece that was put into them, and nothing else', async (context) => {
  const folder = tempFolder(context)
  const [many, one] = [join(folder, 'new', 'folder'), join(folder, 'made', 'one.tar')]
  for (const [sink, open] of [
    [await openFolderSink(many), async () => openFolderSource(many)],
    [await openTarSink(one), async () => openTarSource(one)],
  ] as const) {
    for (const [name, bytes] of pieces) await sink.put(name, bytes)
    await sink.finish('last', last)
    const source = await open()
    for (const [name, bytes] of pieces)
      assert.deepEqual(Buffer.from((await source.get(name))!), Buffer.from(bytes))
    assert.deepEqual(Buffer.from((await source.get('last'))!), last)
    assert.equal(await source.get('other'), undefined)
    await source.close()
  }
})

test('an older backup is never overwritten, and a file has its name only when it is complete', async (context) => {
  const folder = tempFolder(context)
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  await assert.rejects(openFolderSink(folder), {
    name: 'OperatorError',
    message: /is not empty: choose a new folder$/,
  })
  const file = join(folder, 'one.tar')
  const sink = await openTarSink(file)
  await sink.put('block', pieces.get('block')!)
  assert.equal(existsSync(file), false)
  await sink.discard()
  assert.deepEqual(readdirSync(folder), ['notes.txt'])
  const again = await openTarSink(file)
  await again.finish('last', last)
  await assert.rejects(openTarSink(file), {
    name: 'OperatorError',
    message: `${file} exists: choose a new file`,
  })
})

test('what was put into a folder is removed when the rest fails', async (context) => {
  const folder = join(tempFolder(context), 'new')
  const sink = await openFolderSink(folder)
  for (const [name, bytes] of pieces) await sink.put(name, bytes)
  await sink.discard()
  assert.deepEqual(readdirSync(folder), [])
})

test('a tar file that is cut short or is something else is refused in one line', async (context) => {
  const file = join(tempFolder(context), 'one.tar')
  const sink = await openTarSink(file)
  await sink.put('block', pieces.get('block')!)
  await sink.finish('last', last)
  truncateSync(file, 1_200)
  await assert.rejects(openTarSource(file), {
    name: 'OperatorError',
    message: `${file} is cut short, or not a backup`,
  })
  writeFileSync(file, new Uint8Array(2_048).fill(1))
  await assert.rejects(openTarSource(file), {
    name: 'OperatorError',
    message: `${file} is damaged, or not a backup`,
  })
})
