import type { TObject } from '@sinclair/typebox'
import { operationIds, routes } from '../../src/api/routes.js'

/** The answer that a request must get, known from how the request was made and not from parsing it. */
export interface FuzzRequest {
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  /** HTTP statuses that are right for the request. */
  readonly statuses: readonly number[]
}

type Random = () => number
type Verdict = 'good' | 'bad'
type Piece = readonly [text: string, verdict: Verdict]

const PROBES = [
  '/',
  '/bridge/v1',
  '/bridge/v1/',
  '/livez',
  '/readyz',
  '/bridge/v1/sync-status',
  '/openapi.json',
  '/docs',
]
const SERVED_NETWORKS = ['0', '1', '2']
const LONGEST_TARGET = 2_048

const numbers: readonly Piece[] = [
  ...['0', '1', '2', '3', '5', '7', '11', '4294967295'].map((text): Piece => [text, 'good']),
  ...[
    '',
    '-1',
    '+1',
    '01',
    '1.0',
    '1e3',
    '0x1',
    ' 1',
    '1 ',
    '4294967296',
    '99999999999999999999',
    'NaN',
    'x',
  ].map((text): Piece => [encodeURIComponent(text), 'bad']),
  ['%31', 'good'],
  ['%', 'bad'],
  ['%zz', 'bad'],
  ['%ff', 'bad'],
  ['\u00e4', 'bad'],
]
const positive: readonly Piece[] = numbers.map(([text, verdict]) => [text, text === '0' ? 'bad' : verdict])
const sizes: readonly Piece[] = [
  ...positive.map(([text, verdict]): Piece => [text, text === '4294967295' ? 'bad' : verdict]),
  ['1000', 'good'],
  ['1001', 'bad'],
]
const networks: readonly Piece[] = numbers.map(([text, verdict]) => [
  text,
  SERVED_NETWORKS.includes(decodeQuietly(text)) ? verdict : 'bad',
])
const lists: readonly Piece[] = [
  ...numbers,
  ['0,1,2', 'good'],
  ['1,,2', 'bad'],
  ['1,', 'bad'],
  ['1,1', 'good'],
  ['0,x', 'bad'],
]
const addresses: readonly Piece[] = [
  [`0x${'ab'.repeat(20)}`, 'good'],
  [`0x${'AB'.repeat(20)}`, 'good'],
  [`0x${'0'.repeat(40)}`, 'good'],
  [`0X${'ab'.repeat(20)}`, 'bad'],
  ['ab'.repeat(20), 'bad'],
  [`0x${'ab'.repeat(19)}`, 'bad'],
  [`0x${'gg'.repeat(20)}`, 'bad'],
  ['', 'bad'],
]
const booleans: readonly Piece[] = [
  ['true', 'good'],
  ['false', 'good'],
  ...['TRUE', '1', 'yes', '', 'tru%65x'].map((text): Piece => [text, 'bad']),
]
const hashes: readonly Piece[] = [
  [`0x${'ab'.repeat(32)}`, 'good'],
  [`0x${'Cd'.repeat(32)}`, 'good'],
  ...['', '0x', `0X${'ab'.repeat(32)}`, 'ab'.repeat(32), `0x${'ab'.repeat(20)}`].map(
    (text): Piece => [text, 'bad'],
  ),
]
const globalIndexes: readonly Piece[] = [
  ...['0', '18446744073709551616', '0x0', '0x1', `0x${'f'.repeat(63)}`].map((text): Piece => [text, 'good']),
  ...['', '-1', '01', '0x', `0x${'f'.repeat(65)}`, '1e3', String(2n ** 256n)].map(
    (text): Piece => [text, 'bad'],
  ),
]
const searches: readonly Piece[] = [
  ...['1:5', '4294967295:0', '7', '0x1', `0x${'ab'.repeat(20)}`, `0x${'Cd'.repeat(32)}`].map(
    (text): Piece => [text, 'good'],
  ),
  ...['', 'USDC', '1:', ':1', '1:2:3', '01', '0x', '1:4294967296', `0x${'a'.repeat(65)}`, '1%20'].map(
    (text): Piece => [text, 'bad'],
  ),
]
/** Valid ends of ranges never contradict valid starts. */
const [beginnings, ends] = [blocks('0', '1'), blocks('9', '4294967296', '281474976710655')]
const leafTypes: readonly Piece[] = numbers.map(([text, verdict]) => [
  text,
  ['0', '1'].includes(decodeQuietly(text)) ? verdict : 'bad',
])
const orders: readonly Piece[] = [
  ['asc', 'good'],
  ['desc', 'good'],
  ...['', 'ASC', 'ascending', '1'].map((text): Piece => [text, 'bad']),
]
/** Only the service can make valid cursors. */
const cursors: readonly Piece[] = [
  '',
  'x',
  'A'.repeat(16),
  'A'.repeat(60),
  '%00'.repeat(20),
  '_-'.repeat(400),
].map((text) => [text, 'bad'])
const values: Readonly<Record<string, readonly Piece[]>> = {
  network_id: networks,
  page_number: positive,
  page_size: sizes,
  deposit_count: numbers,
  leaf_index: numbers,
  from_address: addresses,
  to_address: addresses,
  token_address: addresses,
  token_network: numbers,
  network_ids: lists,
  tx_hash: hashes,
  bridge_hash: hashes,
  global_index: globalIndexes,
  leaf_type: leafTypes,
  claimed: booleans,
  ready_for_claim: booleans,
  from_block: beginnings,
  to_block: ends,
  from_timestamp: beginnings,
  to_timestamp: ends,
  order: orders,
  cursor: cursors,
  q: searches,
}

