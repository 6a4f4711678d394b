import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { Connections } from '../../../../src/http/limits/connections.js'
import { addressOf, eachConnection } from '../../../../src/http/limits/connectionTable.js'
import { AddressRanges, ipOfPeer } from '../../../../src/http/limits/ipAddress.js'
import type { Peer } from '../../../../src/http/wire/wire.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { until } from '../../../support/until.js'

const ON_LINUX = { skip: process.platform !== 'linux' && 'there is no /proc' }

const hexOf = (bytes: readonly number[]): string =>
  Buffer.from(Uint8Array.from(bytes)).swap32().toString('hex').toUpperCase()

const BUSY = [192, 0, 2, 1] as const
const PROXY = [10, 0, 0, 1] as const
const OTHER = [192, 0, 2, 2] as const
/** Both are of 2001:db8:0:1::/64. */
const BUSY_6 = [...ipOfPeer('2001:db8:0:1::1')]
const PROXY_6 = [...ipOfPeer('2001:db8:0:1::2')]

const peerOf = (bytes: readonly number[]): Peer => ({ getRemoteAddress: () => Uint8Array.from(bytes).buffer })

/** At most 100 connections, 25 of one address, 50 of one site; proxies are 10.0.0.0/8 and 2001:db8:0:1::2. */
function limited() {
  const listed: (readonly number[])[] = []
  const refused: string[] = []
  const time = { nowMs: 0 }
  const kernel = { hasList: true }
  const exempt = new AddressRanges(['10.0.0.0/8', '2001:db8:0:1::2'])
  const connections = new Connections(
    { max: 100, maxPerAddress: 25, maxPerSite: 50 },
    (address) => exempt.has(address),
    (reason) => refused.push(reason),
    () => time.nowMs,
    async (_port, visit) => {
      if (kernel.hasList) for (const address of listed) visit(hexOf(address))
      return kernel.hasList
    },
  )
  const come = (address: readonly number[], count: number): number => {
    let taken = 0
    for (let at = 0; at < count; at++)
      if (connections.arrive(peerOf(address))) {
        listed.push(address)
        taken++
      } else connections.leave()
    return taken
  }
  const look = async (afterMs = 1_000): Promise<void> => {
    time.nowMs += afterMs
    connections.watch(1)
    await new Promise(setImmediate)
  }
  return { connections, come, look, refused, kernel }
}

test('connections beyond the most are refused, and when one has gone another is taken', () => {
  const { connections, come, refused } = limited()
  assert.equal(come(BUSY, 103), 100)
  assert.deepEqual(refused, Array(3).fill('max_connections'))
  connections.leave()
  assert.equal(come(OTHER, 2), 1)
})

test('while half of the connections are free, one address may have any number', async () => {
  const { connections, come, look, refused } = limited()
  assert.equal(come(BUSY, 50), 50)
  await look()
  assert.equal(connections.endsWithAnswer(peerOf(BUSY)), false)
  assert.deepEqual(refused, [])
})

test('once they run short, who has more than a share gets no more, and loses some with its answers; others do not', async () => {
  const { connections, come, look, refused } = limited()
  come(BUSY, 60)
  come(OTHER, 5)
  await look()
  assert.equal(come(BUSY, 1), 0)
  assert.equal(come(OTHER, 1), 1)
  assert.equal(connections.endsWithAnswer(peerOf(BUSY)), true)
  assert.equal(connections.endsWithAnswer(peerOf(OTHER)), false)
  assert.deepEqual(refused, Array(2).fill('max_connections_per_address'))
})

test('between two looks, too, an address that was connected can not go beyond its share', async () => {
  const { come, look } = limited()
  come(BUSY, 40)
  come(OTHER, 20)
  await look()
  assert.equal(come(OTHER, 20), 5)
})

test('a proxy that is trusted may have any number', async () => {
  const { connections, come, look } = limited()
  come(PROXY, 60)
  await look()
  assert.equal(come(PROXY, 1), 1)
  assert.equal(connections.endsWithAnswer(peerOf(PROXY)), false)
})

test('a proxy that is trusted may have any number also where others of its /64 have more than their share', async () => {
  const { connections, come, look } = limited()
  come(PROXY_6, 5)
  come(BUSY_6, 55)
  await look()
  assert.equal(come(BUSY_6, 1), 0)
  assert.equal(come(PROXY_6, 30), 30)
  assert.equal(connections.endsWithAnswer(peerOf(BUSY_6)), true)
  assert.equal(connections.endsWithAnswer(peerOf(PROXY_6)), false)
})

