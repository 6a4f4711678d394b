import assert from 'node:assert/strict'
import test from 'node:test'
import { EndedSockets } from '../../../../src/http/wire/uwsSocket.js'

test('of ended WebSockets a sixteenth of all connections is uncounted, the others are counted until their clients had time', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  let left = 0
  const ended = new EndedSockets({ max: 64, leave: () => left++ })
  for (let count = 0; count < 10; count++) ended.add()
  assert.equal(left, 4)
  context.mock.timers.tick(16_000)
  ended.add()
  assert.equal(left, 4)
  context.mock.timers.tick(60_000)
  assert.equal(left, 11)
  ended.add()
  assert.equal(left, 12)
})
