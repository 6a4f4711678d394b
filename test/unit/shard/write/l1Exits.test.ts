import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Hex } from 'viem'
import { hexToBytes } from 'viem/utils'
import type { HaltReason } from '../../../../src/board/haltReason.js'
import type { ChainEvent, IndexedBlock } from '../../../../src/protocol/chainEvent.js'
import type { LeafCount } from '../../../../src/protocol/units.js'
import { uint32Key, uint32PairKey } from '../../../../src/store/layout/keys.js'
import { decodeL1InfoLeafRow, L1_INFO_LEAF_BYTES } from '../../../../src/store/layout/l1InfoLeafRow.js'
import { decodeUint32 } from '../../../../src/store/layout/smallRows.js'
import { UNRESOLVABLE_VERSION } from '../../../../src/store/layout/tables.js'
import { encodeEvent, eventNamed } from '../../../support/encodedLogs.js'
import {
  createFakeWorld,
  type FakeBlockBuilder,
  type FakeNetwork,
  type Recipe,
} from '../../../support/fakeChain.js'
import { localExitRootOf, userContract } from '../../../support/fakeState.js'
import { indexedBlock } from '../../../support/indexedBlocks.js'
import { hex, readCounters } from '../../../support/shardContents.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard, type TestShard } from '../../../support/testShard.js'

const root = (byte: number): Hex => `0x${byte.toString(16).padStart(2, '0').repeat(32)}`
const RAW = root(0x77)

/** Mines a block of the L1, as it is indexed. */
type Mine = (recipe: Recipe) => IndexedBlock

async function withL1(
  context: TestContext,
  body: (shard: TestShard, mine: Mine, l1: FakeNetwork) => void,
): Promise<void> {
  const shard = openTestShard(tempFolder(context), 0)
  const l1 = createFakeWorld({ networks: [] }).network(0)
  try {
    body(shard, (recipe) => indexedBlock(l1, l1.mine(recipe), true), l1)
  } finally {
    await shard.close()
  }
}

const deposit: Recipe = (block) => block.tx().deposit()
const rollup: Recipe = (block) => block.tx().createRollup(1, 1001)
const settle =
  (byte: number, form?: 'untrusted' | 'pending'): Recipe =>
  (block) =>
    block.tx().settle(1, root(byte), form)

function readLeaves(shard: TestShard) {
  return shard.read((view) =>
    Array.from({ length: readCounters(view).l1InfoLeaves }, (_, index) => {
      const row = decodeL1InfoLeafRow(view.get('l1InfoLeaves', uint32Key(0))!, L1_INFO_LEAF_BYTES * index)
      return { deposits: row.mainnetLeafCount as number, version: row.rollupExitVersion, hash: hex(row.hash) }
    }),
  )
}

/** Applies `block` and expects a refusal that leaves every table as it was. */
function assertRefused(shard: TestShard, block: IndexedBlock, reason: HaltReason, message: RegExp): void {
  const before = shard.read(dumpTables)
  const tip = shard.status.get('commits')
  assert.throws(
    () => shard.writer.applyBlocks(batchOf([block])),
    (error: Error & { reason?: HaltReason }) => {
      assert.equal(error.reason, reason)
      assert.match(error.message, message)
      return true
    },
  )
  assert.deepEqual(shard.read(dumpTables), before)
  assert.equal(shard.status.get('commits'), tip)
}

function changed<Type extends ChainEvent['type']>(
  block: IndexedBlock,
  type: Type,
  change: Partial<Extract<ChainEvent, { type: Type }>>,
): IndexedBlock {
  const events = block.events.map((event) => (event.type === type ? { ...event, ...change } : event))
  return { header: block.header, events: events as ChainEvent[] }
}

