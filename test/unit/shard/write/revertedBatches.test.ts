import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BlockBatch } from '../../../../src/protocol/chainEvent.js'
import { asBlockNumber } from '../../../../src/protocol/units.js'
import type { FakeNetwork } from '../../../support/fakeChain.js'
import { headerOf, indexedBlock } from '../../../support/indexedBlocks.js'
import { RandomWorld } from '../../../support/randomWorld.js'
import { tempFolder } from '../../../support/tempFolder.js'
import { dumpTables, openTestShard } from '../../../support/testShard.js'

const BATCH_BLOCKS = 10

/** Far history in batches of ten blocks, each of which can only be reverted as a whole, down to `batchUndoFloor`. */
function batches(network: FakeNetwork, batchUndoFloor: (end: number) => number | undefined): BlockBatch[] {
  const made: BlockBatch[] = []
  for (let from = 1; from + BATCH_BLOCKS <= network.blocks.length; from += BATCH_BLOCKS) {
    const stretch = network.blocks.slice(from, from + BATCH_BLOCKS)
    const head = headerOf(stretch.at(-1)!)
    const floor = batchUndoFloor(head.number)
    made.push({
      fromBlock: asBlockNumber(from),
      head,
      blocks: stretch
        .map((block) => indexedBlock(network, block, false))
        .filter(({ events }) => events.length > 0),
      finalizedBlock: asBlockNumber(0),
      undoFloor: asBlockNumber(1_000_000),
      ...(floor === undefined ? {} : { batchUndoFloor: asBlockNumber(floor) }),
    })
  }
  return made
}

function busyNetwork(networkId: number): FakeNetwork {
  const random = new RandomWorld(7)
  const network = random.world.network(networkId)
  while (network.blocks.length < 61) random.step()
  return network
}

for (const networkId of [0, 1])
  test(`batches of far history of network ${networkId} are reverted one by one, table by table`, async (t) => {
    const { writer, read, close } = openTestShard(tempFolder(t), networkId)
    const state = () => read((view) => dumpTables(view, ['undo', 'headers']))
    const states = new Map<number, Record<string, string>>()
    const all = batches(busyNetwork(networkId), () => 0)
    assert.equal(all.length, 6)
    for (const batch of all) {
      writer.applyBlocks(batch)
      states.set(batch.head.number, state())
    }
    for (const batch of all.slice(0, -1).reverse()) {
      // From inside the batch above, only its start can be reverted to.
      const inside = asBlockNumber(batch.head.number + BATCH_BLOCKS - 1)
      assert.equal(writer.headerAtOrBelow(inside)?.number, lastKept(all, inside))
      writer.revertTo(batch.head.number)
      assert.deepEqual(state(), withoutRewinds(states.get(batch.head.number)!, state()))
    }
    for (const batch of all.slice(1)) writer.applyBlocks(batch)
    await close()
  })

test('batches below the undo floor cannot be reverted', async (t) => {
  const { writer, close } = openTestShard(tempFolder(t), 0)
  for (const batch of batches(busyNetwork(0), (end) => Math.max(0, end - 3 * BATCH_BLOCKS)))
    writer.applyBlocks(batch)
  assert.equal(writer.checkpoint()?.number, 60)
  assert.throws(() => writer.revertTo(asBlockNumber(20)), { name: 'FatalError', reason: 'reorg_too_deep' })
  writer.revertTo(asBlockNumber(30))
  assert.equal(writer.checkpoint()?.number, 30)
  await close()
})

/** The block at or below `block` at which a batch, or its last block with events, ends. */
function lastKept(all: readonly BlockBatch[], block: number): number {
  const ends = all.flatMap(({ head, blocks }) => [head.number, blocks.at(-1)?.header.number ?? head.number])
  return Math.max(...ends.filter((end) => end <= block))
}

/** What a revert records about itself is not part of the state before. */
function withoutRewinds(
  expected: Record<string, string>,
  got: Record<string, string>,
): Record<string, string> {
  const notes = Object.entries(got).filter(([key]) => key.startsWith('meta/') && expected[key] === undefined)
  return { ...expected, ...Object.fromEntries(notes) }
}
