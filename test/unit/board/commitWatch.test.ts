import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import {
  CommitWatch,
  createStatusBoard,
  type StatusBoardHandle,
  statusRow,
} from '../../../src/board/statusBoard.js'

const module = JSON.stringify(new URL('../../../src/board/statusBoard.js', import.meta.url).href)

/** Runs `body` in another thread, with `board` of the status board's module and its `handle`. */
function inThread(handle: StatusBoardHandle, body: string): Worker {
  return new Worker(
    `const { workerData: handle, parentPort } = require('node:worker_threads'); import(${module}).then((board) => { ${body} })`,
    { eval: true, workerData: handle },
  )
}

/** Waiters in V8's list. Asking ends their waits. */
function endWaits({ memory }: StatusBoardHandle): number {
  return Atomics.notify(new Int32Array(memory), memory.byteLength / 4 - 2)
}

/** Resolves once everything that was notified before it has been delivered. */
async function delivered(): Promise<void> {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  const { value } = Atomics.waitAsync(cell, 0, 0)
  Atomics.notify(cell, 0)
  await value
}

test('a commit of another thread wakes the one that waits for it', async () => {
  const handle = createStatusBoard([0, 1])
  const watch = new CommitWatch(handle)
  const woken = new Promise<void>((resolve) => {
    watch.onCommit(watch.count(), resolve)
  })
  const worker = inThread(handle, "board.statusRow(handle, 0).add('commits', 1)")
  await Promise.all([woken, once(worker, 'exit')])
})

test('a commit between the look at the rows and the wait is not missed', async () => {
  const handle = createStatusBoard([0])
  const watch = new CommitWatch(handle)
  const seen = watch.count()
  statusRow(handle, 0).add('commits', 1)
  await new Promise<void>((resolve) => {
    watch.onCommit(seen, resolve)
  })
  // Also while an earlier waiter is still in the list.
  watch.onCommit(watch.count(), () => undefined)()
  const seenAgain = watch.count()
  statusRow(handle, 0).add('commits', 1)
  await new Promise<void>((resolve) => {
    watch.onCommit(seenAgain, resolve)
  })
})

test('what is no commit wakes nobody, and neither does a commit after the wait was taken back', async () => {
  const handle = createStatusBoard([0])
  const watch = new CommitWatch(handle)
  const row = statusRow(handle, 0)
  let wakes = 0
  const stop = watch.onCommit(watch.count(), () => wakes++)
  row.set('committing', 1)
  row.set('depositCount', 7)
  row.set('headBlock', 7)
  await delivered()
  assert.equal(wakes, 0)
  stop()
  row.add('commits', 1)
  await delivered()
  assert.equal(wakes, 0)
})

test('a commit wakes all of a thread that wait, except those whose wait was taken back', async () => {
  const handle = createStatusBoard([0])
  const watch = new CommitWatch(handle)
  const woken: string[] = []
  const seen = watch.count()
  const waiting = [1, 2, 3].map((name) => watch.onCommit(seen, () => woken.push(`${name}`)))
  waiting[1]!()
  const row = statusRow(handle, 0)
  row.add('commits', 1)
  await delivered()
  row.add('commits', 1)
  await delivered()
  assert.deepEqual(woken, ['1', '3'])
})

test('a commit that one of them had not seen is not missed because another one waits for the next', async () => {
  const handle = createStatusBoard([0])
  const watch = new CommitWatch(handle)
  const seen = watch.count()
  statusRow(handle, 0).add('commits', 1)
  watch.onCommit(watch.count(), () => undefined)
  let isWoken = false
  watch.onCommit(seen, () => {
    isWoken = true
  })
  assert.equal(isWoken, false, 'not before it has returned')
  await delivered()
  assert.equal(isWoken, true)
})

test('a halt that begins or ends wakes those that wait', async () => {
  const handle = createStatusBoard([0])
  const watch = new CommitWatch(handle)
  const row = statusRow(handle, 0)
  for (const reason of ['missing_log', 'none'] as const) {
    let shown: string | undefined
    watch.onCommit(watch.count(), () => {
      shown = row.haltReason()
    })
    row.setHaltReason(reason)
    await delivered()
    assert.equal(shown, reason)
  }
})

test('however many waits were taken back, one waiter of a thread is in the list', async () => {
  const handle = createStatusBoard([0])
  const watch = new CommitWatch(handle)
  for (let rest = 0; rest < 1_000; rest++) watch.onCommit(watch.count(), () => undefined)()
  assert.equal(endWaits(handle), 1)
  await delivered()
  assert.equal(endWaits(handle), 0)
})

test('a wait keeps no thread alive, and a commit after the end of that thread harms nobody', async () => {
  const handle = createStatusBoard([0])
  const body = `const watch = new board.CommitWatch(handle)
    watch.onCommit(watch.count(), () => parentPort.postMessage('woken'))`
  const worker = inThread(handle, body)
  let messages = 0
  worker.on('message', () => messages++)
  assert.deepEqual(await once(worker, 'exit'), [0])
  statusRow(handle, 0).add('commits', 1)
  await delivered()
  assert.equal(messages, 0)
})
