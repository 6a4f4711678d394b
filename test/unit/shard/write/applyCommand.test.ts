import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BlockHeader, ChainEvent, Hash, IndexedBlock } from '../../../../src/protocol/chainEvent.js'
import {
  asClaimOrdinal,
  asDepositCount,
  type BlockNumber,
  type LeafCount,
} from '../../../../src/protocol/units.js'
import type { RowLog } from '../../../../src/shard/senders.types.js'
import type { RefusalReason, ShardCommand } from '../../../../src/shard/shardCommand.types.js'
import { createFakeWorld, type Recipe } from '../../../support/fakeChain.js'
import { indexedBlock, toHex, withoutSenders } from '../../../support/indexedBlocks.js'
import { RandomChain } from '../../../support/randomChain.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { batchOf, digestTables, openTestShard, type TestShard } from '../../../support/testShard.js'

const root = (byte: number): Hash => Buffer.alloc(32, byte)
const blockNumber = (number: number) => number as BlockNumber
const applying = (blocks: readonly IndexedBlock[], undoFloor = 0): ShardCommand => ({
  type: 'applyBlocks',
  batch: batchOf(blocks, undoFloor),
})

/** What was given to a shard, a command that it must refuse, and one that it must apply afterwards. */
interface Refusable {
  readonly networkId: number
  readonly given: readonly ShardCommand[]
  readonly refused: ShardCommand | ((shard: TestShard) => ShardCommand)
  readonly next: ShardCommand
}

/** Blocks 1 to 8 of a layer 2, in the store without their senders; undo begins above block 3. The command follows. */
function onLayer2(command: (chain: RandomChain) => Refusable['refused']): Refusable {
  const chain = new RandomChain(5)
  for (let count = 0; count < 10; count++) chain.grow(6)
  const given = [applying(chain.blocks.slice(0, 8).map(withoutSenders), 3)]
  return { networkId: 1, given, refused: command(chain), next: applying(chain.blocks.slice(8, 10), 3) }
}

/** Mines blocks of a new layer 1, as they are indexed. */
function layer1(): (recipe: Recipe) => IndexedBlock {
  const network = createFakeWorld({ networks: [] }).network(0)
  return (recipe) => indexedBlock(network, network.mine(recipe), true)
}

const deposit: Recipe = (block) => block.tx().deposit()
const settle =
  (byte: number): Recipe =>
  (block) =>
    block.tx().settle(1, toHex(root(byte)))

/** A layer 1 with a settlement. `next` makes the block that `spoil` changes. */
function onLayer1(next: Recipe, spoil: (block: IndexedBlock) => IndexedBlock): Refusable {
  const mine = layer1()
  const given = [applying([mine((block) => block.tx().createRollup(1, 1001)), mine(settle(1))])]
  // A good block first: what it writes must go, too.
  const blocks = [mine(deposit), mine(next)]
  return { networkId: 0, given, refused: applying([blocks[0]!, spoil(blocks[1]!)]), next: applying(blocks) }
}

function onNothing(refused: Refusable['refused'], networkId = 1): Refusable {
  const chain = new RandomChain(5)
  const next = networkId === 1 ? applying([chain.grow(6)]) : applying([layer1()(deposit)])
  return { networkId, given: [], refused, next }
}

function changed<Type extends ChainEvent['type']>(
  { header, events }: IndexedBlock,
  type: Type,
  change: Partial<Extract<ChainEvent, { type: Type }>>,
): IndexedBlock {
  return {
    header,
    events: events.map((each) => (each.type === type ? ({ ...each, ...change } as ChainEvent) : each)),
  }
}

const without = ({ header, events }: IndexedBlock, type: ChainEvent['type']): IndexedBlock => ({
  header,
  events: events.filter((event) => event.type !== type),
})

/** Blocks 9 and 10, the second with one more event at its end. */
function withLastEvent(chain: RandomChain, event: object): ShardCommand {
  const [ninth, tenth] = chain.blocks.slice(8, 10)
  const { header, events } = tenth!
  const place = { blockNumber: header.number, logIndex: 1_000, transactionHash: root(9) }
  return applying([ninth!, { header, events: [...events, { ...event, ...place } as ChainEvent] }])
}

