import assert from 'node:assert/strict'
import test from 'node:test'
import { hexToBytes } from 'viem/utils'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { getClaims } from '../../../../src/shard/queries/getClaims.js'
import { plainRow } from '../../../support/expectedRows.js'
import { createFakeWorld, type FakeWorld } from '../../../support/fakeChain.js'
import { account, type FakeDeposit, userContract } from '../../../support/fakeState.js'
import { senderOf } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

function worldWithDeposits(): { world: FakeWorld; deposits: FakeDeposit[] } {
  const world = createFakeWorld({ networks: [1] })
  const deposits: FakeDeposit[] = []
  world.network(0).mine((block) => block.tx().createRollup(1, 1001))
  world.network(0).mine((block) => {
    for (const amount of [7n, 8n]) deposits.push(block.tx().deposit({ amount, destinationNetwork: 1 }))
  })
  return { world, deposits }
}

function claimsOf(indexed: IndexedWorld, networkId: number, fromAddress?: `0x${string}`) {
  const from = fromAddress === undefined ? {} : { fromAddress: hexToBytes(fromAddress) }
  const answer = indexed.ask((shards) =>
    getClaims(shards, { networkId: asNetworkId(networkId), pageNumber: 1, pageSize: 100, ...from }),
  )
  assert.ok(answer.ok)
  assert.equal(answer.value.total, answer.value.rows.length)
  return answer.value.rows.map(plainRow)
}

test("a claim set by an administrator is listed once its deposit is known, with the deposit's fields and the transaction's sender", (context) => {
  const { world, deposits } = worldWithDeposits()
  const [, deposit] = deposits
  const set = world.network(1).mine((block) => block.tx({ from: account(4) }).setClaim(deposit!))
  const indexed = new IndexedWorld(context, world)
  indexed.sync(1)
  assert.deepEqual(claimsOf(indexed, 1), [])
  indexed.sync(0)
  const [row] = claimsOf(indexed, 1)
  assert.equal(row?.transactionHash, set.transactions[0]!.hash)
  assert.equal(row?.amount, `0x${'8'.padStart(64, '0')}`)
  assert.equal(row?.destinationAddress, deposit!.destinationAddress)
  assert.equal(row?.bridgeTransactionHash, deposit!.transactionHash)
  assert.equal(row?.globalIndex, `0x${(2n ** 64n + 1n).toString(16).padStart(64, '0')}`)
  assert.deepEqual([row?.caller, row?.transactionSender], [null, account(4)])
  assert.deepEqual(claimsOf(indexed, 1, account(4)), [row])
  assert.deepEqual(claimsOf(indexed, 1, account(1)), [])
})

test('the sender of a claim set by an administrator is resolved like others, and later when no endpoint knows the transaction', (context) => {
  const { world, deposits } = worldWithDeposits()
  world.network(1).mine((block) => {
    block.tx({ from: account(4) }).setClaim(deposits[1]!)
    block.tx({ from: account(5) }).claim({ deposit: deposits[0]! })
  })
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders: false })
  const writer = indexed.writer(1)
  assert.deepEqual(
    writer.unresolvedSenders(10).map(({ ordinal, transactionLogs: [log] }) => [ordinal, log?.kind]),
    [
      [0, 'claimSet'],
      [1, 'claim'],
    ],
  )
  const told = (id: number) => ({
    caller: hexToBytes(account(id)),
    transactionSender: hexToBytes(account(id)),
  })
  const [set, claimed] = writer.unresolvedSenders(10)
  writer.resolveSenders([{ ...set!, sender: null }])
  assert.deepEqual(
    claimsOf(indexed, 1).map((row) => row.transactionSender),
    [null, null],
  )
  const [noted] = writer.notedSenders({ limit: 10 })
  assert.deepEqual([noted?.isUnknown, noted?.transactionLogs[0]?.kind], [true, 'claimSet'])
  writer.correctSenders([{ row: noted!, sender: told(4) }])
  writer.resolveSenders([{ ...claimed!, sender: told(5) }])
  assert.deepEqual(
    claimsOf(indexed, 1).map((row) => [row.caller, row.transactionSender]),
    [
      [account(5), account(5)],
      [null, account(4)],
    ],
  )
  assert.equal(claimsOf(indexed, 1, account(4)).length, 1)
  assert.equal(writer.counts().unresolvedSenders, 0)
})

test('a claim of a deposit that is not indexed has no bridge transaction', (context) => {
  const { world, deposits } = worldWithDeposits()
  world.network(1).mine((block) => block.tx().claim({ deposit: deposits[0]! }))
  const alone = new IndexedWorld(context, world, [1])
  alone.syncAll()
  assert.equal(claimsOf(alone, 1)[0]?.bridgeTransactionHash, null)
  const late = new IndexedWorld(context, world)
  late.sync(1)
  assert.equal(claimsOf(late, 1)[0]?.bridgeTransactionHash, null)
  late.sync(0)
  assert.equal(claimsOf(late, 1)[0]?.bridgeTransactionHash, deposits[0]!.transactionHash)
})

test('equal deposit counts of three networks are three claims, each with its own bridge', (context) => {
  const world = createFakeWorld({ networks: [1, 2, 3] })
  const made: FakeDeposit[] = []
  for (const id of [0, 1, 2])
    world.network(id).mine((block) => made.push(block.tx().deposit({ destinationNetwork: 3, amount: 1n })))
  for (const deposit of made) world.network(3).mine((block) => block.tx().claim({ deposit }))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.deepEqual(
    claimsOf(indexed, 3).map((row) => [row.sourceNetwork, row.depositCount, row.bridgeTransactionHash]),
    made.map((deposit) => [deposit.networkId, 0, deposit.transactionHash]).reverse(),
  )
})

test('after claim, unset and claim again the list has one row, the newest', (context) => {
  const { world, deposits } = worldWithDeposits()
  const l2 = world.network(1)
  const deposit = deposits[0]!
  l2.mine((block) => block.tx({ from: account(4) }).claim({ deposit }))
  l2.mine((block) => block.tx().unsetClaim(deposit))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  assert.deepEqual(claimsOf(indexed, 1), [])
  const again = l2.mine((block) => block.tx({ from: account(4) }).claim({ deposit }))
  indexed.syncAll()
  assert.deepEqual(
    claimsOf(indexed, 1, account(4)).map((row) => row.transactionHash),
    [again.transactions[0]!.hash],
  )
  l2.reorg({ depth: 2 })
  indexed.syncAll()
  assert.equal(claimsOf(indexed, 1).length, 1)
})

test('a claimer is null, and in no filter, until backfill has resolved it', (context) => {
  const { world, deposits } = worldWithDeposits()
  const block = world
    .network(1)
    .mine((next) => next.tx({ from: account(4), to: userContract(1) }).claim({ deposit: deposits[0]! }))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll({ withSenders: false })
  assert.deepEqual(
    [claimsOf(indexed, 1)[0]?.caller, claimsOf(indexed, 1)[0]?.transactionSender],
    [null, null],
  )
  assert.deepEqual(claimsOf(indexed, 1, account(4)), [])
  const [open] = indexed.writer(1).unresolvedSenders(10)
  indexed.writer(1).resolveSenders([{ ...open!, sender: senderOf(block, open!.logIndex) }])
  assert.equal(claimsOf(indexed, 1, account(4))[0]?.caller, userContract(1))
  assert.equal(claimsOf(indexed, 1, userContract(1))[0]?.transactionSender, account(4))
})
