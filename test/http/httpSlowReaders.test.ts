import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import test, { type TestContext } from 'node:test'
import { arrivalAt, faultCounts, HEAVY_PAGE, letGo } from '../support/fakeQueryFaults.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, fetchRaw, RawConnection, requestText } from '../support/rawHttp.js'
import { eachTransport } from './eachTransport.js'

const PAGE = '/bridge/v1/bridges?network_id=1&page_size=1000'
const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count='
const MIB = 1024 * 1024

/** A client that sends requests and reads nothing: its kernel takes what fits its buffers. */
async function silentClient(context: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  context.after(() => socket.destroy())
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** Reads one whole answer. @returns its body. */
async function bodyOf(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  let wanted = Number.POSITIVE_INFINITY
  let bodyAt = 0
  while (size < wanted) {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) {
      await once(socket, 'readable')
      continue
    }
    chunks.push(chunk)
    size += chunk.length
    if (bodyAt > 0) continue
    const head = Buffer.concat(chunks)
    bodyAt = head.indexOf('\r\n\r\n') + 4
    wanted = bodyAt + Number(/content-length: (\d+)/i.exec(head.toString('latin1', 0, bodyAt))?.[1])
  }
  return Buffer.concat(chunks).subarray(bodyAt)
}

/** Reads until the connection ends. */
async function drained(socket: Socket): Promise<void> {
  socket.resume()
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve))
}

