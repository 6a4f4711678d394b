import { spawnSync } from 'node:child_process'
import { randomFillSync, randomInt } from 'node:crypto'
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { appendLeaves } from '../../src/merkle/appendOnlyTree.js'
import { EdgeCache } from '../../src/merkle/edgeCache.js'
import { getRootsAtCounts, proveLeaf, type TreeVersion } from '../../src/merkle/treeProofs.js'
import { compileMerkleModule, createHasher } from '../../src/merkle/wasm.js'
import { tileReader, tileWriter } from '../../src/shard/tiles.js'
import { trees } from '../../src/store/codecs/keys.js'
import { openShardStoreReader, openShardStoreWriter } from '../../src/store/shardStore.js'
import { naiveFold } from '../../test/support/naiveTree.js'
import { type Contender, race, repeating } from './race.js'
import type { Target } from './report.js'

/** Leaves per transaction while the tree is built. */
const BUILD_BATCH = 100_000
/** Proofs per snapshot, as in a micro-batch of the pool. */
const BATCH = 64
const PROBES = 4096
/** Versions asked for again and again where the edge cache is measured. */
const HOT_VERSIONS = 64
const COLD_PROOFS = 500

interface Probe {
  readonly version: TreeVersion
  readonly index: number
}

/** Microseconds per proof, folded to its root, from a store of `leafCount` leaves. */
export interface BranchCosts {
  readonly leafCount: number
  readonly fold: number
  readonly newest: number
  readonly newestWithEdge: number
  readonly random: number
  readonly randomWithEdge: number
  readonly randomJson: number
  readonly randomJsonWithEdge: number
  /** `undefined` where the page cache can't be emptied. */
  readonly cold: number | undefined
}

export async function benchBranches(folder: string, leafCount: number): Promise<BranchCosts> {
  const directory = join(folder, `branches-${leafCount}`)
  const needed = 120 * leafCount + 64e6
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < needed)
    throw new Error(`${leafCount} leaves need ${needed} bytes of disk, ${bavail * bsize} are free`)
  const hasher = createHasher(compileMerkleModule())
  const writer = openShardStoreWriter(directory)
  for (let from = 0; from < leafCount; from += BUILD_BATCH) {
    const leaves = randomFillSync(new Uint8Array(32 * Math.min(BUILD_BATCH, leafCount - from)))
    writer.transact((view) => {
      appendLeaves(
        { hasher, tiles: tileWriter(view, trees.localExitTree), lineages: [{ cut: 0 }] },
        0,
        from,
        leaves,
      )
    })
  }
  await writer.close()

  const reader = openShardStoreReader(directory)
  const tree = { hasher, tiles: tileReader(reader, trees.localExitTree), lineages: [{ cut: 0 }] }
  const probesAt = (counts: readonly number[]): readonly Probe[] => {
    const roots = getRootsAtCounts(tree, 0, counts)
    return counts.map((count, i) => ({
      version: { lineage: 0, leafCount: count, root: roots.slice(32 * i, 32 * i + 32) },
      index: randomInt(count),
    }))
  }
  reader.refresh()
  const newest = probesAt(Array.from({ length: PROBES }, () => leafCount))
  const random = probesAt(Array.from({ length: PROBES }, () => 1 + randomInt(leafCount)))
  const hotCounts = Array.from({ length: HOT_VERSIONS }, () => 1 + randomInt(leafCount))
  const hot = probesAt(Array.from({ length: PROBES }, (_, i) => hotCounts[i % HOT_VERSIONS]!))
  for (const { version, index } of [...newest.slice(0, 20), ...random.slice(0, 20), ...hot.slice(0, 20)]) {
    const { leaf, branch } = proveLeaf(tree, version, index)
    if (Buffer.compare(naiveFold(leaf, branch, index), version.root) !== 0)
      throw new Error('a branch is wrong')
  }
  reader.release()

  const json = new Uint8Array(4096)
  const proving = (
    name: string,
    probes: readonly Probe[],
    edges?: EdgeCache,
    text?: Uint8Array,
  ): Contender => {
    let next = 0
    return repeating(name, BATCH, () => {
      reader.refresh()
      for (let i = 0; i < BATCH; i++, next = (next + 1) % PROBES) {
        const { version, index } = probes[next]!
        const { branch } = proveLeaf(tree, version, index, edges)
        if (text !== undefined) hasher.formatNodes(branch, text, 0)
      }
      reader.release()
    })
  }
  const leaf = new Uint8Array(32)
  const siblings = new Uint8Array(1024)
  const rates = await race([
    repeating('fold', BATCH, () => {
      for (let i = 0; i < BATCH; i++) hasher.foldBranch(leaf, siblings, i)
    }),
    proving('newest', newest),
    proving('newestWithEdge', newest, new EdgeCache(HOT_VERSIONS)),
    proving('random', random),
    proving('randomWithEdge', hot, new EdgeCache(HOT_VERSIONS)),
    proving('randomJson', random, undefined, json),
    proving('randomJsonWithEdge', hot, new EdgeCache(HOT_VERSIONS), json),
  ])
  await reader.close()
  const us = (name: string) => 1e6 / rates.get(name)!
  return {
    leafCount,
    fold: us('fold'),
    newest: us('newest'),
    newestWithEdge: us('newestWithEdge'),
    random: us('random'),
    randomWithEdge: us('randomWithEdge'),
    randomJson: us('randomJson'),
    randomJsonWithEdge: us('randomJsonWithEdge'),
    cold: await coldCost(directory, random),
  }

  /** Mean cost of the first proofs after the file left the page cache; `undefined` where that can't be asked for. */
  async function coldCost(store: string, probes: readonly Probe[]): Promise<number | undefined> {
    const drop = spawnSync('dd', [`if=${join(store, 'data.mdb')}`, 'iflag=nocache', 'count=0'], {
      stdio: 'ignore',
    })
    if (drop.status !== 0) return undefined
    const cold = openShardStoreReader(store)
    cold.refresh()
    const coldTree = { ...tree, tiles: tileReader(cold, trees.localExitTree) }
    const start = performance.now()
    for (const { version, index } of probes.slice(0, COLD_PROOFS)) proveLeaf(coldTree, version, index)
    const elapsed = performance.now() - start
    cold.release()
    await cold.close()
    return (1000 * elapsed) / COLD_PROOFS
  }
}

/** What the project promises itself of the costs at 10^4, 10^6 and, when asked for, more leaves. */
export function branchTargets(costs: readonly BranchCosts[]): readonly Target[] {
  const million = costs.find(({ leafCount }) => leafCount === 1_000_000)!
  const larger = costs.filter(({ leafCount }) => leafCount > 1_000_000)
  return [
    {
      text: 'proof at the newest size ÷ bare fold, rate',
      atLeast: 0.7,
      value: million.fold / million.newestWithEdge,
    },
    { text: 'proof at a random size ÷ bare fold, rate', atLeast: 0.4, value: million.fold / million.random },
    { text: 'proof at a random size with hex JSON', atMost: 25, value: million.randomJson, unit: 'µs' },
    { text: 'the same with its edge cached', atMost: 10, value: million.randomJsonWithEdge, unit: 'µs' },
    ...larger.map(({ leafCount, random }) => ({
      text: `proof at ${leafCount} leaves ÷ at 1000000, time`,
      atMost: 1.5,
      value: random / million.random,
    })),
  ]
}