test('an IPv6 /48 that connects from ever more /64 has more than its share, too, and loses some; others do not', async () => {
  const { connections, come, look, refused } = limited()
  const ofSite = (subnet: number) => [...ipOfPeer(`2001:db8:0:${subnet.toString(16)}::9`)]
  const elsewhere = [...ipOfPeer('2001:db8:1:1::9')]
  for (let subnet = 2; subnet < 47; subnet++) come(ofSite(subnet), 1)
  come(elsewhere, 8)
  await look()
  assert.deepEqual(refused, [])
  let taken = 0
  for (let subnet = 100; subnet < 120; subnet++) taken += come(ofSite(subnet), 1)
  assert.equal(taken, 5)
  assert.equal(connections.endsWithAnswer(peerOf(ofSite(2))), true)
  assert.equal(connections.endsWithAnswer(peerOf(elsewhere)), false)
  assert.equal(come(elsewhere, 1), 1)
  assert.equal(come(PROXY_6, 1), 1, 'a trusted proxy of this site')
})

test('an address that is trusted as IPv4 is so where it comes mapped to IPv6', async () => {
  const { connections, come, look } = limited()
  const mapped = [...ipOfPeer('::ffff:10.0.0.1')]
  come(mapped, 60)
  await look()
  assert.equal(come(mapped, 1), 1)
  assert.equal(connections.endsWithAnswer(peerOf(mapped)), false)
})

test('who makes a connection for each request, one after the other, may make any number between two looks', async () => {
  const { connections, come, look, refused } = limited()
  come(BUSY, 40)
  come(OTHER, 20)
  await look()
  for (let at = 0; at < 200; at++) {
    assert.equal(come(OTHER, 1), 1)
    connections.leave()
  }
  assert.equal(connections.endsWithAnswer(peerOf(OTHER)), false)
  assert.deepEqual(refused, [])
})

test('connections that are refused make no room for others of an address', async () => {
  const { come, look } = limited()
  come(BUSY, 40)
  come(OTHER, 20)
  await look()
  assert.equal(come(BUSY, 200), 0)
  assert.equal(come(OTHER, 20), 5)
})

test('where the kernel gave no list, it is asked again after a minute', async () => {
  const { come, look, kernel } = limited()
  come(BUSY, 60)
  kernel.hasList = false
  await look()
  kernel.hasList = true
  await look(59_000)
  assert.equal(come(BUSY, 1), 1)
  await look(1_000)
  assert.equal(come(BUSY, 1), 0)
})

test('when half of the connections are free again, the address may connect again', async () => {
  const { connections, come, look } = limited()
  come(BUSY, 60)
  await look()
  for (let at = 0; at < 20; at++) connections.leave()
  await look()
  assert.equal(come(BUSY, 1), 1)
  assert.equal(connections.endsWithAnswer(peerOf(BUSY)), false)
})

test('an address is read as the kernel writes it', () => {
  assert.deepEqual(addressOf('0100007F'), ipOfPeer('127.0.0.1'))
  assert.deepEqual(addressOf('0000000000000000FFFF00000100007F'), ipOfPeer('127.0.0.1'))
  assert.deepEqual(addressOf('B80D01200000000067452301EFCDAB89'), ipOfPeer('2001:db8::123:4567:89ab:cdef'))
})

test('a connection that the kernel lists twice is one, and those of other ports and states are none', async (t) => {
  const line = (at: number, local: string, remote: string, state: string): string =>
    `${String(at).padStart(4)}: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 1 1 0\n`
  const table = join(tempFolder(t), 'tcp')
  writeFileSync(
    table,
    [
      line(0, '0100007F:1F90', '0200007F:C350', '01'),
      line(1, '0100007F:1F90', '0200007F:C351', '08'),
      line(2, '0100007F:1F90', '0200007F:C350', '01'),
      line(3, '0300007F:1F90', '0200007F:C350', '01'),
      line(4, '0100007F:1F91', '0200007F:C352', '01'),
      line(5, '0100007F:1F90', '0200007F:C353', '06'),
      line(6, '0100007F:C354', '0200007F:1F90', '01'),
    ].join(''),
  )
  const found: string[] = []
  assert.equal(await eachConnection(8080, (hex) => found.push(hex), [table]), true)
  assert.deepEqual(found, Array(3).fill('0200007F'))
})

test(
  'the kernel lists the connections to a port, each with the address of its client',
  ON_LINUX,
  async (t) => {
    const server = createServer((socket) => socket.on('error', () => undefined))
    t.after(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const clients = await Promise.all(
      ['127.0.0.1', '127.0.0.2', '127.0.0.2'].map(async (localAddress) => {
        const socket = connect({ port, host: '127.0.0.1', localAddress })
        await once(socket, 'connect')
        return socket
      }),
    )
    t.after(() => clients.map((client) => client.destroy()))
    const listed = async (): Promise<string[]> => {
      const found: string[] = []
      assert.equal(await eachConnection(port, (hex) => found.push(hex)), true)
      return found.sort()
    }
    const expected = ['0100007F', '0200007F', '0200007F']
    // While many others come and go the kernel may leave one out of a reading.
    await until(listed, (found) => isDeepStrictEqual(found, expected), 'each client is listed')
    clients[1]!.destroy()
    await until(listed, (found) => found.length === 2, 'a client has gone')
  },
)
