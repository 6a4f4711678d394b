import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { uint32Key } from '../../../src/store/layout/keys.js'
import { decodeUint32, encodeUint32 } from '../../../src/store/layout/smallRows.js'
import { openShardStoreReader, openShardStoreWriter } from '../../../src/store/shardStore.js'
import type { ShardStoreReader, ShardStoreWriter } from '../../../src/store/shardStore.types.js'
import { tempFolder } from '../../support/tempFolder.js'

const sleepingReader = fileURLToPath(new URL('./sleepingReader.js', import.meta.url))
const COUNTER = uint32Key(0)

async function withStore(
  context: TestContext,
  body: (writer: ShardStoreWriter, reader: ShardStoreReader, directory: string) => void | Promise<void>,
): Promise<void> {
  const directory = `${tempFolder(context)}/7`
  const writer = openShardStoreWriter(directory)
  const reader = openShardStoreReader(directory)
  try {
    await body(writer, reader, directory)
  } finally {
    await reader.close()
    await writer.close()
  }
}

const putCounter = (writer: ShardStoreWriter, value: number) =>
  writer.transact((view) => view.put('meta', COUNTER, encodeUint32(value)))

const readCounter = (reader: ShardStoreReader) => {
  const value = reader.get('meta', COUNTER)
  return value && decodeUint32(value)
}

test('a reader sees each commit after refresh, and keeps one snapshot until then', (context) =>
  withStore(context, (writer, reader) => {
    for (let value = 0; value < 200; value++) {
      putCounter(writer, value)
      reader.refresh()
      assert.equal(readCounter(reader), value)
      putCounter(writer, value + 1000)
      assert.equal(readCounter(reader), value, 'a snapshot does not move inside a task')
      reader.release()
    }
  }))

test('refresh returns the number of commits that changed the store: empty and failed transactions do not count', (context) =>
  withStore(context, (writer, reader) => {
    assert.equal(reader.refresh(), undefined, 'nothing was ever written')
    putCounter(writer, 1)
    assert.equal(reader.refresh(), 1)
    assert.equal(reader.refresh(), 1)
    writer.transact(() => undefined)
    assert.throws(() =>
      writer.transact((view) => {
        view.put('meta', COUNTER, encodeUint32(2))
        throw new Error('rolled back')
      }),
    )
    assert.equal(reader.refresh(), 1)
    writer.transact((view) => {
      view.setUndoBlock(7)
      view.put('meta', COUNTER, encodeUint32(3))
    })
    assert.equal(reader.refresh(), 2)
    writer.transact((view) => view.undoAbove(6))
    assert.equal(readCounter(reader), 3, 'the snapshot is still the one before')
    assert.equal(reader.refresh(), 3, 'what is taken back is a change too')
    assert.equal(readCounter(reader), 1)
    writer.transact((view) => view.remove('meta', COUNTER))
    assert.equal(reader.refresh(), 4)
  }))

test('refresh takes the newest snapshot also when the last task did not release its own', (context) =>
  withStore(context, (writer, reader) => {
    for (let value = 0; value < 50; value++) {
      putCounter(writer, value)
      reader.refresh()
      assert.equal(readCounter(reader), value)
    }
    reader.release()
  }))

test('tasks leave no timers behind, since they would pile up in a thread whose event loop has no turns', (context) =>
  withStore(context, (_writer, reader) => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
    const before = timers()
    for (let task = 0; task < 100; task++) {
      reader.refresh()
      readCounter(reader)
      reader.list('meta', { start: uint32Key(0), end: uint32Key(9) })
      reader.release()
    }
    assert.equal(timers(), before)
    // The control: outside of a task lmdb-js keeps its default behaviour.
    readCounter(reader)
    assert.equal(timers(), before + 1)
    reader.release()
  }))

test('a thread that sleeps in Atomics.wait between tasks, and runs no timers, reads each commit', (context) =>
  withStore(context, async (writer, _reader, directory) => {
    // cells: task number, value read
    const cells = new Int32Array(new SharedArrayBuffer(8))
    const worker = new Worker(sleepingReader, { workerData: { directory, cells } })
    await once(worker, 'message')
    let stale = 0
    for (let task = 1; task <= 300; task++) {
      putCounter(writer, task)
      Atomics.store(cells, 0, task)
      Atomics.notify(cells, 0)
      const waited = Atomics.wait(cells, 0, task, 10_000)
      assert.notEqual(waited, 'timed-out')
      if (Atomics.load(cells, 1) !== task) stale++
    }
    Atomics.store(cells, 0, -1)
    Atomics.notify(cells, 0)
    await once(worker, 'exit')
    assert.equal(stale, 0)
  }))

