import { readdirSync } from 'node:fs'
import { BLOCK_DEPOSITS } from '../../bench/query/traffic.js'
import { BRIDGES } from './abusedService.js'
import type { Attack } from './underAttack.js'

/** Bytes per second of most attacks: what one client with a slow line has. */
const SLOW_LINE = 1_000_000
const ONE = ['127.0.1.1']
const FEW = Array.from({ length: 4 }, (_, at) => `127.0.1.${1 + at}`)

/** A request as short as it can be. */
function request(target: string, method = 'GET', headers = ''): string {
  return `${method} ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`
}

/** Names that no route has, and that take long to tell from one that it has: most letters are the same, in another order. */
const STRANGE = ['nteworkdi', 'netrowkdi', 'page_ezis', 'to_sserda']
/** About as many as a URL can hold. */
const STRANGERS = Array.from({ length: 196 }, (_, at) => `&${STRANGE[at % STRANGE.length]}`).join('')

function strangers(connections: number): Attack {
  return {
    title: `197 unknown parameters in each of 250 pipelined requests, ${connections} connections`,
    order: {
      from: ONE,
      connections,
      bytesPerSec: SLOW_LINE,
      // A spelling that is new each time is parsed each time.
      requests: [request(`/bridge/v1/claims?network_id=1&page_size=1${STRANGERS}&{n}`)],
      manner: { type: 'pipeline', requests: 250 },
    },
  }
}

/** All 64 connections send at once, then the line is slow. */
function pipelined(
  what: string,
  requests: readonly string[],
  counter = 'bds_http_pipelines_cut_total',
): Attack {
  const perConnection = 8_000
  const connections = 64
  return {
    title: `${perConnection} pipelined requests (${what}) on each of ${connections} connections`,
    order: {
      from: ONE,
      connections,
      bytesPerSec: SLOW_LINE,
      burstBytes: connections * perConnection * requests[0]!.length,
      requests,
      manner: { type: 'pipeline', requests: perConnection },
    },
    counter,
  }
}

/** Of network 0 in the stores, with 20 bridges each. */
const BLOCKS = BRIDGES / BLOCK_DEPOSITS
const CODED = 'Accept-Encoding: br\r\n'

/** Pages just below the size of large ones, which come without a body. */
function knownPages(connections: number, from: readonly string[]): Attack {
  const sizes = Array.from({ length: 11 }, (_, at) => 191 + at)
  return {
    title: `pages of 191 to 201 rows, coded, with If-None-Match: *, ${connections} connections`,
    order: {
      from,
      connections,
      bytesPerSec: SLOW_LINE,
      requests: sizes.map((size) =>
        request(
          `/bridge/v1/bridges?network_id=0&page_size=${size}&to_block={n}`,
          'GET',
          `${CODED}If-None-Match: *\r\n`,
        ),
      ),
      numbers: BLOCKS,
      manner: { type: 'ask' },
    },
  }
}

/** So many different pages that no cache holds them. */
const LARGE_PAGES = Array.from({ length: 20 }, (_, at) =>
  request(`/bridge/v1/bridges?network_id=0&page_size=${981 + at}&to_block={n}`, 'GET', CODED),
)

/** The same, some 890 KB each. */
const WHOLE_PAGES = LARGE_PAGES.map((text) => text.replace(CODED, ''))

/** Of a route whose answers are kept: nothing else asks it, while attacks ask others for so much that is new that they are not looked up for a while. */
const KEPT = '/bridge/v1/token-mappings'

/** Those that `.ci/run` runs. */
export const shortAttacks: readonly Attack[] = [
  strangers(16),
  pipelined('GET /livez', [request('/livez')]),
  pipelined('404', [request('/n')]),
  knownPages(64, ONE),
  {
    title: 'a coded page of 1,000 rows, reset after 5 ms',
    counter: 'bds_http_aborted_total',
    order: {
      from: ONE,
      connections: 64,
      bytesPerSec: SLOW_LINE,
      requests: LARGE_PAGES,
      numbers: BLOCKS,
      manner: { type: 'reset', afterMs: 5 },
    },
  },
]

export const longAttacks: readonly Attack[] = [
  strangers(1),
  pipelined('OPTIONS', [request('/bridge/v1/bridges', 'OPTIONS')]),
  pipelined('sync-status', [request('/bridge/v1/sync-status')]),
  pipelined('HEAD of documents', [request('/docs', 'HEAD'), request('/openapi.json', 'HEAD')]),
  pipelined('400', [request('/bridge/v1/bridges?netwrk_id=1')]),
  {
    ...pipelined(
      '304 of a kept answer',
      [request(KEPT, 'GET', 'If-None-Match: {tag}\r\n')],
      `bds_http_requests_total{route="${KEPT}",method="GET",status="304"`,
    ),
    kept: KEPT,
  },
  knownPages(3_500, FEW),
  {
    title: 'HEAD of coded pages of 1,000 rows, 1,000 connections',
    order: {
      from: FEW,
      connections: 1_000,
      bytesPerSec: SLOW_LINE,
      requests: LARGE_PAGES.map((text) => text.replace('GET', 'HEAD')),
      numbers: BLOCKS,
      manner: { type: 'ask' },
    },
  },
  {
    title: 'coded pages of 1,000 rows, 4,500 connections',
    order: {
      from: FEW,
      connections: 4_500,
      bytesPerSec: SLOW_LINE,
      requests: LARGE_PAGES,
      numbers: BLOCKS,
      manner: { type: 'ask' },
    },
  },
]

