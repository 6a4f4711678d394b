import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ClusterUnavailableError } from '../../../../src/cluster/clusterFaults.js'
import { NatsLink } from '../../../../src/cluster/nats/natsLink.js'
import { OperatorError } from '../../../../src/errors/operatorError.js'
import { systemClock } from '../../../../src/telemetry/clocks.js'
import { createKeepingLogger } from '../../../support/keepingLogger.js'

const GREETING =
  'INFO {"server_id":"s","version":"2.9.10","proto":1,"headers":true,"max_payload":1048576}\r\n'

interface TestServer {
  readonly address: string
  readonly sockets: Socket[]
}

/** Serves `talk` to each connection. */
async function startServer(context: TestContext, talk: (socket: Socket) => void): Promise<TestServer> {
  const sockets: Socket[] = []
  const server: Server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    talk(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

/** As much of a server as a connection needs: it answers pings. */
function answerPings(socket: Socket): void {
  socket.write(GREETING)
  socket.on('data', (bytes) => {
    for (const _ of bytes.toString().matchAll(/PING\r\n/g)) socket.write('PONG\r\n')
  })
}

/** No time passes unless the test says so: nobody is given up for being silent or slow. */
function openLink(context: TestContext, ...servers: TestServer[]): NatsLink {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  context.mock.method(Socket.prototype, 'setTimeout', function (this: Socket) {
    return this
  })
  const link = new NatsLink(
    servers.map(({ address }) => address),
    'test',
    systemClock,
    createKeepingLogger().logger,
  )
  context.after(() => link.close())
  return link
}

test('a silent server does not hold up the connection to another one, and its socket is closed', async (context) => {
  const silent = await startServer(context, (socket) => void socket.resume())
  const good = await startServer(context, answerPings)
  const session = await openLink(context, silent, good).session()
  assert.equal(session.lost.aborted, false)
  await Promise.all(silent.sockets.map((socket) => socket.closed || once(socket, 'close')))
})

test('a server that greets and then is silent is given up, and close leaves no socket of ours', async (context) => {
  const server = await startServer(context, (socket) => {
    socket.resume().write(GREETING)
    socket.once('data', () => context.mock.timers.tick(2_000))
  })
  const link = openLink(context, server)
  await assert.rejects(link.session(), ClusterUnavailableError)
  await link.close()
  // The library's own socket, after the one that waited for the greeting.
  assert.equal(server.sockets.length, 2)
  await Promise.all(server.sockets.map((socket) => socket.closed || once(socket, 'close')))
})

test('when the connection is lost, whoever waits is told at once, and the next one who asks has a new one', async (context) => {
  const server = await startServer(context, answerPings)
  const link = openLink(context, server)
  const { signal } = new AbortController()
  const first = await link.session()
  const asking = link.ask('the question', signal, () => new Promise(() => undefined))
  for (const socket of server.sockets) socket.destroy()
  await assert.rejects(asking, new ClusterUnavailableError('the question: the connection to NATS was lost'))
  assert.ok(first.lost.aborted)
  const second = await link.session()
  assert.ok(second !== first && !second.lost.aborted)
  assert.equal(await link.session(), second)
})

test('a question ends with its signal, and after close nobody may ask', async (context) => {
  const link = openLink(context, await startServer(context, answerPings))
  const stop = new AbortController()
  await link.session()
  const asking = link.ask('the question', stop.signal, () => new Promise(() => undefined))
  stop.abort(new Error('enough'))
  await assert.rejects(asking, /^Error: enough$/)
  await link.close()
  await assert.rejects(link.session(), /the connection to NATS is closed/)
})

test('only host and port may be given, and a refusal repeats nothing', () => {
  const link = (server: string): NatsLink =>
    new NatsLink([server], 'test', systemClock, createKeepingLogger().logger)
  for (const good of ['a.example:4222', 'nats://10.0.0.1:4222', '[::1]:4222', 'nats://my-host:1']) link(good)
  const wrong = [
    'a.example',
    'nats://me:secret@a.example:4222',
    'tls://a:1',
    'a:0',
    'a:65536',
    'a:1/secret',
    '',
  ]
  for (const server of wrong)
    assert.throws(
      () => link(server),
      new OperatorError('a NATS server must be given as host:port, without user, password or path'),
      server,
    )
})
