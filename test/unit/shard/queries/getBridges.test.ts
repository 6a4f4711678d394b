import assert from 'node:assert/strict'
import test from 'node:test'
import type { Hex } from 'viem'
import { hexToBytes } from 'viem/utils'
import { asBlockNumber, asDepositCount, asNetworkId } from '../../../../src/protocol/units.js'
import type { BridgesQuery } from '../../../../src/query/queries.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { LIST_CHUNK } from '../../../../src/store/layout/tables.js'
import { bothTexts } from '../../../support/bothTexts.js'
import { cursorNumbers } from '../../../support/cursorNumbers.js'
import { expectedBridge, plainBridge } from '../../../support/expectedRows.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { expectedDeposits } from '../../../support/fakeChainModel.js'
import { account, userContract } from '../../../support/fakeState.js'
import { senderOf, toHex } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

function ask(indexed: IndexedWorld, query: Partial<BridgesQuery>) {
  const answer = indexed.ask((shards) =>
    getBridges(shards, { networkId: asNetworkId(0), pageNumber: 1, pageSize: 1000, ...query }),
  )
  assert.ok(answer.ok)
  return answer.value
}

test('lists of several chunks have pages like short ones: the pages of every filter add up to the same rows', (context) => {
  const world = createFakeWorld({ networks: [1, 2] })
  const l1 = world.network(0)
  const count = 2 * LIST_CHUNK + 3
  // Network 1 gets two of three deposits, and account 2 makes every second one, so their lists end in
  // different chunks.
  l1.mine((block) => {
    for (let made = 0; made < count; made++)
      block.tx({ from: account(1 + (made % 2)) }).deposit({
        destinationNetwork: made % 3 === 0 ? 2 : 1,
        forceUpdate: made % 100 === 0,
      })
  })
  world.network(1).mine((block) => block.tx().injectGer(l1.globalExitRoot()))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const all = expectedDeposits(world, 0).reverse()
  const toOne = (deposit: (typeof all)[number]) => deposit.destinationNetwork === 1
  const byTwo = (deposit: (typeof all)[number]) => deposit.caller === account(2)
  const cases: [Partial<BridgesQuery>, typeof all][] = [
    [{}, all],
    [{ networkIds: [asNetworkId(1)] }, all.filter(toOne)],
    [{ networkIds: [asNetworkId(2), asNetworkId(1)] }, all],
    [{ fromAddress: hexToBytes(account(2)) }, all.filter(byTwo)],
    [
      { fromAddress: hexToBytes(account(2)), networkIds: [asNetworkId(1)] },
      all.filter((deposit) => byTwo(deposit) && toOne(deposit)),
    ],
    [{ readyForClaim: true }, all.filter((deposit) => deposit.readyForClaim)],
    [{ readyForClaim: false }, all.filter((deposit) => !deposit.readyForClaim)],
    [
      { readyForClaim: true, fromAddress: hexToBytes(account(2)) },
      all.filter((deposit) => deposit.readyForClaim && byTwo(deposit)),
    ],
  ]
  for (const [filters, expected] of cases) {
    const told = JSON.stringify(Object.keys(filters))
    assert.ok(expected.length > 100, told)
    const rows = []
    for (let pageNumber = 1; pageNumber <= Math.ceil(expected.length / 100); pageNumber++) {
      const page = ask(indexed, { ...filters, pageNumber, pageSize: 100 })
      assert.deepEqual([page.page, page.limit, page.total], [pageNumber, 100, expected.length], told)
      rows.push(...page.rows.map(plainBridge))
    }
    assert.deepEqual(rows, expected.map(expectedBridge), told)
  }
})

