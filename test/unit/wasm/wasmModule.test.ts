import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { compileMerkleModule, createHasher, type MerkleBuild } from '../../../src/wasm/wasmModule.js'

const builds: readonly MerkleBuild[] = ['simd', 'scalar', 'simd-debug', 'scalar-debug']

test("no build has imports, and no build's memory can grow", () => {
  for (const build of builds) {
    const { module } = compileMerkleModule(build)
    assert.deepEqual(WebAssembly.Module.imports(module), [], build)
    const { memory } = new WebAssembly.Instance(module).exports as {
      memory: { buffer: ArrayBuffer; grow(pages: number): number }
    }
    const pages = memory.buffer.byteLength
    assert.throws(() => memory.grow(1), RangeError, build)
    assert.equal(memory.buffer.byteLength, pages)
  }
})

test('threads that share one compiled module hash at the same time without disturbing each other', async () => {
  const compiled = compileMerkleModule()
  const messages = Array.from({ length: 4 }, () => randomBytes(100_000))
  const body = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(workerData.url).then(({ createHasher }) => {
      const hasher = createHasher(workerData.compiled)
      const digests = []
      for (let round = 0; round < 50; round++) digests.push(hasher.hash(workerData.message))
      parentPort.postMessage(digests)
    })`
  const url = new URL('../../../src/wasm/wasmModule.js', import.meta.url).href
  const digests = await Promise.all(
    messages.map(
      (message) =>
        new Promise<Uint8Array[]>((resolve, reject) => {
          const worker = new Worker(body, { eval: true, workerData: { url, compiled, message } })
          worker.once('message', resolve).once('error', reject)
        }),
    ),
  )
  messages.forEach((message, i) => {
    const expected = Buffer.from(keccak_256(message))
    assert.equal(digests[i]!.length, 50)
    for (const digest of digests[i]!) assert.deepEqual(Buffer.from(digest), expected, `thread ${i}`)
  })
})

test('two hashers of one thread do not disturb each other', () => {
  const compiled = compileMerkleModule()
  const [a, b] = [createHasher(compiled), createHasher(compiled)]
  a.kernels.tile.fill(1)
  assert.ok(b.kernels.tile.every((byte) => byte === 0))
})

test('the module chosen at start names itself, and is the SIMD build on this engine', () => {
  assert.equal(createHasher(compileMerkleModule()).name, 'wasm-simd')
  assert.equal(createHasher(compileMerkleModule('scalar')).name, 'wasm-scalar')
})
