import assert from 'node:assert/strict'
import { once } from 'node:events'
import test, { type TestContext } from 'node:test'
import type { Transport } from '../../src/http/wire/wire.js'
import { EventClient, SocketClient } from '../support/eventClient.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, fetchRaw, RawConnection, requestText } from '../support/rawHttp.js'
import { TestNumbers } from '../support/testNumbers.js'
import { until } from '../support/until.js'
import { eachTransport } from './eachTransport.js'
import { ACCEPTED_KEY, closeCodeIn, frame, framesIn, HANDSHAKE, opcodes } from './socketFrames.js'

const PATH = '/bridge/v1/events/ws'
const POOL = { workers: 1, maxQueue: 10_000 }

type Settings = Parameters<typeof startHttpWorld>[1]
type Limits = Parameters<typeof startHttpWorld>[4]

async function serve(context: TestContext, transport: Transport, http: Settings = {}, limits: Limits = {}) {
  const world = await startHttpWorld(context, http, POOL, transport, limits)
  /** A WebSocket whose bytes the test writes itself. */
  const connect = async (headers: readonly string[] = []) => {
    const connection = new RawConnection(world.port)
    context.after(() => connection.destroy())
    const { status } = await connection.send(requestText('GET', PATH, [...HANDSHAKE, ...headers])).response()
    assert.equal(status, 101)
    return connection
  }
  const without = (name: string) => HANDSHAKE.filter((line) => !line.startsWith(`${name}:`))
  const ask = (headers: readonly string[] = HANDSHAKE, path = PATH, method = 'GET', host = 'localhost') =>
    fetchRaw(world.port, method, path, headers, host)
  /** Nobody is connected any more, and the server answers. */
  const isAtRest = async () => {
    await until(
      () => world.server.stats().connections,
      (open) => open <= 0,
      'all connections are gone',
    )
    assert.equal(world.server.stats().connections, 0)
    assert.equal((await ask([], '/livez')).status, 200)
  }
  return { ...world, connect, without, ask, isAtRest }
}