test('bridges of the same content have one leaf hash, and those that a cut took off are not among them', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const l2 = world.network(1)
  const same = { destinationNetwork: 0, amount: 5n, destinationAddress: account(20) }
  for (const amount of [5n, 6n, 5n, 5n]) l2.mine((block) => block.tx().deposit({ ...same, amount }))
  const [first, other] = expectedDeposits(world, 1)
  l2.mine((block) => block.tx().backwardLet(3))
  l2.mine((block) => block.tx().deposit({ ...same, amount: 7n }))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ batchBlocks: 1 })
  const countsOf = (leaf: Hex) =>
    ask(indexed, { networkId: asNetworkId(1), leafHash: hexToBytes(leaf) }).rows.map(
      ({ depositCount }) => depositCount,
    )
  assert.deepEqual(countsOf(first!.leaf), [2, 0])
  assert.deepEqual(countsOf(other!.leaf), [1])
  // The first 8 bytes alone are no match.
  assert.deepEqual(countsOf(`${first!.leaf.slice(0, 18)}${'00'.repeat(24)}` as Hex), [])
  indexed.writer(1).revertTo(asBlockNumber(l2.head.number - 2))
  assert.deepEqual(countsOf(first!.leaf), [3, 2, 0])
})

test('a page beyond the end is empty and has the same total, however far it is', (context) => {
  const world = createFakeWorld({ networks: [1] })
  world.network(0).mine((block) => {
    for (let made = 0; made < 3; made++) block.tx().deposit({ destinationNetwork: 1 })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  for (const filters of [
    {},
    { networkIds: [asNetworkId(1)] },
    { fromAddress: hexToBytes(account(1)) },
    { readyForClaim: false },
    { depositCounts: [asDepositCount(1)] },
  ])
    for (const pageNumber of [2, 0xffff_ffff]) {
      const { rows, total } = ask(indexed, { ...filters, pageNumber, pageSize: 1000 })
      assert.deepEqual([rows, total], [[], 'depositCounts' in filters ? 1 : 3], JSON.stringify(filters))
    }
})

test('before anything is indexed every list is empty', (context) => {
  const indexed = new IndexedWorld(context, createFakeWorld({ networks: [1] }))
  for (const filters of [
    {},
    { networkIds: [asNetworkId(1), asNetworkId(77)] },
    { fromAddress: hexToBytes(account(1)) },
    { readyForClaim: true },
    { readyForClaim: false, networkIds: [asNetworkId(77)] },
    { depositCounts: [asDepositCount(0)] },
  ]) {
    const { rows, total } = ask(indexed, filters)
    assert.deepEqual([rows, total], [[], 0])
  }
})

test('a sender is null, and in no filter, until backfill has resolved it', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const block = world.network(0).mine((next) => {
    const tx = next.tx({ from: account(4), to: userContract(1) })
    for (let made = 0; made < 2; made++) tx.deposit({ destinationNetwork: 1 })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders: false })
  assert.deepEqual(
    ask(indexed, {}).rows.map(({ originAddress, transactionSender }) => [originAddress, transactionSender]),
    [
      [null, null],
      [null, null],
    ],
  )
  assert.equal(ask(indexed, { fromAddress: hexToBytes(account(4)) }).total, 0)
  const [open] = indexed.writer(0).unresolvedSenders(1)
  indexed.writer(0).resolveSenders([{ ...open!, sender: senderOf(block, open!.logIndex) }])
  for (const from of [account(4), userContract(1)])
    assert.deepEqual(
      ask(indexed, { fromAddress: hexToBytes(from) }).rows.map(({ depositCount }) => depositCount),
      [0],
    )
  assert.deepEqual(
    ask(indexed, {}).rows.map(({ originAddress }) => originAddress === null),
    [true, false],
  )
})

test('the sender of a message is its own origin address, before and after its sender is resolved', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const block = world
    .network(0)
    .mine((next) =>
      next.tx({ from: account(4), to: userContract(1) }).deposit({ destinationNetwork: 1, leafType: 1 }),
    )
  const own = block.state.deposits[0]!.originAddress
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders: false })
  const told = () =>
    ask(indexed, {}).rows.map(({ originAddress, tokenAddress, transactionSender }) =>
      [originAddress, tokenAddress, transactionSender].map((address) => address && toHex(address.bytes)),
    )
  assert.deepEqual(told(), [[own, own, null]])
  const [open] = indexed.writer(0).unresolvedSenders(1)
  const sender = { caller: hexToBytes(account(6)), transactionSender: hexToBytes(account(4)) }
  indexed.writer(0).resolveSenders([{ ...open!, sender }])
  assert.deepEqual(told(), [[own, own, account(4)]])
})

