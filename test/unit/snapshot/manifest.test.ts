import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertL1NotOlder,
  decodeManifest,
  encodeManifest,
  inCopyOrder,
  type Manifest,
} from '../../../src/snapshot/manifest.js'

const manifest: Manifest = {
  format: 1,
  made_at: '2026-01-02T03:04:05.006Z',
  build: '1.2.3',
  command_version: 1,
  networks: [
    {
      network_id: 1,
      schema: 5,
      identity: { chain_id: 1001, bridge: '0x2a' },
      block: { number: 12, hash: '0xab', timestamp: 99 },
      ...{ local_exit_root: '0xcd', l1_info_root: null, deposits: 3, claims: 2, token_mappings: 1 },
      ...{ l1_info_leaves: 0, polled_leaves: 7, bytes: 4096, log: null },
      chunks: [{ sha256: 'ef', bytes: 4096, stored_bytes: 100 }],
    },
  ],
}

test('a manifest with any bit of it flipped is refused, unless it says the same', () => {
  const bytes = encodeManifest(manifest)
  assert.deepEqual(decodeManifest(bytes, 'here'), manifest)
  for (let at = 0; at < 8 * bytes.length; at++) {
    const flipped = Uint8Array.from(bytes)
    flipped[at >> 3]! ^= 1 << (at & 7)
    let read: Manifest
    try {
      read = decodeManifest(flipped, 'here')
    } catch (error) {
      assert.match((error as Error).message, /^here is damaged: manifest\.json [^\n]+$/)
      continue
    }
    assert.deepEqual(read, manifest, `bit ${at}`)
  }
})

test('what has no manifest, or one of a later format, is refused in one line', () => {
  const none = 'there holds no manifest.json: it is no backup, or one that was not finished'
  assert.throws(() => decodeManifest(undefined, 'there'), { name: 'FatalError', message: none })
  const later = encodeManifest({ ...manifest, format: 2 })
  assert.throws(() => decodeManifest(later, 'there'), {
    name: 'FatalError',
    message: 'there has format 2, this build reads 1',
  })
})

test('network 0 is copied last, wherever it is configured', () => {
  const order = (ids: number[]) =>
    inCopyOrder(ids.map((networkId) => ({ networkId }))).map((n) => n.networkId)
  assert.deepEqual(order([0, 3, 1]), [3, 1, 0])
  assert.deepEqual(order([2, 0]), [2, 0])
  assert.deepEqual(order([2]), [2])
})

test('an L1 with fewer info leaves than another network has polled is refused', () => {
  const shard = (network_id: number, l1_info_leaves: number, polled_leaves: number | null) => ({
    network_id,
    l1_info_leaves,
    polled_leaves,
  })
  const l1 = shard(0, 10, null)
  assertL1NotOlder([l1, shard(1, 0, 10), shard(2, 0, null)])
  assertL1NotOlder([shard(1, 0, 11)])
  assert.throws(() => assertL1NotOlder([shard(2, 0, 3), shard(1, 0, 11), l1]), {
    name: 'FatalError',
    message: 'network 0 is older than network 1: it has 10 L1 info leaves, of which network 1 has polled 11',
  })
})
