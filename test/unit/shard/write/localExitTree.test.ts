import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hexToBytes } from 'viem/utils'
import { proveLeaf } from '../../../../src/merkle/treeProofs.js'
import type {
  BlockHeader,
  ChainEvent,
  ForwardLeaf,
  IndexedBlock,
  Sender,
} from '../../../../src/protocol/chainEvent.js'
import type { BlockNumber, DepositCount, LeafCount, NetworkId } from '../../../../src/protocol/units.js'
import { findRootAtBlockEnd } from '../../../../src/shard/snapshot/hashRuns.js'
import { localExitTreeSource } from '../../../../src/shard/snapshot/tiles.js'
import { DEPOSIT_BYTES, decodeArchivedDeposit } from '../../../../src/store/layout/depositRow.js'
import { uint32Key } from '../../../../src/store/layout/keys.js'
import { SENDER_BYTES } from '../../../../src/store/layout/senderRow.js'
import { compileMerkleModule, createHasher } from '../../../../src/wasm/wasmModule.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { depositLeaf, naiveRoot } from '../../../support/naiveTree.js'
import { hex, readCounters, readDeposits, readLists } from '../../../support/shardContents.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { TestNumbers } from '../../../support/testNumbers.js'
import { batchOf, dumpTables, openTestShard, type TestShard } from '../../../support/testShard.js'

const hasher = createHasher(compileMerkleModule())

const person = (byte: number): Sender => ({
  caller: Buffer.alloc(20, byte),
  transactionSender: Buffer.alloc(20, byte + 100),
})

function leafOf(id: number): ForwardLeaf {
  return {
    leafType: 0,
    originNetwork: 0 as NetworkId,
    originAddress: Buffer.alloc(20, 1),
    destinationNetwork: 2 as NetworkId,
    destinationAddress: Buffer.alloc(20, 2),
    amount: BigInt(id),
    metadata: new Uint8Array(0),
  }
}

const rootOf = (leaves: readonly ForwardLeaf[]) => hexToBytes(naiveRoot(leaves.map(depositLeaf)))

/** A sovereign L2 of leaves 0 … 9, then the actions of the test, one block each. */
class Sovereign {
  readonly shard: TestShard
  leaves: ForwardLeaf[] = []
  readonly #numbers = new TestNumbers(1)
  #header: BlockHeader = {
    number: 0 as BlockNumber,
    hash: Buffer.alloc(32),
    parentHash: Buffer.alloc(32),
    timestampSec: 0,
  }

  constructor(context: TestContext, sender: (id: number) => Sender | null = person) {
    this.shard = openTestShard(tempFolder(context), 1)
    for (let id = 0; id < 10; id++) this.deposit(leafOf(id), sender(id))
  }

  block(events: object[]): IndexedBlock {
    const number = (this.#header.number + 1) as BlockNumber
    const header = {
      number,
      hash: this.#numbers.freshHash(),
      parentHash: this.#header.hash,
      timestampSec: number,
    }
    const transactionHash = Buffer.alloc(32, number)
    const placed = events.map((event, logIndex) => ({
      ...event,
      blockNumber: number,
      logIndex,
      transactionHash,
    }))
    return { header, events: placed as unknown as ChainEvent[] }
  }

  apply(...events: object[]): void {
    const block = this.block(events)
    this.shard.writer.applyBlocks(batchOf([block]))
    this.#header = block.header
  }

  deposit(leaf: ForwardLeaf, sender: Sender | null): void {
    this.apply({ type: 'deposit', ...leaf, depositCount: this.leaves.length as DepositCount, sender })
    this.leaves.push(leaf)
  }

  backward(newLeafCount: number): object {
    const event = {
      type: 'backwardLet',
      previousLeafCount: this.leaves.length as LeafCount,
      previousRoot: rootOf(this.leaves),
      newLeafCount: newLeafCount as LeafCount,
      newRoot: rootOf(this.leaves.slice(0, newLeafCount)),
    }
    this.leaves = this.leaves.slice(0, newLeafCount)
    return event
  }

  forward(newLeaves: ForwardLeaf[], sender: Sender | null): object {
    const event = {
      type: 'forwardLet',
      previousLeafCount: this.leaves.length as LeafCount,
      previousRoot: rootOf(this.leaves),
      newLeafCount: (this.leaves.length + newLeaves.length) as LeafCount,
      newRoot: rootOf([...this.leaves, ...newLeaves]),
      newLeaves,
      sender,
    }
    this.leaves = [...this.leaves, ...newLeaves]
    return event
  }

  /** Folds every leaf of a version to its root, and throws if one does not. */
  proveAll(lineage: number, leaves: readonly ForwardLeaf[]): void {
    const root = rootOf(leaves)
    this.shard.read((view) => {
      const tree = localExitTreeSource(view, hasher, readCounters(view).lineage)
      leaves.forEach((leaf, index) => {
        const proof = proveLeaf(tree, { lineage, leafCount: leaves.length, root }, index)
        assert.equal(toHex(proof.leaf), depositLeaf(leaf), `leaf ${index}`)
      })
    })
  }

  amounts(): number[] {
    return this.shard.read((view) => readDeposits(view).map(({ amount }) => Number(amount)))
  }
}