/** Under a rate limit that refuses most of them. */
export const limitedAttacks: readonly Attack[] = [
  ['points', request('/bridge/v1/l1-info-tree-index?network_id=0&deposit_count=1')],
  ['404', request('/n')],
  ['OPTIONS', request('/bridge/v1/bridges', 'OPTIONS')],
  ['GET /livez', request('/livez')],
].map(([what, text]) => pipelined(`${what}, answered 429`, [text!], 'bds_rate_limited_total'))

const MANY = Array.from({ length: 50 }, (_, at) => `127.0.2.${1 + at}`)
const OPEN_CONNECTIONS = {
  lastsMs: 10_000,
  // The old core of uWebSockets.js, that of Node 20, closes the port while there are too many, so the kernel refuses new connections of everybody.
  keepsConnections: process.versions.node.startsWith('20.'),
  counter: 'bds_http_connections_refused_total',
  mostCpu: 0.7,
}
const holding = (from: readonly string[], text: string) => ({
  from,
  connections: 4_000,
  bytesPerSec: 300_000,
  requests: [text],
  manner: { type: 'hold', everyMs: 8_000 } as const,
})

/** More connections than the process has descriptors. */
export const connectionAttacks: readonly Attack[] = [
  {
    title: 'connections of one address with a request each 8 s, beyond the file limit',
    ...OPEN_CONNECTIONS,
    order: holding(ONE, request('/livez')),
  },
  {
    title: 'connections of one address that never end their first request',
    ...OPEN_CONNECTIONS,
    order: holding(ONE, 'GET /livez HTTP/1.1\r\nHost: a\r\nX-More: '),
  },
  {
    title: 'connections of fifty addresses with a request each 8 s, beyond the file limit',
    ...OPEN_CONNECTIONS,
    order: holding(MANY, request('/livez')),
  },
]

const CLAIMS_OF = Array.from({ length: 80 }, (_, at) => 4_294_900_000 + at).join(',')

/** Answers that are asked for twice, so that the service keeps them. */
function keptAnswers(what: string, target: string): Attack {
  return {
    title: `90,000 ${what}, each asked for twice`,
    lastsMs: 90_000,
    order: {
      from: ONE,
      connections: 64,
      bytesPerSec: 10_000_000,
      requests: [request(target)],
      numbers: 90_000,
      times: 2,
      manner: { type: 'ask' },
    },
    counter: 'bds_http_cache_hits_total',
  }
}

/** What fills memory. */
export const memoryAttacks: readonly Attack[] = [
  {
    title: '200 clients that ask for pages of 1,000 rows and read none, until each has asked for four',
    lastsMs: 9_000,
    order: {
      from: FEW,
      connections: 200,
      bytesPerSec: SLOW_LINE,
      requests: WHOLE_PAGES,
      numbers: BLOCKS,
      manner: { type: 'stall', everyMs: 1_500, requests: 4 },
    },
  },
  keptAnswers(
    'long /claims queries',
    `/bridge/v1/claims?network_id=1&page_size=1&page_number={n}&network_ids=${CLAIMS_OF}`,
  ),
  keptAnswers(
    'proofs that are not there',
    '/bridge/v1/claim-proof?network_id=0&deposit_count=1&leaf_index={n}',
  ),
]

/** The longest file that is served, 1.6 MB: the build has made it. */
const LONG_DOCUMENT = `/docs/assets/${readdirSync(new URL('../../docs/', import.meta.url)).find((file) => file.endsWith('.js'))}`
const MAX_HEADER = 3_600
const POINT = '/bridge/v1/l1-info-tree-index?network_id=0&deposit_count=1'

const filled = (text: string): string => text.repeat(Math.floor(MAX_HEADER / text.length))
const withHeader = (name: string, value: string): string => request(POINT, 'GET', `${name}: ${value}\r\n`)

