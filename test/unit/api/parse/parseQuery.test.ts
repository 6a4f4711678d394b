import assert from 'node:assert/strict'
import test from 'node:test'
import { createQueryParser, type QueryParser } from '../../../../src/api/parse/parseQuery.js'
import { routes } from '../../../../src/api/routes.js'
import { encodeCursor, filterHash } from '../../../../src/query/cursor.js'
import { uint256 } from '../../../support/sampleRecords.js'

const served = new Set([0, 1, 2])
const parsers: Record<string, QueryParser<unknown>> = {
  bridges: createQueryParser(routes.getBridges, served, 'getBridges'),
  claims: createQueryParser(routes.getClaims, served, 'getClaims'),
  proof: createQueryParser(routes.getClaimProof, served, 'getClaimProof'),
  index: createQueryParser(routes.getL1InfoTreeIndex, served, 'getL1InfoTreeIndex'),
  tokens: createQueryParser(routes.getTokenMappings, served, 'getTokenMappings'),
  kit: createQueryParser(routes.getClaimTransaction, served, 'getClaimTransaction'),
  status: createQueryParser(routes.getBridgeStatus, served, 'getBridgeStatus'),
  search: createQueryParser(routes.getSearch, served, 'getSearch'),
}

const ADDRESS = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const ADDRESS_BYTES = Uint8Array.from(Buffer.from(ADDRESS.slice(2), 'hex'))
const first = { pageNumber: 1, pageSize: 100 }

const HASH = `0x${'Ab'.repeat(32)}`
const HASH_BYTES = new Uint8Array(32).fill(0xab)
const MAINNET_5 = `0x${'10000000000000005'.padStart(64, '0')}`

