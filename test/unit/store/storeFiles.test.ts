import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { uint32Key } from '../../../src/store/layout/keys.js'
import { openShardStoreSnapshot, openShardStoreWriter } from '../../../src/store/shardStore.js'
import { assertStoreFiles } from '../../../src/store/storeFiles.js'
import { tempFolder } from '../../support/tempFolder.js'

const VALUE = new Uint8Array(100).fill(7)

/** A store with branch pages, values in pages of their own, and free pages. */
async function makeStore(context: TestContext): Promise<string> {
  const directory = join(tempFolder(context), '1')
  const store = openShardStoreWriter(directory)
  for (let round = 0; round < 4; round++)
    store.transact((view) => {
      for (let key = 0; key < 2000; key++) view.put('meta', uint32Key(round * 1000 + key), VALUE)
      view.put('undo', uint32Key(round), new Uint8Array(20_000))
    })
  await store.close()
  return directory
}

/** The start of a store as a store of its own. */
function cutTo(context: TestContext, directory: string, bytes: number): string {
  const cut = tempFolder(context)
  copyFileSync(join(directory, 'data.mdb'), join(cut, 'data.mdb'))
  truncateSync(join(cut, 'data.mdb'), bytes)
  return cut
}

test('a store cut short anywhere is refused in one line, by writers and readers, before LMDB maps it', async (t) => {
  const whole = await makeStore(t)
  const { size } = statSync(join(whole, 'data.mdb'))
  assert.ok(size > 400_000, `${size}`)
  for (const bytes of [5000, 8192, 40_000, 200_000, size - 4096, size - 1]) {
    const cut = cutTo(t, whole, bytes)
    const told = new RegExp(`^${cut} can't be opened: data.mdb is cut short: it has ${bytes} bytes, [^\\n]*$`)
    assert.throws(() => openShardStoreWriter(cut), { name: 'FatalError', message: told }, `${bytes}`)
    assert.throws(() => openShardStoreSnapshot(cut), { name: 'FatalError', message: told }, `${bytes}`)
  }
})

test('a file longer than its data, an empty one and a missing one pass', async (t) => {
  const directory = await makeStore(t)
  const path = join(directory, 'data.mdb')
  truncateSync(path, statSync(path).size + 1_000_000)
  for (const opening of ['write', 'read'] as const) assertStoreFiles(directory, opening)
  const empty = tempFolder(t)
  assertStoreFiles(empty, 'write')
  writeFileSync(join(empty, 'data.mdb'), '')
  assertStoreFiles(empty, 'write')
})

test('a store whose last pages were given up again inside their own transaction is short and good', async (t) => {
  const directory = join(tempFolder(t), '1')
  const path = join(directory, 'data.mdb')
  const store = openShardStoreWriter(directory)
  const row = new Uint8Array(1500)
  store.transact((view) => {
    for (let key = 0; key < 400; key++) view.put('undo', uint32Key(key), row)
  })
  store.transact((view) => {
    for (let key = 399; key >= 0; key--) view.remove('undo', uint32Key(key))
  })
  store.transact((view) => {
    for (let key = 400; key < 1400; key++) view.put('undo', uint32Key(key), row)
    for (let key = 1399; key > 400; key--) view.remove('undo', uint32Key(key))
  })
  await store.close()
  // Last page and transaction, where the first two pages have them.
  const file = readFileSync(path)
  const states = [0, 4096].map(
    (at) => [file.readBigUInt64LE(at + 152), file.readBigUInt64LE(at + 144)] as const,
  )
  const [, lastPage] = states.reduce((one, other) => (one[0] > other[0] ? one : other))
  assert.ok(statSync(path).size < Number(lastPage) * 4096, 'short')
  for (const opening of ['write', 'read'] as const) assertStoreFiles(directory, opening)
  const again = openShardStoreWriter(directory)
  assert.deepEqual(again.get('undo', uint32Key(400)), row)
  await again.close()
  assert.throws(() => assertStoreFiles(cutTo(t, directory, 40_000), 'read'), /data\.mdb is cut short/)
})

test('what is not a file is refused in one line in the place of either file', (t) => {
  for (const name of ['data.mdb', 'lock.mdb']) {
    const told = { name: 'FatalError', message: new RegExp(`can't be opened: ${name} is not a file$`) }
    for (const make of [mkdirSync, (path: string) => symlinkSync('/dev/null', path)]) {
      const directory = tempFolder(t)
      make(join(directory, name))
      if (name === 'lock.mdb') writeFileSync(join(directory, 'data.mdb'), '')
      assert.throws(() => openShardStoreWriter(directory), told)
      assert.throws(() => openShardStoreSnapshot(directory), told)
    }
  }
})

test('a lock file that is a link to nothing is refused in one line', (t) => {
  const directory = tempFolder(t)
  symlinkSync(join(directory, 'nowhere', 'lock'), join(directory, 'lock.mdb'))
  const told = { name: 'FatalError', message: /can't be opened: lock\.mdb is a link to nothing$/ }
  assert.throws(() => openShardStoreWriter(directory), told)
})
