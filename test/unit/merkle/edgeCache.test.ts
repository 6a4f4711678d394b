import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EDGE_BYTES, EdgeCache } from '../../../src/merkle/edgeCache.js'

function versionWithEdge(leafCount: number, fill: number, lineage = 0) {
  const edge = new Uint8Array(EDGE_BYTES).fill(fill)
  return { version: { lineage, leafCount, root: edge.slice(32 * 32, 33 * 32) }, edge }
}

test('an edge is kept under its lineage, leaf count and root', () => {
  const cache = new EdgeCache(2)
  const { version, edge } = versionWithEdge(7, 1)
  cache.store(version, edge)
  const loaded = new Uint8Array(EDGE_BYTES)
  assert.ok(cache.load(version, loaded))
  assert.deepEqual(loaded, edge)
  assert.ok(!cache.load({ ...version, lineage: 1 }, loaded))
  assert.ok(!cache.load({ ...version, leafCount: 8 }, loaded))
})

test('the edge of a leaf count whose root a reorg changed is not used, and is replaced', () => {
  const cache = new EdgeCache(2)
  const before = versionWithEdge(7, 1)
  const after = versionWithEdge(7, 2)
  cache.store(before.version, before.edge)
  const loaded = new Uint8Array(EDGE_BYTES)
  assert.ok(!cache.load(after.version, loaded))
  assert.deepEqual(loaded, new Uint8Array(EDGE_BYTES))
  cache.store(after.version, after.edge)
  assert.ok(cache.load(after.version, loaded))
  assert.deepEqual(loaded, after.edge)
  assert.ok(!cache.load(before.version, loaded))
})

test('the least recently used edge makes room for a new one', () => {
  const cache = new EdgeCache(2)
  const [a, b, c] = [1, 2, 3].map((n) => versionWithEdge(n, n)) as [
    ReturnType<typeof versionWithEdge>,
    ReturnType<typeof versionWithEdge>,
    ReturnType<typeof versionWithEdge>,
  ]
  cache.store(a.version, a.edge)
  cache.store(b.version, b.edge)
  const loaded = new Uint8Array(EDGE_BYTES)
  assert.ok(cache.load(a.version, loaded))
  cache.store(c.version, c.edge)
  assert.ok(!cache.load(b.version, loaded))
  for (const kept of [a, c]) {
    assert.ok(cache.load(kept.version, loaded))
    assert.deepEqual(loaded, kept.edge)
  }
})
