import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import test, { type TestContext } from 'node:test'
import { Listener } from '../../../../src/http/wire/listener.js'
import type { ListenSocket } from '../../../../src/http/wire/uws.js'
import { openFiles } from '../../../../src/telemetry/openFiles.js'

const ON_LINUX = { skip: process.platform !== 'linux' && 'there is no /proc' }

const SPARE = 64

interface Port {
  readonly max: number
  readonly cells?: number
  /** Default: the descriptors that are open now. */
  readonly otherFiles?: number | undefined
  /** Called in each look. */
  onCount?(): void
}

/** The listener of a port that is open. */
function listenerOf(t: TestContext, port: Port) {
  const { max, cells = 1, onCount } = port
  const otherFiles = 'otherFiles' in port ? port.otherFiles : openFiles()
  const seen = { isOpen: true, closed: 0, filesAtClose: 0, refused: 0, counts: [] as number[] }
  const socket = {} as ListenSocket
  const listener = new Listener(socket, {
    cells,
    otherFiles,
    close: () => {
      assert.ok(seen.isOpen)
      seen.isOpen = false
      seen.closed++
      seen.filesAtClose = openFiles()!
    },
    open: () => {
      assert.ok(!seen.isOpen)
      seen.isOpen = true
      return socket
    },
    connections: {
      max,
      arrive: () => true,
      leave: () => undefined,
      recount: (open) => {
        seen.counts.push(open)
        onCount?.()
      },
      refuse: () => seen.refused++,
    },
  })
  t.after(() => listener.stop())
  return { listener, seen }
}

/** Opens descriptors, as clients do that connect. @returns what ends some of them. */
function connected(t: TestContext, count: number): (few: number) => void {
  const files = Array.from({ length: count }, () => openSync('/dev/null', 'r'))
  const end = (few: number): void => files.splice(0, few).forEach(closeSync)
  t.after(() => end(files.length))
  return end
}

/** The time by which looks are spaced: the next one comes at the earliest after ten times what the last one took. */
function looking(t: TestContext): { nowMs: number } {
  const clock = { nowMs: 0 }
  t.mock.method(performance, 'now', () => clock.nowMs)
  return clock
}

test(
  'connections that other threads had before this one opened the port count, and files that were open before do not',
  ON_LINUX,
  (t) => {
    connected(t, 10)
    const otherFiles = openFiles()
    connected(t, 30)
    const { listener, seen } = listenerOf(t, { max: 1_000, otherFiles })
    listener.look()
    assert.deepEqual(seen.counts, [30])
  },
)

test('threads that share a port count an equal part of the connections each', ON_LINUX, (t) => {
  const { listener, seen } = listenerOf(t, { max: 1_000, cells: 3 })
  connected(t, 30)
  listener.look()
  assert.deepEqual(seen.counts, [10])
})

test(
  'the port closes an eighth before the most connections, and opens when a sixteenth of the most is free',
  ON_LINUX,
  (t) => {
    const clock = looking(t)
    const { listener, seen } = listenerOf(t, { max: 160 })
    const lookAt = (): boolean => {
      clock.nowMs += 1_000
      listener.look()
      return seen.isOpen
    }
    const end = connected(t, 139)
    assert.equal(lookAt(), true)
    connected(t, 1)
    assert.equal(lookAt(), false)
    assert.equal(lookAt(), false)
    assert.equal(seen.refused, 1)
    end(9)
    assert.equal(lookAt(), false)
    end(1)
    assert.equal(lookAt(), true)
    assert.deepEqual(seen.counts, [139, 140, 140, 131, 130])
  },
)

