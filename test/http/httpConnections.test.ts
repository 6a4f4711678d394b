import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { nodeTransport } from '../../src/http/wire/nodeTransport.js'
import { loadEachUws } from '../../src/http/wire/uws.js'
import { uwsTransport } from '../../src/http/wire/uwsTransport.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { fetchRaw, RawConnection, requestText } from '../support/rawHttp.js'
import { until } from '../support/until.js'

/** The old core counts the descriptors of its process, which are the clients' here, too: test/e2e/service/connections.test.ts. */
const counting = [
  nodeTransport,
  ...loadEachUws()
    .filter((core) => core.createApp().filter !== undefined)
    .map(uwsTransport),
]

const ON_LINUX = { skip: process.platform !== 'linux' && 'there is no /proc' }

const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count=1'

for (const transport of counting) {
  const serve = (context: TestContext, http: object) =>
    startHttpWorld(context, http, { workers: 1, maxQueue: 10_000 }, transport)

  function client(context: TestContext, port: number, localAddress = '127.0.0.1'): Socket {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    socket.on('error', () => undefined).resume()
    context.after(() => socket.destroy())
    return socket
  }

  /** Until a connection of 127.0.0.1 is refused for that. */
  async function hasTooMany(context: TestContext, port: number, refused: readonly string[]): Promise<void> {
    const isRefused = async (): Promise<boolean> => {
      const probe = client(context, port)
      await once(probe, 'connect')
      probe.destroy()
      return refused.includes('max_connections_per_address')
    }
    await until(isRefused, Boolean, 'a connection of this address is refused')
  }

  test(`${transport.name}: connections beyond http.max_connections are closed and counted, those within are served, and room that comes is given`, async (context) => {
    const { port, server, refused } = await serve(context, {
      maxConnections: 20,
      maxConnectionsPerAddress: 0,
    })
    const kept = Array.from({ length: 20 }, () => client(context, port))
    await until(
      () => server.stats().connections,
      (open) => open === 20,
      'twenty connections',
    )
    for (let more = 0; more < 5; more++) await once(client(context, port), 'close')
    assert.deepEqual(refused, Array(5).fill('max_connections'))
    assert.equal(server.stats().connections, 20)
    kept[0]!.write(requestText('GET', INDEX))
    assert.match(String((await once(kept[0]!, 'data'))[0]), /^HTTP\/1\.1 200 /)
    for (const socket of kept) socket.destroy()
    await until(
      () => server.stats().connections,
      (open) => open === 0,
      'none is left',
    )
    assert.equal((await fetchRaw(port, 'GET', INDEX)).status, 200)
  })

  test(
    `${transport.name}: where connections run short, an address with more than its share gets no more and loses one with each answer, and others are served as ever`,
    ON_LINUX,
    async (context) => {
      const { port, server, refused } = await serve(context, {
        maxConnections: 40,
        maxConnectionsPerAddress: 10,
      })
      for (let at = 0; at < 24; at++) client(context, port)
      await until(
        () => server.stats().connections,
        (open) => open === 24,
        'more than half are taken',
      )
      await hasTooMany(context, port, refused)
      const other = client(context, port, '127.0.0.2')
      for (let at = 0; at < 3; at++) {
        other.write(requestText('GET', INDEX))
        const [answer] = (await once(other, 'data')) as [Buffer]
        assert.match(String(answer), /^HTTP\/1\.1 200 /)
        assert.doesNotMatch(String(answer), /connection: close/i)
      }
    },
  )

  for (const [method, headers] of [
    ['GET', []],
    ['HEAD', []],
    ['OPTIONS', []],
    ['GET', ['If-None-Match: *']],
  ] as const)
    test(
      `${transport.name}: an answer to ${[method, ...headers].join(' with ')} ends the connection of an address with more than its share`,
      ON_LINUX,
      async (context) => {
        const { port, refused } = await serve(context, { maxConnections: 40, maxConnectionsPerAddress: 10 })
        const connections = Array.from({ length: 24 }, () => new RawConnection(port))
        context.after(() => connections.map((connection) => connection.destroy()))
        await hasTooMany(context, port, refused)
        const answer = await connections[0]!.send(requestText(method, INDEX, headers)).rest()
        assert.match(answer, /^HTTP\/1\.1 20\d .*connection: close/is)
      },
    )
}
