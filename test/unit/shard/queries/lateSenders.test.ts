import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hex } from 'viem'
import { decodeHex } from '../../../../src/protocol/hex.js'
import { asNetworkId } from '../../../../src/protocol/units.js'
import { THRESHOLDS } from '../../../../src/shard/queries/shardReaders.js'
import { bothTexts } from '../../../support/bothTexts.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

const [sender, receiver, other] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}` as Hex) as [
  Hex,
  Hex,
  Hex,
]

for (const operation of ['getBridges', 'getClaims'] as const)
  test(`${operation}: a row whose sender is resolved late joins the kept list of sender and receiver`, (context) => {
    const world = createFakeWorld({ networks: [1] })
    const [l1, l2] = [world.network(0), world.network(1)]
    const indexed = new IndexedWorld(context, world)
    indexed.readers.thresholds = { ...THRESHOLDS, rowsWorthReading: 0, worthKeeping: 0 }
    // The sender has more deposits than the receiver gets: the receiver's list, which shows a row at once, is
    // read.
    const mine = (receivers: readonly Hex[], withSenders: boolean): void => {
      const first = l1.deposits().length
      l1.mine((block) => {
        for (const destinationAddress of receivers)
          block.tx({ from: sender }).deposit({ destinationNetwork: 1, destinationAddress })
      })
      l2.mine((block) => {
        for (const deposit of l1.deposits().slice(first)) block.tx({ from: sender }).claim({ deposit })
      })
      indexed.syncAll({ withSenders })
    }
    mine([receiver, receiver, other, other, other], true)
    mine([receiver], false)
    const networkId = operation === 'getBridges' ? 0 : 1
    const query = {
      ...{ networkId: asNetworkId(networkId), pageNumber: 1, pageSize: 10 },
      ...{ fromAddress: decodeHex(sender)!, toAddress: decodeHex(receiver)! },
    }
    const states = operation === 'getBridges' ? [{}, { claimed: true }] : [{}]
    const counts = () =>
      states.map((state) => {
        const [, text] = bothTexts(indexed, operation, { ...query, ...state })
        return (JSON.parse(text) as { pagination: { total: number } }).pagination.total
      })
    assert.deepEqual(
      counts(),
      states.map(() => 2),
    )
    const writer = indexed.writer(networkId)
    const told = { caller: decodeHex(sender)!, transactionSender: decodeHex(sender)! }
    writer.resolveSenders(writer.unresolvedSenders(10).map((row) => ({ ...row, sender: told })))
    assert.deepEqual(
      counts(),
      states.map(() => 3),
    )
  })
