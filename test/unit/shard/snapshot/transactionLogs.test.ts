import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hexToBytes } from 'viem/utils'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { account, type FakeDeposit, userContract } from '../../../support/fakeState.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

test('an open sender comes with every log of its transaction, also those with a known sender', (t) => {
  const world = createFakeWorld()
  const [l1, l2] = [world.network(0), world.network(1)]
  let claimed: FakeDeposit | undefined
  l1.mine((block) => {
    claimed = block.tx().deposit({ destinationNetwork: 1, amount: 7n })
  })
  l2.mine((block) => {
    const tx = block.tx({ from: account(4), to: userContract(2) })
    tx.deposit({ amount: 3n, destinationAddress: account(50) })
    tx.noise()
    tx.claim({ deposit: claimed! })
    tx.deposit({ leafType: 1, amount: 0n })
  })
  const indexed = new IndexedWorld(t, world)
  indexed.syncAll({ withSenders: false })
  const writer = indexed.writer(1)
  // A sovereign bridge first emits the claim's hash chain event: log 2 is the claim.
  const logs = [
    {
      ...{ kind: 'deposit', logIndex: 0, leafType: 0, depositCount: 0, destinationNetwork: 0 },
      ...{ destinationAddress: hexToBytes(account(50)), amount: 3n },
    },
    {
      ...{ kind: 'claim', logIndex: 3, globalIndex: 1n << 64n },
      ...{ destinationAddress: hexToBytes(account(99)), amount: 7n },
    },
    {
      ...{ kind: 'deposit', logIndex: 4, leafType: 1, depositCount: 1, destinationNetwork: 0 },
      ...{ destinationAddress: hexToBytes(account(99)), amount: 0n },
      originAddress: hexToBytes(userContract(2)),
    },
  ]
  const open = writer.unresolvedSenders(10)
  assert.deepEqual(
    open.map(({ kind, ordinal, logIndex }) => [kind, ordinal, logIndex]),
    [
      ['deposit', 0, 0],
      ['deposit', 1, 4],
      ['claim', 0, 3],
    ],
  )
  for (const { transactionLogs } of open) assert.deepEqual(transactionLogs, logs)
  const sender = { caller: hexToBytes(userContract(2)), transactionSender: hexToBytes(account(4)) }
  writer.resolveSenders(open.filter(({ kind }) => kind === 'deposit').map((row) => ({ ...row, sender })))
  const [rest] = writer.unresolvedSenders(10)
  assert.equal(rest!.kind, 'claim')
  assert.deepEqual(rest!.transactionLogs, logs, 'the resolved ones still stand beside it')
})