const aDeposit = (chain: RandomChain) =>
  chain.blocks.flatMap(({ events }) => events).find((event) => event.type === 'deposit')!

/** A ForwardLET of one leaf, right but for `change`. */
function forwardLet(chain: RandomChain, change: object): object {
  const { leafCount, root: previousRoot } = chain.state.localExitTree
  const counts = { previousLeafCount: leafCount, newLeafCount: leafCount + 1 }
  const newLeaves = [{ ...aDeposit(chain) }]
  return { type: 'forwardLet', ...counts, previousRoot, newRoot: root(4), newLeaves, sender: null, ...change }
}

function otherHeader(chain: RandomChain, change: Partial<BlockHeader>): IndexedBlock {
  const { header, events } = chain.blocks[8]!
  return { header: { ...header, ...change }, events }
}

const sender = { caller: Buffer.alloc(20, 7), transactionSender: Buffer.alloc(20, 8) }
/** Resolves rows that are open, as the shard lists them. */
const resolving =
  (choose: (deposits: readonly RowLog[], claims: readonly RowLog[]) => readonly RowLog[]) =>
  ({ writer }: TestShard): ShardCommand => {
    const open = writer.unresolvedSenders(1_000)
    const [deposits, claims] = (['deposit', 'claim'] as const).map((kind) =>
      open.filter((row) => row.kind === kind),
    )
    return { type: 'resolveSenders', resolved: choose(deposits!, claims!).map((row) => ({ ...row, sender })) }
  }
const onSenders = (choose: Parameters<typeof resolving>[0]) => onLayer2(() => resolving(choose))
const nextOf = (row: RowLog): RowLog => ({ ...row, ordinal: asDepositCount(row.ordinal + 1) })

const exitRoots = { mainnetExitRoot: root(1), rollupExitRoot: root(2) }
const eventsOfL1 = [
  { type: 'l1InfoLeaf', ...exitRoots },
  { type: 'l1InfoRoot', l1InfoRoot: root(1), leafCount: 1, previousBlockHash: root(1), timestampSec: 5 },
  { type: 'l1InfoRootMapInit', l1InfoRoot: root(1), leafCount: 1 },
  { type: 'v1GlobalExitRoot', ...exitRoots },
  {
    type: 'rollupAdded',
    networkId: 1,
    chainId: 5n,
    rollupAddress: Buffer.alloc(20, 3),
    initialLocalExitRoot: root(0),
  },
  { type: 'rollupSettled', networkId: 1, localExitRoot: root(1), certainty: 'applied' },
]

/** Those of logs are in `logPlace.test.ts`, that of the feed in `claimableSearch.test.ts`. */
type Reason = Exclude<RefusalReason, 'already_begun' | 'not_begun' | 'outdated'>

