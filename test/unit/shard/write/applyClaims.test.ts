import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BlockHeader, ChainEvent } from '../../../../src/protocol/chainEvent.js'
import { encodeGlobalIndex } from '../../../../src/protocol/globalIndex.js'
import type { BlockNumber, DepositCount, NetworkId } from '../../../../src/protocol/units.js'
import { readUint256 } from '../../../../src/store/layout/bytes.js'
import { CLAIM_BYTES, decodeClaimRow } from '../../../../src/store/layout/claimRow.js'
import { uint32Key } from '../../../../src/store/layout/keys.js'
import { decodeUnsetClaimRow, unsetOrdinalOf } from '../../../../src/store/places/unsetClaimRow.js'
import type { ReadView } from '../../../../src/store/shardStore.types.js'
import { readClaimLinks, readClaims, readLists } from '../../../support/shardContents.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { TestNumbers } from '../../../support/testNumbers.js'
import { batchOf, openTestShard, type TestShard } from '../../../support/testShard.js'

type Event = Record<string, unknown>

/** Applies one block per group of events. */
async function withClaims(
  context: TestContext,
  networkId: number,
  groups: Event[][],
  body: (shard: TestShard) => void,
): Promise<void> {
  const shard = openTestShard(tempFolder(context), networkId)
  const numbers = new TestNumbers(1)
  let parentHash: Uint8Array = Buffer.alloc(32)
  try {
    groups.forEach((events, index) => {
      const blockNumber = (index + 1) as BlockNumber
      const header: BlockHeader = {
        number: blockNumber,
        hash: numbers.freshHash(),
        parentHash,
        timestampSec: 1,
      }
      const placed = events.map((event, logIndex) => {
        const transactionHash = Buffer.alloc(32, 16 * blockNumber + logIndex)
        return { ...event, blockNumber, logIndex, transactionHash }
      })
      shard.writer.applyBlocks(batchOf([{ header, events: placed as unknown as ChainEvent[] }]))
      parentHash = header.hash
    })
    body(shard)
  } finally {
    await shard.close()
  }
}

const deposit = (sourceNetwork: number, depositCount: number) => ({
  sourceNetwork: sourceNetwork as NetworkId,
  depositCount: depositCount as DepositCount,
})

function claim(globalIndex: bigint, generation: 'v1' | 'v2' = 'v2'): Event {
  const address = Buffer.alloc(20, 1)
  return {
    type: 'claim',
    generation,
    globalIndex,
    originNetwork: 0,
    originAddress: address,
    destinationAddress: address,
    amount: 5n,
    sender: { caller: address, transactionSender: address },
  }
}

const claimOf = (sourceNetwork: number, depositCount: number): Event =>
  claim(encodeGlobalIndex(sourceNetwork as NetworkId, depositCount as DepositCount))

const hash = (byte: number) => Buffer.alloc(32, byte).toString('hex')

test('claims of the same deposit count from the L1 and two rollups are three claims', (context) =>
  withClaims(context, 3, [[claimOf(0, 4), claimOf(1, 4), claimOf(2, 4)]], (shard) => {
    assert.deepEqual(shard.read(readClaimLinks), {
      '0:4': `0 ${hash(16)}`,
      '1:4': `1 ${hash(17)}`,
      '2:4': `2 ${hash(18)}`,
    })
    assert.deepEqual(shard.read(readLists)['claimsBySourceNetwork:00000001'], [1])
  }))

test('after claim, unset and claim again the last claim is in force and the first is history', (context) =>
  withClaims(
    context,
    1,
    [[claimOf(0, 7)], [{ type: 'claimUnset', ...deposit(0, 7) }], [claimOf(0, 7)]],
    (shard) => {
      assert.deepEqual(shard.read(readClaimLinks), { '0:7': `1 ${hash(48)}` })
      const inForce = shard.read((view) => readClaims(view).map((row) => row.isInForce))
      assert.deepEqual(inForce, [false, true])
      assert.equal(shard.writer.counts().claims, 1)
      shard.writer.revertTo(2 as BlockNumber)
      assert.deepEqual(shard.read(readClaimLinks), {})
      shard.writer.revertTo(1 as BlockNumber)
      assert.deepEqual(shard.read(readClaimLinks), { '0:7': `0 ${hash(16)}` })
    },
  ))

test('an unset without a claim in force changes no claim', (context) =>
  withClaims(context, 1, [[{ type: 'claimUnset', ...deposit(0, 7) }]], (shard) => {
    assert.equal(shard.writer.counts().claims, 0)
    assert.deepEqual(shard.read(readClaims), [])
  }))

