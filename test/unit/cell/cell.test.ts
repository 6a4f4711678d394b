import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { createStatusBoard } from '../../../src/board/statusBoard.js'
import { type Cell, startCell } from '../../../src/cell/cell.js'
import { takePort } from '../../../src/cell/sharedPort.js'
import { OperatorError } from '../../../src/errors/operatorError.js'
import { createHealthBoard } from '../../../src/health/healthBoard.js'
import { createQueryThreadTimes } from '../../../src/telemetry/counts/queryThreadTimes.js'
import { createFrontCounts } from '../../../src/telemetry/frontCounts.js'
import type { CompiledMerkle } from '../../../src/wasm/wasmModule.js'
import { loadedConfig } from '../../support/loadedConfig.js'
import { type Cleaner, tempFolder } from '../../support/tempFolder.js'

function world(context: Cleaner, how: string): { readonly cell: Cell; readonly deaths: string[] } {
  const deaths: string[] = []
  const cell = startCell({
    data: {
      cell: 0,
      cells: 1,
      config: loadedConfig(tempFolder(context)),
      compiled: { name: 'none' } as unknown as CompiledMerkle,
      status: createStatusBoard([0]),
      health: createHealthBoard([0], 1),
      counts: createFrontCounts({ routes: [], methods: [], statuses: [] }),
      queryTimes: createQueryThreadTimes(1),
      transport: how,
    },
    onDied: (message) => deaths.push(message),
    entry: new URL('./fakeCell.js', import.meta.url),
  })
  context.after(async () => {
    await cell.thread.terminate()
  })
  return { cell, deaths }
}

test('a cell starts, opens its port, drains and ends when main says so, and none of that is a death', async (t) => {
  const { cell, deaths } = world(t, 'well')
  await cell.ready
  assert.equal(cell.isServing(), false)
  assert.equal(await cell.open(80), 81)
  assert.equal(cell.isServing(), true)
  await cell.drain()
  await Promise.all([cell.stop(), cell.stop()])
  assert.deepEqual(deaths, [])
})

test('what a cell throws while it starts reaches main, as the kind of error that it was', async (t) => {
  const { cell, deaths } = world(t, 'refuses')
  await assert.rejects(cell.ready, (error: unknown) => {
    assert.ok(error instanceof OperatorError)
    assert.equal(error.message, 'the store is gone')
    return true
  })
  await cell.stop()
  assert.deepEqual(deaths, [])
})

test('a thread that ends unasked is told, and whoever waits for it hears of it', async (t) => {
  const broken = world(t, 'throws')
  await assert.rejects(broken.cell.ready, /a front thread has gone: a module is broken/)
  assert.deepEqual(broken.deaths, ['a module is broken'])
  const dying = world(t, 'dies')
  await dying.cell.ready
  await assert.rejects(dying.cell.open(80), /a front thread has gone: it ended with code 3/)
  assert.deepEqual(dying.deaths, ['it ended with code 3'])
  // Nothing is left to wait for.
  await dying.cell.drain()
  await dying.cell.stop()
})

test('silence is counted from the last beat on, on the clock that main gives, and a thread that was given up holds up no stop', async (t) => {
  const { cell } = world(t, 'hangs')
  assert.equal(cell.silentForMs(900_000), 0)
  await cell.ready
  // The first beat has come meanwhile.
  assert.equal(cell.silentForMs(1_000_000), 0)
  assert.equal(cell.silentForMs(1_004_000), 4_000)
  void cell.open(80).catch(() => undefined)
  const draining = cell.drain()
  const stopping = cell.stop()
  cell.giveUp()
  await Promise.all([draining, stopping])
})

test('the silence of a thread that loads its code is counted, too, and nothing waits for one that ended earlier', async (t) => {
  const { cell, deaths } = world(t, 'throws')
  assert.equal(cell.silentForMs(1_000), 0)
  assert.equal(cell.silentForMs(62_000), 61_000)
  assert.equal(cell.isServing(), false)
  await assert.rejects(cell.ready, /a front thread has gone/)
  assert.equal(cell.silentForMs(70_000), 0)
  await assert.rejects(cell.open(80), /a front thread has gone: a module is broken/)
  assert.deepEqual(deaths, ['a module is broken'])
})

test('a thread that has opened its port is asked to close it before it is terminated', async (t) => {
  const { cell, deaths } = world(t, 'well')
  await cell.ready
  await cell.open(80)
  const orders: unknown[] = []
  cell.thread.on('message', (message) => orders.push(message))
  await cell.end()
  assert.deepEqual(orders, [{ type: 'cut' }])
  assert.deepEqual(deaths, [])
})

test('a port that another server has is refused, and one that is taken is free again afterwards', async (t) => {
  const { port, release } = await takePort('127.0.0.1', 0)
  assert.ok(port > 0)
  // Nobody listens now, as before the first front thread does. A second service of ours would join them.
  const refusal = {
    name: 'OperatorError',
    message: `can't listen on 127.0.0.1:${port}: the port is taken by another process`,
  }
  await assert.rejects(takePort('127.0.0.1', port), refusal)
  release()
  const again = await takePort('127.0.0.1', port)
  assert.equal(again.port, port)
  again.release()
  const holder = createServer().listen(port, '127.0.0.1')
  t.after(() => void holder.close())
  await once(holder, 'listening')
  await assert.rejects(takePort('127.0.0.1', port), refusal)
})
