import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { startHttpWorld } from '../support/httpWorld.js'
import { fetchRaw, RawConnection, type RawResponse, requestText } from '../support/rawHttp.js'
import { bothTransports } from './eachTransport.js'

const PAGE = '/bridge/v1/bridges?network_id=1&page_size=1000'
const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count='
const turn = () => new Promise<void>(setImmediate)

/** All of an answer but its date. */
function withoutDate({ status, headers, bytes }: RawResponse) {
  return { status, headers: [...headers].filter(([name]) => name !== 'date'), bytes }
}

for (const transport of bothTransports()) {
  const start = (context: TestContext, cacheBytes = 0) =>
    startHttpWorld(context, { cacheBytes, deadlineMs: 120_000 }, undefined, transport)

  /** Has a point answered, so that the next page goes out in slices, asks for it, and waits until its first slice is out. */
  async function beginPage(world: Awaited<ReturnType<typeof start>>): Promise<RawConnection> {
    await fetchRaw(world.port, 'GET', `${INDEX}7`)
    const answered = world.finished.length
    const connection = new RawConnection(world.port).send(requestText('GET', PAGE))
    while (world.finished.length === answered) await turn()
    assert.equal(world.server.stats().sending, 1)
    return connection
  }

  test(`${transport.name}: a page that goes out in slices has the head and the bytes of one that goes out as a whole`, async (context) => {
    for (const cacheBytes of [0, 64 * 1024 ** 2]) {
      const world = await start(context, cacheBytes)
      const whole = withoutDate(await fetchRaw(world.port, 'GET', PAGE))
      assert.ok(whole.bytes.length > 256 * 1024)
      assert.equal(whole.headers.find(([name]) => name === 'content-length')?.[1], String(whole.bytes.length))
      const connection = await beginPage(world)
      assert.deepEqual(withoutDate(await connection.response()), whole)
      assert.equal(world.server.stats().sending, 0)
      const etag = `If-None-Match: ${whole.headers.find(([name]) => name === 'etag')![1]}`
      const known = await connection.send(requestText('GET', PAGE, [etag])).response()
      assert.deepEqual([known.status, known.bytes.length], [304, 0])
      const head = await connection.send(requestText('HEAD', PAGE)).response(false)
      // A page that nobody gets is written for no head, so only that of a kept one tells its length and tag.
      const isTold = (name: string): boolean => cacheBytes > 0 || !['content-length', 'etag'].includes(name)
      assert.deepEqual(
        [...head.headers.keys()].sort(),
        [...new Map(whole.headers).keys(), 'date'].filter(isTold).sort(),
      )
      if (cacheBytes > 0) assert.equal(head.headers.get('content-length'), String(whole.bytes.length))
      connection.destroy()
    }
  })

  test(`${transport.name}: pages and points that are asked at the same time all get their own whole answers`, async (context) => {
    const world = await start(context)
    const page = withoutDate(await fetchRaw(world.port, 'GET', PAGE))
    const readers = Array.from({ length: 6 }, () => new RawConnection(world.port))
    const askers = Array.from({ length: 6 }, () => new RawConnection(world.port))
    await Promise.all([
      ...readers.map(async (reader) => {
        for (let count = 0; count < 10; count++)
          assert.deepEqual(withoutDate(await reader.send(requestText('GET', PAGE)).response()), page)
      }),
      ...askers.map(async (asker, at) => {
        for (let count = 1_000 * at; count < 1_000 * at + 100; count++) {
          const { status, body } = await asker.send(requestText('GET', `${INDEX}${count}`)).response()
          assert.equal(status, 200)
          assert.match(body, new RegExp(`"timestamp":${count}\\b`))
        }
      }),
    ])
    for (const connection of [...readers, ...askers]) connection.destroy()
    assert.deepEqual([world.server.stats().sending, world.server.stats().pending], [0, 0])
  })

  test(`${transport.name}: a client that goes in the middle of a page leaves nothing behind`, async (context) => {
    const world = await start(context)
    const gone = await beginPage(world)
    gone.destroy()
    while (world.server.stats().sending > 0) await turn()
    const next = await beginPage(world)
    assert.equal((await next.response()).status, 200)
    next.destroy()
    assert.deepEqual([world.server.stats().sending, world.server.stats().pending], [0, 0])
  })

  test(`${transport.name}: a server that drains in the middle of a page sends the rest of it first`, async (context) => {
    const world = await start(context)
    const connection = await beginPage(world)
    const drained = world.server.drain(0)
    const { status, bytes, headers } = await connection.response()
    assert.deepEqual([status, bytes.length], [200, Number(headers.get('content-length'))])
    connection.destroy()
    await drained
  })
}
