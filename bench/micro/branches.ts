import { spawnSync } from 'node:child_process'
import { randomFillSync, randomInt } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { appendLeaves } from '../../src/merkle/appendOnlyTree.js'
import { EdgeCache } from '../../src/merkle/edgeCache.js'
import { getRootsAtCounts, proveLeaf } from '../../src/merkle/treeProofs.js'
import type { TreeState } from '../../src/merkle/treeTiles.js'
import { tileReader, tileWriter } from '../../src/shard/snapshot/tiles.js'
import { trees } from '../../src/store/layout/keys.js'
import { openShardStoreReader, openShardStoreWriter } from '../../src/store/shardStore.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { naiveFold } from '../../test/support/naiveTree.js'
import { type Contender, race, repeating } from './race.js'
import type { Target } from './report.js'

/** Leaves per transaction while the tree is built. */
const BUILD_BATCH = 100_000
/** Proofs per snapshot, as in a batch of the pool. */
const BATCH = 64
const PROBES = 4096
/** Tree sizes that are asked for repeatedly, to measure the edge cache. */
const HOT_VERSIONS = 64
const COLD_PROOFS = 500

const FOLD = 'bare fold of 32 hashes'
const NEWEST = 'newest size'
const NEWEST_EDGE = 'newest size, edge cached'
const RANDOM = 'random size'
const HOT_EDGE = 'one of 64 random sizes, edge cached'
const RANDOM_JSON = 'random size, with hex JSON'
const HOT_EDGE_JSON = 'one of 64 random sizes, edge cached, with hex JSON'
const COLD = 'random size, store not in the page cache'

interface Probe {
  readonly state: TreeState
  readonly index: number
}

const hasher = createHasher(compileMerkleModule())
const lineages = [{ cut: 0 }]

/** Measures proofs from stores of several sizes, in microseconds each. Every proof is folded to its root. */
export async function benchBranches(
  folder: string,
  sizes: readonly number[],
): Promise<{ readonly rows: readonly string[][]; readonly targets: readonly Target[] }> {
  const stores = []
  for (const size of sizes) stores.push(await prepareStore(folder, size))
  const leaf = new Uint8Array(32)
  const siblings = new Uint8Array(1024)
  const rates = race([
    repeating(FOLD, BATCH, () => {
      for (let i = 0; i < BATCH; i++) hasher.foldBranch(leaf, siblings, i)
    }),
    ...stores.flatMap(({ contenders }) => contenders),
  ])
  const us = (kind: string, size: number) => 1e6 / rates.get(kind === FOLD ? FOLD : nameOf(kind, size))!
  const cold: (number | undefined)[] = []
  for (const store of stores) {
    await store.close()
    cold.push(await coldCost(store.directory, store.random))
  }
  const kinds = [FOLD, NEWEST, NEWEST_EDGE, RANDOM, HOT_EDGE, RANDOM_JSON, HOT_EDGE_JSON]
  const million = 1_000_000
  return {
    rows: [
      ...kinds.map((kind) => [kind, ...sizes.map((size) => us(kind, size).toFixed(1))]),
      [COLD, ...cold.map((cost) => cost?.toFixed(1) ?? '—')],
    ],
    targets: [
      {
        text: 'proof at the newest size ÷ bare fold, rate',
        atLeast: 0.7,
        value: us(FOLD, million) / us(NEWEST_EDGE, million),
      },
      {
        text: 'proof at a random size ÷ bare fold, rate',
        atLeast: 0.4,
        value: us(FOLD, million) / us(RANDOM, million),
      },
      {
        text: 'proof at a random size with hex JSON',
        atMost: 25,
        value: us(RANDOM_JSON, million),
        unit: 'µs',
      },
      { text: 'the same with its edge cached', atMost: 10, value: us(HOT_EDGE_JSON, million), unit: 'µs' },
      ...sizes
        .filter((size) => size > million)
        .map((size) => ({
          text: `proof at ${size} leaves ÷ at ${million}, time`,
          atMost: 1.5,
          value: us(RANDOM, size) / us(RANDOM, million),
        })),
    ],
  }
}