/** Ordinal, claim, block and hash chain of each unset, and by which unset each claim out of force is so. */
function unsetsOf(view: ReadView) {
  const all = { start: Uint8Array.of(0), end: new Uint8Array(9).fill(0xff) }
  return {
    unsets: view.list('unsetClaims', all).map(({ value }) => {
      const { claimOrdinal, blockNumber, transactionHash, hashChain } = decodeUnsetClaimRow(value)
      return [claimOrdinal, blockNumber, transactionHash[0], hashChain?.[0]]
    }),
    outOfForce: view.list('claimsOutOfForce', all).map(({ key, value }) => [key[3], unsetOrdinalOf(value)]),
  }
}

test('each unset is kept with its place and the claim that it took back, and goes with its block', (context) => {
  const hashChain = Buffer.alloc(32, 0xcc)
  const unset = (count: number, more = {}) => ({ type: 'claimUnset', ...deposit(0, count), ...more })
  return withClaims(
    context,
    1,
    [[claimOf(0, 7)], [claimOf(0, 7)], [unset(7, { hashChain })], [unset(8)]],
    (shard) => {
      const both = {
        unsets: [
          [1, 3, 48, 0xcc],
          [undefined, 4, 64, undefined],
        ],
        // A claim that another one replaced was not unset.
        outOfForce: [
          [0, undefined],
          [1, 0],
        ],
      }
      assert.deepEqual(shard.read(unsetsOf), both)
      shard.writer.revertTo(3 as BlockNumber)
      assert.deepEqual(shard.read(unsetsOf), { ...both, unsets: both.unsets.slice(0, 1) })
      shard.writer.revertTo(2 as BlockNumber)
      assert.deepEqual(shard.read(unsetsOf), { unsets: [], outOfForce: [[0, undefined]] })
    },
  )
})

const administrator = Buffer.alloc(20, 9)
const administratorHex = administrator.toString('hex')
const byAdministrator = { sender: { caller: administrator, transactionSender: administrator } }

test("a claim that an administrator sets is one row with its transaction's sender, also when the event comes twice", (context) =>
  withClaims(
    context,
    1,
    [
      [{ type: 'claimSet', ...deposit(2, 1), ...byAdministrator }],
      [{ type: 'claimSet', ...deposit(2, 1), sender: null }],
    ],
    (shard) => {
      const [row, ...others] = shard.read(readClaims)
      assert.deepEqual(others, [])
      assert.equal(row!.isSetByAdministrator, true)
      assert.deepEqual(
        [row!.caller, row!.transactionSender],
        [`0x${administratorHex}`, `0x${administratorHex}`],
      )
      assert.deepEqual(shard.read(readLists), {
        [`claimsBySender:${administratorHex}`]: [0],
        'claimsBySourceNetwork:00000002': [0],
        [`claimsByTransaction:${hash(16).slice(0, 16)}`]: [0],
        'claimsSetByAdministrator:': [0],
      })
      assert.equal(shard.writer.counts().unresolvedSenders, 0)
    },
  ))

for (const [network, source] of [
  [0, 1],
  [1, 0],
] as const)
  test(`a V1 claim on network ${network} names a deposit of network ${source} and keeps its bare index`, (context) =>
    withClaims(context, network, [[claim(9n, 'v1')]], (shard) => {
      assert.deepEqual(shard.read(readClaimLinks), { [`${source}:9`]: `0 ${hash(16)}` })
      assert.equal(readGlobalIndex(shard, 0), 9n)
    }))

test('a global index with unused bits set is kept as emitted, and names the deposit of its used bits', (context) => {
  const dirty = (1n << 255n) | (1n << 70n) | (3n << 32n) | 2n
  return withClaims(context, 1, [[claim(dirty)]], (shard) => {
    assert.deepEqual(shard.read(readClaimLinks), { '4:2': `0 ${hash(16)}` })
    assert.equal(readGlobalIndex(shard, 0), dirty)
  })
})

test('claim links span many chunks, and a chunk without claims is absent', (context) => {
  const counts = [0, 112, 113, 1_000_000, 4_294_967_294]
  return withClaims(context, 1, [counts.map((count) => claimOf(0, count))], (shard) => {
    const links = shard.read(readClaimLinks)
    assert.deepEqual(
      Object.keys(links),
      counts.map((count) => `0:${count}`),
    )
  })
})

function readGlobalIndex(shard: TestShard, ordinal: number): bigint {
  return shard.read((view) =>
    readUint256(decodeClaimRow(view.get('claims', uint32Key(0))!, CLAIM_BYTES * ordinal).globalIndex, 0),
  )
}