test('leaves record deposits and rollup exit version, also several in one transaction and with unforced deposits', (context) =>
  withL1(context, (shard, mine, l1) => {
    const blocks = [
      mine((block) => {
        for (const networkId of [1, 2]) block.tx().createRollup(networkId, 1000 + networkId)
      }),
      mine((block) => {
        block.tx().deposit()
        block.tx().deposit({ forceUpdate: false })
      }),
      // The settlement repeats the mainnet exit root from before the unforced deposit.
      mine(settle(1)),
      mine((block) => {
        const tx = block.tx({ to: userContract(1) })
        tx.settle(2, root(2))
        tx.deposit()
        tx.settle(1, root(3))
      }),
    ]
    shard.writer.applyBlocks(batchOf(blocks))
    const { l1InfoLeaves } = l1.head.state
    assert.deepEqual(
      readLeaves(shard),
      [
        { deposits: 1, version: 0 },
        { deposits: 1, version: 1 },
        { deposits: 1, version: 2 },
        { deposits: 3, version: 2 },
        { deposits: 3, version: 3 },
      ].map((leaf, index) => ({ ...leaf, hash: l1InfoLeaves[index]!.leaf.slice(2) })),
    )
    const ger = hexToBytes(l1.globalExitRoot())
    assert.equal(
      shard.read((view) => decodeUint32(view.get('l1InfoIndexByGer', ger)!)),
      4,
    )
    assert.equal(shard.status.get('l1InfoLeafCount'), 5)
  }))

test('an initial local exit root counts from the next settlement of any rollup', (context) =>
  withL1(context, (shard, mine) => {
    const added = (block: FakeBlockBuilder) => block.tx().addExistingRollup(2, 1002, root(9))
    shard.writer.applyBlocks(batchOf([rollup, settle(1), added, deposit, settle(2)].map(mine)))
    assert.deepEqual(
      readLeaves(shard).map(({ version }) => version),
      [1, 1, 2],
    )
    const initial = shard.read((view) => hex(view.get('settledLocalExitRoots', uint32PairKey(2, 2))!))
    assert.equal(`0x${initial}`, root(9))
  }))

test('a pending settlement counts only when a leaf has its root', (context) =>
  withL1(context, (shard, mine) => {
    const recipes = [rollup, settle(1, 'untrusted'), settle(2, 'pending'), deposit, settle(2)]
    shard.writer.applyBlocks(batchOf(recipes.map(mine)))
    assert.deepEqual(
      readLeaves(shard).map(({ version }) => version),
      [1, 1, 2],
    )
  }))

test('settling the same local exit root again needs no leaf, and settling a new one without a leaf is a missing log', (context) =>
  withL1(context, (shard, mine) => {
    shard.writer.applyBlocks(batchOf([rollup, settle(1), settle(1)].map(mine)))
    assert.equal(readLeaves(shard).length, 1)
    const { header, events } = mine(settle(2))
    const silent = { header, events: events.filter(({ type }) => type === 'rollupSettled') }
    assertRefused(shard, silent, 'missing_log', /settlement of network 1 in block 4 .* no UpdateL1InfoTree/)
  }))

test('a rollup exit root that no settlement explains is refused', (context) =>
  withL1(context, (shard, mine) => {
    shard.writer.applyBlocks(batchOf([rollup, settle(1)].map(mine)))
    const settlement = mine(settle(2))
    const events = settlement.events.filter((event) => event.type !== 'rollupSettled')
    const mismatch = /block 3 says rollup exit root 0x[0-9a-f]{64}, but 1 settlements give 0x[0-9a-f]{64}/
    assertRefused(shard, { ...settlement, events }, 'rollup_exit_root_mismatch', mismatch)
    const wrong = changed(settlement, 'rollupSettled', { localExitRoot: hexToBytes(root(5)) })
    assertRefused(shard, wrong, 'rollup_exit_root_mismatch', /2 settlements give/)
    shard.writer.applyBlocks(batchOf([settlement]))
  }))

test('a first settlement with a missing event is refused, not mistaken for the upgrade', (context) =>
  withL1(context, (shard, mine) => {
    shard.writer.applyBlocks(batchOf([mine(rollup)]))
    const settlement = mine(settle(1))
    const events = settlement.events.filter((event) => event.type !== 'rollupSettled')
    assertRefused(shard, { ...settlement, events }, 'rollup_exit_root_mismatch', /0 settlements give/)
  }))

test('leaves that repeat the V1 rollup exit root after the upgrade have no version, until the first settlement', (context) =>
  withL1(context, (shard, mine, l1) => {
    const v1: Recipe = (block) => {
      const tx = block.tx({ to: userContract(1) })
      tx.deposit({ forceUpdate: false })
      const roots = { mainnetExitRoot: localExitRootOf(block.state), rollupExitRoot: RAW }
      Object.assign(block.state, roots)
      tx.emitRaw(l1.contracts.globalExitRootManager, encodeEvent(eventNamed('UpdateGlobalExitRoot'), roots))
    }
    shard.writer.applyBlocks(batchOf([v1, rollup, deposit, settle(1)].map(mine)))
    assert.deepEqual(
      readLeaves(shard).map(({ version, deposits }) => [version, deposits]),
      [
        [UNRESOLVABLE_VERSION, 2],
        [1, 2],
      ],
    )
  }))

