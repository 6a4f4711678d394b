import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EDGE_BYTES, EdgeCache } from '../../../src/merkle/edgeCache.js'

function stateWithEdge(leafCount: number, fill: number, lineage = 0) {
  const edge = new Uint8Array(EDGE_BYTES).fill(fill)
  return { state: { lineage, leafCount, root: edge.slice(32 * 32, 33 * 32) }, edge }
}

test('an edge is kept under its lineage, leaf count and root', () => {
  const cache = new EdgeCache(2)
  const { state, edge } = stateWithEdge(7, 1)
  cache.store(state, edge)
  const loaded = new Uint8Array(EDGE_BYTES)
  assert.ok(cache.load(state, loaded))
  assert.deepEqual(loaded, edge)
  assert.ok(!cache.load({ ...state, lineage: 1 }, loaded))
  assert.ok(!cache.load({ ...state, leafCount: 8 }, loaded))
})

test('the edge of a leaf count whose root a reorg changed is not used, and is replaced', () => {
  const cache = new EdgeCache(2)
  const before = stateWithEdge(7, 1)
  const after = stateWithEdge(7, 2)
  cache.store(before.state, before.edge)
  const loaded = new Uint8Array(EDGE_BYTES)
  assert.ok(!cache.load(after.state, loaded))
  assert.deepEqual(loaded, new Uint8Array(EDGE_BYTES))
  cache.store(after.state, after.edge)
  assert.ok(cache.load(after.state, loaded))
  assert.deepEqual(loaded, after.edge)
  assert.ok(!cache.load(before.state, loaded))
})

test('the least recently used edge makes room for a new one', () => {
  const cache = new EdgeCache(2)
  const [a, b, c] = [1, 2, 3].map((n) => stateWithEdge(n, n)) as [
    ReturnType<typeof stateWithEdge>,
    ReturnType<typeof stateWithEdge>,
    ReturnType<typeof stateWithEdge>,
  ]
  cache.store(a.state, a.edge)
  cache.store(b.state, b.edge)
  const loaded = new Uint8Array(EDGE_BYTES)
  assert.ok(cache.load(a.state, loaded))
  cache.store(c.state, c.edge)
  assert.ok(!cache.load(b.state, loaded))
  for (const kept of [a, c]) {
    assert.ok(cache.load(kept.state, loaded))
    assert.deepEqual(loaded, kept.edge)
  }
})
