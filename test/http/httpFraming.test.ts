import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { startHttpWorld } from '../support/httpWorld.js'
import { assertRefusal, fetchRaw, RawConnection, type RawResponse, requestText } from '../support/rawHttp.js'
import { eachTransport } from './eachTransport.js'

const INDEX = '/bridge/v1/l1-info-tree-index?network_id=1&deposit_count='
const BRIDGES = '/bridge/v1/bridges?network_id=1&page_size=2'

/** A proxy may take these bytes for the body of the previous request, and give their answer to another client. */
const BEHIND = requestText('GET', `${INDEX}77`)
const ITS_ANSWER = /"timestamp":77\b/
const LENGTH = `Content-Length: ${BEHIND.length}`

const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `X-H${at}: v`)

/**
 * Requests that the parser accepts and that may have a body: the answer is the server's 400, or none where the
 * parser refuses them itself.
 */
const UNSURE: Readonly<Record<string, readonly string[]>> = {
  'a length': [LENGTH],
  'a short length': ['Content-Length: 5'],
  'a length beyond what comes': ['Content-Length: 999999'],
  'zero, then a length': ['Content-Length: 0', LENGTH],
  'a length, then zero': [LENGTH, 'Content-Length: 0'],
  'zero twice': ['Content-Length: 0', 'Content-Length: 0'],
  'equal lengths': [LENGTH, LENGTH],
  'three of them': ['Content-Length: 0', 'Content-Length: 0', LENGTH],
  'far apart': ['Content-Length: 0', ...many(30), LENGTH],
  'the last of many headers': [...many(46), LENGTH],
  'an empty length': ['Content-Length:'],
  'an empty length, then one': ['Content-Length:', LENGTH],
  'a length of blanks': ['Content-Length: \t '],
  'a list': [`Content-Length: 0, ${BEHIND.length}`],
  'a list of zeros': ['Content-Length: 0, 0'],
  'more zeros': ['Content-Length: 00'],
  'a sign': ['Content-Length: +0'],
  'a minus': ['Content-Length: -0'],
  hexadecimal: ['Content-Length: 0x0'],
  'a point': ['Content-Length: 0.0'],
  quoted: ['Content-Length: "0"'],
  'beyond 32 bits': ['Content-Length: 4294967296'],
  'beyond 64 bits': ['Content-Length: 18446744073709551616'],
  'any letter case': ['CONTENT-length: 0', `cONTENT-LENGTH: ${BEHIND.length}`],
  chunked: ['Transfer-Encoding: chunked'],
  'chunked in capitals': ['TRANSFER-ENCODING: CHUNKED'],
  identity: ['Transfer-Encoding: identity'],
  'an unknown coding': ['Transfer-Encoding: xchunked'],
  'an empty coding': ['Transfer-Encoding:'],
  'an empty coding, then chunked': ['Transfer-Encoding:', 'Transfer-Encoding: chunked'],
  'a coding and a length': ['Transfer-Encoding: chunked', LENGTH],
  'a coding and zero': ['Content-Length: 0', 'Transfer-Encoding: chunked'],
  'an empty coding and zero': ['Transfer-Encoding:', 'Content-Length: 0'],
}

/** Lines that no parser may read as a header. The transport refuses them itself, with a 4xx or without an answer. */
const MALFORMED: Readonly<Record<string, readonly string[]>> = {
  'a blank before the colon': [`Content-Length : ${BEHIND.length}`],
  'a coding with a blank before the colon': ['Transfer-Encoding : chunked'],
  'obsolete folding': ['X-A: b', ` ${LENGTH}`],
  'a folded length': ['Content-Length:', ` ${BEHIND.length}`],
  'a folded coding': ['Transfer-Encoding:', '\tchunked'],
  'a lone line feed': [`X-A: a\n${LENGTH}`],
  'a lone carriage return': [`X-A: a\r${LENGTH}`],
  'NUL in a value': ['X-A: a\0b', LENGTH],
  'NUL in a name': ['X\0A: a', LENGTH],
  'a vertical tab': ['Transfer-Encoding: \x0bchunked'],
  'no colon': [`Content-Length ${BEHIND.length}`],
  'a letter with its high bit': [`Content-Length\xff: ${BEHIND.length}`],
  'a bracket in a name': [`Content(Length): ${BEHIND.length}`],
  'more headers than it takes': [...many(120), LENGTH],
}

/** With these headers nothing may follow the head. */
const SURE: Readonly<Record<string, readonly string[]>> = {
  'no length': [],
  zero: ['Content-Length: 0'],
  'zero between blanks': ['Content-Length:\t 0 '],
  'other names': ['X-Content-Length: 5', 'Content-Lengths: 5', 'X-Transfer-Encoding: chunked'],
}

