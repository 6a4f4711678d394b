import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { HaltReason } from '../../../../src/board/haltReason.js'
import type { ChainEvent, IndexedBlock } from '../../../../src/protocol/chainEvent.js'
import type { LeafCount } from '../../../../src/protocol/units.js'
import { uint32Key, uint32PairKey } from '../../../../src/store/layout/keys.js'
import { decodeL1InfoLeafRow, L1_INFO_LEAF_BYTES } from '../../../../src/store/layout/l1InfoLeafRow.js'
import { decodeUint32 } from '../../../../src/store/layout/smallRows.js'
import { UNRESOLVABLE_VERSION } from '../../../../src/store/layout/tables.js'
import { hashPair, NaiveTree } from '../../../support/naiveTree.js'
import { hex, readCounters } from '../../../support/shardContents.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, dumpTables, openTestShard, type TestShard } from '../../../support/testShard.js'
import { L1Chain } from '../l1Chain.js'

const root = (byte: number) => Buffer.alloc(32, byte)

async function withL1(context: TestContext, body: (shard: TestShard, chain: L1Chain) => void): Promise<void> {
  const shard = openTestShard(tempFolder(context), 0)
  try {
    body(shard, new L1Chain())
  } finally {
    await shard.close()
  }
}

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
  const tip = shard.status.get('tip')
  assert.throws(
    () => shard.writer.applyBlocks(batchOf([block])),
    (error: Error & { reason?: HaltReason }) => {
      assert.equal(error.reason, reason)
      assert.match(error.message, message)
      return true
    },
  )
  assert.deepEqual(shard.read(dumpTables), before)
  assert.equal(shard.status.get('tip'), tip)
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
  withL1(context, (shard, chain) => {
    chain.block(chain.addRollup(1), chain.addRollup(2))
    chain.block(chain.deposit(), chain.unforcedDeposit())
    // The settlement repeats the mainnet exit root from before the unforced deposit.
    chain.block(chain.settle(1, root(1)))
    chain.block([...chain.settle(2, root(2)), ...chain.deposit(), ...chain.settle(1, root(3))])
    shard.writer.applyBlocks(batchOf(chain.blocks))
    assert.deepEqual(
      readLeaves(shard),
      [
        { deposits: 1, version: 0 },
        { deposits: 1, version: 1 },
        { deposits: 1, version: 2 },
        { deposits: 3, version: 2 },
        { deposits: 3, version: 3 },
      ].map((leaf, index) => ({ ...leaf, hash: hex(chain.infoLeaves[index]!) })),
    )
    const indexOf = shard.read((view) =>
      decodeUint32(view.get('l1InfoIndexByGer', hashPair(chain.mainnetExitRoot, chain.rollupExitRoot))!),
    )
    assert.equal(indexOf, 4)
    assert.equal(shard.status.get('l1InfoLeafCount'), 5)
  }))

test('an initial local exit root counts from the next settlement of any rollup', (context) =>
  withL1(context, (shard, chain) => {
    chain.block(chain.addRollup(1))
    chain.block(chain.settle(1, root(1)))
    chain.block(chain.addRollup(2, root(9)))
    chain.block(chain.deposit())
    chain.block(chain.settle(1, root(2)))
    shard.writer.applyBlocks(batchOf(chain.blocks))
    assert.deepEqual(
      readLeaves(shard).map(({ version }) => version),
      [1, 1, 2],
    )
    const initial = shard.read((view) => hex(view.get('settledLocalExitRoots', uint32PairKey(2, 2))!))
    assert.equal(initial, hex(root(9)))
  }))

test('a pending settlement counts only when a leaf has its root', (context) =>
  withL1(context, (shard, chain) => {
    chain.block(chain.addRollup(1))
    chain.block(chain.settle(1, root(1), 'pending'))
    chain.block([chain.settlement(1, root(2), 'pending')])
    chain.block(chain.deposit())
    chain.block(chain.settle(1, root(2)))
    shard.writer.applyBlocks(batchOf(chain.blocks))
    assert.deepEqual(
      readLeaves(shard).map(({ version }) => version),
      [1, 1, 2],
    )
  }))

test('settling the same local exit root again needs no leaf, and settling a new one without a leaf is a missing log', (context) =>
  withL1(context, (shard, chain) => {
    chain.block(chain.addRollup(1))
    chain.block(chain.settle(1, root(1)))
    chain.block([chain.settlement(1, root(1), 'applied')])
    shard.writer.applyBlocks(batchOf(chain.blocks))
    assert.equal(readLeaves(shard).length, 1)
    const silent = chain.block([chain.settlement(1, root(2), 'applied')])
    assertRefused(shard, silent, 'missing_log', /settlement of network 1 in block 4 .* no UpdateL1InfoTree/)
  }))

test('a rollup exit root that no settlement explains is refused', (context) =>
  withL1(context, (shard, chain) => {
    chain.block(chain.addRollup(1))
    chain.block(chain.settle(1, root(1)))
    shard.writer.applyBlocks(batchOf(chain.blocks))
    const settlement = chain.block(chain.settle(1, root(2)))
    const events = settlement.events.filter((event) => event.type !== 'rollupSettled')
    const mismatch = /block 3 says rollup exit root 0x[0-9a-f]{64}, but 1 settlements give 0x[0-9a-f]{64}/
    assertRefused(shard, { ...settlement, events }, 'rollup_exit_root_mismatch', mismatch)
    const wrong = changed(settlement, 'rollupSettled', { localExitRoot: root(5) })
    assertRefused(shard, wrong, 'rollup_exit_root_mismatch', /2 settlements give/)
    shard.writer.applyBlocks(batchOf([settlement]))
  }))