for (const transport of eachTransport()) {
  const start = (context: TestContext) => startHttpWorld(context, {}, undefined, transport)

  test(`${transport.name}: clients that do not read share one body in memory, and get all of it once they read`, async (context) => {
    const settings = { cacheBytes: 1024 * MIB, maxResponseBytes: 64 * MIB }
    const { port, server } = await startHttpWorld(context, settings, undefined, transport)
    // More bytes than the kernel's buffers hold.
    const target = `${PAGE}&page_number=${HEAVY_PAGE}`
    const first = await silentClient(context, port)
    first.write(requestText('GET', target))
    const body = await bodyOf(first)
    assert.ok(body.length > 16 * MIB)
    const before = process.memoryUsage().rss
    const clients = await Promise.all(Array.from({ length: 20 }, () => silentClient(context, port)))
    for (const client of clients) client.write(requestText('GET', target))
    while (server.stats().sending < 20) await new Promise(setImmediate)
    const grown = (process.memoryUsage().rss - before) / MIB
    assert.ok(grown < 100, `${grown.toFixed(0)} MiB for 20 answers of ${(body.length / MIB).toFixed(0)} MiB`)
    for (const client of clients) assert.ok((await bodyOf(client)).equals(body))
    while (server.stats().sending > 0) await new Promise(setImmediate)
    assert.deepEqual([server.stats().cache.hits, server.stats().pending], [20, 0])
  })

  test(`${transport.name}: clients that take nothing of their answers hold 64 MiB at most: the one that has for longest is cut off, and counted`, async (context) => {
    const settings = { cacheBytes: 0, maxResponseBytes: 64 * MIB }
    const world = await startHttpWorld(context, settings, undefined, transport)
    const { port, server, finished, slowReadersCut } = world
    const target = `${PAGE}&page_number=${HEAVY_PAGE}`
    const { body } = await fetchRaw(port, 'GET', target)
    const places = Math.floor((64 * MIB) / body.length)
    assert.ok(places >= 2 && places <= 6, String(places))
    const clients: Socket[] = []
    for (let count = 1; count <= 3 * places; count++) {
      const client = await silentClient(context, port)
      clients.push(client)
      client.write(requestText('GET', target))
      while (finished.length < 1 + count || server.stats().sending > places) await new Promise(setImmediate)
    }
    assert.deepEqual(slowReadersCut, Array(2 * places).fill('memory'))
    const kept = clients.splice(2 * places)
    for (const client of clients) await drained(client)
    for (const client of kept) assert.ok((await bodyOf(client)).toString() === body)
    while (server.stats().sending > 0) await new Promise(setImmediate)
    assert.equal(slowReadersCut.length, 2 * places)
  })

  test(`${transport.name}: a client that pipelines and never reads is disconnected before its answers fill the memory`, async (context) => {
    const { port, server, finished } = await start(context)
    await fetchRaw(port, 'GET', PAGE)
    const before = process.memoryUsage().rss
    const client = await silentClient(context, port)
    client.write(requestText('GET', PAGE).repeat(2_000))
    while (finished.length < 2 || server.stats().sending > 0) await new Promise(setImmediate)
    const grown = (process.memoryUsage().rss - before) / MIB
    assert.ok(grown < 40, `${grown.toFixed(0)} MiB`)
    // Only as many answers as the kernel's buffers took.
    assert.ok(finished.length < 100, String(finished.length))
    // Resolves because the connection has ended.
    await drained(client)
    assert.equal((await fetchRaw(port, 'GET', '/livez')).status, 200)
  })

  test(`${transport.name}: a client that never reads is also disconnected when its answers have no body`, async (context) => {
    const { port } = await startHttpWorld(context, {}, undefined, transport, {}, Math.random)
    const { headers } = await fetchRaw(port, 'GET', PAGE)
    const known = [`If-None-Match: ${headers.get('etag')}`]
    for (const [what, request] of [
      ['304', requestText('GET', PAGE, known)],
      ['HEAD', requestText('HEAD', PAGE)],
      ['OPTIONS', requestText('OPTIONS', PAGE)],
    ] as const) {
      const before = process.memoryUsage().rss
      const client = await silentClient(context, port)
      // With a probability of e^-24 all requests are answered, and the connection does not end.
      client.write(request.repeat(100_000))
      await drained(client)
      const grown = (process.memoryUsage().rss - before) / MIB
      // node:http makes some kilobytes of garbage for each of the 14,000 requests that are answered before the kernel's buffers are full.
      assert.ok(grown < (transport.noticesBodiless ? 120 : 40), `${what}: ${grown.toFixed(0)} MiB`)
    }
    assert.equal((await fetchRaw(port, 'GET', '/livez')).status, 200)
  })

  test(`${transport.name}: every answer without a body is whole, and a connection ends only after Connection: close`, async (context) => {
    // One answer in 64 closes its connection.
    const random = (): number => Math.random() / 64
    const { port } = await startHttpWorld(context, {}, undefined, transport, {}, random)
    const { headers, body } = await fetchRaw(port, 'GET', `${INDEX}7`)
    const statuses = new Map<string, number>()
    let connection = new RawConnection(port)
    for (let count = 0; count < 4_000; count++) {
      const method = (['GET', 'HEAD', 'OPTIONS'] as const)[count % 3]!
      const more = method === 'GET' ? [`If-None-Match: ${headers.get('etag')}`] : []
      connection.send(requestText(method, `${INDEX}7`, more))
      const response = await connection.response(method !== 'HEAD')
      const name = `${method} ${response.status}`
      statuses.set(name, (statuses.get(name) ?? 0) + 1)
      if (method === 'HEAD') assert.equal(response.headers.get('content-length'), String(body.length))
      if (response.headers.get('connection') !== 'close') continue
      assert.equal(await connection.rest(), '')
      statuses.set('closed', (statuses.get('closed') ?? 0) + 1)
      connection = new RawConnection(port)
    }
    connection.destroy()
    const byChance = transport.noticesBodiless ? [] : ['GET 200', 'OPTIONS 200', 'closed']
    assert.deepEqual(
      [...statuses.keys()].sort(),
      [...byChance, 'GET 304', 'HEAD 200', 'OPTIONS 204'].sort(),
      'each way came',
    )
  })

  test(`${transport.name}: a full queue is a 503 while its worker still holds`, async (context) => {
    const { port, gate, pool } = await startHttpWorld(context, {}, { workers: 1, maxQueue: 1 }, transport)
    const held = [fetchRaw(port, 'GET', `${INDEX}${faultCounts.hold}`)]
    await arrivalAt(gate)
    held.push(fetchRaw(port, 'GET', `${INDEX}2`))
    while (pool.stats().waiting < 1) await new Promise(setImmediate)
    for (let count = 0; count < 20; count++) {
      const refused = await fetchRaw(port, 'GET', `${INDEX}${100 + count}`)
      assertRefusal(refused, 503, 'SERVICE_UNAVAILABLE', 'too many requests are waiting')
      assert.equal(refused.headers.get('retry-after'), '1')
    }
    letGo(gate)
    for (const { status } of await Promise.all(held)) assert.equal(status, 200)
  })
}
