import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { bridgeRows } from '../../src/api/dialects/aggkit/aggkitSpelling.js'
import { dialects } from '../../src/api/dialects/dialects.js'
import type { Dialect } from '../../src/api/dialects/frame/dialect.js'
import { transactionRow } from '../../src/api/dialects/hub/hubSpelling.js'
import { claimRow, depositRow } from '../../src/api/dialects/zkevm/zkevmSpelling.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId, type NetworkId } from '../../src/protocol/units.js'
import type { BridgesQuery, ClaimsQuery, Paging } from '../../src/query/queries.js'
import type { RowTemplate } from '../../src/query/rowTemplate.js'
import { getBridges } from '../../src/shard/queries/getBridges.js'
import { getClaimProof } from '../../src/shard/queries/getClaimProof.js'
import { getClaims } from '../../src/shard/queries/getClaims.js'
import { getInjectedL1InfoLeaf } from '../../src/shard/queries/getInjectedL1InfoLeaf.js'
import { getL1InfoTreeIndex } from '../../src/shard/queries/getL1InfoTreeIndex.js'
import { bothTexts, slotCounts } from '../support/bothTexts.js'
import {
  expectedBridge,
  expectedBridges,
  expectedClaims,
  type PlainRow,
  plainBridge,
  plainRow,
} from '../support/expectedRows.js'
import { type ExpectedDeposit, verifiesOnChain } from '../support/fakeChainModel.js'
import type { FakeClaim } from '../support/fakeState.js'
import { hubRow } from '../support/hubPairs.js'
import { toHex } from '../support/indexedBlocks.js'
import { IndexedWorld } from '../support/indexedWorld.js'
import { RandomWorld } from '../support/randomWorld.js'
import { randomNumbers } from '../support/testNumbers.js'
import { zkevmClaimRow, zkevmDepositRow } from '../support/zkevmPairs.js'
import { matchesBridge, matchesClaim, randomBridgeFilters, randomClaimFilters } from './randomFilters.js'

/**
 * Options that force every way to an answer, although the worlds are small: rows one by one, sets, kept sets, and
 * chunks that stay or are evicted.
 */
const THRESHOLDS = [
  { rowsWorthReading: 32, worthKeeping: 1024, slots: slotCounts(16) },
  { rowsWorthReading: 0, worthKeeping: 1024, slots: slotCounts(1) },
  { rowsWorthReading: 0, worthKeeping: 0, slots: slotCounts(2) },
  { rowsWorthReading: 0, worthKeeping: 5, slots: slotCounts(4) },
]

/**
 * Compares all answers of the shards with the model.
 * @returns how many ready rows were proven.
 */
function checkEverything(indexed: IndexedWorld, finalizedL1Block: number, random: () => number): number {
  const { world } = indexed
  let proven = 0
  for (const networkId of world.networkIds.map(asNetworkId)) {
    const deposits = expectedBridges(world, networkId, { finalizedL1Block })
    for (let asked = 0; asked < 40; asked++) {
      const filters = asked === 0 ? {} : randomBridgeFilters(random, deposits)
      const matching = deposits.filter((deposit) => matchesBridge(deposit, filters))
      const { part, paging } = randomPage(matching, random)
      const query: BridgesQuery = { networkId, ...paging, ...filters }
      const answer = indexed.ask((shards) => getBridges(shards, query))
      assert.ok(answer.ok)
      const { rows, nextCursor, page, limit, total } = answer.value
      const told = describe(query)
      const { pageNumber, pageSize } = paging
      assert.deepEqual([page, limit, total], [pageNumber, pageSize, matching.length], told)
      assert.deepEqual(rows.map(plainBridge), part.map(expectedBridge), told)
      assert.equal(nextCursor !== null, hasMore(paging, matching.length), told)
      const [plain, packed] = bothTexts(indexed, 'getBridges', query)
      assert.equal(packed, plain, told)
      if (asked % 8 === 0) compareSpelled(indexed, query, part)
    }
    for (const deposit of deposits) proven += checkProof(indexed, deposit, finalizedL1Block)
    compareAccepted(indexed, networkId, finalizedL1Block)
    compareClaims(indexed, networkId, random)
  }
  compareOfAll(indexed, finalizedL1Block, random)
  return proven
}

/** The templates of the rows that dialects answer an operation with. */
function templatesOf(operation: 'getBridges' | 'getClaims'): readonly RowTemplate[] {
  const all: readonly Dialect[] = Object.values(dialects).flatMap((releases) =>
    Object.values<Dialect>(releases),
  )
  const templates = all.flatMap(({ endpoints }) =>
    endpoints.flatMap(({ operation: asked, form }) =>
      (asked as string) === operation && form.rows !== undefined ? [form.rows] : [],
    ),
  )
  return [...new Set(templates)]
}

const bridgeTemplates = templatesOf('getBridges')
const claimTemplates = templatesOf('getClaims')

const rowsIn = (text: string, list: 'bridges' | 'claims'): readonly unknown[] =>
  (JSON.parse(text) as Readonly<Record<typeof list, readonly unknown[]>>)[list]

