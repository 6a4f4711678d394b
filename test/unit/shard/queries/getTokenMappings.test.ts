import assert from 'node:assert/strict'
import test from 'node:test'
import type { Hex } from 'viem'
import { hexToBytes } from 'viem/utils'
import { asNetworkId } from '../../../../src/protocol/units.js'
import type { TokenMappingsQuery } from '../../../../src/query/queries.js'
import { getTokenMappings } from '../../../../src/shard/queries/getTokenMappings.js'
import { cursorNumbers } from '../../../support/cursorNumbers.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { tokenMetadata } from '../../../support/fakeChainScenario.js'
import { tokenAddress } from '../../../support/fakeState.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const [HOME, OTHER] = [tokenAddress(1), tokenAddress(2)]
const metadata = tokenMetadata('Fake', 'FK', 18)

/**
 * Mappings in blocks of equal time on both rollups: on 1 a wrapped HOME (block 1), then a sovereign HOME (block 2) and OTHER of
 * network 2 (block 3); on 2 a wrapped HOME (block 1).
 */
function worldWithMappings(): FakeWorld {
  const world = createFakeWorld({ networks: [1, 2] })
  const [l1, first, second] = [world.network(0), world.network(1), world.network(2)]
  const deposit = (destinationNetwork: number) => {
    const token = { originNetwork: 0, originAddress: HOME, metadata }
    return l1.mine((block) => block.tx().deposit({ ...token, destinationNetwork })).state.deposits.at(-1)!
  }
  const toFirst = deposit(1)
  const toSecond = deposit(2)
  first.mine((block) => block.tx().claim({ deposit: toFirst, newWrappedToken: tokenAddress(101) }))
  first.mine((block) => block.tx().setSovereignToken(0, HOME, tokenAddress(102)))
  first.mine((block) => block.tx().setSovereignToken(2, OTHER, tokenAddress(103)))
  second.mine((block) => block.tx().claim({ deposit: toSecond, newWrappedToken: tokenAddress(201) }))
  return world
}

function wrappedTokens(indexed: IndexedWorld, query: Partial<TokenMappingsQuery> = {}): [Hex[], number] {
  const answer = indexed.ask((shards) => getTokenMappings(shards, { pageNumber: 1, pageSize: 100, ...query }))
  assert.ok(answer.ok)
  return [answer.value.rows.map((row) => toHex(row.wrappedTokenAddress.bytes)), answer.value.total]
}

const tokens = (...numbers: number[]): Hex[] => numbers.map(tokenAddress)

test('mappings of one network or all are listed newest first, with pages that add up', (context) => {
  const indexed = new IndexedWorld(context, worldWithMappings())
  indexed.syncAll()
  const all = tokens(103, 102, 201, 101)
  assert.deepEqual(wrappedTokens(indexed), [all, 4])
  assert.deepEqual(wrappedTokens(indexed, { networkId: asNetworkId(1) }), [tokens(103, 102, 101), 3])
  assert.deepEqual(wrappedTokens(indexed, { networkId: asNetworkId(0) }), [[], 0])
  for (const pageNumber of [1, 2, 3, 4, 5])
    assert.deepEqual(wrappedTokens(indexed, { pageNumber, pageSize: 1 }), [
      all.slice(pageNumber - 1, pageNumber),
      4,
    ])
})

test("an address filter matches either side of a mapping, and token_network the token's home", (context) => {
  const indexed = new IndexedWorld(context, worldWithMappings())
  indexed.syncAll()
  const of = (token: number) => ({ tokenAddress: hexToBytes(tokenAddress(token)) })
  assert.deepEqual(wrappedTokens(indexed, of(1)), [tokens(102, 201, 101), 3])
  assert.deepEqual(wrappedTokens(indexed, of(102)), [tokens(102), 1])
  assert.deepEqual(wrappedTokens(indexed, { ...of(2), tokenNetwork: asNetworkId(2) }), [tokens(103), 1])
  assert.deepEqual(wrappedTokens(indexed, { ...of(2), tokenNetwork: asNetworkId(0) }), [[], 0])
  assert.deepEqual(wrappedTokens(indexed, { ...of(103), tokenNetwork: asNetworkId(0) }), [[], 0])
  assert.deepEqual(wrappedTokens(indexed, { tokenNetwork: asNetworkId(0) }), [tokens(102, 201, 101), 3])
  assert.deepEqual(wrappedTokens(indexed, of(999)), [[], 0])
})

test('a mapping has its token, its kind, and whether it is the current one, and a reorg takes it back', (context) => {
  const world = worldWithMappings()
  const first = world.network(1)
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const rows = () => {
    const answer = indexed.ask((shards) =>
      getTokenMappings(shards, { networkId: asNetworkId(1), pageNumber: 1, pageSize: 9 }),
    )
    assert.ok(answer.ok)
    return answer.value.rows
  }
  const [, sovereign, wrapped] = rows()
  const claimBlock = first.blocks[1]!
  assert.deepEqual(
    {
      ...wrapped,
      transactionHash: toHex(wrapped!.transactionHash),
      originTokenAddress: toHex(wrapped!.originTokenAddress.bytes),
      wrappedTokenAddress: toHex(wrapped!.wrappedTokenAddress.bytes),
      metadata: toHex(wrapped!.metadata as Uint8Array),
    },
    {
      transactionHash: claimBlock.transactions[0]!.hash,
      blockNumber: claimBlock.number,
      logIndex: claimBlock.state.tokenMappings[0]!.logIndex,
      timestampSec: claimBlock.timestampSec,
      originNetwork: 0,
      originTokenAddress: HOME,
      wrappedNetwork: 1,
      wrappedTokenAddress: tokenAddress(101),
      metadata,
      metadataLength: undefined,
      metadataHash: undefined,
      ...{ name: 'Fake', symbol: 'FK', decimals: 18 },
      isNotMintable: false,
      tokenType: 0,
      isCurrent: false,
    },
  )
  assert.deepEqual([sovereign!.tokenType, sovereign!.isCurrent], [1, true])
  first.reorg({ depth: 2 })
  indexed.syncAll()
  assert.deepEqual(wrappedTokens(indexed), [tokens(201, 101), 2])
  assert.deepEqual(
    rows().map((row) => row.isCurrent),
    [true],
  )
})