test('once a reader has released its snapshot the writer reuses pages of the file', (context) =>
  withStore(context, (writer, reader) => {
    const value = Buffer.alloc(2000, 1)
    const write = () =>
      writer.transact((view) => {
        for (let key = 0; key < 50; key++) view.put('deposits', uint32Key(key), value)
      })
    write()
    reader.refresh()
    readCounter(reader)
    reader.release()
    for (let round = 0; round < 30; round++) write()
    const before = writer.fileBytes()
    for (let round = 0; round < 200; round++) write()
    assert.equal(writer.fileBytes(), before)
    // The control: with a held snapshot the same writes make the file grow.
    reader.refresh()
    readCounter(reader)
    for (let round = 0; round < 200; round++) write()
    assert.ok(writer.fileBytes() > 2 * before, `${writer.fileBytes()} bytes, ${before} before`)
    reader.release()
  }))

test('a transaction that throws leaves nothing behind', (context) =>
  withStore(context, (writer, reader) => {
    putCounter(writer, 1)
    const body = () =>
      writer.transact((view) => {
        view.setUndoBlock(5)
        view.put('meta', COUNTER, encodeUint32(2))
        assert.equal(decodeUint32(view.get('meta', COUNTER)!), 2, 'a transaction sees its own writes')
        throw new Error('stop')
      })
    assert.throws(body, { message: 'stop' })
    reader.refresh()
    assert.equal(readCounter(reader), 1)
    assert.deepEqual(reader.list('undo', { start: Uint8Array.of(0), end: Buffer.alloc(9, 255) }), [])
    reader.release()
  }))

test('nothing is written while the disk is below its reserve, reads go on, and writes resume once there is room', async (context) => {
  const directory = `${tempFolder(context)}/7`
  let free = 2 ** 40
  const writer = openShardStoreWriter(directory, () => free)
  putCounter(writer, 1)
  free = 1000
  assert.throws(() => putCounter(writer, 2), {
    code: 'ENOSPC',
    message: `no space left for ${directory}: 0 MiB free, 64 MiB kept in reserve`,
  })
  assert.equal(decodeUint32(writer.get('meta', COUNTER)!), 1)
  free = 2 ** 40
  putCounter(writer, 3)
  assert.equal(decodeUint32(writer.get('meta', COUNTER)!), 3)
  await writer.close()
})

test('ranges include their start and exclude their end, also in descending order', (context) =>
  withStore(context, (writer) => {
    writer.transact((view) => {
      for (let key = 0; key < 6; key++) view.put('claims', uint32Key(key), Uint8Array.of(key))
    })
    const list = (start: number, end: number, more = {}) =>
      writer
        .list('claims', { start: uint32Key(start), end: uint32Key(end), ...more })
        .map(({ key, value }) => [key[3], value[0]])
    assert.deepEqual(list(1, 3), [
      [1, 1],
      [2, 2],
    ])
    assert.deepEqual(list(3, 1, { reverse: true }), [
      [2, 2],
      [1, 1],
    ])
    assert.deepEqual(list(99, 0, { reverse: true, limit: 1 }), [[5, 5]])
    assert.deepEqual(list(2, 2), [])
  }))

test('values of any length are read as they were written, as plain arrays whose slice is a copy', (context) =>
  withStore(context, (writer) => {
    const lengths = [0, 1, 4080, 4081, 40_000, 3_000_000]
    writer.transact((view) => {
      lengths.forEach((length, key) => {
        view.put('metadata', uint32Key(key), Buffer.alloc(length, key + 1))
      })
    })
    lengths.forEach((length, key) => {
      const value = writer.get('metadata', uint32Key(key))!
      assert.equal(value.constructor, Uint8Array)
      assert.equal(value.length, length)
      const copy = value.slice()
      writer.get('metadata', uint32Key(0))
      writer.get('metadata', uint32Key(1))
      assert.ok(copy.every((byte) => byte === key + 1))
    })
    assert.equal(writer.get('metadata', uint32Key(77)), undefined)
  }))

