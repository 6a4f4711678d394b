import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rooms } from '../../../src/service/rooms.js'

test('rooms close in the reverse order of their opening, each once', async () => {
  const closed: string[] = []
  const rooms = new Rooms()
  for (const name of ['stores', 'pool', 'http'])
    rooms.add(name, async () => {
      closed.push(name)
    })
  await rooms.closeAll()
  await rooms.closeAll()
  assert.deepEqual(closed, ['http', 'pool', 'stores'])
})

test('rooms of one group close at the same time, and a room that hangs is named', async () => {
  const rooms = new Rooms()
  const closed: string[] = []
  let release = (): void => undefined
  rooms.add('stores', async () => void closed.push('stores'))
  rooms.add('indexer of network 0', () => new Promise((resolve) => (release = resolve)), 'indexers')
  rooms.add('indexer of network 1', async () => void closed.push('indexer of network 1'), 'indexers')
  assert.equal(rooms.closingNow(), undefined)
  const all = rooms.closeAll()
  await new Promise(setImmediate)
  assert.deepEqual(closed, ['indexer of network 1'])
  assert.equal(rooms.closingNow(), 'indexer of network 0')
  release()
  await all
  assert.deepEqual(closed, ['indexer of network 1', 'stores'])
  assert.equal(rooms.closingNow(), undefined)
})

test('a room that fails to close keeps no other room open, and its failure is reported', async () => {
  const closed: string[] = []
  const rooms = new Rooms()
  rooms.add('stores', async () => void closed.push('stores'))
  rooms.add('pool', () => Promise.reject(new Error('the pool is stuck')))
  rooms.add('http', async () => void closed.push('http'))
  await assert.rejects(rooms.closeAll(), /the pool is stuck/)
  assert.deepEqual(closed, ['http', 'stores'])
})