const good: [route: string, query: string, expected: object][] = [
  ['status', 'network_id=1&deposit_count=3', { networkId: 1, depositCount: 3 }],
  // Bit 64: the L1. Rollup index 6: network 7, which need not be served. Bits above are dirt.
  ['status', 'global_index=18446744073709551621', { networkId: 0, depositCount: 5 }],
  ['status', `global_index=${MAINNET_5}`, { networkId: 0, depositCount: 5 }],
  ['status', 'global_index=0xF0000000000000000000000600000005', { networkId: 7, depositCount: 5 }],
  ['status', 'global_index=5', { networkId: 1, depositCount: 5 }],
  ['status', `tx_hash=${HASH}`, { transactionHash: HASH_BYTES }],
  ['status', `tx_hash=${HASH}&network_id=1`, { networkId: 1, transactionHash: HASH_BYTES }],
  ['search', `q=${HASH}`, { transactionHash: HASH_BYTES }],
  ['search', `q=${ADDRESS}`, { address: ADDRESS_BYTES }],
  ['search', 'q=7:25', { networkId: 7, depositCount: 25 }],
  ['search', 'q=4294967295:0', { networkId: 4294967295, depositCount: 0 }],
  ['search', 'q=5', { networkId: 1, depositCount: 5 }],
  ['search', 'q=0x10000000000000005', { networkId: 0, depositCount: 5 }],
  [
    'search',
    `q=${MAINNET_5}`,
    {
      transactionHash: Uint8Array.from(Buffer.from(MAINNET_5.slice(2), 'hex')),
      networkId: 0,
      depositCount: 5,
    },
  ],
  ['bridges', 'network_id=0', { networkId: 0, ...first }],
  ['bridges', '&network_id=2&&', { networkId: 2, ...first }],
  [
    'bridges',
    'network_id=1&page_number=4294967295&page_size=1000',
    { networkId: 1, pageNumber: 4294967295, pageSize: 1000 },
  ],
  [
    'bridges',
    'network_id=1&deposit_count=4294967295',
    { networkId: 1, ...first, depositCounts: [4294967295] },
  ],
  ['bridges', `network_id=1&from_address=${ADDRESS}`, { networkId: 1, ...first, fromAddress: ADDRESS_BYTES }],
  [
    'bridges',
    `network_id=1&from_address=${ADDRESS.toLowerCase()}`,
    { networkId: 1, ...first, fromAddress: ADDRESS_BYTES },
  ],
  [
    'bridges',
    `network_id=1&from_address=0x${ADDRESS.slice(2).toUpperCase()}`,
    { networkId: 1, ...first, fromAddress: ADDRESS_BYTES },
  ],
  ['bridges', 'network_id=1&network_ids=0,2', { networkId: 1, ...first, networkIds: [0, 2] }],
  ['bridges', 'network_id=1&network_ids=0%2C2', { networkId: 1, ...first, networkIds: [0, 2] }],
  [
    'bridges',
    'network_id=1&network_ids=4294967295&network_ids=7,4294967295',
    { networkId: 1, ...first, networkIds: [7, 4294967295] },
  ],
  ['bridges', 'network_id=1&ready_for_claim=true', { networkId: 1, ...first, readyForClaim: true }],
  ['bridges', 'network_id=1&ready_for_claim=false', { networkId: 1, ...first, readyForClaim: false }],
  ['bridges', 'network_id=1&utm_source=x&_=1&traceparent&utm_source=y', { networkId: 1, ...first }],
  ['bridges', '%6Eetwork_i%64=1', { networkId: 1, ...first }],
  [
    'claims',
    `network_id=0&from_address=${ADDRESS}&page_number=2&page_size=1`,
    { networkId: 0, pageNumber: 2, pageSize: 1, fromAddress: ADDRESS_BYTES },
  ],
  [
    'bridges',
    `network_id=1&deposit_count=9,1,5,1&to_address=${ADDRESS}&tx_hash=0x${'AB'.repeat(32)}&bridge_hash=0x${'CD'.repeat(32)}&leaf_type=1&claimed=false`,
    {
      ...{ networkId: 1, ...first, depositCounts: [1, 5, 9], toAddress: ADDRESS_BYTES },
      ...{ transactionHash: new Uint8Array(32).fill(0xab), leafHash: new Uint8Array(32).fill(0xcd) },
      ...{ leafType: 1, claimed: false },
    },
  ],
  [
    'bridges',
    'deposit_count=9&network_id=1&deposit_count=1&deposit_count=5,9&deposit_count=1',
    { networkId: 1, ...first, depositCounts: [1, 5, 9] },
  ],
  ['bridges', 'network_id=1&deposit_count=7&deposit_count=7', { networkId: 1, ...first, depositCounts: [7] }],
  [
    'bridges',
    'network_id=1&from_block=5&to_block=5&from_timestamp=0&to_timestamp=281474976710655&order=asc',
    {
      ...{ networkId: 1, ...first, isAscending: true, fromBlock: 5, toBlock: 5 },
      ...{ fromTimestampSec: 0, toTimestampSec: 281474976710655 },
    },
  ],
  ['bridges', 'network_id=1&order=desc', { networkId: 1, ...first }],
  [
    'claims',
    `network_id=1&network_ids=2,0&to_address=${ADDRESS}&tx_hash=0x${'0a'.repeat(32)}&global_index=18446744073709551621`,
    {
      ...{ networkId: 1, ...first, networkIds: [0, 2], toAddress: ADDRESS_BYTES },
      ...{ transactionHash: new Uint8Array(32).fill(10), globalIndex: uint256((1n << 64n) + 5n) },
    },
  ],
  ['claims', 'network_id=1&global_index=0xFf', { networkId: 1, ...first, globalIndex: uint256(255n) }],
  ['proof', 'network_id=0&deposit_count=0&leaf_index=0', { networkId: 0, depositCount: 0, leafIndex: 0 }],
  ['index', 'deposit_count=3&network_id=1', { networkId: 1, depositCount: 3 }],
  ['tokens', '', first],
  [
    'tokens',
    `network_id=1&token_network=99&token_address=${ADDRESS}`,
    { networkId: 1, ...first, tokenAddress: ADDRESS_BYTES, tokenNetwork: 99 },
  ],
  ['kit', 'network_id=1&deposit_count=2', { networkId: 1, depositCount: 2 }],
  ['kit', 'network_id=1&deposit_count=2&leaf_index=5', { networkId: 1, depositCount: 2, leafIndex: 5 }],
]

for (const [route, query, expected] of good)
  test(`${route}?${query} is parsed`, () => {
    const answer = parsers[route]!(query)
    assert.deepEqual(answer.ok && answer.value.query, expected)
  })

