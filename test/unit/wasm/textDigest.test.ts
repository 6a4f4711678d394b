import assert from 'node:assert/strict'
import test from 'node:test'
import { compileMerkleModule, createTextDigest, type MerkleBuild } from '../../../src/wasm/wasmModule.js'

const builds: readonly MerkleBuild[] = ['simd', 'scalar', 'simd-debug', 'scalar-debug']

/** Made by hash-wasm 4.13.0 (its XXH128 is the reference implementation in C) of `textOf(length)`. */
const vectors: readonly (readonly [length: number, digest: string])[] = [
  [241, '30fafd9e3931dbd19dc4f9091538415e'],
  [255, 'ab1e3e007e89404d717d95ff74337bf2'],
  [256, 'a3dc440db2c5f7f0f10740cc92f50822'],
  [257, '20bb4665a7d8e3923404159b56dd15e8'],
  [1_024, 'd913939424357cffec9414ad633b47fc'],
  [1_025, 'd9a5e36cb9775afc8300b34ab5e9c31a'],
  [1_088, '0c3d92ad3809c296fe7dbfd264628aeb'],
  [2_048, 'b021992d1b7d76d4deffeb7e7ec460f0'],
  [5_149, '99287fdea0d58cc28f5cd7dc195c546b'],
  [64_512, 'd18f3e4b77daac41b82ce66608e600bd'],
  [64_513, 'bea740a41455db35eb69e06d9620a570'],
  [65_536, '70477dd0957d6925bd1f0523f1ac2b52'],
  [72_793, '72aae02b43ac2e27a1e9e5abcc9232c5'],
  [129_025, '1b3b31868e67cd1e6d0e149eac174b99'],
  [200_000, 'c938cfc10c08d491d3b8ab14c06c595b'],
]

const textOf = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 167 + (at >> 8) * 13) & 255)

for (const build of builds)
  test(`the digest of a text is its XXH3-128 (${build})`, () => {
    const digest = createTextDigest(compileMerkleModule(build))
    // Lengths go up and down again, so that a leftover of one text would change the digest of the next.
    for (const [length, expected] of [...vectors, ...vectors.toReversed()])
      assert.equal(Buffer.from(digest(textOf(length))).toString('hex'), expected, `${length} bytes`)
  })

test('one bit anywhere in a text changes its digest', () => {
  const digest = createTextDigest(compileMerkleModule())
  for (const length of [241, 1_100, 66_000]) {
    const text = textOf(length)
    const before = Buffer.from(digest(text)).toString('hex')
    for (let at = 0; at < length; at += length > 2_000 ? 61 : 1) {
      text[at] = text[at]! ^ 1
      assert.notEqual(Buffer.from(digest(text)).toString('hex'), before, `byte ${at} of ${length}`)
      text[at] = text[at]! ^ 1
    }
  }
})

test('a text too short for the algorithm is refused', () => {
  const digest = createTextDigest(compileMerkleModule())
  assert.throws(() => digest(new Uint8Array(240)), /240 bytes, at least 241/)
})
