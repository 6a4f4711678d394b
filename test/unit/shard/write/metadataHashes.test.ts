import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { MetadataHashes } from '../../../../src/shard/write/metadataHashes.js'

test('each content of metadata has one number and one hash, whatever bytes follow it', () => {
  const hashes = new MetadataHashes((bytes) => keccak_256(bytes))
  const numbers = new Map<string, number>()
  for (let length = 0; length < 40; length++)
    for (let differing = -1; differing < length; differing++) {
      const metadata = new Uint8Array(length).fill(length)
      if (differing >= 0) metadata[differing]! ^= 0x80
      const number = hashes.numberOf(metadata)
      assert.deepEqual(hashes.hash(number), keccak_256(metadata))
      const words = new Int32Array(16).fill(-1)
      new Uint8Array(words.buffer).set(metadata, 8)
      assert.equal(
        hashes.numberAt(words, 2, length),
        number,
        `${length} bytes, the one at ${differing} differs`,
      )
      numbers.set(Buffer.from(metadata).toString('hex'), number)
    }
  assert.equal(numbers.size, 40 + (39 * 40) / 2)
  assert.equal(new Set(numbers.values()).size, numbers.size)
  assert.equal(hashes.trim(), false)
  hashes.numberOf(new Uint8Array(16 * 2 ** 20))
  assert.equal(hashes.trim(), true)
  assert.equal(hashes.numberOf(Uint8Array.of(1)), 0)
})