const bad: [route: string, query: string, message: string][] = [
  ['bridges', '', 'network_id is required'],
  ['bridges', 'network_id', 'network_id "" is not a decimal integer'],
  ['bridges', 'network_id=', 'network_id "" is not a decimal integer'],
  ...['abc', '-1', '1.5', '1e3', '0x1', '01', '+1', '-0', '%201', '1%20', '१', '%E0%A5%A7', 'NaN', '1,2']
    // The characters before 0 and after 9 in ASCII.
    .concat('/', '1/', ':', '1:')
    .map((value): [string, string, string] => [
      'bridges',
      `network_id=${value}`,
      `network_id "${decodeURIComponent(value)}" is not a decimal integer`,
    ]),
  ['bridges', 'network_id=4294967296', 'network_id 4294967296 exceeds 4294967295'],
  ['bridges', `network_id=${'9'.repeat(400)}`, 'network_id exceeds 4294967295'],
  ['bridges', 'network_id=0&network_id=1', 'network_id is given more than once, at most one is allowed'],
  ['bridges', 'network_id=0&page_size=0', 'page_size 0 is below 1'],
  ['bridges', 'network_id=0&page_size=1001', 'page_size 1001 exceeds 1000'],
  ['claims', 'network_id=0&page_size=1001', 'page_size 1001 exceeds 1000'],
  ['tokens', 'page_size=1001', 'page_size 1001 exceeds 1000'],
  ['bridges', 'network_id=0&page_number=0', 'page_number 0 is below 1'],
  ['bridges', 'network_id=0&page_number=4294967296', 'page_number 4294967296 exceeds 4294967295'],
  ['bridges', 'network_id=0&deposit_count=4294967296', 'deposit_count 4294967296 exceeds 4294967295'],
  [
    'bridges',
    'network_id=0&from_address=0x1234',
    'from_address "0x1234" is not 0x followed by 40 hexadecimal digits',
  ],
  ['bridges', 'network_id=0&from_address=', 'from_address "" is not 0x followed by 40 hexadecimal digits'],
  [
    'bridges',
    `network_id=0&from_address=0X${ADDRESS.slice(2)}`,
    `from_address "0X${ADDRESS.slice(2)}" is not 0x followed by 40 hexadecimal digits`,
  ],
  [
    'bridges',
    `network_id=0&from_address=${ADDRESS}00`,
    `from_address "${ADDRESS.toLowerCase()}00" is not 0x followed by 40 hexadecimal digits`,
  ],
  [
    'bridges',
    `network_id=0&from_address=${ADDRESS}%0A`,
    `from_address "${ADDRESS.toLowerCase()}\\n" is not 0x followed by 40 hexadecimal digits`,
  ],
  ['status', '', 'exactly one of deposit_count, global_index and tx_hash is needed'],
  ['status', 'network_id=1', 'exactly one of deposit_count, global_index and tx_hash is needed'],
  [
    'status',
    `network_id=1&deposit_count=1&tx_hash=${HASH}`,
    'exactly one of deposit_count, global_index and tx_hash is needed',
  ],
  ['status', 'deposit_count=1', 'network_id is required with deposit_count'],
  ['status', 'network_id=0&global_index=5', 'network_id and global_index exclude each other'],
  ['status', `global_index=${2n ** 256n}`, `global_index ${2n ** 256n} exceeds 2^256 - 1`],
  ['status', 'tx_hash=0x12', 'tx_hash "0x12" is not 0x followed by 64 hexadecimal digits'],
  ['search', '', 'q is required'],
  ...['', 'USDC', '1:', ':1', '1:2:3', '01:2', ' 1', '0X12', `${HASH}0`].map(
    (q): [string, string, string] => [
      'search',
      `q=${encodeURIComponent(q)}`,
      `q ${JSON.stringify(q.startsWith('0x') ? `${q.toLowerCase().slice(0, 60)}…` : q)} is neither 0x followed by 1 to 64 hexadecimal digits nor a decimal integer nor network:deposit_count`,
    ],
  ),
  ['search', `q=${2n ** 256n}`, `q ${2n ** 256n} exceeds 2^256 - 1`],
  ['search', 'q=1:4294967296', 'q 1:4294967296 has a number that exceeds 4294967295'],
  ['bridges', 'network_id=0&ready_for_claim=maybe', 'ready_for_claim "maybe" is not true or false'],
  ['bridges', 'network_id=0&ready_for_claim=True', 'ready_for_claim "True" is not true or false'],
  ['bridges', 'network_id=0&ready_for_claim=', 'ready_for_claim "" is not true or false'],
  ['bridges', 'network_id=0&ready_for_claim=1', 'ready_for_claim "1" is not true or false'],
  [
    'bridges',
    'network_id=0&ready_for_claim=true&ready_for_claim=false',
    'ready_for_claim is given more than once, at most one is allowed',
  ],
  ['bridges', 'network_id=0&network_ids=', 'network_ids "" is not a decimal integer'],
  ['bridges', 'network_id=0&network_ids=1,', 'network_ids "" is not a decimal integer'],
  ['bridges', 'network_id=0&network_ids=1,x', 'network_ids "x" is not a decimal integer'],
  ['bridges', 'network_id=0&network_ids=1,4294967296', 'network_ids 4294967296 exceeds 4294967295'],
  ['bridges', `network_id=0${'&network_ids=1'.repeat(256)}`, 'the query has more than 256 parameters'],
  [
    'bridges',
    `network_id=0${Array.from({ length: 25 }, (_, at) => `&utm_${at}=1`).join('')}`,
    'the query has more than 24 unknown parameters',
  ],
  [
    'bridges',
    `network_id=0${Array.from({ length: 23 }, (_, at) => `&utm_${at}=1`).join('')}&form_address=1`,
    'unknown parameter "form_address", did you mean from_address?',
  ],
  [
    'bridges',
    `network_id=0&network_ids=${Array.from({ length: 101 }, (_, id) => id)}`,
    'network_ids has 101 items, at most 100 are allowed',
  ],
  ['bridges', 'network_id=0&deposit_count=1,x', 'deposit_count "x" is not a decimal integer'],
  ['bridges', 'network_id=0&deposit_count=', 'deposit_count "" is not a decimal integer'],
  [
    'bridges',
    `network_id=0&${Array.from({ length: 101 }, (_, id) => `deposit_count=${id}`).join('&')}`,
    'deposit_count has 101 items, at most 100 are allowed',
  ],
  ['bridges', 'network_id=0&deposit_count=1&deposit_count=', 'deposit_count "" is not a decimal integer'],
  ...['proof', 'index', 'kit'].map((route): [string, string, string] => [
    route,
    'network_id=0&leaf_index=0&deposit_count=1&deposit_count=2',
    'deposit_count is given more than once, at most one is allowed',
  ]),
  [
    'bridges',
    `network_id=0&deposit_count=${Array.from({ length: 101 }, (_, id) => id)}`,
    'deposit_count has 101 items, at most 100 are allowed',
  ],
  [
    'bridges',
    `network_id=0&tx_hash=${ADDRESS}`,
    `tx_hash "${ADDRESS.toLowerCase()}" is not 0x followed by 64 hexadecimal digits`,
  ],
  ['bridges', 'network_id=0&leaf_type=2', 'leaf_type 2 exceeds 1'],
  ['bridges', 'network_id=0&claimed=yes', 'claimed "yes" is not true or false'],
  ['bridges', 'network_id=0&from_block=6&to_block=5', 'from_block 6 exceeds to_block 5'],
  ['bridges', 'network_id=0&from_timestamp=6&to_timestamp=5', 'from_timestamp 6 exceeds to_timestamp 5'],
  ['bridges', 'network_id=0&to_block=281474976710656', 'to_block 281474976710656 exceeds 281474976710655'],
  ['bridges', 'network_id=0&order=newest', 'order "newest" is not asc or desc'],
  ['tokens', 'order=', 'order "" is not asc or desc'],
  ['bridges', 'network_id=0&fromblock=6', 'unknown parameter "fromblock", did you mean from_block?'],
  [
    'claims',
    'network_id=0&global_index=0x',
    'global_index "0x" is neither a decimal integer nor 0x followed by 1 to 64 hexadecimal digits',
  ],
  ['claims', `network_id=0&global_index=${2n ** 256n}`, `global_index ${2n ** 256n} exceeds 2^256 - 1`],
  ['bridges', 'network_id=0&cursor=abc', 'cursor "abc" is not a cursor that this service gave'],
  [
    'bridges',
    `network_id=0&cursor=${'A'.repeat(24)}`,
    `cursor "${'A'.repeat(24)}" is not a cursor that this service gave`,
  ],
  ['bridges', 'network_id=0&form_address=x', 'unknown parameter "form_address", did you mean from_address?'],
  ['bridges', 'network_id=0&pageSize=5', 'unknown parameter "pageSize", did you mean page_size?'],
  ['bridges', 'network_id=0&page-number=5', 'unknown parameter "page-number", did you mean page_number?'],
  ['bridges', 'NETWORK_ID=0', 'unknown parameter "NETWORK_ID", did you mean network_id?'],
  ['proof', 'network-idd=5', 'unknown parameter "network-idd", did you mean network_id?'],
  // Of two equally near names, the other one is present.
  ['claims', 'network_id=0&network_idd=5', 'unknown parameter "network_idd", did you mean network_ids?'],
  ['proof', 'network_id=0&deposit_count=0', 'leaf_index is required'],
  ['proof', 'deposit_count=0&leaf_index=0', 'network_id is required'],
  ['index', 'network_id=0', 'deposit_count is required'],
  ['kit', 'network_id=0&deposit_count=1&leaf_index=x', 'leaf_index "x" is not a decimal integer'],
  ['bridges', 'network_id=%zz', '"network_id=%zz" is not percent-encoded UTF-8 in the query string'],
  ['bridges', 'network_id=0&q=%', '"q=%" is not percent-encoded UTF-8 in the query string'],
  ['bridges', 'network_id=0&q=%4', '"q=%4" is not percent-encoded UTF-8 in the query string'],
  ['bridges', 'network_id=0&q=%ff', '"q=%ff" is not percent-encoded UTF-8 in the query string'],
  [
    'bridges',
    `network_id=0&page_size=${'x'.repeat(500)}`,
    `page_size "${'x'.repeat(60)}…" is not a decimal integer`,
  ],
]