test('a sender that no endpoint knows stays null, and does not delay later senders', (context) => {
  const world = createFakeWorld({ networks: [1] })
  for (let made = 0; made < 2; made++)
    world.network(0).mine((next) => next.tx({ from: account(4) }).deposit({ destinationNetwork: 1 }))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders: false })
  const [first, second] = indexed.writer(0).unresolvedSenders(2)
  const sender = { caller: hexToBytes(account(4)), transactionSender: hexToBytes(account(4)) }
  indexed.writer(0).resolveSenders([
    { ...first!, sender: null },
    { ...second!, sender },
  ])
  assert.equal(indexed.writer(0).counts().unresolvedSenders, 0)
  const rows = ask(indexed, {}).rows.map(({ originAddress, transactionSender }) => [
    originAddress,
    transactionSender,
  ])
  assert.deepEqual(rows[1], [null, null])
  assert.notEqual(rows[0]![0], null)
  const zero = { fromAddress: new Uint8Array(20) }
  assert.equal(ask(indexed, zero).total, 0, 'the zero address is no sender')
})

/** Five blocks with two deposits each. */
function worldOfTen() {
  const world = createFakeWorld({ networks: [1] })
  for (let blocks = 0; blocks < 5; blocks++)
    world.network(0).mine((block) => {
      for (let made = 0; made < 2; made++) block.tx().deposit({ destinationNetwork: 1 })
    })
  return world
}

const countsOf = ({ rows }: { rows: readonly { readonly depositCount: number }[] }) =>
  rows.map(({ depositCount }) => depositCount)

const numbersOf = (cursor: string | null) => cursorNumbers(cursor!)