for (const blocks of ['one block', 'two blocks'])
  test(`deposits 0–9 cut to 6 and grown by two leaves, in ${blocks}: old roots stay provable, and the archive keeps the cut deposits`, async (context) => {
    const chain = new Sovereign(context)
    const old = chain.leaves
    const backward = chain.backward(6)
    const forward = chain.forward([leafOf(7), leafOf(50)], person(60))
    if (blocks === 'one block') chain.apply(backward, forward)
    else {
      chain.apply(backward)
      chain.apply(forward)
    }
    chain.deposit(leafOf(51), person(51))
    assert.deepEqual(chain.amounts(), [0, 1, 2, 3, 4, 5, 7, 50, 51])
    chain.proveAll(0, old)
    chain.proveAll(1, chain.leaves)
    // The repeated deposit keeps its own sender, a new leaf has that of the ForwardLET.
    const senders = chain.shard.read((view) => readDeposits(view).map(({ caller }) => caller!.slice(2, 4)))
    assert.deepEqual(senders.slice(6), ['07', '3c', '33'])
    const lists = chain.shard.read(readLists)
    assert.deepEqual(lists['depositsByDestinationNetwork:00000002'], [0, 1, 2, 3, 4, 5, 6, 7, 8])
    assert.equal(lists[`depositsBySender:${hex(person(9).caller)}`], undefined)
    const archived = chain.shard.read((view) =>
      view
        .list('archivedDeposits', { start: Uint8Array.of(0), end: Buffer.alloc(8, 0xff) })
        .map(({ value }) => decodeArchivedDeposit(value)),
    )
    assert.deepEqual(
      archived.map(({ lineage, depositCount }) => [lineage, depositCount]),
      [
        [0, 6],
        [0, 7],
        [0, 8],
        [0, 9],
      ],
    )
    await chain.shard.close()
  })

test('no table of current deposits keeps anything of a deposit above the cut', async (context) => {
  const chain = new Sovereign(context)
  chain.apply(chain.backward(3))
  const chunks = chain.shard.read((view) => {
    const length = (table: 'deposits' | 'depositSenders') => view.get(table, uint32Key(0))?.length
    return [length('deposits'), length('depositSenders')]
  })
  assert.deepEqual(chunks, [3 * DEPOSIT_BYTES, 3 * SENDER_BYTES])
  chain.apply(chain.backward(0))
  const all = { start: Uint8Array.of(0), end: Buffer.alloc(60, 0xff) }
  for (const table of ['deposits', 'depositSenders'] as const)
    assert.deepEqual(
      chain.shard.read((view) => view.list(table, all)),
      [],
    )
  await chain.shard.close()
})

test('a reorg that drops the BackwardLET restores all deposits byte for byte', async (context) => {
  const chain = new Sovereign(context)
  const before = chain.shard.read(dumpTables)
  chain.apply(chain.backward(3))
  chain.apply(chain.forward([leafOf(70)], person(70)))
  chain.shard.writer.revertTo(10 as BlockNumber)
  assert.deepEqual(chain.shard.read(dumpTables), before)
  await chain.shard.close()
})

test('open senders are dropped above a cut, kept below it, and copied from the archived deposit when it is regrown', async (context) => {
  const chain = new Sovereign(context, () => null)
  chain.apply(chain.backward(4))
  // Leaf 8 repeats the archived deposit 8 of block 9, leaf 99 is new.
  chain.apply(chain.forward([leafOf(8), leafOf(99)], null))
  const open = chain.shard.writer.unresolvedSenders(100)
  assert.deepEqual(
    open.map(({ ordinal, blockNumber }) => [ordinal, blockNumber]),
    [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 9],
      [5, 12],
    ],
  )
  chain.shard.writer.resolveSenders(open.map((row) => ({ ...row, sender: person(row.blockNumber) })))
  const senders = chain.shard.read((view) => readDeposits(view).map(({ caller }) => caller!.slice(2, 4)))
  assert.deepEqual(senders, ['01', '02', '03', '04', '09', '0c'])
  assert.equal(chain.shard.writer.counts().unresolvedSenders, 0)
  // The blocks are undone: the cut is reverted, and the four resolved senders stay.
  chain.shard.writer.revertTo(10 as BlockNumber)
  assert.equal(chain.shard.writer.counts().unresolvedSenders, 6)
  assert.equal(chain.shard.writer.counts().deposits, 10)
  await chain.shard.close()
})

