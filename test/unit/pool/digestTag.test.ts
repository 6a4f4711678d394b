import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import test from 'node:test'
import { createTagWriter, digestTag, TAG_LENGTH } from '../../../src/pool/digestTag.js'
import { compileMerkleModule, createTextDigest } from '../../../src/wasm/wasmModule.js'

const writeTag = createTagWriter(createTextDigest(compileMerkleModule()))

function tagOf(body: Uint8Array): string {
  const target = new Uint8Array(TAG_LENGTH + 2)
  writeTag(body, target, 1)
  assert.deepEqual([target[0], target[TAG_LENGTH + 1]], [0, 0], 'nothing around the tag is written')
  return Buffer.from(target.subarray(1, TAG_LENGTH + 1)).toString('latin1')
}

test('the tag of an answer is its XXH3-128 in base64url, that of a short answer its SHA-256', () => {
  // The digest of these bytes is a vector of the digest's own test.
  const long = Uint8Array.from({ length: 5_149 }, (_, at) => (at * 167 + (at >> 8) * 13) & 255)
  assert.equal(tagOf(long), Buffer.from('99287fdea0d58cc28f5cd7dc195c546b', 'hex').toString('base64url'))
  const short = Buffer.from('{"bridges":[]}')
  assert.equal(tagOf(short), hash('sha256', short, 'base64url').slice(0, TAG_LENGTH))
})

test('without XXH3 every tag is the SHA-256', () => {
  const body = new Uint8Array(5_000).fill(7)
  const target = new Uint8Array(TAG_LENGTH)
  createTagWriter()(body, target, 0)
  assert.equal(Buffer.from(target).toString(), digestTag(body))
})