for (const [route, query, message] of bad)
  test(`${route}?${query.slice(0, 90)} is refused`, () => {
    assert.deepEqual(parsers[route]!(query), { ok: false, code: 'INVALID_PARAMETER', message })
  })

const SENT_FOR: readonly (readonly [right: string, value: string, sent: readonly string[]])[] = [
  ['page_number', '2', ['page', 'page_num', 'pageNum', 'offset', 'skip', 'PAGE', '_page', 'page-numbr']],
  ['page_size', '7', ['limit', 'per_page', 'perPage', 'per-page', 'size', 'pagesize']],
  ['order', 'asc', ['sort', 'Sort', 'ordre']],
  ['network_id', '1', ['net_id', 'netId', 'NetworkId']],
  ['deposit_count', '3', ['deposit_cnt', 'depositCnt', 'deposit-counts']],
  ['to_address', ADDRESS, ['dest_addr', 'destAddr', 'to_adress']],
  ['token_address', ADDRESS, ['origin_token_address', 'originTokenAddress', 'token-adress']],
]

test('a near miss of a parameter name is refused where the right one is absent, and ignored where it is present', () => {
  const needed: Readonly<Record<string, string>> = { network_id: '1', deposit_count: '3', leaf_index: '0' }
  const parametersOf: Readonly<Record<string, object>> = {
    bridges: routes.getBridges.parameters.properties,
    claims: routes.getClaims.parameters.properties,
    proof: routes.getClaimProof.parameters.properties,
    index: routes.getL1InfoTreeIndex.parameters.properties,
    tokens: routes.getTokenMappings.parameters.properties,
    kit: routes.getClaimTransaction.parameters.properties,
  }
  for (const [route, parameters] of Object.entries(parametersOf)) {
    const others = (but: string): string =>
      Object.entries(needed)
        .filter(([name]) => name !== but && name in parameters)
        .map(([name, value]) => `${name}=${value}&`)
        .join('')
    for (const [right, value, sent] of SENT_FOR)
      for (const name of sent) {
        const place = `${route} ${name}`
        const alone = parsers[route]!(`${others(right)}${name}=${value}`)
        const message = `unknown parameter "${name}", did you mean ${right}?`
        if (right in parameters)
          assert.deepEqual(alone, { ok: false, code: 'INVALID_PARAMETER', message }, place)
        else assert.ok(alone.ok, place)
        // Both before the right name and after it.
        for (const both of [`${name}=zz&${right}=${value}`, `${right}=${value}&${name}=zz`])
          assert.ok(parsers[route]!(`${others(right)}${both}`).ok, `${place} ${both}`)
      }
  }
})

