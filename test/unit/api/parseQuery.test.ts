import assert from 'node:assert/strict'
import test from 'node:test'
import { createQueryParser, type QueryParser } from '../../../src/api/parseQuery.js'
import { routes } from '../../../src/api/routes.js'

const served = new Set([0, 1, 2])
const parsers: Record<string, QueryParser<unknown>> = {
  bridges: createQueryParser(routes.getBridges.parameters, routes.getBridges.toQuery, served),
  claims: createQueryParser(routes.getClaims.parameters, routes.getClaims.toQuery, served),
  proof: createQueryParser(routes.getClaimProof.parameters, routes.getClaimProof.toQuery, served),
  index: createQueryParser(routes.getL1InfoTreeIndex.parameters, routes.getL1InfoTreeIndex.toQuery, served),
  tokens: createQueryParser(routes.getTokenMappings.parameters, routes.getTokenMappings.toQuery, served),
  kit: createQueryParser(routes.getClaimTransaction.parameters, routes.getClaimTransaction.toQuery, served),
}

const ADDRESS = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045'
const ADDRESS_BYTES = Uint8Array.from(Buffer.from(ADDRESS.slice(2), 'hex'))
const first = { pageNumber: 1, pageSize: 100 }

const good: [route: string, query: string, expected: object][] = [
  ['bridges', 'network_id=0', { networkId: 0, ...first }],
  ['bridges', '&network_id=2&&', { networkId: 2, ...first }],
  [
    'bridges',
    'network_id=1&page_number=4294967295&page_size=1000',
    { networkId: 1, pageNumber: 4294967295, pageSize: 1000 },
  ],
  ['bridges', 'network_id=1&deposit_count=4294967295', { networkId: 1, ...first, depositCount: 4294967295 }],
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
  test(`${route}?${query} is understood`, () => {
    const answer = parsers[route]!(query)
    assert.deepEqual(answer.ok && answer.value.query, expected)
  })

const bad: [route: string, query: string, message: string][] = [
  ['bridges', '', 'network_id is required'],
  ['bridges', 'network_id', 'network_id "" is not a decimal integer'],
  ['bridges', 'network_id=', 'network_id "" is not a decimal integer'],
  ...['abc', '-1', '1.5', '1e3', '0x1', '01', '+1', '-0', '%201', '1%20', '१', '%E0%A5%A7', 'NaN', '1,2'].map(
    (value): [string, string, string] => [
      'bridges',
      `network_id=${value}`,
      `network_id "${decodeURIComponent(value)}" is not a decimal integer`,
    ],
  ),
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
  [
    'bridges',
    `network_id=0&network_ids=${Array.from({ length: 101 }, (_, id) => id)}`,
    'network_ids has 101 items, at most 100 are allowed',
  ],
  ['bridges', 'network_id=0&form_address=x', 'unknown parameter "form_address", did you mean from_address?'],
  ['bridges', 'network_id=0&pageSize=5', 'unknown parameter "pageSize", did you mean page_size?'],
  ['bridges', 'network_id=0&page-number=5', 'unknown parameter "page-number", did you mean page_number?'],
  ['bridges', 'NETWORK_ID=0', 'unknown parameter "NETWORK_ID", did you mean network_id?'],
  ['claims', 'network_id=0&network_idd=5', 'unknown parameter "network_idd", did you mean network_id?'],
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

test('a network that is not served is refused by name, on every route that has network_id', () => {
  const expected = { ok: false, code: 'INVALID_NETWORK_ID', message: 'Network ID 999 is not supported' }
  for (const [route, parse] of Object.entries(parsers))
    assert.deepEqual(
      parse(
        route === 'proof'
          ? 'network_id=999&deposit_count=0&leaf_index=0'
          : route === 'index' || route === 'kit'
            ? 'network_id=999&deposit_count=0'
            : 'network_id=999',
      ),
      expected,
      route,
    )
})

test('a malformed parameter is told before a network that is not served', () => {
  const answer = parsers.bridges!('network_id=999&page_size=0')
  assert.equal(answer.ok ? '' : answer.code, 'INVALID_PARAMETER')
})

test('every way of writing a query has the same key, and other queries have other keys', () => {
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
    'network_id=1&network_ids=2',
    'network_id=1&network_ids=1,2',
    'network_id=1&ready_for_claim=true',
    'network_id=1&ready_for_claim=false',
    `network_id=1&from_address=${ADDRESS}`,
  ]
  assert.equal(new Set(different.map(keyOf)).size, different.length)
})