test('undo restores the first old value of each block, newest block first, also of blocks written in parts', (context) =>
  withStore(context, (writer) => {
    const write = (block: number, values: Record<number, number>) =>
      writer.transact((view) => {
        view.setUndoBlock(block)
        for (const [key, value] of Object.entries(values))
          view.put('claims', uint32Key(Number(key)), Uint8Array.of(value))
      })
    const read = () => {
      const all = { start: uint32Key(0), end: uint32Key(100) }
      return writer.list('claims', all).map(({ key, value }) => [key[3], value[0]])
    }
    write(1, { 1: 10, 2: 20 })
    write(2, { 2: 21, 3: 30 })
    write(3, { 3: 31 })
    write(1, { 9: 90 })
    writer.transact((view) => {
      view.setUndoBlock(3)
      view.remove('claims', uint32Key(1))
      view.put('claims', uint32Key(2), Uint8Array.of(22))
      view.put('claims', uint32Key(2), Uint8Array.of(23))
      view.setUndoBlock(undefined)
      view.put('claims', uint32Key(50), Uint8Array.of(1))
    })
    writer.transact((view) => view.undoAbove(2))
    assert.deepEqual(read(), [
      [1, 10],
      [2, 21],
      [3, 30],
      [9, 90],
      [50, 1],
    ])
    writer.transact((view) => view.forgetUndo(1))
    writer.transact((view) => view.undoAbove(0))
    assert.deepEqual(read(), [
      [1, 10],
      [2, 20],
      [9, 90],
      [50, 1],
    ])
  }))

test('a failed transaction that emptied a table leaves the table unchanged', (context) =>
  withStore(context, (writer, reader) => {
    putCounter(writer, 7)
    writer.transact((view) => view.put('deposits', COUNTER, encodeUint32(9)))
    const fail = () =>
      writer.transact((view) => {
        view.clear('deposits')
        assert.equal(view.get('deposits', COUNTER), undefined)
        view.put('deposits', uint32Key(1), encodeUint32(1))
        throw new Error('stop')
      })
    assert.throws(fail, /stop/)
    reader.refresh()
    assert.equal(decodeUint32(reader.get('deposits', COUNTER)!), 9)
    assert.equal(reader.get('deposits', uint32Key(1)), undefined)
    writer.transact((view) => view.clear('deposits'))
    assert.equal(decodeUint32(reader.get('deposits', COUNTER)!), 9, 'a snapshot stays what it was')
    reader.refresh()
    assert.equal(reader.get('deposits', COUNTER), undefined)
    assert.equal(readCounter(reader), 7)
    reader.release()
  }))

test('the pages of an emptied table are reused', (context) =>
  withStore(context, (writer) => {
    const row = new Uint8Array(4_000)
    const fill = () => {
      for (let first = 0; first < 2_000; first += 200)
        writer.transact((view) => {
          for (let at = first; at < first + 200; at++) view.put('deposits', uint32Key(at), row)
        })
    }
    fill()
    const bytes = writer.fileBytes()
    for (let round = 0; round < 5; round++) {
      writer.transact((view) => view.clear('deposits'))
      fill()
    }
    assert.ok(writer.fileBytes() < 1.2 * bytes, `${bytes} bytes became ${writer.fileBytes()}`)
  }))

test('figures tell of open snapshots, of the commits since the oldest, and of pages that came free', (context) =>
  withStore(context, (writer, reader) => {
    const big = new Uint8Array(100_000)
    writer.transact((view) => view.put('meta', COUNTER, big))
    assert.equal(writer.figures().readers, 0)
    reader.refresh()
    readCounter(reader)
    assert.deepEqual([writer.figures().readers, writer.figures().oldestReader], [1, 0])
    const before = writer.figures().freeBytes
    writer.transact((view) => view.remove('meta', COUNTER))
    putCounter(writer, 1)
    assert.equal(writer.figures().oldestReader, 2)
    const freed = writer.figures().freeBytes - before
    assert.ok(freed >= 90_000, `only ${freed}`)
    assert.ok(writer.figures().mapBytes >= writer.fileBytes())
    reader.release()
    assert.deepEqual([writer.figures().readers, writer.figures().oldestReader], [0, 0])
  }))

test('the writer tells how long each commit took, and nothing of one that was rolled back', (context) => {
  const commits: number[] = []
  const writer = openShardStoreWriter(tempFolder(context), undefined, undefined, (sec) => commits.push(sec))
  putCounter(writer, 1)
  assert.throws(() =>
    writer.transact(() => {
      throw new Error('rolled back')
    }),
  )
  putCounter(writer, 2)
  assert.equal(commits.length, 2)
  assert.ok(commits.every((sec) => sec > 0 && sec < 60))
  return writer.close()
})
