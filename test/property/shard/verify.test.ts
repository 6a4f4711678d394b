import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkId } from '../../../src/protocol/units.js'
import { verifyShard } from '../../../src/shard/verify/verifyShard.js'
import { compileMerkleModule, createHasher } from '../../../src/wasm/wasmModule.js'
import { assertForRandomShards } from './randomShard.js'

const hasher = createHasher(compileMerkleModule())

test('verification accepts every shard of the writer, with and without undo, after reorgs and cuts of the exit tree', async () => {
  await assertForRandomShards(15, 6, (shard) => {
    const found = shard.read((view) => [...verifyShard(view, 1 as NetworkId, hasher, true)])
    assert.deepEqual(
      found.filter(({ isGood }) => !isGood),
      [],
    )
    assert.equal(found.length, 22)
  })
})