test('include_all_fields is refused with the name of the dialect that has it', () => {
  for (const name of ['include_all_fields', 'includeAllFields', 'include-all-fields'])
    assert.deepEqual(parsers.claims!(`network_id=0&${name}=false`), {
      ok: false,
      code: 'INVALID_PARAMETER',
      message: `unknown parameter "${name}", it belongs to the aggkit dialect`,
    })
})

test("unknown parameter names that resemble none of the route's are ignored", () => {
  const names = [
    '_',
    't',
    'ts',
    'v',
    'nocache',
    'cachebuster',
    'utm_source',
    'traceparent',
    'pages',
    'offsets',
  ]
  for (const name of [...names, 'limits', 'order_by_time', 'a'.repeat(3_000), '', 'constructor', '__proto__'])
    for (const route of ['bridges', 'claims', 'tokens'])
      assert.ok(parsers[route]!(`network_id=0&${name}=1`).ok, `${route} ${name}`)
})

test('a cursor continues the list, order and filters that it came from, and no other', () => {
  const cursorOf = (operation: string, isAscending: boolean, filters: object) =>
    encodeCursor({ isAscending, filterHash: filterHash(operation, filters), numbers: [3, 77] })
  const filters = { networkId: 1, networkIds: [0, 2], fromAddress: ADDRESS_BYTES }
  const asked = `network_id=1&from_address=${ADDRESS}&network_ids=2,0`
  const down = cursorOf('getBridges', false, filters)
  const up = cursorOf('getBridges', true, filters)
  const messageOf = (route: string, query: string) => {
    const answer = parsers[route]!(query)
    return answer.ok ? answer.value.query : answer.message
  }
  for (const order of ['', '&order=desc'])
    assert.deepEqual(messageOf('bridges', `${asked}&page_size=7&cursor=${down}${order}`), {
      ...{ ...filters, pageNumber: 1, pageSize: 7, cursor: [3, 77] },
    })
  // The order is part of the cursor.
  for (const order of ['', '&order=asc'])
    assert.deepEqual(messageOf('bridges', `${asked}&cursor=${up}${order}`), {
      ...{ ...filters, ...first, isAscending: true, cursor: [3, 77] },
    })
  const refusals: [route: string, query: string, message: string][] = [
    ['bridges', `${asked}&cursor=${down}&page_number=1`, 'page_number and cursor exclude each other'],
    [
      'bridges',
      `${asked}&cursor=${down}&order=asc`,
      'order asc contradicts the cursor, which is of order desc',
    ],
    [
      'bridges',
      `${asked}&cursor=${up}&order=desc`,
      'order desc contradicts the cursor, which is of order asc',
    ],
    ...[
      ['bridges', `network_id=1&network_ids=2,0&cursor=${down}`],
      ['bridges', `${asked}&claimed=true&cursor=${down}`],
      ['claims', `${asked}&cursor=${down}`],
    ].map(([route, query]): [string, string, string] => [
      ...([route, query] as [string, string]),
      'cursor is of a query with other filters: repeat them, or start again without it',
    ]),
  ]
  for (const [route, query, message] of refusals) assert.equal(messageOf(route, query), message, query)
})

