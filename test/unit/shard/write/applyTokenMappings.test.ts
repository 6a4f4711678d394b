import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlockHeader, ChainEvent } from '../../../../src/protocol/chainEvent.js'
import type { BlockNumber } from '../../../../src/protocol/units.js'
import { readMappings } from '../../../support/shardContents.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, openTestShard } from '../../../support/testShard.js'

const address = (byte: number) => Buffer.alloc(20, byte)
const origin = { originNetwork: 0, originTokenAddress: address(1) }

const acts = {
  wrap: (wrapped: number) => ({
    type: 'wrappedToken',
    ...origin,
    wrappedTokenAddress: address(wrapped),
    metadata: Buffer.alloc(0),
  }),
  remap: (sovereign: number) => ({
    type: 'sovereignToken',
    ...origin,
    sovereignTokenAddress: address(sovereign),
    isNotMintable: true,
  }),
  remove: (sovereign: number) => ({ type: 'legacyTokenRemoved', sovereignTokenAddress: address(sovereign) }),
}

test('the current mapping is the one that the bridge would return, and older and removed mappings stay as history', async (context) => {
  const shard = openTestShard(tempFolder(context), 1)
  const events = [acts.wrap(10), acts.remap(20), acts.remap(30), acts.remove(20), acts.remap(10)]
  const header: BlockHeader = {
    number: 1 as BlockNumber,
    hash: Buffer.alloc(32, 1),
    parentHash: Buffer.alloc(32),
    timestampSec: 1,
  }
  const placed = events.map((event, logIndex) => ({
    ...event,
    blockNumber: 1,
    logIndex,
    transactionHash: Buffer.alloc(32, logIndex),
  }))
  shard.writer.applyBlocks(batchOf([{ header, events: placed as unknown as ChainEvent[] }]))
  assert.deepEqual(
    shard
      .read(readMappings)
      .map(({ wrappedTokenAddress, isCurrent, isRemoved }) => [
        wrappedTokenAddress.slice(2, 4),
        isCurrent,
        isRemoved,
      ]),
    [
      ['0a', false, false],
      ['14', false, true],
      ['1e', false, false],
      ['0a', true, false],
    ],
  )
  await shard.close()
})
