import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { registerThreadMetrics, watchThread } from '../../../../src/telemetry/counts/threadTimes.js'
import { createFrontCounts, FrontCounts, FrontCountsReader } from '../../../../src/telemetry/frontCounts.js'
import { collectGarbage } from '../../../../src/telemetry/processMemory.js'

test('the time of a thread is told by its name, from the memory that it counts in', async () => {
  const handle = createFrontCounts({ routes: [], methods: [], statuses: [] })
  const counts = new FrontCounts(handle)
  counts.loop(1.5, 20)
  counts.collected(0.01)
  counts.collected(0.02)
  const registry = new Registry()
  const reader = new FrontCountsReader(handle)
  registerThreadMetrics(registry, [{ thread: 'front 1', read: () => reader.thread() }])
  const lines = (await registry.metrics()).split('\n')
  for (const line of [
    'bds_thread_event_loop_seconds_total{thread="front 1",state="active"} 1.5',
    'bds_thread_event_loop_seconds_total{thread="front 1",state="idle"} 20',
    'bds_thread_gc_seconds_total{thread="front 1"} 0.03',
    'bds_thread_gc_pauses_total{thread="front 1"} 2',
  ])
    assert.ok(lines.includes(line), line)
})

test('a watched thread tells of its collections and of its event loop', async () => {
  const told = { collections: 0, activeSec: 0, idleSec: 0 }
  const watched = watchThread({
    loop: (activeSec, idleSec) => Object.assign(told, { activeSec, idleSec }),
    collected: (seconds) => {
      assert.ok(seconds >= 0 && seconds < 60)
      told.collections++
    },
  })
  collectGarbage()
  while (told.collections === 0) await new Promise(setImmediate)
  watched.measure()
  watched.close()
  assert.ok(told.activeSec > 0, `${told.activeSec}`)
})
