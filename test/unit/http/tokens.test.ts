import assert from 'node:assert/strict'
import test from 'node:test'
import { dialects } from '../../../src/api/dialects/dialects.js'
import { operationIds, probeRoutes, routes, socketRoutes, streamRoutes } from '../../../src/api/routes.js'
import { staticDocuments } from '../../../src/http/docsPage.js'
import type { RateGate } from '../../../src/http/limits/rateGate.js'
import { tokensOf, tokensOfAnswer, tokensOfDocument } from '../../../src/http/tokens.js'
import { contentCodings } from '../../../src/pool/contentCoding.js'
import { estimateBytes, estimateWork } from '../../../src/pool/estimates.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../../../src/protocol/units.js'
import type { OperationId, QueryByOperation } from '../../../src/query/queries.js'
import { BASE_PATHS, frontAlone } from './frontAlone.js'

const NETWORKS = 4
const networkId = asNetworkId(0)
const depositCount = asDepositCount(5)
const hash = new Uint8Array(32)
const page = (pageSize: number) => ({ pageNumber: 1, pageSize })

/** The least and the most that each operation can be asked for, and what is between. A route without queries does not compile. */
const QUERIES: { readonly [K in OperationId]: readonly QueryByOperation[K][] } = {
  getBridges: [
    { networkId, ...page(100), depositCounts: [depositCount] },
    { networkId, ...page(1) },
    { networkId, ...page(1), networkIds: [networkId], claimed: true },
    { networkId, ...page(1_000) },
    { networkId, ...page(1_000), fromAddress: hash.subarray(12), readyForClaim: true },
    { ...page(25), toAddress: hash.subarray(12), skipped: 10_000 },
  ],
  getClaims: [
    { networkId, ...page(1) },
    { networkId, ...page(1_000) },
    { networkId, ...page(1_000), transactionHash: hash },
  ],
  getClaimProof: [{ networkId, depositCount, leafIndex: asL1InfoTreeIndex(5) }],
  getL1InfoTreeIndex: [{ networkId, depositCount }],
  getInjectedL1InfoLeaf: [{ networkId, leafIndex: asL1InfoTreeIndex(5) }],
  getTokenMappings: [page(1), page(1_000), { ...page(1_000), tokenNetwork: networkId }],
  getClaimTransaction: [{ networkId, depositCount }],
  getBridgeStatus: [{ networkId, depositCount }, { transactionHash: hash }],
  getSearch: [
    { networkId, depositCount },
    { networkId, depositCount, transactionHash: hash, address: hash.subarray(12) },
  ],
}

const KIB = 1_024

test('each query takes tokens by the work that is estimated for it: one for a point, one more for each 128 KiB or so', () => {
  for (const operation of operationIds)
    for (const query of QUERIES[operation])
      for (const coding of contentCodings) {
        const named = { operation, query, coding }
        const tokens = tokensOf(named, NETWORKS)
        const work = estimateWork(named, estimateBytes(named))
        const what = `${operation} ${JSON.stringify(query)} ${coding}: ${tokens} tokens, work ${work}`
        assert.ok(tokens >= 1 && tokens * 176 * KIB >= work, what)
        assert.ok(tokens <= (coding === 'identity' ? 1 : 3) * (2 + work / (64 * KIB)), what)
      }
})

for (const [what, operation, query, tokens] of [
  ['a point', 'getL1InfoTreeIndex', QUERIES.getL1InfoTreeIndex[0], 1],
  ['a proof', 'getClaimProof', QUERIES.getClaimProof[0], 2],
  ['a page of 1,000', 'getBridges', QUERIES.getBridges[3], 11],
  ['one whose rows lie anywhere', 'getBridges', QUERIES.getBridges[4], 21],
  ['a page of all networks behind 10,000 rows', 'getBridges', QUERIES.getBridges[5], 101.5],
  ['the way of a bridge', 'getBridgeStatus', QUERIES.getBridgeStatus[0], 2],
  ['the ways of all bridges of a transaction', 'getBridgeStatus', QUERIES.getBridgeStatus[1], 51],
] as const)
  test(`${what} takes ${tokens} tokens`, () => {
    const asked = { operation, query: query!, coding: 'identity' } as const
    assert.equal(tokensOf(asked, NETWORKS), tokens)
  })

test('a search looks into each network', () => {
  const asked = { operation: 'getSearch', query: QUERIES.getSearch[0]!, coding: 'identity' } as const
  assert.deepEqual(
    [2, 4, 40].map((networks) => tokensOf(asked, networks)),
    [1.5, 2, 11],
  )
})