/** Parameters that are needed together; those of another way exclude them. */
const WAYS: Readonly<Partial<Record<string, readonly (readonly string[])[]>>> = {
  getBridgeStatus: [['network_id', 'deposit_count'], ['global_index'], ['tx_hash']],
}

/** Parameter names of other services: a mistake where the service's own name exists and is absent, otherwise ignored. */
const SENT_FOR = [
  ['page', 'page_number'],
  ['OFFSET', 'page_number'],
  ['limit', 'page_size'],
  ['per-page', 'page_size'],
  ['sort', 'order'],
  ['netId', 'network_id'],
  ['dest_addr', 'to_address'],
  ['origin_token_address', 'token_address'],
] as const

/**
 * One request of the grammar. Most are valid, or invalid in one place only: requests with many mistakes are
 * refused too early.
 */
export function makeRequest(random: Random): FuzzRequest {
  const below = (limit: number): number => Math.floor(random() * limit)
  const chance = (share: number): boolean => random() < share
  const headers = makeHeaders(below, chance)
  if (chance(0.1))
    return {
      ...byMethod(below, [200, 503]),
      target: PROBES[below(PROBES.length)]! + query(['x=%zz', 'network_id=x', ''][below(3)]!),
      headers,
    }
  if (chance(0.05)) return { method: 'GET', target: strangePath(below), headers, statuses: [404] }
  if (chance(0.02))
    return { method: 'GET', target: `/${'a'.repeat(LONGEST_TARGET + below(800))}`, headers, statuses: [414] }

  const operation = operationIds[below(operationIds.length)]!
  const { path, parameters } = routes[operation]
  const properties: TObject['properties'] = parameters.properties
  const names = Object.keys(properties)
  const ways = WAYS[operation]
  const way = ways?.[below(ways.length)]
  const required = way ?? requiredOf(parameters)
  const wrongAt = chance(0.4) ? below(names.length) : -1
  let verdict: Verdict = 'good'
  const pieces: string[] = []
  for (const [at, name] of names.entries()) {
    const isRequired = required.includes(name)
    if (!isRequired && at !== wrongAt && (way !== undefined || chance(0.75))) continue
    if (isRequired && at === wrongAt && chance(0.3)) {
      verdict = 'bad'
      continue
    }
    const wanted: Verdict = at === wrongAt ? 'bad' : 'good'
    const choices = values[name]!.filter(([, is]) => is === wanted)
    if (choices.length === 0) continue
    const text = choices[below(choices.length)]![0]
    pieces.push(`${name}=${text}`)
    if (wanted === 'bad') verdict = 'bad'
    // A list may be repeated, no other parameter.
    if (chance(0.02)) {
      pieces.push(`${name}=${choices[below(choices.length)]![0]}`)
      if (properties[name]!.type !== 'array') verdict = 'bad'
    }
  }
  if (chance(0.1)) {
    const stray = ['utm=1', 'q', '=', 'zzzzzzzz=%20', '%F0%9F%98%80=1'][below(5)]!
    pieces.push(stray)
    if (names.includes(stray)) verdict = 'bad'
  }
  if (chance(0.03)) {
    const [sent, meant] = SENT_FOR[below(SENT_FOR.length)]!
    const isGiven = pieces.some((piece) => piece.startsWith(`${meant}=`))
    pieces.push(`${sent}=2`)
    if (names.includes(meant) && !isGiven) verdict = 'bad'
  }
  if (chance(0.02)) {
    pieces.push(['a=%', '%zz', 'b=%ff%fe', 'c=%c3'][below(4)]!)
    verdict = 'bad'
  }
  shuffle(pieces, below)
  const slash = chance(0.1) ? '/' : ''
  const right = verdict === 'good' ? [200, 404] : [400]
  return {
    ...byMethod(below, right),
    target: path + slash + query(pieces.join(chance(0.05) ? '&&' : '&')),
    headers,
  }
}