/** Requests with more in them than anybody needs, each of which is answered. */
const ODD_REQUESTS = [
  withHeader('Cookie', filled('a=b; ')),
  withHeader('Accept-Encoding', 'br;q=0.1,'.repeat(28)),
  withHeader('If-None-Match', filled('"123456789012345678901234567",')),
  withHeader('X-Forwarded-For', filled(',')),
  withHeader('Authorization', `Bearer ${filled(' ')}`),
  withHeader('Range', 'bytes=0-1,5-6'),
  withHeader(
    'Upgrade',
    'websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YQ==',
  ),
  request(POINT, 'GET', 'a: b\r\n'.repeat(40)),
  request(`/bridge/v1/bridges?network_id=0&page_size=1&${'%61&'.repeat(24)}{n}`),
  request(`/bridge/v1/bridges?network_id=0&${'deposit%5Fcount=%39&'.repeat(90)}{n}`),
  request(`/bridge/v1/bridges?network_id=0&network_id=0&{n}`),
  request(`/${'%2e'.repeat(600)}`),
]

/** Requests after each of which the service ends the connection. */
const LAST_REQUESTS = [
  `GET ${POINT} HTTP/1.0\r\nHost: a\r\n\r\n`,
  request(POINT, 'GET', 'Transfer-Encoding: chunked\r\n').concat('5\r\nhello\r\n0\r\n\r\n'),
  request(POINT, 'POST', 'Content-Length: 5\r\n').concat('hello'),
  `GET ${POINT} HTTP/1.1\r\n\r\n`,
  `GET ${POINT} HTTP/1.1\r\nHost: a\r\nX-More: ${'x'.repeat(6_000)}\r\n\r\n`,
  request(POINT, 'GET', 'a: b\r\n'.repeat(150)),
  `\u0016\u0003\u0001 no HTTP\r\n\r\n`,
]

const asking = (requests: readonly string[], connections = 64): Attack['order'] => ({
  ...{ from: ONE, connections, bytesPerSec: SLOW_LINE, requests },
  manner: { type: 'ask' },
})

/** Streams of events as both protocols begin them, with all that a reader may ask for. */
const EVENTS = '/bridge/v1/events?types=bridge,claim&addresses='
const ADDRESSES = `0x${'Ab'.repeat(20)},`.repeat(30).slice(0, -1)
const STREAMS = [
  request(EVENTS + ADDRESSES, 'GET', 'Accept: text/event-stream\r\n'),
  request(
    `${EVENTS.replace('events', 'events/ws')}${ADDRESSES}`,
    'GET',
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n',
  ),
]

/** What other services' clients ask for, each spelled as costs most. */
const DIALECT_PAGES = [
  `/zkevm/bridges/0x${'00'.repeat(20)}?limit=100&offset={n}`,
  '/aggkit/bridge/v1/bridges?network_id=0&page_size=200&page_number={n}',
  `/hub/mainnet/transactions?limit=100&userAddress=0x${'Ab'.repeat(20)}&{n}`,
  '/proof/merkle-proof?networkId=0&depositCount={n}',
].map((target) => request(target, 'GET', CODED))

/** Others of the same kinds. */
export const furtherAttacks: readonly Attack[] = [
  {
    title: 'streams of events, reset after 20 ms, 64 connections',
    order: { ...asking(STREAMS), manner: { type: 'reset', afterMs: 20 } },
  },
  {
    title: 'streams of events that are never read, 1,000 connections',
    order: { ...asking(STREAMS, 1_000), manner: { type: 'stall', everyMs: 1_500, requests: 1 } },
  },
  {
    title: 'pages and proofs of dialects, coded, 64 connections',
    order: { ...asking(DIALECT_PAGES), numbers: 9_000 },
  },
  {
    title: 'the explorer and its parts, coded, 64 connections',
    order: asking([request('/explorer', 'GET', CODED), request('/explorer/bridge/1/{n}', 'GET', CODED)]),
  },
  {
    title: 'long headers, cookies, lists of tags, encoded names and upgrades, 64 connections',
    order: { ...asking(ODD_REQUESTS), bytesPerSec: 10_000_000 },
  },
  {
    title: 'requests that end their connection, reset after 20 ms, 64 connections',
    order: { ...asking(LAST_REQUESTS), manner: { type: 'reset', afterMs: 20 } },
  },
  {
    title: 'searches, coded, 64 connections',
    order: asking([request('/bridge/v1/search?q=0:{n}', 'GET', CODED)]),
  },
  {
    title: 'ways of bridges, coded, 64 connections',
    order: {
      ...asking([request('/bridge/v1/bridge-status?network_id=0&deposit_count={n}', 'GET', CODED)]),
      numbers: BRIDGES,
    },
  },
  {
    title: 'a document of 1.6 MB, 16 connections, and HEAD and Range of it on as many',
    order: asking([request(LONG_DOCUMENT), request(LONG_DOCUMENT, 'HEAD', 'Range: bytes=0-5\r\n')], 32),
  },
  {
    title: 'a document of 1.6 MB that 64 clients ask for and never take',
    lastsMs: 9_000,
    order: { ...asking([request(LONG_DOCUMENT)]), manner: { type: 'stall', everyMs: 1_500, requests: 4 } },
  },
  {
    title: 'requests in packets of one byte each, 500 connections',
    order: { ...asking([request(POINT)], 500), manner: { type: 'drip', everyMs: 20 } },
  },
]
