import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { appendLeaves, startLineage } from '../../src/merkle/appendOnlyTree.js'
import { getRoot } from '../../src/merkle/treeProofs.js'
import { tileReader, tileWriter } from '../../src/shard/snapshot/tiles.js'
import { trees } from '../../src/store/layout/keys.js'
import { openShardStoreWriter } from '../../src/store/shardStore.js'
import type { ReadView } from '../../src/store/shardStore.types.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { NaiveTree, testLeaf } from '../support/naiveTree.js'
import { tempFolder } from '../support/tempFolder.js'

/** fast-check prints seed and path of a failure: run again with FC_SEED. */
const seed = process.env.FC_SEED === undefined ? {} : { seed: Number(process.env.FC_SEED) }
const hasher = createHasher(compileMerkleModule())

function storedTiles(view: ReadView): readonly string[] {
  return view
    .list('treeTiles', { start: new Uint8Array(1), end: new Uint8Array([255]) })
    .map(({ key, value }) => Buffer.concat([key, value]).toString('hex'))
}

test('undoing leaves, with a cut of the tree among them, leaves the stored tree as it was before them', async (t) => {
  const store = openShardStoreWriter(tempFolder(t))
  t.after(() => store.close())
  const blocks = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 300 }), blocks, fc.nat(), (kept, undone, cutPick) => {
      const leaves = Array.from({ length: kept }, (_, i) => testLeaf(i))
      store.transact((view) => {
        const tree = { hasher, tiles: tileWriter(view, trees.localExitTree), lineages: [{ cut: 0 }] }
        for (const { key } of view.list('treeTiles', {
          start: new Uint8Array(1),
          end: new Uint8Array([255]),
        }))
          view.remove('treeTiles', key)
        appendLeaves(tree, 0, 0, Buffer.concat(leaves))
      })
      const before = storedTiles(store)
      store.transact((view) => {
        const tree = { hasher, tiles: tileWriter(view, trees.localExitTree), lineages: [{ cut: 0 }] }
        let leafCount = kept
        undone.forEach((count, i) => {
          view.setUndoBlock(100 + i)
          const added = Buffer.concat(Array.from({ length: count }, (_, n) => testLeaf(n, i + 1)))
          leafCount = appendLeaves(tree, 0, leafCount, added)
        })
        const cut = cutPick % (leafCount + 1)
        startLineage(tree, 0, cut)
        tree.lineages.push({ cut })
        appendLeaves(tree, 1, cut, testLeaf(0, 99))
      })
      assert.notDeepEqual(storedTiles(store), before)
      store.transact((view) => view.undoAbove(99))
      assert.deepEqual(storedTiles(store), before)
      const tree = { hasher, tiles: tileReader(store, trees.localExitTree), lineages: [{ cut: 0 }] }
      assert.deepEqual(Buffer.from(getRoot(tree, 0, kept)), Buffer.from(new NaiveTree(leaves).root))
    }),
    { ...seed, numRuns: 20 },
  )
})