test(
  'the next look may wait for a turn of the event loop while the port is open and half of the connections are free',
  ON_LINUX,
  (t) => {
    const clock = looking(t)
    const { listener, seen } = listenerOf(t, { max: 160 })
    const { listener: limitless } = listenerOf(t, { max: Number.POSITIVE_INFINITY })
    const isDueSoon = (): boolean => {
      clock.nowMs += 1_000
      return listener.look()
    }
    const end = connected(t, 80)
    assert.deepEqual([isDueSoon(), limitless.look()], [false, false])
    connected(t, 1)
    assert.equal(isDueSoon(), true)
    connected(t, 60)
    isDueSoon()
    assert.equal(seen.isOpen, false)
    // Another process may hold the port when it is to be opened again.
    end(80)
    assert.equal(isDueSoon(), false)
    assert.equal(seen.isOpen, true)
  },
)

test(
  'the spare descriptors are let go when the port has closed, not before, and taken again when it opens',
  ON_LINUX,
  (t) => {
    const clock = looking(t)
    const before = openFiles()!
    const { listener, seen } = listenerOf(t, { max: 8_000 })
    listener.look()
    assert.equal(openFiles(), before + SPARE)
    const { listener: small, seen: seenSmall } = listenerOf(t, { max: 160, otherFiles: before + SPARE })
    small.look()
    assert.equal(openFiles(), before + SPARE + 10, 'a sixteenth of the most where that is less')
    const end = connected(t, 150)
    clock.nowMs = 1_000
    small.look()
    assert.equal(seenSmall.filesAtClose, before + SPARE + 10 + 150)
    assert.equal(openFiles(), before + SPARE + 150)
    end(150)
    clock.nowMs = 2_000
    small.look()
    assert.equal(openFiles(), before + SPARE + 10)
    assert.equal(seen.closed, 0)
  },
)

test('what two threads hold in reserve closes no port of few connections', ON_LINUX, (t) => {
  const clock = looking(t)
  const otherFiles = openFiles()
  const threads = [0, 1].map(() => listenerOf(t, { max: 16, cells: 2, otherFiles }))
  for (clock.nowMs = 0; clock.nowMs < 10_000; clock.nowMs += 1_000)
    for (const { listener } of threads) listener.look()
  assert.deepEqual(
    threads.map(({ seen }) => [seen.isOpen, seen.closed]),
    [
      [true, 0],
      [true, 0],
    ],
  )
})

test('a timer that comes up to a millisecond early is no lost look', ON_LINUX, (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = looking(t)
  // A look takes 5 ms: the next one comes after 50 more.
  const { seen, listener } = listenerOf(t, { max: 160, onCount: () => (clock.nowMs += 5) })
  connected(t, 100)
  listener.look()
  for (let waitedMs = 1; waitedMs <= 60; waitedMs++) {
    clock.nowMs = 5 + waitedMs - 0.99
    t.mock.timers.tick(1)
  }
  assert.deepEqual(seen.counts, [100, 100])
})

test('while half of the connections are free it looks only when it is asked', ON_LINUX, (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = looking(t)
  const { seen, listener } = listenerOf(t, { max: 160 })
  connected(t, 80)
  listener.look()
  clock.nowMs = 10_000
  t.mock.timers.tick(10_000)
  assert.equal(seen.counts.length, 1)
  connected(t, 1)
  listener.look()
  clock.nowMs = 20_000
  t.mock.timers.tick(10_000)
  assert.deepEqual(seen.counts, [80, 81, 81])
})

test(
  'a port that is closed for good is closed once, holds no descriptors, and is not opened again',
  ON_LINUX,
  (t) => {
    const clock = looking(t)
    const before = openFiles()
    const { listener, seen } = listenerOf(t, { max: 160 })
    listener.look()
    listener.stop()
    listener.stop()
    clock.nowMs = 10_000
    listener.look()
    assert.deepEqual([seen.isOpen, seen.closed, seen.counts.length, openFiles()], [false, 1, 1, before])
  },
)

test('where nothing can be counted, or there is no limit, nothing is', (t) => {
  const uncounted = listenerOf(t, { max: 1, otherFiles: undefined })
  const unlimited = listenerOf(t, { max: Number.POSITIVE_INFINITY, otherFiles: 0 })
  for (const { listener, seen } of [uncounted, unlimited]) {
    listener.look()
    assert.deepEqual([seen.isOpen, seen.counts], [true, []])
  }
})