test('cursors walk through all networks in either order, and are refused after a reorg of any network below them', (context) => {
  const world = worldWithMappings()
  const indexed = new IndexedWorld(context, world)
  // Applied block by block: each end of a batch can be reverted to.
  indexed.syncAll({ batchBlocks: 1 })
  const ask = (query: Partial<TokenMappingsQuery>) =>
    indexed.ask((shards) => getTokenMappings(shards, { pageNumber: 1, pageSize: 1, ...query }))
  const next = (answer: ReturnType<typeof ask>) => {
    assert.ok(answer.ok)
    const { nextCursor, rows } = answer.value
    return {
      rows: rows.map((row) => toHex(row.wrappedTokenAddress.bytes)),
      cursor: nextCursor === null ? undefined : cursorNumbers(nextCursor),
    }
  }
  for (const [order, expected] of [
    [{}, tokens(103, 102, 201, 101)],
    [{ isAscending: true }, tokens(101, 201, 102, 103)],
  ] as const) {
    const seen: Hex[] = []
    let page = next(ask(order))
    for (; page.cursor !== undefined; page = next(ask({ ...order, cursor: page.cursor })))
      seen.push(...page.rows)
    assert.deepEqual([...seen, ...page.rows], expected)
  }
  const afterTwo = next(ask({ pageSize: 2 })).cursor!
  const afterThree = next(ask({ pageSize: 3 })).cursor!
  world.network(1).reorg({ depth: 2, blocks: 'empty' })
  indexed.syncAll()
  assert.deepEqual(next(ask({ cursor: afterTwo })).rows, tokens(201))
  assert.deepEqual(next(ask({ cursor: afterThree })).rows, tokens(101))
  world.network(2).reorg({ depth: 1, blocks: 'replay' })
  indexed.syncAll()
  assert.equal(ask({ cursor: afterTwo }).ok, false)
  assert.deepEqual(next(ask({ cursor: afterThree })).rows, tokens(101))
})

test('a cursor from shards that were indexed anew since is refused', (context) => {
  const world = worldWithMappings()
  const reorganized = new IndexedWorld(context, world)
  reorganized.syncAll()
  // The reorg is below no listed mapping, so the cursor stays valid.
  world.network(2).mineEmpty(2)
  reorganized.syncAll({ batchBlocks: 1 })
  world.network(2).reorg({ depth: 1, blocks: 'empty' })
  reorganized.syncAll()
  const anew = new IndexedWorld(context, world)
  anew.syncAll()
  const ask = (indexed: IndexedWorld, query: Partial<TokenMappingsQuery>) =>
    indexed.ask((shards) => getTokenMappings(shards, { pageNumber: 1, pageSize: 1, ...query }))
  const page = ask(reorganized, {})
  assert.ok(page.ok)
  const cursor = cursorNumbers(page.value.nextCursor!)
  assert.equal(ask(anew, { cursor }).ok, false)
  assert.equal(ask(reorganized, { cursor }).ok, true)
})

test('where timestamps decrease, mappings are listed by time and then by position, in pages and by cursor', (context) => {
  const times = [100, 100, 130, 110, 130, 90, 120, 110]
  const world = createFakeWorld({
    networks: [1, 2],
    timeOf: (networkId, block) => (networkId === 1 ? times[block]! : 100 + 15 * block),
  })
  const [first, second] = [world.network(1), world.network(2)]
  for (let block = 1; block < times.length; block++)
    first.mine((builder) => builder.tx().setSovereignToken(block % 3, HOME, tokenAddress(100 + block)))
  for (let block = 1; block < 4; block++)
    second.mine((builder) => builder.tx().setSovereignToken(0, HOME, tokenAddress(200 + block)))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ batchBlocks: 1 })
  // 145: 203. 130: 104, 102; 202. 120: 106. 115: 201. 110: 107, 103. 100: 101. 90: 105.
  const all = tokens(203, 202, 104, 102, 106, 201, 107, 103, 101, 105)
  const ofFirst = tokens(104, 102, 106, 107, 103, 101, 105)
  assert.deepEqual(wrappedTokens(indexed), [all, 10])
  assert.deepEqual(wrappedTokens(indexed, { isAscending: true }), [[...all].reverse(), 10])
  assert.deepEqual(wrappedTokens(indexed, { networkId: asNetworkId(1) }), [ofFirst, 7])
  const ofHome = { networkId: asNetworkId(1), tokenNetwork: asNetworkId(1) }
  assert.deepEqual(wrappedTokens(indexed, ofHome), [tokens(104, 107, 101), 3])
  for (const isAscending of [false, true])
    for (const pageSize of [1, 2, 3, 7]) {
      const walked: Hex[] = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const bytes = cursor === undefined ? {} : { cursor: cursorNumbers(cursor) }
        const answer = indexed.ask((shards) =>
          getTokenMappings(shards, { pageNumber: 1, pageSize, isAscending, ...bytes }),
        )
        assert.ok(answer.ok)
        walked.push(...answer.value.rows.map((row) => toHex(row.wrappedTokenAddress.bytes)))
        cursor = answer.value.nextCursor
      }
      assert.deepEqual(walked, isAscending ? [...all].reverse() : all, `pages of ${pageSize}`)
    }
})