test('every route that has network_id refuses a network that is not served, by its id', () => {
  const expected = { ok: false, code: 'INVALID_NETWORK_ID', message: 'Network ID 999 is not supported' }
  // A search has no such parameter: what is not served is not found.
  for (const [route, parse] of Object.entries(parsers))
    if (route !== 'search')
      assert.deepEqual(
        parse(
          route === 'proof'
            ? 'network_id=999&deposit_count=0&leaf_index=0'
            : ['index', 'kit', 'status'].includes(route)
              ? 'network_id=999&deposit_count=0'
              : 'network_id=999',
        ),
        expected,
        route,
      )
})

test('a malformed parameter is reported before a network that is not served', () => {
  const answer = parsers.bridges!('network_id=999&page_size=0')
  assert.equal(answer.ok ? '' : answer.code, 'INVALID_PARAMETER')
})

test('all spellings of a query have the same key, and other queries have other keys', () => {
  const keyOf = (raw: string): string => {
    const answer = parsers.bridges!(raw)
    assert.ok(answer.ok, raw)
    return answer.value.key
  }
  const same = [
    `network_id=1&network_ids=2,0&from_address=${ADDRESS}`,
    `from_address=${ADDRESS.toLowerCase()}&network_ids=0&network_id=1&network_ids=2,2`,
    `page_size=100&page_number=1&network_id=1&network_ids=0%2C2&from_address=${ADDRESS}&utm=5`,
  ]
  assert.equal(new Set(same.map(keyOf)).size, 1)
  const different = [
    'network_id=1',
    'network_id=2',
    'network_id=1&page_number=2',
    'network_id=1&page_size=2',
    'network_id=1&deposit_count=2',
    'network_id=1&deposit_count=2,3',
    'network_id=1&order=asc',
    'network_id=1&from_block=2',
    'network_id=1&to_block=2',
    'network_id=1&claimed=true',
    `network_id=1&to_address=${ADDRESS}`,
    'network_id=1&network_ids=2',
    'network_id=1&network_ids=1,2',
    'network_id=1&ready_for_claim=true',
    'network_id=1&ready_for_claim=false',
    `network_id=1&from_address=${ADDRESS}`,
  ]
  assert.equal(new Set(different.map(keyOf)).size, different.length)
})