test('a first settlement with a missing event is refused, not mistaken for the upgrade', (context) =>
  withL1(context, (shard, chain) => {
    shard.writer.applyBlocks(batchOf([chain.block(chain.addRollup(1))]))
    const settlement = chain.block(chain.settle(1, root(1)))
    const events = settlement.events.filter((event) => event.type !== 'rollupSettled')
    assertRefused(shard, { ...settlement, events }, 'rollup_exit_root_mismatch', /0 settlements give/)
  }))

test('leaves that repeat the V1 rollup exit root after the upgrade have no version, until the first settlement', (context) =>
  withL1(context, (shard, chain) => {
    const raw = root(0x77)
    const [deposit] = chain.unforcedDeposit()
    chain.mainnetExitRoot = new NaiveTree(chain.depositLeaves).root
    chain.block([
      deposit!,
      { type: 'v1GlobalExitRoot', mainnetExitRoot: chain.mainnetExitRoot, rollupExitRoot: raw },
    ])
    chain.block(chain.addRollup(1))
    chain.rollupExitRoot = raw
    chain.block(chain.deposit())
    chain.block(chain.settle(1, root(1)))
    shard.writer.applyBlocks(batchOf(chain.blocks))
    assert.deepEqual(
      readLeaves(shard).map(({ version, deposits }) => [version, deposits]),
      [
        [UNRESOLVABLE_VERSION, 2],
        [1, 2],
      ],
    )
  }))

test('a shard that starts at the upgrade recognises the V1 rollup exit root', (context) =>
  withL1(context, (shard, chain) => {
    chain.rollupExitRoot = root(0x77)
    chain.block(chain.deposit())
    shard.writer.applyBlocks(batchOf(chain.blocks))
    assert.deepEqual(
      readLeaves(shard).map(({ version }) => version),
      [UNRESOLVABLE_VERSION],
    )
  }))

test('a mainnet exit root other than that of the preceding deposits is refused', (context) =>
  withL1(context, (shard, chain) => {
    shard.writer.applyBlocks(batchOf([chain.block(chain.deposit())]))
    const block = chain.block(chain.deposit())
    const wrong = changed(block, 'l1InfoLeaf', { mainnetExitRoot: root(1) })
    const message =
      /^UpdateL1InfoTree in block 2 says exit root 0x0101[0-9a-f]*, but 2 deposits give 0x[0-9a-f]{64}$/
    assertRefused(shard, wrong, 'exit_root_mismatch', message)
    const late = { ...block, events: [...block.events.slice(1), block.events[0]!] }
    assertRefused(shard, late, 'exit_root_mismatch', /but 1 deposits give/)
    shard.writer.applyBlocks(batchOf([block]))
  }))

test('UpdateL1InfoTreeV2 must agree in root, leaf count, parent hash and time', (context) =>
  withL1(context, (shard, chain) => {
    shard.writer.applyBlocks(batchOf([chain.block(chain.deposit())]))
    const block = chain.block(chain.deposit())
    const cases = [
      [{ l1InfoRoot: root(1) }, /says L1 info root 0x0101.*, but 2 leaves give 0x/],
      [{ leafCount: 3 as LeafCount }, /says leaf count 3, but there are 2 leaves/],
      [{ previousBlockHash: root(1) }, /says parent hash 0x0101/],
      [{ timestampSec: 5 }, /says timestamp 5, but the block has 1700000024/],
    ] as const
    for (const [change, message] of cases)
      assertRefused(shard, changed(block, 'l1InfoRoot', change), 'l1_info_root_mismatch', message)
    const otherHeader = { ...block, header: { ...block.header, parentHash: chain.blocks[0]!.header.hash } }
    shard.writer.applyBlocks(batchOf([otherHeader]))
  }))

test('a leaf of a block whose parent hash was not read is refused, instead of being hashed with zeros', (context) =>
  withL1(context, (shard, chain) => {
    const { header, events } = chain.block(chain.deposit())
    const { parentHash: _, ...unlinked } = header
    const before = shard.read(dumpTables)
    const block = { header: unlinked, events: events.filter(({ type }) => type !== 'l1InfoRoot') }
    assert.throws(() => shard.writer.applyBlocks(batchOf([block])), { name: 'InvariantError' })
    assert.deepEqual(shard.read(dumpTables), before)
  }))

test('a leaf that comes twice is refused', (context) =>
  withL1(context, (shard, chain) => {
    shard.writer.applyBlocks(batchOf([chain.block(chain.deposit())]))
    const [leaf] = chain.leaf()
    assertRefused(shard, chain.block([leaf!]), 'l1_info_root_mismatch', /repeats the global exit root/)
  }))

test('a start block after the first leaf is refused by that name', (context) =>
  withL1(context, (shard, chain) => {
    const late = changed(chain.block(chain.deposit()), 'l1InfoRoot', { leafCount: 9 as LeafCount })
    assertRefused(shard, late, 'start_block_too_late', /says leaf count 9, but there are 1 leaves/)
  }))

test('InitL1InfoRootMap is checked and adds no leaf', (context) =>
  withL1(context, (shard, chain) => {
    shard.writer.applyBlocks(batchOf([chain.block(chain.deposit())]))
    const l1InfoRoot = new NaiveTree(chain.infoLeaves).root
    const init = chain.block([{ type: 'l1InfoRootMapInit', l1InfoRoot, leafCount: 1 as LeafCount }])
    const wrong = changed(init, 'l1InfoRootMapInit', { leafCount: 0 as LeafCount })
    assertRefused(shard, wrong, 'l1_info_root_mismatch', /InitL1InfoRootMap in block 2 says leaf count 0/)
    shard.writer.applyBlocks(batchOf([init]))
    assert.equal(readLeaves(shard).length, 1)
  }))
