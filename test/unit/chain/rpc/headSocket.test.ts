import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type HeadSocketOptions, openHeadSocket } from '../../../../src/chain/rpc/headSocket.js'
import { ENDLESS_MS, type HeadServer, headMessage, serveHeads } from '../wireScripts.js'

const HASH = `0x${'ab'.repeat(32)}`
const OTHER_HASH = `0x${'cd'.repeat(32)}`

/** Everything that a socket reports, and a promise of its end. */
function listen(context: TestContext, url: string, options: Partial<HeadSocketOptions> = {}) {
  const calls: string[] = []
  let onNews: () => void = () => undefined
  const tell = (text: string): void => {
    calls.push(text)
    onNews()
  }
  const close = openHeadSocket({
    url,
    timeoutMs: ENDLESS_MS,
    onSubscribed: () => tell('subscribed'),
    onHead: (hash) => tell(hash),
    onEnd: (reason) => tell(`end: ${reason}`),
    ...options,
  })
  context.after(close)
  const whenReported = async (count: number): Promise<string[]> => {
    while (calls.length < count)
      await new Promise<void>((resolve) => {
        onNews = resolve
      })
    return calls
  }
  return { calls, whenReported, close }
}

test('the socket reports the block hash of every head, in lower case, and ignores other messages', async (context) => {
  const server = await serveHeads(context)
  const { whenReported } = listen(context, server.url)
  const socket = await server.subscriber()
  for (const message of [
    '{',
    '[]',
    'null',
    '7',
    headMessage('0x12'),
    { params: { result: null } },
    { id: 9 },
  ])
    server.send(socket, message)
  server.send(socket, headMessage(HASH.toUpperCase().replace('0X', '0x')))
  server.send(socket, headMessage(OTHER_HASH))
  assert.deepEqual(await whenReported(3), ['subscribed', HASH, OTHER_HASH])
})

test('user and password in the address are sent decoded', async (context) => {
  const server = await serveHeads(context)
  const { whenReported } = listen(context, server.url.replace('//', '//me:p%40ss@'))
  await whenReported(1)
  assert.equal(server.authorization(), `Basic ${Buffer.from('me:p@ss').toString('base64')}`)
})

test('an old connection ends without a fault, so that a new one can be opened', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const ended: string[] = []
  const { socket, calls } = await subscribed(context, await serveHeads(context), {
    ageMs: 60_000,
    onAged: () => ended.push('aged'),
  })
  context.mock.timers.tick(59_999)
  assert.deepEqual(ended, [])
  context.mock.timers.tick(1)
  assert.deepEqual([ended, calls], [['aged'], ['subscribed']])
  await once(socket, 'close')
})

test('a node that refuses the subscription ends the connection with the reason', async (context) => {
  const server = await serveHeads(context, { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'no' } })
  assert.deepEqual(await listen(context, server.url).whenReported(1), ['end: eth_subscribe is refused'])
})

test('a node that never answers the subscription ends the connection with the reason', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const server = await serveHeads(context, '')
  const { calls } = listen(context, server.url, { timeoutMs: 60_000 })
  await server.subscriber()
  context.mock.timers.tick(119_999)
  assert.deepEqual(calls, [])
  // For the connection and for the answer.
  context.mock.timers.tick(1)
  assert.deepEqual(calls, ['end: no answer to eth_subscribe'])
})

async function subscribed(
  context: TestContext,
  server: HeadServer,
  options: Partial<HeadSocketOptions> = {},
) {
  const listener = listen(context, server.url, options)
  const socket = await server.subscriber()
  await listener.whenReported(1)
  return { ...listener, socket }
}

test('a dropped connection ends the socket with a reason', async (context) => {
  const { socket, whenReported } = await subscribed(context, await serveHeads(context))
  socket.terminate()
  assert.deepEqual(await whenReported(2), ['subscribed', 'end: closed'])
})

test('a peer that answers no ping is disconnected', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const { socket, calls } = await subscribed(context, await serveHeads(context, undefined, false), {
    pingMs: 20_000,
  })
  context.mock.timers.tick(20_000)
  await once(socket, 'ping')
  assert.deepEqual(calls, ['subscribed'])
  context.mock.timers.tick(20_000)
  assert.deepEqual(calls, ['subscribed', 'end: silent'])
})

test('a message beyond the size limit ends the connection, with one report', async (context) => {
  const server = await serveHeads(context)
  const { socket, calls, whenReported } = await subscribed(context, server)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  server.send(socket, 'x'.repeat(300_000))
  await whenReported(2)
  // The end of the connection follows the error, and is not reported a second time.
  await closed
  assert.deepEqual(calls, ['subscribed', 'end: WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'])
})

test('a server without WebSocket and a closed port are reported without their address', async (context) => {
  const plain = createServer((_, response) => response.writeHead(403).end()).listen(0, '127.0.0.1')
  await new Promise((resolve) => plain.once('listening', resolve))
  const { port } = plain.address() as AddressInfo
  assert.deepEqual(await listen(context, `ws://127.0.0.1:${port}/key`).whenReported(1), ['end: status 403'])
  plain.closeAllConnections()
  await new Promise((resolve) => plain.close(resolve))
  assert.deepEqual(await listen(context, `ws://127.0.0.1:${port}/key`).whenReported(1), ['end: ECONNREFUSED'])
})

test('closing the socket ends the connection without a report', async (context) => {
  const { socket, calls, close } = await subscribed(context, await serveHeads(context))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  close()
  await closed
  assert.deepEqual(calls, ['subscribed'])
})

test('a subscription that the node confirms again and again is reported once', async (context) => {
  const server = await serveHeads(context)
  const { whenReported, calls } = listen(context, server.url)
  const socket = await server.subscriber()
  for (let again = 0; again < 50; again++) server.send(socket, { jsonrpc: '2.0', id: 1, result: '0x5' })
  server.send(socket, headMessage(HASH))
  await whenReported(2)
  assert.deepEqual(calls, ['subscribed', HASH])
})