for (const transport of eachTransport()) {
  test(`${transport.name}: a handshake is answered as the standard has it, and a place comes first`, async (context) => {
    const { port, finished } = await serve(context, transport)
    const connection = new RawConnection(port)
    const { status, headers } = await connection
      .send(requestText('GET', `${PATH}/?types=sync`, HANDSHAKE))
      .response()
    assert.deepEqual(
      [status, headers.get('sec-websocket-accept'), headers.get('upgrade')?.toLowerCase()],
      [101, ACCEPTED_KEY, 'websocket'],
    )
    assert.ok(!headers.has('sec-websocket-extensions') && !headers.has('sec-websocket-protocol'))
    connection.send(frame(opcodes.text, 'x'))
    const [first] = framesIn(await connection.rest())
    assert.match(first!.payload, /^\{"position":"0\.[0-9a-f]{12}:\d+[^"]*"\}$/)
    assert.deepEqual(finished, ['getEventSocket GET 101'])
  })

  test(`${transport.name}: what is no handshake is a 426 that says why, and the next request is answered`, async (context) => {
    const { port, without, ask } = await serve(context, transport)
    const plain = new RawConnection(port)
    context.after(() => plain.destroy())
    const refused = await plain.send(requestText('GET', PATH)).response()
    assertRefusal(refused, 426, 'UPGRADE_REQUIRED', /^only WebSockets are served here/)
    assert.deepEqual(
      ['connection', 'upgrade', 'sec-websocket-version'].map((name) => refused.headers.get(name)),
      ['Upgrade', 'websocket', '13'],
    )
    assert.equal((await plain.send(requestText('GET', '/livez')).response()).status, 200)
    const key = (text: string) => [...without('Sec-WebSocket-Key'), `Sec-WebSocket-Key: ${text}`]
    for (const [headers, why] of [
      [without('Connection'), /Connection must be Upgrade/],
      [without('Upgrade'), /Upgrade must be websocket/],
      [[...without('Upgrade'), 'Upgrade: h2c'], /Upgrade must be websocket/],
      [without('Sec-WebSocket-Version'), /Sec-WebSocket-Version must be 13/],
      [[...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 8'], /Sec-WebSocket-Version must be 13/],
      [without('Sec-WebSocket-Key'), /Sec-WebSocket-Key must be 16 bytes/],
      [key('short'), /Sec-WebSocket-Key must be 16 bytes/],
      [key('AAAAAAAAAAAAAAAAAAAAAAAA'), /Sec-WebSocket-Key must be 16 bytes/],
      [[...HANDSHAKE, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='], /Sec-WebSocket-Key must be 16 bytes/],
    ] as const) {
      const answer = await ask(headers)
      assertRefusal(answer, 426, 'UPGRADE_REQUIRED', why)
      assert.match(answer.headers.get('connection')!, /^Upgrade(?:, close)?$/)
    }
    assertRefusal(await ask(HANDSHAKE, PATH, 'POST'), 405, 'METHOD_NOT_ALLOWED', /POST/)
    assertRefusal(await ask([...HANDSHAKE, 'Content-Length: 1']), 400, 'INVALID_PARAMETER', /no body/)
    assertRefusal(await ask(HANDSHAKE, `${PATH}?types=x`), 400, 'INVALID_PARAMETER', /^types/)
  })

  test(`${transport.name}: other addresses become no WebSocket, and an offer of another protocol changes nothing`, async (context) => {
    const { ask, isAtRest } = await serve(context, transport)
    for (const path of ['/bridge/v1/events', '/bridge/v1/bridges?network_id=0', '/livez', '/openapi.json'])
      assertRefusal(
        await ask(HANDSHAKE, path),
        400,
        'INVALID_PARAMETER',
        'only /bridge/v1/events/ws becomes a WebSocket: send no Sec-WebSocket-Key',
      )
    assertRefusal(await ask(HANDSHAKE, '/bridge/v1/event'), 404, 'NOT_FOUND', /no route/)
    const h2c = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']
    const page = await ask(h2c, '/bridge/v1/bridges?network_id=0')
    assert.equal(page.status, 200)
    assert.ok(JSON.parse(page.body))
    await isAtRest()
  })

  test(`${transport.name}: HTTP/1.0 gets no WebSocket`, async (context) => {
    const { port, isAtRest } = await serve(context, transport)
    const connection = new RawConnection(port)
    connection.send(requestText('GET', PATH, HANDSHAKE).replace('HTTP/1.1', 'HTTP/1.0'))
    assert.match(await connection.rest(), /^(?:HTTP\/1\.1 505 |$)/)
    await isAtRest()
  })

  test(`${transport.name}: whatever a client says ends its connection with a code, and pings are answered`, async (context) => {
    const { connect, isAtRest } = await serve(context, transport)
    const endOf = async (...frames: readonly string[]) => {
      const connection = await connect()
      for (const bytes of frames) connection.send(bytes)
      return connection.rest()
    }
    const text = (length: number) => 'x'.repeat(length)
    assert.equal(closeCodeIn(await endOf(frame(opcodes.text, 'hello'))), 1003)
    assert.equal(closeCodeIn(await endOf(frame(opcodes.binary, '\x01'))), 1003)
    assert.equal(
      closeCodeIn(
        await endOf(
          frame(opcodes.text, 'a', { isLast: false }),
          frame(opcodes.ping, 'between'),
          frame(opcodes.continuation, 'b'),
        ),
      ),
      1003,
    )
    // Longer than anything is taken: some cores end the connection without a word.
    for (const bytes of [
      frame(opcodes.text, text(1_025)),
      frame(opcodes.text, '', { length: 2 ** 40 }),
      frame(opcodes.text, text(800), { isLast: false }) + frame(opcodes.continuation, text(800)),
    ])
      assert.ok([undefined, 1009].includes(closeCodeIn(await endOf(bytes))))
    // What no client may send: without a mask, an unknown opcode, a control frame in pieces or too long, a continuation of nothing.
    for (const bytes of [
      // uWebSockets.js takes the first four bytes for a mask, and waits for as many more.
      `${frame(opcodes.text, text(20), { isMasked: false })}more`,
      frame(3, 'x'),
      frame(opcodes.ping, 'x', { isLast: false }),
      frame(opcodes.ping, text(126)),
      frame(opcodes.continuation, 'x'),
      'GET / HTTP/1.1\r\n\r\n',
    ])
      assert.ok([undefined, 1002, 1003].includes(closeCodeIn(await endOf(bytes))), JSON.stringify(bytes))
    const frames = framesIn(
      await endOf(frame(opcodes.ping, 'are you there'), frame(opcodes.close, '\x03\xe8')),
    )
    assert.deepEqual(
      frames.slice(1).map(({ opcode, payload }) => [opcode, payload]),
      [
        [opcodes.pong, 'are you there'],
        [opcodes.close, '\x03\xe8'],
      ],
    )
    await isAtRest()
  })

  test(`${transport.name}: a connection that the service ends is not kept for a client that says no goodbye`, async (context) => {
    const { connect, server } = await serve(context, transport)
    const { socket } = (await connect()).send(frame(opcodes.text, 'x'))
    // The package `ws` would wait for 30 s.
    await until(
      () => socket.closed,
      (isClosed) => isClosed,
      'its end',
      25_000,
    )
    const silent = await connect()
    silent.socket.allowHalfOpen = true
    const ended = once(silent.socket, 'end')
    silent.send(frame(opcodes.text, 'x'))
    await ended
    await server.drain(0)
    await until(
      () => server.stats().connections,
      (open) => open <= 0,
      'all connections are gone',
      20_000,
    )
  })

  test(`${transport.name}: connections of ended WebSockets whose clients do not close them stay counted`, async (context) => {
    const { connect, server } = await serve(context, transport, {
      maxConnections: 64,
      maxConnectionsPerAddress: 0,
    })
    for (let count = 0; count < 24; count++) {
      const { socket } = await connect()
      socket.allowHalfOpen = true
      const ended = once(socket, 'end')
      socket.write(frame(opcodes.text, 'x'), 'latin1')
      await ended
    }
    await until(
      () => server.stats().connections,
      (open) => open >= 20,
      'most are counted',
      2_000,
    )
  })

  test(`${transport.name}: a client that floods with pings is ended, whether it reads or not, and others notice nothing`, async (context) => {
    const { connect, port, isAtRest } = await serve(context, transport)
    const other = await SocketClient.open(port)
    const reading = await connect()
    reading.send(frame(opcodes.ping, 'x'.repeat(125)).repeat(10_000))
    const frames = framesIn(await reading.rest())
    const pongs = frames.filter(({ opcode }) => opcode === opcodes.pong)
    assert.ok(pongs.length <= 66, String(pongs.length))
    const idle = await connect()
    idle.socket.pause()
    for (let count = 0; count < 100 && !idle.socket.destroyed; count++)
      idle.send(frame(opcodes.pong, 'x'.repeat(125)).repeat(1_000))
    idle.socket.resume()
    await idle.rest()
    assert.equal(other.isEnded, false)
    other.close()
    await isAtRest()
  })

  test(`${transport.name}: connections that end in any way leave nothing behind`, async (context) => {
    const { connect, port, isAtRest } = await serve(context, transport)
    ;(await connect()).socket.end()
    ;(await connect()).socket.resetAndDestroy()
    ;(await connect()).send(frame(opcodes.text, 'half', { length: 100 })).socket.end()
    // One request before the handshake in the same bytes, and one behind it.
    const before = new RawConnection(port)
    before.send(requestText('GET', '/livez') + requestText('GET', PATH, HANDSHAKE))
    assert.deepEqual([(await before.response()).status, (await before.response()).status], [200, 101])
    before.destroy()
    const behind = new RawConnection(port)
    behind.send(requestText('GET', PATH, HANDSHAKE) + requestText('GET', '/livez'))
    assert.equal((await behind.response()).status, 101)
    behind.destroy()
    // While a query of the same connection waits for its answer.
    const during = new RawConnection(port)
    during.send(requestText('GET', '/bridge/v1/bridges?network_id=0') + requestText('GET', PATH, HANDSHAKE))
    await Promise.race([
      during.rest(),
      until(
        () => during.socket.bytesRead,
        (read) => read > 0,
        'an answer',
      ),
    ])
    during.destroy()
    await isAtRest()
  })

  test(`${transport.name}: no bytes behind a handshake harm the server`, async (context) => {
    const { connect, port, isAtRest } = await serve(context, transport)
    const numbers = new TestNumbers(7)
    const other = await SocketClient.open(port)
    for (let round = 0; round < 60; round++) {
      const connection = await connect()
      for (let pieces = 1 + numbers.below(4); pieces > 0; pieces--) {
        const noise = String.fromCharCode(
          ...Array.from({ length: numbers.below(200) }, () => numbers.below(256)),
        )
        connection.send(
          numbers.chance(0.5)
            ? noise
            : frame(numbers.below(16), noise, {
                isLast: numbers.chance(0.7),
                isMasked: numbers.chance(0.9),
                length: numbers.chance(0.8) ? noise.length : numbers.below(2 ** 31),
              }),
        )
        if (numbers.chance(0.3)) await new Promise(setImmediate)
      }
      connection.socket.end()
      await connection.rest()
    }
    assert.equal(other.isEnded, false)
    other.close()
    await isAtRest()
  })

  test(`${transport.name}: pages of other origins get no WebSocket where one origin alone may read answers`, async (context) => {
    const { ask } = await serve(context, transport, { cors: 'https://app.example' })
    assert.equal((await ask([...HANDSHAKE, 'Origin: https://app.example'])).status, 101)
    assert.equal((await ask()).status, 101)
    for (const origin of ['https://other.example', 'http://app.example', 'http://localhost', 'null'])
      assertRefusal(
        await ask([...HANDSHAKE, `Origin: ${origin}`]),
        ...([
          400,
          'INVALID_PARAMETER',
          'pages of https://app.example alone may get events (http.cors)',
        ] as const),
      )
  })

  test(`${transport.name}: pages of the service's own address alone get a WebSocket where http.cors is off`, async (context) => {
    const { ask } = await serve(context, transport, { cors: 'off' })
    const askFrom = (origin: string, host: string) =>
      ask([...HANDSHAKE, `Origin: ${origin}`], PATH, 'GET', host)
    for (const [origin, host] of [
      ['http://localhost', 'localhost'],
      ['https://bridge.example', 'bridge.example'],
      ['https://bridge.example', 'Bridge.Example:443'],
      ['http://127.0.0.1:5577', '127.0.0.1:5577'],
      ['http://[::1]:5577', '[::1]:5577'],
    ] as const)
      assert.equal((await askFrom(origin, host)).status, 101, origin)
    assert.equal((await ask()).status, 101)
    for (const [origin, host] of [
      ['https://other.example', 'bridge.example'],
      ['https://bridge.example.other.example', 'bridge.example'],
      ['https://bridge.example:444', 'bridge.example'],
      ['http://bridge.example', 'bridge.example:443'],
      ['null', 'null'],
      ['file://', 'bridge.example'],
      ['file:///', ''],
      ['bridge.example', 'bridge.example'],
    ] as const)
      assertRefusal(
        await askFrom(origin, host),
        ...([400, 'INVALID_PARAMETER', 'pages of this address alone may get events (http.cors)'] as const),
      )
  })

  test(`${transport.name}: a handshake takes tokens of its client, who is told apart by proxy and key`, async (context) => {
    const key = 'the key'
    // SHA-256 of it.
    const apiKeys = ['3a0aac44832e55528a834fec737786c999e7b8dea8bd601bb59f195237d58b2e']
    const limits = {
      tokensPerSec: 0.001,
      burst: 9,
      keyTokensPerSec: 1,
      keyBurst: 9,
      apiKeys,
      trustedProxies: ['127.0.0.1'],
    }
    const { ask, limited } = await serve(context, transport, {}, limits)
    const of = (client: string, ...more: readonly string[]) =>
      ask([...HANDSHAKE, `X-Forwarded-For: ${client}`, ...more])
    assert.equal((await of('192.0.2.1')).status, 101)
    assertRefusal(await of('192.0.2.1'), 429, 'RATE_LIMIT_EXCEEDED', /takes 5 tokens, 3.9 are left/)
    assert.equal((await of('192.0.2.2')).status, 101)
    assert.equal((await of('192.0.2.1', `X-API-Key: ${key}`)).status, 101)
    assert.deepEqual(limited, ['getEventSocket'])
  })
}

test('limits of connections that get events count both kinds of them together', async (context) => {
  const { port } = await startHttpWorld(context)
  const streams = await Promise.all(Array.from({ length: 50 }, () => EventClient.open(port)))
  const sockets = await Promise.all(Array.from({ length: 50 }, () => SocketClient.open(port)))
  context.after(() => {
    for (const each of [...streams, ...sockets]) each.close()
  })
  for (const [path, headers] of [
    ['/bridge/v1/events', []],
    [PATH, HANDSHAKE],
  ] as const)
    assertRefusal(await fetchRaw(port, 'GET', path, headers), 429, 'RATE_LIMIT_EXCEEDED', /100 connections/)
  sockets.pop()!.close()
  const again = () => fetchRaw(port, 'GET', PATH, HANDSHAKE)
  await until(again, ({ status }) => status === 101, 'one may come in the place of another')
})