const answerOf = (
  operation: OperationId,
  query: QueryByOperation[OperationId],
  bytes: number,
  coding: 'identity' | 'br' = 'identity',
): number => tokensOfAnswer({ operation, query, coding }, NETWORKS, { body: new Uint8Array(bytes), coding })

test('the bridges of a transaction cost what there are of them', () => {
  const query = QUERIES.getBridgeStatus[1]!
  assert.equal(answerOf('getBridgeStatus', query, 80), 2, 'none')
  assert.equal(answerOf('getBridgeStatus', query, 1_600), 2, 'one')
  assert.equal(answerOf('getBridgeStatus', query, 250_000), 51, 'a hundred')
  assert.equal(answerOf('getBridgeStatus', query, 125_000), 25.5, 'fifty')
  assert.equal(answerOf('getBridgeStatus', query, 600, 'br'), 6)
  assert.equal(answerOf('getBridgeStatus', query, 50_000, 'br'), 153)
})

test('an answer that is far longer than its kind costs its length', () => {
  const MIB = KIB ** 2
  assert.equal(answerOf('getClaimTransaction', QUERIES.getClaimTransaction[0]!, 32 * MIB), 1 + 32 * 8)
  assert.equal(answerOf('getBridges', QUERIES.getBridges[0]!, 4 * MIB), 1 + 4 * 8)
  assert.equal(answerOf('getBridges', QUERIES.getBridges[3]!, 900_000), 11, 'a page as it usually is')
  assert.equal(answerOf('getBridges', QUERIES.getBridges[3]!, 130_000, 'br'), 33)
})

test('a document takes one token, and one for each 128 KiB', () => {
  assert.deepEqual(
    [0, 131_071, 131_072, 1_600_000].map((bytes) => tokensOfDocument(new Uint8Array(bytes))),
    [1, 1, 2, 13],
  )
  for (const { path, answers } of staticDocuments(true))
    for (const coding of contentCodings) {
      const { body } = answers[coding]
      const tokens = tokensOfDocument(body)
      assert.ok(tokens >= 1 && tokens * 128 * KIB >= body.length, `${path} ${coding}: ${tokens} tokens`)
    }
})

/** A front that tells what each request takes before it is answered. */
function tokensAtFront(): (method: string, path: string, query: string) => number {
  let taken = 0
  const caller = {
    isProxy: false,
    take: (tokens: number) => {
      taken += tokens
    },
    settle: () => undefined,
  }
  const ask = frontAlone({ gate: { caller: () => caller } as unknown as RateGate })
  return (method, path, query) => {
    taken = 0
    ask(method, path, query, [])
    return taken
  }
}

test('a request takes a tenth of a token at least, whatever its path, its method and its query', () => {
  const spent = tokensAtFront()
  const { endpoints, probes, redirects } = dialects.aggkit.latest
  const paths = [
    ...[
      ...operationIds.map((operation) => routes[operation]),
      streamRoutes.getEvents,
      socketRoutes.getEventSocket,
    ].map(({ path }) => path),
    ...Object.values(probeRoutes).flatMap((route) => [...route.paths]),
    ...staticDocuments(true).map(({ path }) => path),
    ...[...endpoints, ...probes, ...redirects].map(({ path }) => BASE_PATHS.aggkit + path),
    ...['/nowhere', `${BASE_PATHS.aggkit}/nowhere`],
  ]
  for (const path of paths)
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST'])
      for (const query of ['', 'network_id=1&deposit_count=1&leaf_index=1', 'network_id=x'])
        assert.ok(spent(method, path, query) >= 0.1, `${method} ${path}?${query}`)
})

test('a reader of events takes five tokens, a query of a dialect what the same one of our own takes', () => {
  const spent = tokensAtFront()
  assert.equal(spent('GET', streamRoutes.getEvents.path, ''), 5)
  for (const [path, query] of [
    ['/bridge/v1/bridges', 'network_id=1&page_size=200'],
    ['/bridge/v1/claims', 'network_id=1&page_size=200'],
    ['/bridge/v1/token-mappings', 'network_id=1&page_size=200'],
    ['/bridge/v1/l1-info-tree-index', 'network_id=1&deposit_count=1'],
    ['/bridge/v1/claim-proof', 'network_id=1&deposit_count=1&leaf_index=1'],
  ] as const)
    assert.equal(spent('GET', BASE_PATHS.aggkit + path, query), spent('GET', path, query), path)
})