test('a page by cursor tells which page of the list it is, and the last page has no next cursor', (context) => {
  const indexed = new IndexedWorld(context, worldOfTen())
  indexed.syncAll()
  for (const order of [{}, { isAscending: true }]) {
    const numbers = order.isAscending ? [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    let page = ask(indexed, { ...order, pageSize: 4 })
    const pages = [page]
    while (page.nextCursor !== null) {
      page = ask(indexed, { ...order, pageSize: 4, cursor: numbersOf(page.nextCursor) })
      pages.push(page)
    }
    assert.deepEqual(
      pages.map((one) => [one.page, one.limit, one.total, countsOf(one)]),
      [0, 1, 2].map((at) => [at + 1, 4, 10, numbers.slice(4 * at, 4 * at + 4)]),
    )
  }
})

test('a cursor survives a reorg down to its own row, and is refused after a deeper one', (context) => {
  for (const order of [{}, { isAscending: true }])
    for (const [depth, expected] of [
      [order.isAscending ? 3 : 2, order.isAscending ? [] : [5, 4, 3, 2]],
      [order.isAscending ? 4 : 3, 'refused'],
    ] as const) {
      const world = worldOfTen()
      const indexed = new IndexedWorld(context, world)
      indexed.syncAll()
      const { nextCursor } = ask(indexed, { ...order, pageSize: 4 })
      world.network(0).reorg({ depth, blocks: 'empty' })
      indexed.syncAll()
      const told = `${JSON.stringify(order)} depth ${depth}`
      const answer = indexed.ask((shards) =>
        getBridges(shards, {
          ...{ networkId: asNetworkId(0), pageNumber: 1, pageSize: 4, ...order },
          cursor: numbersOf(nextCursor),
        }),
      )
      if (expected === 'refused')
        assert.deepEqual(
          answer,
          {
            ok: false,
            code: 'INVALID_PARAMETER',
            message:
              'cursor is from before a reorganization that replaced rows of this list: start again without it',
          },
          told,
        )
      else assert.deepEqual(answer.ok && countsOf(answer.value), expected, told)
    }
})

test('a cursor from a shard that was indexed anew since is refused', (context) => {
  const world = worldOfTen()
  const reorganized = new IndexedWorld(context, world)
  reorganized.syncAll()
  world.network(0).reorg({ depth: 1 })
  reorganized.syncAll()
  const { nextCursor } = ask(reorganized, { pageSize: 4 })
  const anew = new IndexedWorld(context, world)
  anew.syncAll()
  const query = { networkId: asNetworkId(0), pageNumber: 1, pageSize: 4, cursor: numbersOf(nextCursor) }
  assert.equal(anew.ask((shards) => getBridges(shards, query)).ok, false)
  assert.equal(reorganized.ask((shards) => getBridges(shards, query)).ok, true)
})

test('bridges with metadata of any listed size have the same text from stored bytes as from records', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const sizes = [0, 1, 15, 16, 17, 224, 1_025, 4_000, 4_080, 4_095, 4_096]
  const deposits = [...sizes, ...sizes.reverse()].map((size, at) => ({
    destinationNetwork: 1,
    leafType: at % 2,
    metadata: `0x${(at + 16).toString(16).repeat(size)}` as const,
  }))
  world.network(0).mine((block) => {
    for (const deposit of deposits) block.tx().deposit(deposit)
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const query = { networkId: asNetworkId(0), pageNumber: 1, pageSize: 1000, isAscending: true }
  const [plain, packed] = bothTexts(indexed, 'getBridges', query)
  assert.equal(packed, plain)
  const { bridges } = JSON.parse(packed) as { bridges: readonly { readonly metadata: string }[] }
  assert.deepEqual(
    bridges.map(({ metadata }) => metadata),
    deposits.map(({ metadata }) => metadata),
  )
})

test('where timestamps decrease, a time range has exactly its deposits, by every filter, page and cursor, after a reorg too', (context) => {
  const steps = [0, 12, 24, 400, 36, 36, 12, 60]
  const world = createFakeWorld({
    networks: [1, 2],
    timeOf: (networkId, block) => 10_000 + 40 * block + (networkId === 1 ? steps[block % steps.length]! : 0),
  })
  const network = world.network(1)
  const mine = (from: number, to: number) => {
    for (let block = from; block <= to; block++)
      network.mine((builder) =>
        builder
          .tx({ from: account(1 + (block % 3)) })
          .deposit({ destinationNetwork: block % 2 === 0 ? 0 : 2 }),
      )
  }
  const indexed = new IndexedWorld(context, world)
  const check = () => {
    const all = expectedDeposits(world, 1)
    for (const [from, to] of [
      [10_000, 12_000],
      [12_024, 13_400],
      [13_436, 13_436],
      [14_000, 100_000],
      [0, 9_000],
      [15_000, 14_000],
      [undefined, 14_036],
      [14_036, undefined],
    ])
      for (const sender of [undefined, 2])
        for (const isAscending of [false, true]) {
          const filters = {
            networkId: asNetworkId(1),
            isAscending,
            ...(from === undefined ? {} : { fromTimestampSec: from }),
            ...(to === undefined ? {} : { toTimestampSec: to }),
            ...(sender === undefined ? {} : { fromAddress: hexToBytes(account(sender)) }),
          }
          const matching = all
            .filter(({ timestampSec }) => timestampSec >= (from ?? 0) && timestampSec <= (to ?? 1e9))
            .filter(({ caller }) => sender === undefined || caller === account(sender))
            .map(({ depositCount }) => depositCount)
          const expected = isAscending ? matching : matching.reverse()
          const told = JSON.stringify(filters)
          const whole = ask(indexed, filters)
          assert.equal(whole.total, expected.length, told)
          assert.deepEqual(
            whole.rows.map(({ depositCount }) => depositCount),
            expected,
            told,
          )
          const walked: number[] = []
          for (let cursor: string | null | undefined; cursor !== null; ) {
            const bytes = cursor === undefined ? {} : { cursor: cursorNumbers(cursor) }
            const { rows, nextCursor } = ask(indexed, { ...filters, pageSize: 7, ...bytes })
            walked.push(...rows.map(({ depositCount }) => depositCount))
            cursor = nextCursor
          }
          assert.deepEqual(walked, expected, told)
        }
  }
  mine(1, 150)
  indexed.sync(1, { batchBlocks: 1 })
  check()
  network.reorg({ depth: 60, blocks: 'empty' })
  mine(152, 200)
  indexed.syncAll()
  check()
})

test('a decreasing timestamp counts although its block has no deposit', (context) => {
  for (const batchBlocks of [1, 100]) {
    const times = [0, 100, 50, 80]
    const world = createFakeWorld({ networks: [1], timeOf: (_, block) => times[block]! })
    const network = world.network(1)
    network.mine((block) => block.tx().deposit())
    network.mineEmpty(1)
    network.mine((block) => block.tx().deposit())
    const indexed = new IndexedWorld(context, world)
    indexed.sync(1, { batchBlocks })
    const since = (fromTimestampSec: number) =>
      ask(indexed, { networkId: asNetworkId(1), fromTimestampSec }).rows.map(
        ({ depositCount }) => depositCount,
      )
    assert.deepEqual(since(90), [0])
    assert.deepEqual(since(80), [1, 0])
  }
})

test('a message is found by its origin address and by its transaction, also as a leaf of ForwardLET or with an unknown sender', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const network = world.network(1)
  const [origin, forwarder] = [userContract(7), account(9)]
  const message = {
    ...{ leafType: 1, originNetwork: 1, originAddress: origin },
    ...{ destinationNetwork: 0, destinationAddress: account(20), metadata: '0x' as const },
  }
  const found = (indexed: IndexedWorld, address: string) =>
    ask(indexed, { networkId: asNetworkId(1), fromAddress: hexToBytes(address as Hex) }).rows.map(
      ({ depositCount }) => depositCount,
    )
  network.mine((block) => block.tx({ from: account(3) }).deposit())
  network.mine((block) => {
    const leaves = [1n, 2n].map((amount) => ({ ...message, amount }))
    block.tx({ from: forwarder }).forwardLet(leaves)
  })
  network.mine((block) => block.tx({ from: account(4), to: origin }).deposit({ leafType: 1 }))
  for (const withSenders of [true, false]) {
    const indexed = new IndexedWorld(context, world)
    indexed.syncAll({ withSenders, batchBlocks: 1 })
    const writer = indexed.writer(1)
    // A transaction that no node knows any more has no sender.
    const open = writer.unresolvedSenders(10)
    const isLost = ({ ordinal }: (typeof open)[number]) => ordinal === 2 || ordinal === 3
    writer.resolveSenders(
      open.map((row) => ({
        ...row,
        sender: isLost(row) ? null : senderOf(network.blocks[row.blockNumber]!, row.logIndex),
      })),
    )
    assert.deepEqual(found(indexed, origin), [3, 2, 1])
    assert.deepEqual(found(indexed, forwarder), withSenders ? [2, 1] : [1])
    assert.deepEqual(found(indexed, account(4)), withSenders ? [3] : [])
  }
  // A cut removes the deposits from the lists.
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ batchBlocks: 1 })
  network.mine((block) => block.tx().backwardLet(2))
  indexed.syncAll({ batchBlocks: 1 })
  assert.deepEqual(found(indexed, origin), [1])
  network.reorg({ depth: 1, blocks: 'empty' })
  indexed.syncAll()
  assert.deepEqual(found(indexed, origin), [3, 2, 1])
})
