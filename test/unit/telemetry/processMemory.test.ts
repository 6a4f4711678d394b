import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { getHeapStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { collectGarbage, memoryOf, readProcessMemory } from '../../../src/telemetry/processMemory.js'

/** As Linux 6 writes the file, reduced to the lines about memory. */
const TEXT = `Name:\tnode
VmPeak:\t 1120532 kB
VmRSS:\t   90000 kB
RssAnon:\t   52344 kB
RssFile:\t   37652 kB
RssShmem:\t       4 kB
Threads:\t11
`

test('anonymous memory and mapped files are told apart, in bytes', () => {
  assert.deepEqual(memoryOf(TEXT), { anonymousBytes: 52_344 * 1024, fileBytes: 37_652 * 1024 })
})

test('a system that does not tell the parts gives no number, not a wrong one', () => {
  assert.equal(memoryOf('Name:\tnode\nVmRSS:\t90000 kB\n'), undefined)
})

test('on Linux, 64 MiB that are written count as anonymous memory and not as files', {
  skip: process.platform !== 'linux' && 'there is no /proc',
}, () => {
  const before = readProcessMemory()!
  const block = Buffer.alloc(64 * 2 ** 20, 1)
  const after = readProcessMemory()!
  assert.ok(after.anonymousBytes - before.anonymousBytes > 0.9 * block.length)
  assert.ok(after.fileBytes - before.fileBytes < 0.5 * block.length)
})

test('a collection leaves no garbage, however old', () => {
  const usedMib = (): number => getHeapStatistics().used_heap_size / 2 ** 20
  const objects = Array.from({ length: 300_000 }, (_, at) => ({ a: [at] }))
  collectGarbage()
  const before = usedMib()
  assert.equal(objects.splice(0).length, 300_000)
  collectGarbage()
  assert.ok(usedMib() < before - 15, `${usedMib()} of ${before} MiB`)
})

/** Fills its heap step by step, and tells what it hears of that. */
const FILLS_ITS_HEAP = `
const { parentPort, workerData } = require('node:worker_threads')
import(workerData).then(({ heapShortage }) => {
  const kept = []
  const step = () => {
    const shortage = heapShortage()
    if (shortage !== undefined) parentPort.postMessage({ shortage, steps: kept.length })
    else setImmediate(step)
    kept.push(Array.from({ length: 16_000 }, (_, at) => at + 0.5))
  }
  step()
})`

test('a heap that becomes full is told while its thread can still tell it, and not before', async (context) => {
  const thread = new Worker(FILLS_ITS_HEAP, {
    eval: true,
    workerData: new URL('../../../src/telemetry/processMemory.js', import.meta.url).href,
    resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 },
  })
  context.after(() => thread.terminate())
  const [{ shortage, steps }] = (await once(thread, 'message')) as [{ shortage: string; steps: number }]
  const [used, limit] = (/heap has (\d+) MiB, and (\d+) are/.exec(shortage) ?? []).slice(1).map(Number)
  // Each step keeps 125 KiB.
  assert.ok(steps > (0.7 * 96 * 1024) / 125, shortage)
  assert.ok(used! < limit! && limit! >= 96, shortage)
})
