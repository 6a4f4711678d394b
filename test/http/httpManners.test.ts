import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { operationIds, routes } from '../../src/api/routes.js'
import type { Transport } from '../../src/http/wire/wire.js'
import { startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, checkedBody, fetchRaw, RawConnection, requestText } from '../support/rawHttp.js'
import { until } from '../support/until.js'
import { eachTransport } from './eachTransport.js'
import { limitOf, transportTable } from './transportTable.js'

const BRIDGES = '/bridge/v1/bridges?network_id=1&page_size=2'
/** Twice what docs/http.md says, for a machine that is busy. */
const LONGEST_IDLE_MS = 64_000
const LARGEST_PAGE = '/bridge/v1/bridges?network_id=1&page_size=1000'
const PROOF = 'network_id=1&deposit_count=5&leaf_index=7'
const QUERIES: Readonly<Record<string, string>> = {
  getBridges: 'network_id=1',
  getClaims: 'network_id=1',
  getTokenMappings: 'network_id=1',
  getClaimProof: PROOF,
  getL1InfoTreeIndex: 'network_id=1&deposit_count=5',
  getInjectedL1InfoLeaf: 'network_id=1&leaf_index=1',
  getClaimTransaction: PROOF,
  getBridgeStatus: 'network_id=1&deposit_count=5',
  getSearch: 'q=1:5',
}

// They wait for what the transports do after ten seconds or thirty, and so beside each other.
suite('time-outs', { concurrency: true }, () => {
  for (const transport of eachTransport()) {
    const start = (context: TestContext) => startOn(context, transport)
    const limit = (name: string): readonly number[] => limitOf(transport.name, name)

    test(`${transport.name}: a request in HTTP/1.0, without Host, with bare LF, or with too many headers never gets a 200, and its connection is closed`, async (context) => {
      const { port, finished } = await start(context)
      const refused: Readonly<Record<string, string>> = {
        'HTTP/1.0': `GET ${BRIDGES} HTTP/1.0\r\nHost: localhost\r\n\r\n`,
        'without `Host`': `GET ${BRIDGES} HTTP/1.1\r\nAccept: */*\r\n\r\n`,
        'lines that end with LF only': `GET ${BRIDGES} HTTP/1.1\nHost: localhost\n\n`,
        '120 headers': requestText('GET', BRIDGES, manyHeaders(119)),
      }
      const told = transportTable('request', transport.name)
      const answers = await Promise.all(
        Object.entries(refused).map(async ([row, bytes]) => {
          const [, status = 'no answer'] =
            /^HTTP\/1\.1 (\d+) /.exec(await new RawConnection(port).send(bytes).rest()) ?? []
          return [row, status] as const
        }),
      )
      for (const [row, status] of answers) assert.equal(status, told.get(row), row)
      assert.deepEqual(finished, [])
    })

    test(`${transport.name}: a request with as many headers as docs/http.md says is served, and one with more is not`, async (context) => {
      const { port } = await start(context)
      const [most] = limit('headers of a request')
      // `Host` is one of the headers.
      assert.equal((await fetchRaw(port, 'GET', BRIDGES, manyHeaders(most! - 1))).status, 200)
      const answer = await new RawConnection(port)
        .send(requestText('GET', BRIDGES, manyHeaders(most!)))
        .rest()
      assert.match(answer, /^$|^HTTP\/1\.1 431 /)
    })

    test(`${transport.name}: an idle connection is closed without a word, and one that is used meanwhile stays open`, async (context) => {
      const { port } = await start(context)
      const ask = async (connection: RawConnection): Promise<number> =>
        (await connection.send(requestText('GET', '/livez')).response()).status
      const [idle, used] = [new RawConnection(port), new RawConnection(port)]
      assert.deepEqual([await ask(idle), await ask(used)], [200, 200])
      let isClosed = false
      const closed = idle.rest().finally(() => {
        isClosed = true
      })
      await until(
        async () => assert.equal(await ask(used), 200),
        () => isClosed,
        'the idle connection is closed',
        LONGEST_IDLE_MS,
      )
      assert.equal(await closed, '')
      assert.equal((await used.send(requestText('GET', BRIDGES)).response()).status, 200)
      used.destroy()
    })

    test(`${transport.name}: a URL of 9 KB in one segment is a 414 or, as docs/http.md says, a 431, and one in pieces gets no answer but one of these`, async (context) => {
      const { port } = await start(context)
      const target = `/${'a'.repeat(9_000)}`
      if (limit('bytes of a URL that is answered with 414, not 431')[0]! >= 9_000)
        assertRefusal(await fetchRaw(port, 'GET', target), 414, 'URI_TOO_LONG', /9001 bytes/)
      else
        assert.match(
          await new RawConnection(port).send(requestText('GET', target)).rest(),
          /^HTTP\/1\.1 431 /,
        )
      const split = new RawConnection(port)
      await new Promise<void>((resolve) => {
        split.socket.write(`GET ${target.slice(0, 5_000)}`, () => resolve())
      })
      // Once this is answered, what came before it has been read: the rest is a piece of its own.
      assert.equal((await fetchRaw(port, 'GET', '/livez')).status, 200)
      const rest = await split.send(`${target.slice(5_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`).rest()
      assert.match(rest, /^$|^HTTP\/1\.1 (414|431) /)
    })
  }
})