test('the sender of a regrown leaf must name the log of the deposit that it repeats, that of a new leaf its own', async (context) => {
  const chain = new Sovereign(context, () => null)
  chain.apply(chain.backward(4))
  chain.apply(chain.forward([leafOf(8), leafOf(99)], null))
  const { writer } = chain.shard
  const open = writer.unresolvedSenders(100).map((row) => ({ ...row, sender: person(1) }))
  const [regrown, fresh] = [open[4]!, open[5]!]
  const placeOf = ({ transactionHash, logIndex, blockNumber }: typeof regrown) => ({
    ...{ transactionHash, logIndex, blockNumber },
  })
  for (const [row, other] of [
    [regrown, fresh],
    [fresh, regrown],
  ] as const) {
    const resolved = open.map((each) => (each === row ? { ...row, ...placeOf(other) } : each))
    const outcome = writer.apply({ type: 'resolveSenders', resolved })
    assert.equal(outcome.type === 'refused' ? outcome.reason : outcome.type, 'other_row')
  }
  assert.deepEqual(writer.apply({ type: 'resolveSenders', resolved: open }), { type: 'applied' })
  await chain.shard.close()
})

test('a block that cuts the tree and grows it back to the same leaf count settles its new root', async (context) => {
  const chain = new Sovereign(context)
  const backward = chain.backward(9)
  chain.apply(backward, {
    type: 'deposit',
    ...leafOf(70),
    depositCount: 9 as DepositCount,
    sender: person(70),
  })
  const root = rootOf([...chain.leaves, leafOf(70)])
  const entry = chain.shard.read((view) => findRootAtBlockEnd(view, root))
  assert.deepEqual(entry, { lineage: 1, leafCount: 10 })
  await chain.shard.close()
})

test('of two archived deposits with equal content, a regrown leaf gets the sender of its own transaction', async (context) => {
  const chain = new Sovereign(context)
  chain.deposit(leafOf(9), person(77))
  chain.apply(chain.backward(9))
  chain.apply(chain.forward([leafOf(9)], person(88)))
  const last = chain.shard.read((view) => readDeposits(view).at(-1)!)
  assert.equal(last.caller, toHex(person(88).caller))
  await chain.shard.close()
})

test('BackwardLET and ForwardLET that contradict the stored tree are refused and change nothing', async (context) => {
  const chain = new Sovereign(context)
  const wrongRoot = Buffer.alloc(32, 9)
  const { leaves } = chain
  const backward = chain.backward(6)
  chain.leaves = leaves
  const forward = chain.forward([leafOf(50)], null)
  const cases: [object, RegExp][] = [
    [
      { ...backward, previousLeafCount: 11 },
      /BackwardLET in block 11 says previous leaf count 11, but 10 deposits are stored/,
    ],
    [{ ...backward, previousRoot: wrongRoot }, /BackwardLET previous in block 11 says root 0x0909/],
    [{ ...backward, newRoot: wrongRoot }, /BackwardLET new in block 11 says root 0x0909/],
    [
      { ...backward, newLeafCount: 12 },
      /BackwardLET in block 11 says leaf count 12, but only 10 deposits are stored/,
    ],
    [{ ...forward, previousRoot: wrongRoot }, /ForwardLET previous in block 11 says root 0x0909/],
    [
      { ...forward, newLeafCount: 12 },
      /ForwardLET in block 11 says leaf count 12, but its \d+ leaves make 11 deposits/,
    ],
    [{ ...forward, newRoot: wrongRoot }, /ForwardLET in block 11 says exit root 0x0909/],
  ]
  const before = chain.shard.read(dumpTables)
  for (const [event, message] of cases) {
    const batch = batchOf([chain.block([event])])
    assert.throws(() => chain.shard.writer.applyBlocks(batch), { reason: 'local_exit_tree_event', message })
    assert.deepEqual(chain.shard.read(dumpTables), before, String(message))
  }
  await chain.shard.close()
})
