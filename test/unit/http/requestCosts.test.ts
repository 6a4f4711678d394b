import assert from 'node:assert/strict'
import test from 'node:test'
import { operationIds, routes } from '../../../src/api/routes.js'
import { frontAlone, type Header, MAX_URL } from './frontAlone.js'

/** What uWebSockets.js takes of URL and headers together. */
const MAX_HEAD = 4_096

/** Microseconds of CPU time for one request: the least of several rounds, so that other processes do not count. */
async function costOf(ask: (at: number) => void): Promise<number> {
  const perRound = 400
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 12; round++) {
    const before = process.cpuUsage()
    for (let at = 0; at < perRound; at++) ask(round * perRound + at)
    await new Promise(setImmediate)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / perRound)
  }
  return least
}

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
    'a long text': `${required}&tx_hash=0x${'F'.repeat(left - 12)}`,
    'a cursor that is none': `${required}&cursor=${'A'.repeat(64)}`,
    'a number of many digits': `${required}&page_size=${'9'.repeat(left - 12)}`,
    'many filters': `${required}&from_address=0x${'Ab'.repeat(20)}&to_address=0x${'Ab'.repeat(20)}&tx_hash=0x${'Ab'.repeat(32)}&global_index=0x${'f'.repeat(64)}&order=asc`,
  }
}

const HEADERS: Readonly<Record<string, Header>> = {
  'Accept-Encoding of commas': ['accept-encoding', repeated(',', MAX_HEAD - 200)],
  'Accept-Encoding of weights': ['accept-encoding', repeated('a;q=0.1,', MAX_HEAD - 200)],
  'If-None-Match of commas': ['if-none-match', repeated(',', MAX_HEAD - 200)],
  'If-None-Match of tags': ['if-none-match', repeated('W/"a",', MAX_HEAD - 200)],
  'If-None-Match of stars': ['if-none-match', repeated('* x', MAX_HEAD - 200)],
  'a long request id': ['x-request-id', 'a'.repeat(MAX_HEAD - 200)],
}

test('no spelling of a request costs the front more than ten times what a point costs', async (context) => {
  const ask = frontAlone()
  const point = routes.getL1InfoTreeIndex.path
  const pointUs = await costOf((at) => ask('GET', point, `network_id=1&deposit_count=${at}`, []))
  // A transport costs each request the same: 40 to 58 % of what a front thread spends on a point, about as much as the rest.
  const transportUs = pointUs
  const table: [string, number][] = []
  const measure = async (name: string, one: (at: number) => void): Promise<void> => {
    const cost = await costOf(one)
    table.push([name, (cost + transportUs) / (pointUs + transportUs)])
  }
  for (const operation of operationIds) {
    const { path, parameters } = routes[operation]
    const required = (parameters.required ?? []).map((name) => `${name}=1`).join('&')
    for (const [what, query] of Object.entries(spellings(path, required)))
      await measure(`${operation}: ${what}`, () => ask('GET', path, query, []))
  }
  // Each request has another header: what is remembered of the last one is of no use.
  for (const [what, header] of Object.entries(HEADERS))
    for (const target of [point, '/docs', '/livez', '/nowhere'])
      await measure(`${target}: ${what}`, (at) =>
        ask('GET', target, 'network_id=1&deposit_count=1', [[header[0], `${header[1]}${at}`]]),
      )
  await measure('an unknown path', () => ask('GET', `/${'"'.repeat(MAX_URL - 2)}`, '', []))
  await measure('a URL that is too long', () => ask('GET', `/${'"'.repeat(3 * MAX_URL)}`, '', []))
  await measure('OPTIONS', () => ask('OPTIONS', point, '', []))
  await measure('an unknown method', () => ask('BREW', point, '', []))
  table.sort(([, left], [, right]) => right - left)
  for (const [name, ratio] of table.slice(0, 12)) context.diagnostic(`${ratio.toFixed(1)} × a point: ${name}`)
  context.diagnostic(`a point: ${pointUs.toFixed(1)} µs`)
  assert.deepEqual(
    table.filter(([, ratio]) => ratio > 10),
    [],
  )
})