const cases: { readonly [Each in Reason]: Readonly<Record<string, () => Refusable>> } = {
  deposit_count_gap: {
    'a deposit is left out': () =>
      onLayer2((chain) =>
        withLastEvent(chain, { ...aDeposit(chain), depositCount: chain.state.deposits.length + 1 }),
      ),
    'a deposit comes twice': () =>
      onLayer2((chain) =>
        withLastEvent(chain, { ...aDeposit(chain), depositCount: chain.state.deposits.length - 1 }),
      ),
  },
  start_block_too_late: {
    'the first deposit is not the first': () => {
      const chain = new RandomChain(5)
      const { header } = chain.grow(1)
      while (chain.blocks.every(({ events }) => events.every(({ type }) => type !== 'deposit'))) chain.grow(3)
      const event = { ...aDeposit(chain), depositCount: asDepositCount(3) } as ChainEvent
      return onNothing(applying([{ header, events: [event] }]))
    },
    'the first leaf is not the first': () =>
      onNothing(applying([changed(layer1()(deposit), 'l1InfoRoot', { leafCount: 9 as LeafCount })]), 0),
  },
  local_exit_tree_event: {
    'ForwardLET says another leaf count before it': () =>
      onLayer2((chain) => withLastEvent(chain, forwardLet(chain, { previousLeafCount: 1_000 }))),
    'ForwardLET says another root before it': () =>
      onLayer2((chain) => withLastEvent(chain, forwardLet(chain, { previousRoot: root(3) }))),
    'ForwardLET says another leaf count after it': () =>
      onLayer2((chain) => withLastEvent(chain, forwardLet(chain, { newLeafCount: 1_000 }))),
    'ForwardLET says another root after it': () =>
      onLayer2((chain) => withLastEvent(chain, forwardLet(chain, {}))),
    'BackwardLET cuts behind the last leaf': () =>
      onLayer2((chain) =>
        withLastEvent(chain, forwardLet(chain, { type: 'backwardLet', newLeafCount: 1_000 })),
      ),
    'BackwardLET says another root after it': () =>
      onLayer2((chain) => withLastEvent(chain, forwardLet(chain, { type: 'backwardLet', newLeafCount: 1 }))),
  },
  exit_root_mismatch: {
    'a leaf has another mainnet exit root': () =>
      onLayer1(deposit, (block) => changed(block, 'l1InfoLeaf', { mainnetExitRoot: root(1) })),
  },
  l1_info_root_mismatch: {
    'UpdateL1InfoTreeV2 says another root': () =>
      onLayer1(deposit, (block) => changed(block, 'l1InfoRoot', { l1InfoRoot: root(1) })),
    'UpdateL1InfoTreeV2 says another leaf count': () =>
      onLayer1(deposit, (block) => changed(block, 'l1InfoRoot', { leafCount: 7 as LeafCount })),
    'UpdateL1InfoTreeV2 says another parent hash': () =>
      onLayer1(deposit, (block) => changed(block, 'l1InfoRoot', { previousBlockHash: root(1) })),
    'UpdateL1InfoTreeV2 says another time': () =>
      onLayer1(deposit, (block) => changed(block, 'l1InfoRoot', { timestampSec: 5 })),
    'a leaf comes twice': () =>
      onLayer1(deposit, ({ header, events }) => ({
        header,
        events: [...events, events.find(({ type }) => type === 'l1InfoLeaf')!],
      })),
  },
  rollup_exit_root_mismatch: {
    'no settlement gives the rollup exit root of a leaf': () =>
      onLayer1(settle(2), (block) => without(block, 'rollupSettled')),
  },
  missing_log: {
    'a settlement has no leaf': () =>
      onLayer1(settle(2), (block) => without(without(block, 'l1InfoLeaf'), 'l1InfoRoot')),
  },
  reorg_too_deep: {
    'a revert below the reach of undo': () =>
      onLayer2(() => ({ type: 'revertTo', ancestor: blockNumber(2) })),
  },
  unknown_ancestor: {
    'a revert to a block above the checkpoint': () =>
      onLayer2(() => ({ type: 'revertTo', ancestor: blockNumber(9) })),
    'a revert of nothing': () => onNothing({ type: 'revertTo', ancestor: blockNumber(0) }),
    'a revert to a block without a header': () => {
      const chain = new RandomChain(5)
      for (let count = 0; count < 3; count++) chain.grow(6)
      const head = { ...chain.blocks[2]!.header, number: blockNumber(20), hash: root(6), parentHash: root(5) }
      const batch = { ...batchOf(chain.blocks), head }
      const refused = { type: 'revertTo', ancestor: blockNumber(10) } as const
      return {
        ...onNothing(refused),
        given: [{ type: 'applyBlocks', batch }],
        next: { ...refused, ancestor: blockNumber(2) },
      }
    },
  },
  not_next: {
    'a batch leaves a block out': () => onLayer2((chain) => applying(chain.blocks.slice(9, 10))),
    'a batch begins with a stored block': () => onLayer2((chain) => applying(chain.blocks.slice(7, 10))),
  },
  not_parent: {
    'a batch of another branch': () =>
      onLayer2((chain) => applying([otherHeader(chain, { parentHash: root(5) })])),
    'a batch of two branches': () =>
      onLayer2((chain) => applying([otherHeader(chain, { hash: root(5) }), chain.blocks[9]!])),
  },
  disordered_batch: {
    'blocks that descend': () =>
      onLayer2(({ blocks }) => ({
        type: 'applyBlocks',
        batch: { ...batchOf(blocks.slice(8, 10)), blocks: [blocks[9]!, blocks[8]!] },
      })),
    'a block outside of its batch': () =>
      onLayer2(({ blocks }) => ({
        type: 'applyBlocks',
        batch: { ...batchOf(blocks.slice(8, 9)), blocks: blocks.slice(8, 10) },
      })),
    'a batch of which more is final than it has': () =>
      onLayer2(({ blocks }) => ({
        type: 'applyBlocks',
        batch: { ...batchOf(blocks.slice(8, 9)), finalizedBlock: blocks[9]!.header.number },
      })),
    'a batch that ends before it begins': () =>
      onLayer2(({ blocks }) => ({
        type: 'applyBlocks',
        batch: { ...batchOf(blocks.slice(8, 9)), fromBlock: blockNumber(10) },
      })),
  },
  parent_unknown: {
    'a block with a leaf does not name its parent': () =>
      onLayer1(deposit, ({ header: { parentHash, ...header }, events }) => ({ header, events })),
  },
  event_of_l1: Object.fromEntries(
    eventsOfL1.map((event) => [
      `an event ${event.type} on a layer 2`,
      () => onLayer2((chain) => withLastEvent(chain, event)),
    ]),
  ),
  not_at_watermark: {
    'the sender of a later deposit': () => onSenders((deposits) => [deposits[1]!]),
    'the sender of a later claim, behind a good one': () =>
      onSenders((deposits, claims) => [deposits[0]!, claims[1]!]),
    'the same sender again': () => onSenders((deposits) => [deposits[0]!, deposits[0]!]),
  },
  unknown_row: {
    'the sender of one deposit too many': () =>
      onSenders((deposits) => [...deposits, nextOf(deposits.at(-1)!)]),
    'the sender of a claim where there is none': () =>
      onNothing({
        type: 'resolveSenders',
        resolved: [
          {
            kind: 'claim',
            ordinal: asClaimOrdinal(0),
            ...{ transactionHash: root(1), logIndex: 0 },
            blockNumber: blockNumber(1),
            sender,
          },
        ],
      }),
  },
  other_row: Object.fromEntries(
    Object.entries({
      'of another transaction': { transactionHash: root(9) },
      'of another log': { logIndex: 77 },
      'of another block': { blockNumber: blockNumber(77) },
    }).flatMap(([title, other]): [string, () => Refusable][] => [
      [
        `a deposit's sender is ${title}`,
        () => onSenders(([first, second]) => [first!, { ...second!, ...other }]),
      ],
      [`a claim's sender is ${title}`, () => onSenders((_, [claim]) => [{ ...claim!, ...other }])],
    ]),
  ),
  nothing_stored: {
    'polled roots before the first block': () =>
      onNothing({ type: 'addPolledGers', globalExitRoots: [root(1)], polledLeaves: 1 }),
    'settled roots before the first block': () => onNothing({ type: 'addSettledRoots', found: [] }),
  },
}

