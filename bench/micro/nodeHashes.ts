import { createRequire } from 'node:module'
import { join } from 'node:path'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { keccak256 } from 'viem/utils'
import type { Hasher } from '../../src/merkle/hasher.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { buildNativeKeccak } from './nativeKeccak.js'
import { projectRoot, requireRival, versionOf } from './project.js'
import { type Contender, race, repeating } from './race.js'
import type { Target } from './report.js'

/** The part of hash-wasm that is used. */
interface HashWasm {
  createKeccak(bits: number): Promise<{
    init(): void
    update(bytes: Uint8Array): void
    digest(format: 'binary'): Uint8Array
  }>
}

interface Checked extends Contender {
  /** Hashes every pair once, into `out`. */
  hashAll(): void
}

const PAIRS = 1024
/** Nodes per step of contenders that hash one by one: a step of the slowest must be much shorter than a round. */
const SOME = 64
const SIMD = 'ours, SIMD batch'
const SCALAR = 'ours, scalar batch'

/** Measures keccak-256 of 64-byte nodes: ours, the rivals and the C reference. Each is checked against noble first. */
export async function benchNodeHashes(
  folder: string,
): Promise<{ readonly rows: readonly string[][]; readonly targets: readonly Target[] }> {
  const pairs = crypto.getRandomValues(new Uint8Array(64 * PAIRS))
  const pairAt = (i: number) => pairs.subarray(64 * i, 64 * i + 64)
  const expected = Buffer.concat(Array.from({ length: PAIRS }, (_, i) => keccak_256(pairAt(i))))
  const out = new Uint8Array(32 * PAIRS)

  const requireOurs = createRequire(join(projectRoot, 'package.json'))
  const noble = `@noble/hashes ${versionOf('@noble/hashes', requireOurs)}`
  const viem = `viem ${versionOf('viem', requireOurs)} keccak256`
  const hashWasm = `hash-wasm ${versionOf('hash-wasm', requireRival)}`
  const keccak = await (requireRival('hash-wasm') as HashWasm).createKeccak(256)
  const simd = createHasher(compileMerkleModule('simd'))
  const scalar = createHasher(compileMerkleModule('scalar'))

  const batch = (name: string, hasher: Hasher): Checked => {
    const hashAll = () => hasher.hashPairs(pairs, PAIRS, out)
    return { ...repeating(name, PAIRS, hashAll), hashAll }
  }
  const oneByOne = (name: string, hash: (pair: Uint8Array) => Uint8Array): Checked => {
    let next = 0
    const hashSome = () => {
      for (let i = 0; i < SOME; i++, next = (next + 1) % PAIRS) out.set(hash(pairAt(next)), 32 * next)
    }
    const hashAll = () => {
      for (let done = 0; done < PAIRS; done += SOME) hashSome()
    }
    return { ...repeating(name, SOME, hashSome), hashAll }
  }
  const contenders: readonly Checked[] = [
    batch(SIMD, simd),
    batch(SCALAR, scalar),
    oneByOne('ours, one call per node', (pair) => simd.hash(pair)),
    oneByOne(hashWasm, (pair) => {
      keccak.init()
      keccak.update(pair)
      return keccak.digest('binary')
    }),
    oneByOne(noble, keccak_256),
    oneByOne(viem, (pair) => keccak256(pair, 'bytes')),
  ]
  for (const { name, hashAll } of contenders) {
    out.fill(0)
    hashAll()
    if (!expected.equals(out)) throw new Error(`${name} hashes wrongly`)
  }
  const native = buildNativeKeccak(folder, pairs)
  for (const { name, measure, hashes } of native) {
    measure(1)
    if (!expected.equals(hashes())) throw new Error(`${name} hashes wrongly`)
  }

  const rates = race([...contenders, ...native])
  const rate = (name: string) => rates.get(name)!
  const targets: Target[] = [
    { text: 'scalar ÷ hash-wasm', atLeast: 1.5, value: rate(SCALAR) / rate(hashWasm) },
    { text: 'scalar ÷ noble', atLeast: 15, value: rate(SCALAR) / rate(noble) },
    { text: 'SIMD batch ÷ scalar', atLeast: 1.3, value: rate(SIMD) / rate(SCALAR) },
  ]
  const [plain] = native
  if (plain !== undefined)
    targets.push({ text: `SIMD batch ÷ ${plain.name}`, atLeast: 1.2, value: rate(SIMD) / rate(plain.name) })
  const rows = [...rates]
    .sort(([, a], [, b]) => b - a)
    .map(([name, value]) => [name, (value / 1000).toFixed(0), (value / rate(SCALAR)).toFixed(2)])
  return { rows, targets }
}
