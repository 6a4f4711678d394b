import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { statusRow } from '../../src/board/statusBoard.js'
import type { Transport } from '../../src/http/wire/wire.js'
import { EventClient, SocketClient } from '../support/eventClient.js'
import { account } from '../support/fakeState.js'
import { startDataWorld, startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, fetchRaw } from '../support/rawHttp.js'
import { until } from '../support/until.js'
import { bothTransports } from './eachTransport.js'
import { HANDSHAKE } from './socketFrames.js'

const BRIDGES = '/bridge/v1/bridges?network_id=1'

/** The ways to events. */
const protocols = {
  'server-sent events': { path: '/bridge/v1/events', headers: [], open: EventClient.open },
  websocket: { path: '/bridge/v1/events/ws', headers: HANDSHAKE, open: SocketClient.open },
} as const
type ProtocolName = keyof typeof protocols

async function serve(context: TestContext, transport: Transport, name: ProtocolName) {
  const served = await startDataWorld(context, () => 0.5, transport)
  const { indexed, world, server } = served
  const clients: (EventClient | SocketClient)[] = []
  context.after(() => {
    for (const client of clients) client.close()
  })
  const open = async (query = '', lastEventId = '') => {
    const client = await protocols[name].open(server.port, query, lastEventId)
    clients.push(client)
    return client
  }
  /** Mines a block with a deposit on a network, and indexes it. */
  const deposit = (networkId: number, options: Parameters<DepositMaker>[0] = {}) => {
    world.network(networkId).mine((block) => block.tx().deposit(options))
    indexed.sync(networkId)
  }
  const listPosition = async () => {
    const { headers } = await fetchRaw(server.port, 'GET', BRIDGES)
    return headers.get('x-feed-position')!
  }
  const ask = (query: string) =>
    fetchRaw(server.port, 'GET', `${protocols[name].path}${query}`, protocols[name].headers)
  return { ...served, open, deposit, listPosition, ask }
}

type DepositMaker = (options?: {
  readonly destinationNetwork?: number
  readonly destinationAddress?: `0x${string}`
  readonly amount?: bigint
}) => unknown

const countsOf = ({ events }: EventClient | SocketClient) =>
  events.filter(({ type }) => type === 'bridge').map(({ data }) => data.deposit_count)

