import assert from 'node:assert/strict'
import test from 'node:test'
import { SocketChannel } from '../../../../src/http/events/eventChannels.js'

test('pings of a client that does not read are not allowed anew by a sign of life that it has not taken', () => {
  const ends: number[] = []
  let takes = true
  const channel = new SocketChannel({
    send: () => takes,
    end: (code) => ends.push(code),
    close: () => undefined,
  })
  const ping = (count: number) => {
    for (; count > 0; count--) channel.received('control')
  }
  const live = () => channel.write([channel.lifeText('0')])
  ping(64)
  live()
  ping(64)
  assert.deepEqual(ends, [])
  takes = false
  live()
  ping(64)
  live()
  assert.deepEqual(ends, [])
  ping(1)
  assert.deepEqual(ends, [1008])
})
