import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { decodeQueries, type NamedQuery, QueryWriter } from '../../../src/pool/queryCodec.js'

const uint32 = fc.integer({ min: 0, max: 0xffff_ffff })
const uint48 = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const uint32s = fc.array(uint32, { maxLength: 100 })
const address = fc.uint8Array({ minLength: 20, maxLength: 20 })
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
const paging = { pageNumber: uint32, pageSize: uint32 }
const walking = {
  isAscending: fc.boolean(),
  cursor: fc.array(
    fc.maxSafeNat().map((n) => n % 2 ** 48),
    { maxLength: 7 },
  ),
}

function queryOf(operation: string, required: object, optional: object): fc.Arbitrary<NamedQuery> {
  const fields = { ...required, ...optional } as Record<string, fc.Arbitrary<unknown>>
  const query = fc.record(fields, { requiredKeys: Object.keys(required) })
  const coding = fc.constantFrom('identity', 'gzip', 'br')
  return fc
    .record(
      { query, coding, isBodiless: fc.boolean(), isTagless: fc.boolean(), form: fc.nat({ max: 254 }) },
      { requiredKeys: ['query', 'coding', 'isBodiless', 'isTagless'] },
    )
    .map((both) => ({ operation, ...both, query: { ...both.query } }) as unknown as NamedQuery)
}

const anyQuery = fc.oneof(
  queryOf('getBridges', paging, {
    ...walking,
    networkId: uint32,
    skipped: uint32,
    depositCounts: uint32s,
    fromAddress: address,
    toAddress: address,
    transactionHash: hash,
    leafHash: hash,
    networkIds: uint32s,
    leafType: uint32,
    claimed: fc.boolean(),
    readyForClaim: fc.boolean(),
    fromBlock: uint48,
    toBlock: uint48,
    fromTimestampSec: uint48,
    toTimestampSec: uint48,
  }),
  queryOf('getClaims', paging, {
    ...walking,
    networkId: uint32,
    skipped: uint32,
    fromAddress: address,
    toAddress: address,
    transactionHash: hash,
    networkIds: uint32s,
    globalIndex: hash,
  }),
  queryOf(
    'getClaimProof',
    { networkId: uint32, depositCount: uint32 },
    { leafIndex: uint32, globalExitRoot: hash },
  ),
  queryOf(
    'getL1InfoTreeIndex',
    { networkId: uint32, depositCount: uint32 },
    { isFirstCovering: fc.boolean() },
  ),
  queryOf('getInjectedL1InfoLeaf', { networkId: uint32, leafIndex: uint32 }, {}),
  queryOf('getTokenMappings', paging, {
    ...walking,
    networkId: uint32,
    tokenAddress: address,
    tokenNetwork: uint32,
    originTokenAddress: address,
  }),
  queryOf('getClaimTransaction', { networkId: uint32, depositCount: uint32 }, { leafIndex: uint32 }),
  queryOf('getBridgeStatus', {}, { networkId: uint32, depositCount: uint32, transactionHash: hash }),
  queryOf('getSearch', {}, { networkId: uint32, depositCount: uint32, transactionHash: hash, address }),
)

/** A decoded query has every field of its operation, absent ones as undefined. */
function withoutAbsent({ query, ...rest }: NamedQuery): object {
  return {
    ...rest,
    query: Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)),
  }
}

test('any batch of queries decodes to what was encoded', () => {
  const writer = new QueryWriter()
  fc.assert(
    fc.property(fc.array(anyQuery, { maxLength: 300 }), (queries) => {
      for (const query of queries) writer.append(query)
      assert.deepEqual(decodeQueries(writer.take()).map(withoutAbsent), queries)
    }),
    { numRuns: 200 },
  )
})