for (const transport of bothTransports()) {
  for (const name of Object.keys(protocols) as ProtocolName[]) {
    test(`${transport.name}, ${name}: whoever reads the lists and then the events behind their position misses nothing, and gets nothing twice`, async (context) => {
      const { open, deposit, listPosition, world } = await serve(context, transport, name)
      const position = await listPosition()
      const before = world.network(1).deposits().length
      deposit(1)
      deposit(1, { amount: 5n })
      const client = await open(`?after=${position}&types=bridge`)
      deposit(1)
      await client.hasRead(3)
      assert.deepEqual(countsOf(client), [before, before + 1, before + 2])
      const [, second] = client.events
      assert.equal(second?.data.amount, '5')
      assert.match(String(second?.data.id), /^1\.[0-9a-f]{12}:\d+$/)
      client.close()
      deposit(1)
      const again = await open('?types=bridge', second.id)
      await again.hasRead(2)
      assert.deepEqual(countsOf(again), [before + 2, before + 3])
    })

    test(`${transport.name}, ${name}: each reader gets what it has asked for, and all are at the same place behind it`, async (context) => {
      const { open, deposit, listPosition } = await serve(context, transport, name)
      const receiver = account(8)
      const one = await open('?types=bridge&network_ids=1')
      const toSecond = await open('?types=bridge&destination_networks=2')
      const toReceiver = await open(`?types=bridge&addresses=${receiver.toUpperCase().replace('0X', '0x')}`)
      const all = await open()
      deposit(1, { destinationNetwork: 2, amount: 1n })
      deposit(1, { destinationNetwork: 0, amount: 2n, destinationAddress: receiver })
      deposit(2, { destinationNetwork: 1, amount: 3n })
      const position = await listPosition()
      await all.isAt(position)
      await until(
        () => [one, toSecond, toReceiver].map(({ events }) => events.map(({ data }) => data.amount).join()),
        (amounts) => amounts.join(' ') === '1,2 1 2',
        'each has what it has asked for',
      )
      assert.ok(all.events.length > 3)
      assert.deepEqual(
        all.events.filter(({ type }) => type === 'bridge').map(({ data }) => data.amount),
        ['1', '2', '3'],
      )
    })

    test(`${transport.name}, ${name}: a reorg is told, and then what comes in its place`, async (context) => {
      const { open, deposit, world } = await serve(context, transport, name)
      const client = await open('?types=bridge,reorg&network_ids=1')
      const { number } = world.network(1).head
      deposit(1, { amount: 1n })
      world.network(1).reorg({ depth: 1 })
      deposit(1, { amount: 2n })
      await client.hasRead(3)
      assert.deepEqual(
        client.events.map(({ type, data }) => [type, data.amount ?? data.ancestor_block]),
        [
          ['bridge', '1'],
          ['reorg', number],
          ['bridge', '2'],
        ],
      )
    })

    test(`${transport.name}, ${name}: a position of another feed, or one whose events are gone, is a 410 that names the oldest and the current one`, async (context) => {
      const { ask, status, deposit, listPosition } = await serve(context, transport, name)
      const position = await listPosition()
      const own = /1\.([0-9a-f]{12}):(\d+)/.exec(position)!
      assertRefusal(
        await ask('?after=1.00000000abcd:1'),
        410,
        'POSITION_GONE',
        /the current one is 1\.[0-9a-f]{12}:\d+/,
      )
      deposit(1)
      statusRow(status, 1).set('feedOldest', Number(own[2]) + 2)
      assertRefusal(await ask(`?after=1.${own[1]}:${own[2]}`), 410, 'POSITION_GONE', /the oldest is 1\./)
    })

    test(`${transport.name}, ${name}: a reader that takes nothing is cut off, and the others get all`, async (context) => {
      const { open, slowReadersCut, world, indexed } = await serve(context, transport, name)
      const slow = await open('?types=bridge')
      slow.pause()
      const other = await open('?types=bridge')
      const before = world.network(1).deposits().length
      let made = 0
      while (slowReadersCut.length === 0 && made < 4_000) {
        world.network(1).mine((block) => {
          for (let count = 0; count < 20; count++) block.tx().deposit({ metadata: `0x${'ab'.repeat(4_000)}` })
        })
        indexed.sync(1)
        made += 20
        await other.hasRead(made)
      }
      assert.deepEqual(slowReadersCut, ['buffer'])
      assert.deepEqual(
        countsOf(other),
        Array.from({ length: made }, (_, at) => before + at),
      )
    })

    test(`${transport.name}, ${name}: what is no filter is refused by name`, async (context) => {
      const { ask } = await serve(context, transport, name)
      assertRefusal(await ask('?network_ids=9'), 400, 'INVALID_NETWORK_ID', 'Network ID 9 is not supported')
      assertRefusal(
        await ask('?types=bridges'),
        400,
        'INVALID_PARAMETER',
        /^types "bridges" is not a list of types/,
      )
      assertRefusal(await ask('?type=bridge'), 400, 'INVALID_PARAMETER', /types/)
      assertRefusal(
        await ask('?deposit_count=1'),
        400,
        'INVALID_PARAMETER',
        /origin_network and deposit_count/,
      )
      assertRefusal(await ask('?after=7'), 400, 'INVALID_PARAMETER', /^after "7" is not a position/)
      assertRefusal(
        await ask('?network_ids=1&after=2.00000000abcd:1'),
        400,
        'INVALID_PARAMETER',
        /network 2, which is not asked for/,
      )
    })
  }

  test(`${transport.name}: a server that closes tells each reader when to come again, and ends its connection`, async (context) => {
    const { server } = await serve(context, transport, 'websocket')
    const [stream, socket] = await Promise.all([
      EventClient.open(server.port),
      SocketClient.open(server.port),
    ])
    for (const client of [stream, socket])
      await until(
        () => client.lastEventId,
        (id) => id !== '',
        'the first id',
      )
    await server.drain(0)
    await Promise.all([stream.hasEnded(), socket.hasEnded()])
    // Service Restart.
    assert.equal(socket.closeCode, 1012)
    for (const retryMs of [stream.retryMs!, Number(/^come again in (\d+) ms$/.exec(socket.closeReason)?.[1])])
      assert.ok(retryMs >= 1_000 && retryMs <= 5_000, String(retryMs))
  })

  test(`${transport.name}: HEAD gets the headers alone`, async (context) => {
    const { server } = await serve(context, transport, 'server-sent events')
    const head = await fetchRaw(server.port, 'HEAD', '/bridge/v1/events')
    assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream'])
  })
}

test('connections that get events have limits, in all and for each client', async (context) => {
  const { port } = await startHttpWorld(context)
  const clients = await Promise.all(Array.from({ length: 100 }, () => EventClient.open(port)))
  const refused = await fetchRaw(port, 'GET', '/bridge/v1/events')
  assertRefusal(refused, 429, 'RATE_LIMIT_EXCEEDED', /100 connections of this client/)
  clients.pop()!.close()
  await until(
    async () => {
      const client = await EventClient.open(port)
      clients.push(client)
      return client.response.statusCode
    },
    (status) => status === 200,
    'one may come in the place of another',
  )
  for (const client of clients) client.close()
})