function open(context: TestContext, { networkId, given }: Refusable): TestShard {
  const shard = openTestShard(tempFolder(context), networkId)
  for (const command of given) assert.deepEqual(shard.writer.apply(command), { type: 'applied' })
  return shard
}

for (const [reason, named] of Object.entries(cases))
  for (const [title, make] of Object.entries(named))
    test(`${title}: refused as ${reason}, and the store is the same to the byte`, async (context) => {
      const refusable = make()
      const shard = open(context, refusable)
      const untouched = open(context, refusable)
      const before = shard.read(digestTables)
      const board = () =>
        ['commits', 'epoch', 'committing', 'lastCommitMs', 'syncedBlock', 'publishedCommit'] as const
      const told = () => board().map((field) => shard.status.get(field))
      const toldBefore = told()
      const { refused } = refusable
      const outcome = shard.writer.apply(typeof refused === 'function' ? refused(shard) : refused)
      assert.equal(outcome.type === 'refused' ? outcome.reason : outcome.type, reason)
      assert.match(outcome.type === 'refused' ? outcome.message : '', /^\S[^\n]+\S$/)
      assert.equal(shard.read(digestTables), before)
      assert.deepEqual(told(), toldBefore)
      // The writer has kept nothing of it in memory either.
      for (const { writer } of [shard, untouched])
        assert.deepEqual(writer.apply(refusable.next), { type: 'applied' })
      assert.equal(shard.read(digestTables), untouched.read(digestTables))
      await shard.close()
      await untouched.close()
    })
