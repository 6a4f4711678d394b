import assert from 'node:assert/strict'
import test from 'node:test'
import { hexToBytes } from 'viem'
import type { BridgesQuery } from '../../../../src/protocol/queries.js'
import { asDepositCount, asNetworkId } from '../../../../src/protocol/units.js'
import { getBridges } from '../../../../src/shard/queries/getBridges.js'
import { LIST_CHUNK } from '../../../../src/store/tables.js'
import { expectedBridge, plainBridge } from '../../../support/expectedRows.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { expectedDeposits } from '../../../support/fakeChainModel.js'
import { account, userContract } from '../../../support/fakeChainTransaction.js'
import { IndexedWorld, senderOf } from '../../../support/indexedWorld.js'

function ask(indexed: IndexedWorld, query: Partial<BridgesQuery>) {
  const answer = indexed.ask((shards) =>
    getBridges(shards, { networkId: asNetworkId(0), pageNumber: 1, pageSize: 1000, ...query }),
  )
  assert.ok(answer.ok)
  return answer.value
}

test('lists of several chunks page like short ones: every page of every filter adds up to the same rows', (context) => {
  const world = createFakeWorld({ networks: [1, 2] })
  const l1 = world.network(0)
  const count = 2 * LIST_CHUNK + 3
  // Network 1 gets two deposits of three; account 2 makes every second one: their lists end in other chunks.
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

test('a page beyond the end is empty, with the same total, however far', (context) => {
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
    { depositCount: asDepositCount(1) },
  ])
    for (const pageNumber of [2, 0xffff_ffff]) {
      const { rows, total } = ask(indexed, { ...filters, pageNumber, pageSize: 1000 })
      assert.deepEqual([rows, total], [[], 'depositCount' in filters ? 1 : 3], JSON.stringify(filters))
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
    { depositCount: asDepositCount(0) },
  ]) {
    const { rows, total } = ask(indexed, filters)
    assert.deepEqual([rows, total], [[], 0])
  }
})

test('a sender is null, and in no list, until backfill has resolved it', (context) => {
  const world = createFakeWorld({ networks: [1] })
  const block = world.network(0).mine((next) => {
    const tx = next.tx({ from: account(4), to: userContract(1) })
    for (let made = 0; made < 2; made++) tx.deposit({ destinationNetwork: 1 })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders: false })
  assert.deepEqual(
    ask(indexed, {}).rows.map(({ caller, transactionSender }) => [caller, transactionSender]),
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
    ask(indexed, {}).rows.map(({ caller }) => caller === null),
    [true, false],
  )
})