/**
 * The same page as dialects spell it, from stored bytes and from records. Those of zkevm-bridge-service and Bridge Hub are what the
 * descriptions of these say, letter by letter.
 */
function compareSpelled(indexed: IndexedWorld, query: BridgesQuery, part: readonly ExpectedDeposit[]): void {
  const texts = new Map(
    bridgeTemplates.map((template) => {
      const [plain, packed] = bothTexts(indexed, 'getBridges', query, template)
      assert.equal(packed, plain)
      return [template, packed]
    }),
  )
  for (const [template, rowOf] of [
    [depositRow, zkevmDepositRow],
    [transactionRow, hubRow],
  ] as const)
    assert.equal(
      JSON.stringify(rowsIn(texts.get(template)!, 'bridges')),
      JSON.stringify(part.map(rowOf)),
      describe(query),
    )
  const [, packed] = bothTexts(indexed, 'getBridges', query, bridgeRows('latest'))
  const { bridges } = JSON.parse(packed) as { bridges: readonly Record<string, unknown>[] }
  assert.deepEqual(
    bridges.map((row) => [row.deposit_count, row.global_index, row.bridge_hash, row.metadata]),
    part.map(({ depositCount, globalIndex, leaf, metadata }) => [
      depositCount,
      String(globalIndex),
      leaf,
      metadata,
    ]),
  )
}

/** The answered index is the expected one and its proof is valid. Without an index there is no proof. */
function checkProof(indexed: IndexedWorld, deposit: ExpectedDeposit, finalizedL1Block: number): number {
  const asked = {
    networkId: asNetworkId(deposit.networkId),
    depositCount: asDepositCount(deposit.depositCount),
  }
  const told = `network ${deposit.networkId}, deposit ${deposit.depositCount}`
  const index = indexed.ask((shards) => getL1InfoTreeIndex(shards, asked))
  const covering = deposit.firstCoveringIndex
  const isFinal =
    covering !== null &&
    indexed.world.network(0).head.state.l1InfoLeaves[covering]!.blockNumber <= finalizedL1Block
  const first = indexed.ask((shards) => getL1InfoTreeIndex(shards, { ...asked, isFirstCovering: true }))
  assert.equal(first.ok ? first.value.l1InfoTreeIndex : null, isFinal ? covering : null, told)
  if (deposit.usableIndex === null) {
    assert.equal(!index.ok && index.code, 'PROOF_NOT_AVAILABLE', told)
    return 0
  }
  assert.ok(index.ok, told)
  assert.equal(index.value.l1InfoTreeIndex, deposit.usableIndex, told)
  assert.equal(index.value.firstCoveringIndex, deposit.firstCoveringIndex, told)
  const leafIndex = asL1InfoTreeIndex(deposit.usableIndex)
  const proof = indexed.ask((shards) => getClaimProof(shards, { ...asked, leafIndex }))
  assert.ok(proof.ok, told)
  const branches = {
    localExitRootBranch: siblings(proof.value.localExitRootBranch),
    rollupExitRootBranch: siblings(proof.value.rollupExitRootBranch),
  }
  assert.ok(verifiesOnChain(indexed.world, deposit, leafIndex, branches), told)
  return deposit.readyForClaim ? 1 : 0
}

/** From each index on, the first leaf that a network accepts is what its contract and the L1 say. */
function compareAccepted(indexed: IndexedWorld, networkId: NetworkId, finalizedL1Block: number): void {
  const { world } = indexed
  const leaves = world.network(0).head.state.l1InfoLeaves
  const { globalExitRoots } = world.network(networkId).head.state
  for (const { index } of leaves) {
    const expected = leaves
      .slice(index)
      .find(({ globalExitRoot }) => networkId === 0 || globalExitRoots.has(globalExitRoot))
    const isFinal = expected !== undefined && expected.blockNumber <= finalizedL1Block
    const leafIndex = asL1InfoTreeIndex(index)
    const answer = indexed.ask((shards) => getInjectedL1InfoLeaf(shards, { networkId, leafIndex }))
    assert.equal(
      answer.ok ? answer.value.l1InfoTreeIndex : null,
      isFinal ? expected.index : null,
      `network ${networkId}, leaf ${index}`,
    )
  }
}

function compareClaims(indexed: IndexedWorld, networkId: NetworkId, random: () => number): void {
  const all = expectedClaims(indexed.world, networkId)
  for (let asked = 0; asked < 20; asked++) {
    const filters = asked === 0 ? {} : randomClaimFilters(random, all)
    const matching = all.filter((claim) => matchesClaim(claim, networkId, filters))
    const { part, paging } = randomPage(matching, random)
    const query: ClaimsQuery = { networkId, ...paging, ...filters }
    const answer = indexed.ask((shards) => getClaims(shards, query))
    assert.ok(answer.ok)
    const { rows, nextCursor, page, limit, total } = answer.value
    const told = describe(query)
    assert.deepEqual([page, limit, total], [paging.pageNumber, paging.pageSize, matching.length], told)
    assert.deepEqual(
      rows.map(plainRow),
      part.map(({ isByNobody, ...row }) => row),
      told,
    )
    assert.equal(nextCursor !== null, hasMore(paging, matching.length), told)
    const [plain, packed] = bothTexts(indexed, 'getClaims', query)
    assert.equal(packed, plain, told)
    if (asked % 4 === 0) compareSpelledClaims(indexed, query, part)
  }
}

