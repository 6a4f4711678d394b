import assert from 'node:assert/strict'
import test from 'node:test'
import type { Hex } from 'viem'
import { getAddress, hexToBytes } from 'viem/utils'
import { asDepositCount, asNetworkId } from '../../../../src/protocol/units.js'
import type { SearchQuery } from '../../../../src/query/queries.js'
import { getSearch } from '../../../../src/shard/queries/getSearch.js'
import { plainRow } from '../../../support/expectedRows.js'
import { buildSmallWorld } from '../../../support/fakeChainScenario.js'
import { account, type FakeDeposit, tokenAddress, userContract } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

/** Results as plain values without what they lack. */
function search(indexed: IndexedWorld, query: SearchQuery) {
  const answer = indexed.ask((shards) => getSearch(shards, query))
  assert.ok(answer.ok)
  return { isComplete: answer.value.isComplete, results: answer.value.results.map(plainRow) }
}

const all = (results: readonly object[]) => ({ isComplete: true, results })
const bridgeOf = ({ networkId, depositCount, transactionHash }: FakeDeposit, type = 'bridge') => ({
  ...{ type, networkId, sourceNetwork: networkId, depositCount, transactionHash },
})
const oneOf = ({ networkId, depositCount }: FakeDeposit): SearchQuery => ({
  networkId: asNetworkId(networkId),
  depositCount: asDepositCount(depositCount),
})

test('a deposit is found as a bridge, and its claim on the network where it was made', (context) => {
  const { world, claimed, pending } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const claim = world.network(1).claims()[0]!
  const claimResult = {
    type: 'claim',
    networkId: 1,
    sourceNetwork: 0,
    depositCount: claimed.depositCount,
    transactionHash: claim.transactionHash,
  }
  assert.deepEqual(search(indexed, oneOf(claimed)), all([bridgeOf(claimed), claimResult]))
  assert.deepEqual(search(indexed, oneOf(pending)), all([bridgeOf(pending)]))
  for (const { networkId, transactionHash } of [claimed, pending])
    assert.deepEqual(
      search(indexed, { transactionHash: hexToBytes(transactionHash) }),
      all(
        world
          .network(networkId)
          .deposits()
          .filter((deposit) => deposit.transactionHash === transactionHash)
          .map((deposit) => bridgeOf(deposit)),
      ),
    )
  assert.deepEqual(
    search(indexed, { transactionHash: hexToBytes(claim.transactionHash) }),
    all([claimResult]),
  )
})

test('what is not indexed here is an empty answer', (context) => {
  const indexed = new IndexedWorld(context, buildSmallWorld().world)
  indexed.syncAll()
  for (const query of [
    { networkId: asNetworkId(0), depositCount: asDepositCount(999) },
    { networkId: asNetworkId(3), depositCount: asDepositCount(0) },
    { transactionHash: new Uint8Array(32).fill(7) },
    { address: new Uint8Array(20).fill(7) },
  ])
    assert.deepEqual(search(indexed, query), all([]))
})

test('an address is found on each network with the totals of the lists, a token with its home', (context) => {
  const { world } = buildSmallWorld()
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const find = (address: Hex) => search(indexed, { address: hexToBytes(address) }).results
  /** Counted by brute force from the chains. */
  const accountOn = (networkId: number, address: Hex) => {
    const deposits = world.network(networkId).deposits()
    const claims = world.network(networkId).claims()
    const from = (one: { caller: Hex; transactionSender: Hex }) =>
      one.caller === address || one.transactionSender === address
    const sent = deposits.filter((one) => (one.leafType === 1 && one.originAddress === address) || from(one))
    return {
      type: 'address',
      networkId,
      address,
      bridgesSent: sent.length,
      bridgesReceived: deposits.filter((one) => one.destinationAddress === address).length,
      claimsMade: claims.filter(from).length,
      claimsReceived: claims.filter((one) => one.destinationAddress === address).length,
    }
  }
  for (const address of [account(1), account(3), account(4), account(6), userContract(1), userContract(2)]) {
    const counted = world.networkIds
      .map((networkId) => accountOn(networkId, address))
      .filter((one) => one.bridgesSent + one.bridgesReceived + one.claimsMade + one.claimsReceived > 0)
    assert.deepEqual(find(address), counted, address)
    assert.ok(counted.length > 0, address)
  }
  const token = {
    type: 'token',
    networkId: 1,
    transactionHash: world.network(1).claims()[0]!.transactionHash,
    address: tokenAddress(100),
    tokenNetwork: 0,
    tokenAddress: tokenAddress(1),
    ...{ name: 'Fake', symbol: 'FK', decimals: 18, isCurrent: true },
  }
  for (const side of [tokenAddress(1), tokenAddress(100)]) assert.deepEqual(find(side), [token])
  const [answer] = indexed.ask((shards) => {
    const told = getSearch(shards, { address: hexToBytes(account(1)) })
    assert.ok(told.ok)
    return [told.value.results[0]!.address!]
  })
  // As viem spells it.
  const spelled = getAddress(account(1)).slice(2)
  for (let digit = 0; digit < 40; digit++)
    assert.equal(
      ((answer!.checksumMask[digit >> 3]! << (digit & 7)) & 0x80) !== 0,
      /[A-F]/.test(spelled[digit]!),
    )
})

test('a deposit that a cut took off is found by its transaction and its count, beside the one that has its count now', (context) => {
  const { world } = buildSmallWorld()
  const l2 = world.network(2)
  const archived = l2.deposits()[0]!
  l2.mine((block) => block.tx().backwardLet(0))
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  const told = all([bridgeOf(archived, 'archived_bridge')])
  assert.deepEqual(search(indexed, oneOf(archived)), told)
  assert.deepEqual(search(indexed, { transactionHash: hexToBytes(archived.transactionHash) }), told)
  l2.mine((block) => block.tx().deposit({ amount: 99n }))
  indexed.syncAll()
  assert.deepEqual(
    search(indexed, oneOf(archived)),
    all([bridgeOf(l2.deposits()[0]!), bridgeOf(archived, 'archived_bridge')]),
  )
})

test('of more than 100 results the first 100 are shown, and that there are more is told', (context) => {
  const { world } = buildSmallWorld()
  const many = (count: number) =>
    world.network(0).mine((block) => {
      const tx = block.tx({ to: userContract(1) })
      for (let made = 0; made < count; made++) tx.deposit({ destinationNetwork: 1, forceUpdate: false })
    }).transactions[0]!.hash
  const [fits, exceeds] = [many(100), many(101)]
  const indexed = new IndexedWorld(context, world)
  indexed.syncAll()
  for (const [hash, isComplete] of [
    [fits, true],
    [exceeds, false],
  ] as const) {
    const told = search(indexed, { transactionHash: hexToBytes(hash) })
    assert.deepEqual([told.isComplete, told.results.length], [isComplete, 100])
  }
})
