import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { dialects } from '../../../src/api/dialects/dialects.js'
import { operationIds, routes, streamRoutes } from '../../../src/api/routes.js'
import { RateGate } from '../../../src/http/limits/rateGate.js'
import { TrustedProxies } from '../../../src/http/limits/trustedProxies.js'
import { BASE_PATHS, frontAlone, type Header, MAX_URL, TAG } from './frontAlone.js'

/** What is promised, as a multiple of a point. */
const MOST = 10

/** What uWebSockets.js takes of URL and headers together. */
const MAX_HEAD = 4_096

/** As many ranges as a large provider of proxies has, and the other end of each connection last. */
const PROXIES = new TrustedProxies([
  ...Array.from({ length: 22 }, (_, at) => `2001:db8:${at}::/48`),
  ...['10.0.0.0/8', '127.0.0.1'],
])
const API_KEYS = Array.from({ length: 20 }, (_, at) => createHash('sha256').update(`key ${at}`).digest('hex'))

const UNLIMITED = { tokensPerSec: 1e9, burst: 1e9, keyTokensPerSec: 1e9, keyBurst: 1e9 }

/** A limit that refuses nobody, behind proxies. */
function gateOf(): RateGate {
  return new RateGate(
    { ...UNLIMITED, apiKeys: API_KEYS, allow: ['192.0.2.0/24'], maxClients: 1_000 },
    PROXIES,
    () => undefined,
  )
}

/** Microseconds of CPU time for one of `count` requests. */
async function costOf(ask: (at: number) => void, count: number): Promise<number> {
  const before = process.cpuUsage()
  for (let at = 0; at < count; at++) ask(at)
  await new Promise(setImmediate)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

/** What a request costs, as a multiple of a point that is asked in the same rounds: other processes slow both alike. */
async function ratioOf(
  ask: (at: number) => void,
  point: (at: number) => void,
  rounds: number,
): Promise<number> {
  let cost = Number.POSITIVE_INFINITY
  let pointCost = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    // Each request differs from all before it.
    pointCost = Math.min(pointCost, await costOf(point, 120))
    cost = Math.min(cost, await costOf((at) => ask(40 * round + at), 40))
  }
  // A transport costs each request the same: 40 to 58 % of what a front thread spends on a point, about as much as the rest.
  return (cost + pointCost) / (2 * pointCost)
}

/** A text as a transport gives it: in one piece. */
const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')
const repeated = (text: string, length: number): string => text.repeat(Math.floor(length / text.length))
const room = (path: string): number => MAX_URL - path.length - 1

/** Spellings of a query that give the parser as much to do as a URL can hold. */
function spellings(path: string, required: string): Readonly<Record<string, string>> {
  const left = room(path) - required.length - 1
  const fill = (text: string): string => `${required}&${repeated(text, left)}`
  return {
    'empty parameters': fill('a&'),
    ampersands: fill('&'),
    'strangers near a known name': `${required}&${Array.from({ length: 24 }, (_, at) => `nett_ork_id${String.fromCharCode(97 + (at % 26))}`).join('&')}`,
    'strangers near many names': `${required}&${Array.from({ length: 24 }, (_, at) => `frm_adres${at % 10}`).join('&')}`,
    'long strangers': fill(`${'from_address_'.repeat(4)}x&`),
    'encoded names': fill('%61&'),
    'encoded names and values': fill('%61=%61&'),
    'encoded letters of two bytes': fill('%C3%A9&'),
    'encoded names that it has': fill('deposit%5Fcount=%39&').slice(0, -1),
    'encoded names that it has, and an ampersand': `${fill('deposit%5Fcount=%39&').slice(0, -6)}&x=%26`,
    'encoded names that it has, and a wrong one': `${fill('deposit%5Fcount=%39&').slice(0, -4)}&%zz`,
    'names in other letters': fill('%64eposit_count=9&d%65posit_count=9&de%70osit_count=9&').slice(0, -1),
    'places in logs': `${required}&min_sequence=${repeated('0:0,', left - 20)}0:0`,
    'as many places in logs as are taken': `${required}&min_sequence=${repeated('1:0,', 4 * 53).slice(0, -1)}&${repeated('deposit_count=9&', left - 240)}`,
    'places in logs, repeated': fill('min_sequence=0:0&').slice(0, -1),
    'percent signs': `${required}&x=${repeated('%41', left - 3)}`,
    'a percent sign that is wrong at the end': `${required}&x=${repeated('%41', left - 6)}%4`,
    'counts, one list': `${required}&deposit_count=${repeated('9,8,7,6,5,', left - 20)}1`,
    'counts, all different':
      `${required}&deposit_count=${Array.from({ length: (left - 20) >> 2 }, (_, at) => 999 - (at % 900)).join(',')}`.slice(
        0,
        room(path),
      ),
    'counts, repeated': fill('deposit_count=9&').slice(0, -1),
    'counts, falling': `${required}&${Array.from({ length: 100 }, (_, at) => `deposit_count=${99 - at}`).join('&')}`,
    'networks and counts': `${required}&network_ids=${Array.from({ length: 100 }, (_, at) => 99 - at)}&deposit_count=${Array.from({ length: 100 }, (_, at) => 99 - at)}`,
    'pluses and semicolons': fill('network_id=+1;&'),
    'names of our length': fill('netw%6Frk_ib=1&'),
    addresses: `${required}&addresses=${repeated(`0x${'Ab'.repeat(20)},`, left - 20).slice(0, -1)}`,
    'types of events': `${required}&types=${repeated('bridge,claim,', left - 20).slice(0, -1)}`,
    'places to begin at': `${required}&after=${repeated('1.0123456789ab:5,', left - 20).slice(0, -1)}`,
    'places to begin at, of many networks': `${required}&after=${Array.from({ length: Math.floor((left - 20) / 18) }, (_, at) => `${at + 10}.0123456789ab:5`)}`,
    'a long text': `${required}&tx_hash=0x${'F'.repeat(left - 12)}`,
    'a cursor that is none': `${required}&cursor=${'A'.repeat(64)}`,
    'a number of many digits': `${required}&page_size=${'9'.repeat(left - 12)}`,
    'many filters': `${required}&from_address=0x${'Ab'.repeat(20)}&to_address=0x${'Ab'.repeat(20)}&tx_hash=0x${'Ab'.repeat(32)}&global_index=0x${'f'.repeat(64)}&order=asc`,
  }
}