function compareSpelledClaims(indexed: IndexedWorld, query: ClaimsQuery, part: readonly PlainRow[]): void {
  for (const template of claimTemplates) {
    const [plain, packed] = bothTexts(indexed, 'getClaims', query, template)
    assert.equal(packed, plain)
    if (template !== claimRow) continue
    const expected = part.map(({ amount, globalIndex, ...row }) =>
      zkevmClaimRow({
        ...(row as unknown as FakeClaim),
        networkId: row.destinationNetwork as number,
        originNetwork: row.tokenNetwork as number,
        originAddress: row.tokenAddress as FakeClaim['originAddress'],
        amount: BigInt(amount as string),
        globalIndex: BigInt(globalIndex as string),
      }),
    )
    assert.equal(JSON.stringify(rowsIn(packed, 'claims')), JSON.stringify(expected))
  }
}

/** Pages of all networks, whose rows come from several shards in turn, from stored bytes and from records. */
function compareOfAll(indexed: IndexedWorld, finalizedL1Block: number, random: () => number): void {
  const { world } = indexed
  const deposits = world.networkIds.flatMap((networkId) =>
    expectedBridges(world, networkId, { finalizedL1Block }),
  )
  const byKey = new Map(deposits.map((deposit) => [`${deposit.networkId}/${deposit.depositCount}`, deposit]))
  const seen: string[] = []
  const pageSize = 1 + Math.floor(random() * 12)
  for (let skipped = 0; skipped < deposits.length; skipped += pageSize) {
    const query = { pageNumber: skipped + 1, skipped, pageSize }
    for (const template of claimTemplates) {
      const [plain, packed] = bothTexts(indexed, 'getClaims', query, template)
      assert.equal(packed, plain)
    }
    for (const template of bridgeTemplates) {
      const [plain, packed] = bothTexts(indexed, 'getBridges', query, template)
      assert.equal(packed, plain)
      if (template !== transactionRow) continue
      for (const row of rowsIn(packed, 'bridges') as readonly {
        sourceNetwork: number
        depositCount: number
      }[]) {
        const key = `${row.sourceNetwork}/${row.depositCount}`
        assert.equal(JSON.stringify(row), JSON.stringify(hubRow(byKey.get(key)!)))
        seen.push(key)
      }
    }
  }
  assert.deepEqual(seen.sort(), [...byKey.keys()].sort())
}

/**
 * Some page, maybe one beyond the end, in either order.
 * @param rows newest first.
 */
function randomPage<Row>(rows: readonly Row[], random: () => number) {
  const pageSize = 1 + Math.floor(random() * 12)
  const pageNumber = 1 + Math.floor(random() * (rows.length / pageSize + 2))
  const isAscending = random() < 0.5
  const ordered = isAscending ? [...rows].reverse() : rows
  const first = (pageNumber - 1) * pageSize
  const paging = { pageNumber, pageSize, ...(isAscending ? { isAscending } : {}) }
  return { part: ordered.slice(first, first + pageSize), paging }
}

function hasMore({ pageNumber, pageSize }: Paging, total: number): boolean {
  return pageNumber * pageSize < total
}

const describe = (query: object) =>
  JSON.stringify(query, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  )

const siblings = (branch: Uint8Array) =>
  Array.from({ length: 32 }, (_, level) => toHex(branch.subarray(32 * level, 32 * level + 32)))

/**
 * Runs one world of a seed: it grows, is reorganised, is indexed in steps and compared after each.
 * @returns ready rows proven.
 */
async function checkWorld(seed: number): Promise<number> {
  const random = randomNumbers(seed ^ 0x5eed)
  const source = new RandomWorld(seed)
  const closing: Array<() => void | Promise<void>> = []
  let proven = 0
  try {
    const indexed = new IndexedWorld({ after: (body) => closing.unshift(body) }, source.world)
    for (let round = 0; round < 5; round++) {
      for (let steps = 0; steps < 25; steps++) source.step()
      if (round % 2 === 1) source.reorg()
      indexed.readers.thresholds = THRESHOLDS[Math.floor(random() * THRESHOLDS.length)]!
      const finalizedLag = Math.floor(random() * 6)
      indexed.syncAll({ finalizedLag, batchBlocks: 1 + Math.floor(random() * 9) })
      const finalizedL1Block = Math.max(0, source.world.network(0).head.number - finalizedLag)
      proven += checkEverything(indexed, finalizedL1Block, random)
    }
  } finally {
    for (const close of closing) await close()
  }
  return proven
}

test('whatever the chains do, every filter, page and total equals the model, and each L1 info tree index has a valid proof', async () => {
  let proven = 0
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      proven += await checkWorld(seed)
    }),
    { numRuns: 8, includeErrorInReport: true, endOnFailure: true },
  )
  // Eight worlds prove about 160 rows, but the worlds are random.
  assert.ok(proven > 20, `only ${proven} ready rows were proven`)
})