for (const transport of eachTransport()) {
  const start = (context: TestContext) => startOn(context, transport)

  test(`${transport.name}: of three requests in one segment no data endpoint gives a wrong or partial answer, and every probe answers all three`, async (context) => {
    const { port } = await start(context)
    for (const operation of operationIds) {
      const bytes = requestText('GET', `${routes[operation].path}?${QUERIES[operation]}`).repeat(3)
      assert.equal(await new RawConnection(port).send(bytes).rest(), '', operation)
    }
    for (const path of ['/', '/bridge/v1/', '/livez', '/readyz', '/bridge/v1/sync-status', '/openapi.json']) {
      const connection = new RawConnection(port).send(requestText('GET', path).repeat(3))
      const bodies: string[] = []
      for (let at = 0; at < 3; at++) bodies.push((await connection.response()).body)
      assert.deepEqual(bodies, Array(3).fill(bodies[0]), path)
      connection.destroy()
    }
  })

  test(`${transport.name}: pipelined requests for cached answers are all answered`, async (context) => {
    const { port } = await start(context)
    const { body } = await fetchRaw(port, 'GET', BRIDGES)
    const connection = new RawConnection(port)
    connection.send([BRIDGES, '/livez', BRIDGES].map((path) => requestText('GET', path)).join(''))
    const bodies: string[] = []
    for (let at = 0; at < 3; at++) bodies.push((await connection.response()).body)
    assert.deepEqual(bodies, [body, '{"status":"alive"}', body])
    connection.destroy()
  })

  test(`${transport.name}: clients that do not read delay no other client, and a client that reads late gets its whole answer`, async (context) => {
    const { port, server, finished, logLines } = await start(context)
    const readers = Array.from({ length: 60 }, () => {
      const connection = new RawConnection(port)
      connection.socket.pause()
      return connection.send(requestText('GET', LARGEST_PAGE))
    })
    while (finished.length < readers.length) await new Promise(setImmediate)
    assert.equal((await fetchRaw(port, 'GET', BRIDGES)).status, 200)
    const [late, ...gone] = readers
    for (const connection of gone) connection.destroy()
    late!.socket.resume()
    const answer = await late!.response()
    const { bridges } = checkedBody(LARGEST_PAGE, answer) as { bridges: unknown[] }
    assert.deepEqual([answer.status, bridges.length], [200, 1_000])
    assert.equal((await late!.send(requestText('GET', '/livez')).response()).status, 200)
    late!.destroy()
    assert.deepEqual([server.stats().pending, logLines], [0, []])
  })

  test(`${transport.name}: a request with Connection: close gets an answer with Connection: close, and the connection ends after it`, async (context) => {
    const { port } = await start(context)
    const { headers } = await fetchRaw(port, 'GET', BRIDGES)
    const known = `If-None-Match: ${headers.get('etag')}`
    const asked: readonly (readonly [method: string, target: string, header: string, status: number])[] = [
      ['GET', `/bridge/v1/l1-info-tree-index?${QUERIES.getL1InfoTreeIndex}`, 'X-Other: 1', 200],
      ['GET', BRIDGES, 'X-Request-Id: mine', 200],
      ['GET', BRIDGES, known, 304],
      ['GET', LARGEST_PAGE, 'Accept-Encoding: identity', 200],
      ['HEAD', BRIDGES, 'X-Other: 1', 200],
      ['OPTIONS', BRIDGES, 'X-Other: 1', 204],
      ['GET', '/nowhere', 'X-Other: 1', 404],
      ['GET', '/livez', 'X-Other: 1', 200],
    ]
    for (const [method, target, header, status] of asked)
      for (const close of ['Connection: close', 'connection: Close']) {
        const connection = new RawConnection(port).send(requestText(method, target, [close, header]))
        const response = await connection.response(method !== 'HEAD')
        const told = [response.status, response.headers.get('connection'), await connection.rest()]
        assert.deepEqual(told, [status, 'close', ''], `${method} ${target} ${header} ${close}`)
      }
    for (const header of ['Connection: keep-alive', 'Connection: other'])
      assert.equal(
        (await fetchRaw(port, 'GET', BRIDGES, [header])).headers.get('connection'),
        undefined,
        header,
      )
  })
}

function startOn(context: TestContext, transport: Transport) {
  return startHttpWorld(context, {}, { workers: 1, maxQueue: 10_000 }, transport)
}

function manyHeaders(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `X-Header-${at}: value`)
}