/** What some endpoint of a dialect must be given. */
const ASKED_OF_DIALECTS = 'network_id=1&deposit_count=1&leaf_index=1&net_id=1&deposit_cnt=1&depositCount=1'

/** What the front answers by itself. */
const OF_THE_FRONT = [
  ...['/', '/docs', '/openapi.json', '/livez', '/readyz', '/bridge/v1/sync-status', '/bridge/v1/networks'],
  ...[
    '/explorer',
    '/explorer/bridge/1/25',
    `/explorer/${'a/'.repeat(900)}`,
    `/explorer/assets/${'a'.repeat(1_800)}`,
  ],
]
const OF_EACH_DOCUMENT = ['ampersands', 'strangers near a known name', 'encoded names', 'percent signs']

const OF_EACH_ENDPOINT: ReadonlySet<string> = new Set([
  ...['names of a dialect, repeated', 'counts, repeated', 'many filters', 'encoded names that it has'],
])

const LONG = MAX_HEAD - 200

const HEADERS: Readonly<Record<string, Header>> = {
  'Accept-Encoding of commas': ['accept-encoding', repeated(',', LONG)],
  'Accept-Encoding of 250 commas': ['accept-encoding', repeated(',', 250)],
  'Accept-Encoding of letters': ['accept-encoding', repeated('a,', 250)],
  'Accept-Encoding of weights': ['accept-encoding', repeated('a;q=0.1,', 250)],
  'Accept-Encoding of semicolons': ['accept-encoding', repeated(';', 250)],
  'If-None-Match of the tag in other words': ['if-none-match', repeated(`"${TAG}" x,`, LONG)],
  'If-None-Match of the tag between blanks': ['if-none-match', repeated(`"${TAG}"${' '.repeat(100)}`, LONG)],
  'X-Forwarded-For of commas': ['x-forwarded-for', repeated(',', LONG)],
  'X-Forwarded-For of proxies': ['x-forwarded-for', repeated('10.1.1.1,', LONG)],
  'X-Forwarded-For of long proxies': ['x-forwarded-for', repeated('2001:db8:15:1:1:1:1:1,', LONG)],
  'X-Forwarded-For of groups': ['x-forwarded-for', repeated('1:', LONG)],
  'X-Forwarded-For of blanks': ['x-forwarded-for', `203.0.113.9,${' '.repeat(LONG)}`],
  'Authorization of blanks': ['authorization', `bearer${' '.repeat(LONG / 2)}${'a'.repeat(LONG / 2)} `],
  'an API key': ['x-api-key', 'a'.repeat(250)],
  cookies: ['cookie', repeated('a=b; ', LONG)],
  'If-None-Match of commas': ['if-none-match', repeated(',', LONG)],
  'If-None-Match of tags': ['if-none-match', repeated('W/"a",', LONG)],
  'If-None-Match of stars': ['if-none-match', repeated('* x', LONG)],
  'a long request id': ['x-request-id', 'a'.repeat(LONG)],
}

