import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TILE_BYTES } from '../../../../src/merkle/treeTiles.js'
import { asDepositCount, asL1InfoTreeIndex, asNetworkId } from '../../../../src/protocol/units.js'
import { getClaimProof } from '../../../../src/shard/queries/getClaimProof.js'
import { KeptTiles } from '../../../../src/shard/snapshot/keptTiles.js'
import { createFakeWorld } from '../../../support/fakeChain.js'
import { expectedDeposits, expectedProof } from '../../../support/fakeChainModel.js'
import { toHex } from '../../../support/indexedBlocks.js'
import { IndexedWorld } from '../../../support/indexedWorld.js'

/** A store whose tiles encode their place and their commit. Each read overwrites the one before. */
class FakeTiles {
  commit = 0
  reads = 0
  private readonly memory = new Uint8Array(TILE_BYTES)

  getTile(lineage: number, group: number, index: number): Uint8Array | undefined {
    this.reads++
    if (index >= 10_000) return undefined
    this.memory.set([this.commit, lineage, group, index >> 8, index & 0xff])
    return this.memory
  }
}

const contentOf = (tile: Uint8Array | undefined) => tile && [...tile.subarray(0, 5)]

test('a kept tile equals the stored one, whichever tiles were read before, and is read once while the shard does not change', () => {
  const store = new FakeTiles()
  const kept = new KeptTiles(store)
  for (const commit of [0, 1]) {
    store.commit = commit
    kept.reset()
    for (let round = 0; round < 2; round++)
      for (const lineage of [0, 1, 2])
        for (const group of [0, 1, 2, 3])
          for (const index of [0, 1, 3, 253, 256, 509, 5_000, 9_999])
            assert.deepEqual(contentOf(kept.getTile(lineage, group, index)), [
              commit,
              lineage,
              group,
              index >> 8,
              index & 0xff,
            ])
    store.reads = 0
    for (let asked = 0; asked < 5; asked++) kept.getTile(0, 2, 7)
    assert.equal(store.reads, 1)
    for (let asked = 0; asked < 5; asked++) assert.equal(kept.getTile(0, 1, 10_000), undefined)
  }
})

test("deposits of a tree that grows past one tile have the naive tree's proofs, before and after it grew", (context) => {
  const world = createFakeWorld({ networks: [1] })
  const indexed = new IndexedWorld(context, world)
  for (let part = 0; part < 3; part++) {
    world.network(0).mine((block) => {
      for (let count = 0; count < 70; count++) block.tx().deposit({ destinationNetwork: 1 })
    })
    indexed.syncAll()
    const leafIndex = world.network(0).head.state.l1InfoLeaves.length - 1
    const deposits = expectedDeposits(world, 0)
    assert.equal(deposits.length, 70 * (part + 1))
    for (const deposit of deposits.filter(({ depositCount }) => depositCount % 9 === 0)) {
      const answer = indexed.ask((shards) =>
        getClaimProof(shards, {
          networkId: asNetworkId(0),
          depositCount: asDepositCount(deposit.depositCount),
          leafIndex: asL1InfoTreeIndex(leafIndex),
        }),
      )
      assert.ok(answer.ok)
      const branch = answer.value.localExitRootBranch
      const siblings = Array.from({ length: 32 }, (_, level) =>
        toHex(branch.subarray(32 * level, 32 * level + 32)),
      )
      assert.deepEqual(
        siblings,
        expectedProof(world, deposit, leafIndex).localExitRootBranch,
        `deposit ${deposit.depositCount}`,
      )
    }
  }
})