for (const transport of eachTransport()) {
  const start = (context: TestContext) =>
    startHttpWorld(context, {}, { workers: 1, maxQueue: 10_000 }, transport)

  test(`${transport.name}: a request that announces a body is a 400, and the bytes after it are not answered`, async (context) => {
    const { port } = await start(context)
    for (const [name, headers] of Object.entries(UNSURE)) {
      for (const [behind, isInOne] of [
        [BEHIND, true],
        [BEHIND, false],
        ['', true],
        ['x'.repeat(200_000), true],
      ] as const) {
        const received = await allOf(port, requestText('GET', `${INDEX}5`, headers), behind, isInOne)
        assert.doesNotMatch(received, /"timestamp"/, name)
        const statuses = [...received.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => status)
        // The parser itself refuses a request with both headers.
        if (name.startsWith('a coding and')) assert.ok(statuses.length <= 1, name)
        else assert.deepEqual(statuses, ['400'], `${name} ${behind.length} ${isInOne}`)
      }
    }
    assert.equal((await fetchRaw(port, 'GET', BRIDGES)).status, 200)
  })

  test(`${transport.name}: a malformed header ends the connection without an answer to the bytes after it`, async (context) => {
    const { port, finished } = await start(context)
    for (const [name, headers] of Object.entries(MALFORMED)) {
      const received = await allOf(port, requestText('GET', `${INDEX}5`, headers), BEHIND, true)
      assert.match(received, /^$|^HTTP\/1\.1 4\d\d /, name)
      assert.doesNotMatch(received, /"timestamp"/, name)
    }
    assert.deepEqual(finished, [])
  })

  test(`${transport.name}: a request with one Content-Length of 0 is served, and the connection stays open`, async (context) => {
    const { port } = await start(context)
    for (const [name, headers] of Object.entries(SURE)) {
      const connection = new RawConnection(port)
      const first = await connection.send(requestText('GET', `${INDEX}5`, headers)).response()
      const second = await connection.send(BEHIND).response()
      assert.deepEqual([first.status, second.status], [200, 200], name)
      assert.match(second.body, ITS_ANSWER, name)
      connection.destroy()
    }
  })

  test(`${transport.name}: every route and method refuses a body, and the answer has Connection: close`, async (context) => {
    const { port, finished } = await start(context)
    // Also for an answer from the cache.
    for (const _ of [1, 2]) assert.equal((await fetchRaw(port, 'GET', BRIDGES)).status, 200)
    for (const target of [
      '/',
      '/bridge/v1/',
      '/livez',
      '/readyz',
      '/bridge/v1/sync-status',
      '/docs',
      BRIDGES,
    ])
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) await refuses(port, method, target)
    for (const target of ['/openapi.json', '/nowhere', `/livez?${'x'.repeat(3_000)}`, `${INDEX}x`])
      await refuses(port, 'GET', target)
    assert.deepEqual(new Set(finished.slice(2).map((line) => line.split(' ').at(-1))), new Set(['400']))
  })

  test(`${transport.name}: answers to requests before one with a body, on the same connection, arrive whole`, async (context) => {
    const { port } = await start(context)
    const connection = new RawConnection(port)
    connection.send(requestText('GET', '/livez') + requestText('GET', '/livez', [LENGTH]) + BEHIND)
    assert.equal((await connection.response()).body, '{"status":"alive"}')
    assert.equal((await connection.response()).status, 400)
    assert.equal(await connection.rest(), '')
  })
}

async function refuses(port: number, method: string, target: string): Promise<void> {
  for (const connectionLine of [[], ['Connection: close'], ['Connection: keep-alive']]) {
    const connection = new RawConnection(port)
    const headers = ['X-Request-Id: mine', LENGTH, ...connectionLine]
    connection.send(requestText(method, target, headers) + BEHIND)
    const response = await connection.response(method !== 'HEAD')
    const name = `${method} ${target.slice(0, 50)} ${connectionLine}`
    assertClosing(response, method, name)
    assert.equal(await connection.rest(), '', name)
  }
}

function assertClosing(response: RawResponse, method: string, name: string): void {
  const { status, headers } = response
  assert.deepEqual([status, headers.get('connection')], [400, 'close'], name)
  assert.deepEqual([headers.get('cache-control'), headers.get('x-request-id')], ['no-store', 'mine'], name)
  if (method !== 'HEAD') assertRefusal(response, 400, 'INVALID_PARAMETER', /Content-Length/)
}

/** All bytes that the server sends for a request and the bytes after it. The client then ends the connection. */
async function allOf(port: number, request: string, behind: string, isInOne: boolean): Promise<string> {
  const connection = new RawConnection(port)
  if (isInOne) connection.send(request + behind)
  else {
    connection.send(request)
    await new Promise(setImmediate)
    connection.send(behind)
  }
  connection.socket.end()
  return connection.rest()
}