test('no spelling of a request costs the front more than ten times what a point costs, with a rate limit behind proxies, and in a cluster', async (context) => {
  const path = routes.getL1InfoTreeIndex.path
  const plain = frontAlone()
  const point = (at: number): void => plain('GET', path, `network_id=1&deposit_count=${at}`, [])
  // Code is compiled meanwhile.
  for (let times = 0; times < 30; times++) await costOf(point, 300)
  const table: [string, number][] = []
  const measure = async (name: string, one: (at: number) => void): Promise<void> => {
    let ratio = await ratioOf(one, point, 4)
    // What seems dear may not be compiled yet, or have met with a collection of garbage or with another process in each round.
    for (const rounds of [12, 24, 48, 96])
      if (ratio > MOST / 2) ratio = Math.min(ratio, await ratioOf(one, point, rounds))
    table.push([name, ratio])
  }
  // What all of it together adds is measured, too.
  const ask = frontAlone({ gate: gateOf(), proxies: PROXIES })
  for (const { path, parameters } of [
    ...operationIds.map((operation) => routes[operation]),
    streamRoutes.getEvents,
  ]) {
    const required = (parameters.required ?? []).map((name) => `${name}=1`).join('&')
    for (const [what, query] of Object.entries(spellings(path, required))) {
      const asSent = flat(query)
      await measure(`${path}: ${what}`, () => ask('GET', path, asSent, []))
    }
  }
  for (const [name, basePath] of Object.entries(BASE_PATHS))
    for (const [at, { path }] of dialects[name as keyof typeof BASE_PATHS].latest.endpoints.entries()) {
      const whole = basePath + path.replace('{dest_addr}', `0x${'Ab'.repeat(20)}`).replaceAll(/\{\w+\}/g, '1')
      const all = Object.entries({
        'names of a dialect, repeated': repeated('net_id=1&network_ids=1&', room(whole)).slice(0, -1),
        ...spellings(whole, ASKED_OF_DIALECTS),
      })
      // One reader of query strings for all endpoints of a dialect: what differs is what is made of their values.
      for (const [what, query] of at === 0 ? all : all.filter(([what]) => OF_EACH_ENDPOINT.has(what))) {
        const asSent = flat(query)
        await measure(`${whole}: ${what}`, () => ask('GET', whole, asSent, []))
      }
    }
  for (const target of OF_THE_FRONT)
    for (const method of ['GET', 'HEAD'])
      for (const what of ['nothing', ...OF_EACH_DOCUMENT]) {
        const asSent = flat(spellings(target.slice(0, 40), 'a=1')[what] ?? '')
        await measure(`${method} ${target.slice(0, 40)}: ${what}`, () => ask(method, target, asSent, []))
      }
  for (const operation of operationIds)
    await measure(`HEAD ${routes[operation].path}`, () =>
      ask('HEAD', routes[operation].path, 'network_id=1&deposit_count=1', []),
    )
  await measure('a place to begin at in Last-Event-ID', () =>
    ask('GET', streamRoutes.getEvents.path, '', [
      ['last-event-id', repeated('1.0123456789ab:5,', LONG).slice(0, -1)],
    ]),
  )
  // Each request has another header: what is remembered of the last one is of no use.
  for (const [what, [name, value]] of Object.entries(HEADERS))
    for (const target of [path, '/docs', '/livez', '/nowhere', streamRoutes.getEvents.path])
      await measure(`${target}: ${what}`, (at) =>
        ask('GET', target, 'network_id=1&deposit_count=1', [[name, `${at}${value}`]]),
      )
  const many = Array.from({ length: 100 }, (_, at): Header => [`x-forwarded-${at % 4}or`, '10.1.1.1'])
  await measure('a hundred headers', () => ask('GET', path, 'network_id=1&deposit_count=1', many))
  const forwarded = many.map((): Header => ['x-forwarded-for', '10.1.1.1'])
  await measure('a hundred lines of proxies', () => ask('GET', '/livez', '', forwarded))
  await measure('an unknown path', () => ask('GET', `/${'"'.repeat(MAX_URL - 2)}`, '', []))
  await measure('a URL that is too long', () => ask('GET', `/${'"'.repeat(3 * MAX_URL)}`, '', []))
  await measure('OPTIONS', () => ask('OPTIONS', path, '', []))
  await measure('an unknown method', () => ask('BREW', path, '', []))
  await measure('a body', () => ask('GET', path, '', [['transfer-encoding', 'chunked']]))
  table.sort(([, left], [, right]) => right - left)
  for (const [name, ratio] of table.slice(0, 12)) context.diagnostic(`${ratio.toFixed(1)} × a point: ${name}`)
  context.diagnostic(`a point: ${(await costOf(point, 3_000)).toFixed(1)} µs`)
  assert.deepEqual(
    table.filter(([, ratio]) => ratio > MOST),
    [],
  )
})