/** A parameter with a default is required by the schema, but not on the wire. */
function requiredOf(parameters: TObject): readonly string[] {
  return (parameters.required ?? []).filter((name) => parameters.properties[name]?.default === undefined)
}

function blocks(...good: readonly string[]): readonly Piece[] {
  return [
    ...good.map((text): Piece => [text, 'good']),
    ...['', '-1', '01', '281474976710656', '0x1', '%'].map((text): Piece => [text, 'bad']),
  ]
}

function byMethod(
  below: (limit: number) => number,
  statuses: readonly number[],
): { method: string; statuses: readonly number[] } {
  switch (below(40)) {
    case 0:
      // One request in 4,096 has a body.
      return { method: 'OPTIONS', statuses: [204, 200] }
    case 1:
      return { method: ['POST', 'PUT', 'DELETE', 'PATCH'][below(4)]!, statuses: [405] }
    case 2:
    case 3:
      return { method: 'HEAD', statuses }
    default:
      return { method: 'GET', statuses }
  }
}

function makeHeaders(below: (limit: number) => number, chance: (share: number) => boolean): string[] {
  const choices = [
    'If-None-Match: "x", W/"y", ',
    `If-None-Match: ${'"a",'.repeat(200)}`,
    'Accept-Encoding: gzip;q=0, br;q=0, identity',
    'Accept-Encoding: ,;;q=,q=2;x=*;q=0',
    'X-Request-Id: a b\tc',
    `X-Request-Id: ${'r'.repeat(300)}`,
    'Authorization: Bearer x',
    'X-Forwarded-For: 1.2.3.4, ::1, nonsense',
    'Accept: text/html;q=0.1',
    'Cookie: a=b',
    'Origin: null',
    'Range: bytes=0-1',
  ]
  return choices.filter(() => chance(0.04)).slice(0, below(4))
}

function strangePath(below: (limit: number) => number): string {
  const paths = [
    '//',
    '/bridge',
    '/bridge/v2/bridges',
    '/Bridge/v1/bridges',
    '/bridge/v1/bridges//',
    '/bridge//v1/bridges',
    '/%2e%2e/etc',
    '/../../x',
    '/bridge/v1/%62ridges',
    '/__proto__',
    '/constructor',
    '/bridge/v1/toString',
    '/\'"<>',
    '/*',
  ]
  return paths[below(paths.length)]!
}

function query(text: string): string {
  return text === '' ? '' : `?${text}`
}

function shuffle(pieces: string[], below: (limit: number) => number): void {
  for (let at = pieces.length - 1; at > 0; at--) {
    const other = below(at + 1)
    ;[pieces[at], pieces[other]] = [pieces[other]!, pieces[at]!]
  }
}

function decodeQuietly(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