test('a shard that starts at the upgrade recognises the V1 rollup exit root', (context) =>
  withL1(context, (shard, mine) => {
    const afterV1: Recipe = (block) => {
      block.state.rollupExitRoot = RAW
      block.tx().deposit()
    }
    shard.writer.applyBlocks(batchOf([mine(afterV1)]))
    assert.deepEqual(
      readLeaves(shard).map(({ version }) => version),
      [UNRESOLVABLE_VERSION],
    )
  }))

test('a mainnet exit root other than that of the preceding deposits is refused', (context) =>
  withL1(context, (shard, mine) => {
    shard.writer.applyBlocks(batchOf([mine(deposit)]))
    const block = mine(deposit)
    const wrong = changed(block, 'l1InfoLeaf', { mainnetExitRoot: hexToBytes(root(1)) })
    const message =
      /^UpdateL1InfoTree in block 2 says exit root 0x0101[0-9a-f]*, but 2 deposits give 0x[0-9a-f]{64}$/
    assertRefused(shard, wrong, 'exit_root_mismatch', message)
    const late = { ...block, events: [...block.events.slice(1), block.events[0]!] }
    assertRefused(shard, late, 'exit_root_mismatch', /but 1 deposits give/)
    shard.writer.applyBlocks(batchOf([block]))
  }))

test('UpdateL1InfoTreeV2 must agree in root, leaf count, parent hash and time', (context) =>
  withL1(context, (shard, mine) => {
    shard.writer.applyBlocks(batchOf([mine(deposit)]))
    const block = mine(deposit)
    const cases = [
      [{ l1InfoRoot: hexToBytes(root(1)) }, /says L1 info root 0x0101.*, but 2 leaves give 0x/],
      [{ leafCount: 3 as LeafCount }, /says leaf count 3, but there are 2 leaves/],
      [{ previousBlockHash: hexToBytes(root(1)) }, /says parent hash 0x0101/],
      [{ timestampSec: 5 }, /says timestamp 5, but the block has 1700000024/],
    ] as const
    for (const [change, message] of cases)
      assertRefused(shard, changed(block, 'l1InfoRoot', change), 'l1_info_root_mismatch', message)
    shard.writer.applyBlocks(batchOf([block]))
  }))

test('a leaf of a block whose parent hash was not read is refused, instead of being hashed with zeros', (context) =>
  withL1(context, (shard, mine) => {
    const { header, events } = mine(deposit)
    const { parentHash: _, ...unlinked } = header
    const before = shard.read(dumpTables)
    const block = { header: unlinked, events: events.filter(({ type }) => type !== 'l1InfoRoot') }
    assert.throws(() => shard.writer.applyBlocks(batchOf([block])), { name: 'InvariantError' })
    assert.deepEqual(shard.read(dumpTables), before)
  }))

test('a leaf that comes twice is refused', (context) =>
  withL1(context, (shard, mine) => {
    const first = mine(deposit)
    shard.writer.applyBlocks(batchOf([first]))
    const { header } = mine(() => {})
    const again = first.events.filter(({ type }) => type === 'l1InfoLeaf')
    const events = again.map((event) => ({ ...event, blockNumber: header.number, logIndex: 0 }))
    assertRefused(shard, { header, events }, 'l1_info_root_mismatch', /repeats the global exit root/)
  }))

test('a start block after the first leaf is refused by that name', (context) =>
  withL1(context, (shard, mine) => {
    const late = changed(mine(deposit), 'l1InfoRoot', { leafCount: 9 as LeafCount })
    assertRefused(shard, late, 'start_block_too_late', /says leaf count 9, but there are 1 leaves/)
  }))

test('InitL1InfoRootMap is checked and adds no leaf', (context) =>
  withL1(context, (shard, mine) => {
    shard.writer.applyBlocks(batchOf([mine(deposit)]))
    const init = mine((block) => block.tx().initL1InfoRootMap())
    const wrong = changed(init, 'l1InfoRootMapInit', { leafCount: 0 as LeafCount })
    assertRefused(shard, wrong, 'l1_info_root_mismatch', /InitL1InfoRootMap in block 2 says leaf count 0/)
    shard.writer.applyBlocks(batchOf([init]))
    assert.equal(readLeaves(shard).length, 1)
  }))