const nameOf = (kind: string, size: number) => `${kind}, ${size} leaves`

/** Builds a store, checks some of its proofs against the naive computation, and returns what to measure on it. */
async function prepareStore(folder: string, leafCount: number) {
  const directory = join(folder, `branches-${leafCount}`)
  const needed = 120 * leafCount + 64e6
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < needed)
    throw new Error(`${leafCount} leaves need ${needed} bytes of disk, ${bavail * bsize} are free`)
  const writer = openShardStoreWriter(directory)
  for (let from = 0; from < leafCount; from += BUILD_BATCH) {
    const leaves = randomFillSync(new Uint8Array(32 * Math.min(BUILD_BATCH, leafCount - from)))
    writer.transact((view) => {
      appendLeaves({ hasher, tiles: tileWriter(view, trees.localExitTree), lineages }, 0, from, leaves)
    })
  }
  await writer.close()

  const reader = openShardStoreReader(directory)
  const tree = { hasher, tiles: tileReader(reader, trees.localExitTree), lineages }
  const probesAt = (counts: readonly number[]): readonly Probe[] => {
    const roots = getRootsAtCounts(tree, 0, counts)
    return counts.map((count, i) => ({
      state: { lineage: 0, leafCount: count, root: roots.slice(32 * i, 32 * i + 32) },
      index: randomInt(count),
    }))
  }
  reader.refresh()
  const newest = probesAt(Array.from({ length: PROBES }, () => leafCount))
  const random = probesAt(Array.from({ length: PROBES }, () => 1 + randomInt(leafCount)))
  const hotCounts = Array.from({ length: HOT_VERSIONS }, () => 1 + randomInt(leafCount))
  const hot = probesAt(Array.from({ length: PROBES }, (_, i) => hotCounts[i % HOT_VERSIONS]!))
  for (const { state, index } of [newest, random, hot].flatMap((probes) => probes.slice(0, 20))) {
    const { leaf, branch } = proveLeaf(tree, state, index)
    if (Buffer.compare(naiveFold(leaf, branch, index), state.root) !== 0) throw new Error('a branch is wrong')
  }
  reader.release()

  const json = new Uint8Array(4096)
  const proving = (
    kind: string,
    probes: readonly Probe[],
    { edges, text }: { readonly edges?: EdgeCache; readonly text?: Uint8Array } = {},
  ): Contender => {
    let next = 0
    return repeating(nameOf(kind, leafCount), BATCH, () => {
      reader.refresh()
      for (let i = 0; i < BATCH; i++, next = (next + 1) % PROBES) {
        const { state, index } = probes[next]!
        const { branch } = proveLeaf(tree, state, index, edges)
        if (text !== undefined) hasher.formatNodes(branch, text, 0)
      }
      reader.release()
    })
  }
  return {
    directory,
    random,
    close: () => reader.close(),
    contenders: [
      proving(NEWEST, newest),
      proving(NEWEST_EDGE, newest, { edges: new EdgeCache(HOT_VERSIONS) }),
      proving(RANDOM, random),
      proving(HOT_EDGE, hot, { edges: new EdgeCache(HOT_VERSIONS) }),
      proving(RANDOM_JSON, random, { text: json }),
      proving(HOT_EDGE_JSON, hot, { edges: new EdgeCache(HOT_VERSIONS), text: json }),
    ],
  }
}

/** Mean cost of the first proofs after the file was dropped from the page cache; undefined where that is not possible. */
async function coldCost(directory: string, probes: readonly Probe[]): Promise<number | undefined> {
  const drop = spawnSync('dd', [`if=${join(directory, 'data.mdb')}`, 'iflag=nocache', 'count=0'], {
    stdio: 'ignore',
  })
  if (drop.status !== 0) return undefined
  const reader = openShardStoreReader(directory)
  reader.refresh()
  const tree = { hasher, tiles: tileReader(reader, trees.localExitTree), lineages }
  const start = performance.now()
  for (const { state, index } of probes.slice(0, COLD_PROOFS)) proveLeaf(tree, state, index)
  const elapsed = performance.now() - start
  reader.release()
  await reader.close()
  return (1000 * elapsed) / COLD_PROOFS
}
