import { randomFillSync } from 'node:crypto'
import { join } from 'node:path'
import { appendLeaves } from '../../src/merkle/appendOnlyTree.js'
import { createZeroHashes } from '../../src/merkle/branch.js'
import { getRoot } from '../../src/merkle/treeProofs.js'
import { TILE_BYTES, type TileWriter } from '../../src/merkle/treeTiles.js'
import { tileWriter } from '../../src/shard/snapshot/tiles.js'
import { trees } from '../../src/store/layout/keys.js'
import { openShardStoreWriter } from '../../src/store/shardStore.js'
import { compileMerkleModule, createHasher } from '../../src/wasm/wasmModule.js'
import { MemoryTiles } from '../../test/support/memoryTiles.js'
import { NaiveTree } from '../../test/support/naiveTree.js'
import { cpuMs, race, repeating } from './race.js'
import type { Target } from './report.js'

const LEAVES = 1_000_000
/** Leaves per call: so few that the best of some repeats was undisturbed. */
const BATCH = 20_000
const REPEATS = 9

/** Measures building a tree of 1 M leaves: hashing alone, into memory, into LMDB, and naively. */
export async function benchTreeBuild(
  folder: string,
): Promise<{ readonly rows: readonly string[][]; readonly targets: readonly Target[] }> {
  const leaves = randomFillSync(new Uint8Array(32 * LEAVES))
  const hasher = createHasher(compileMerkleModule())
  const treeOn = (tiles: TileWriter) => ({ hasher, tiles, lineages: [{ cut: 0 }] })
  checkAgainstNaiveTree(leaves.subarray(0, 32 * 5000))

  const hash = new BestTimes()
  const memory = new BestTimes()
  const body = new BestTimes()
  let commit = Infinity
  let bytesPerLeaf = 0
  const build = (tiles: TileWriter, times: BestTimes): void => {
    for (let from = 0; from < LEAVES; from += BATCH)
      times.time(from, () => {
        appendLeaves(treeOn(tiles), 0, from, leaves.subarray(32 * from, 32 * (from + BATCH)))
      })
  }
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    build({ getTile: () => new Uint8Array(TILE_BYTES), putTile: () => {} }, hash)
    build(new MemoryTiles(), memory)
    const store = openShardStoreWriter(join(folder, `build-${repeat}`))
    let end = 0
    store.transact((view) => {
      build(tileWriter(view, trees.localExitTree), body)
      end = performance.now()
    })
    commit = Math.min(commit, performance.now() - end)
    bytesPerLeaf = store.fileBytes() / LEAVES
    await store.close()
  }
  const naive = raceNaive(leaves)

  const row = (name: string, ms: number) => [name, (LEAVES / ms / 1000).toFixed(2), ms.toFixed(0)]
  const rows = [
    row('hashing alone (tiles are dropped)', hash.sum),
    row('in memory', memory.sum),
    row('into LMDB, one transaction, before its commit', body.sum),
    ['commit of that transaction with its fsync', '', commit.toFixed(0)],
    ...[...naive].map(([name, rate]) => [name, (rate / 1e6).toFixed(3), (LEAVES / rate / 1e-3).toFixed(0)]),
  ]
  const fastestNaive = Math.max(...naive.values())
  return {
    rows,
    targets: [
      {
        text: '1 M leaves in memory ÷ naive (the faster one)',
        atLeast: 35,
        value: (1000 * LEAVES) / memory.sum / fastestNaive,
      },
      {
        text: '1 M leaves into LMDB before fsync ÷ hashing alone, time',
        atMost: 1.3,
        value: body.sum / hash.sum,
      },
      { text: 'disk per leaf', atMost: 72, value: bytesPerLeaf, unit: 'bytes' },
    ],
  }
}

function checkAgainstNaiveTree(leaves: Uint8Array): void {
  const count = leaves.length / 32
  const tree = {
    hasher: createHasher(compileMerkleModule()),
    tiles: new MemoryTiles(),
    lineages: [{ cut: 0 }],
  }
  appendLeaves(tree, 0, 0, leaves)
  const naive = new NaiveTree(Array.from({ length: count }, (_, i) => leaves.subarray(32 * i, 32 * i + 32)))
  if (Buffer.compare(getRoot(tree, 0, count), naive.root) !== 0) throw new Error('the tree has a wrong root')
}

/** Leaves per second of the naive way: 32 hashes of the scalar kernel for each leaf. */
function raceNaive(leaves: Uint8Array): ReadonlyMap<string, number> {
  const hasher = createHasher(compileMerkleModule('scalar'))
  const zeroHashes = createZeroHashes(hasher)
  const branch = Buffer.concat(zeroHashes.slice(0, 32))
  let next = 0
  return race([
    repeating('naive: 32 calls of the scalar kernel per leaf', 100, () => {
      for (let i = 0; i < 100; i++, next = (next + 1) % LEAVES) {
        let node = leaves.subarray(32 * next, 32 * next + 32)
        for (let h = 0; h < 32; h++) node = hasher.hashPair(node, zeroHashes[h]!)
      }
    }),
    repeating('naive: one call of the scalar kernel for the 32 hashes of a leaf', 100, () => {
      for (let i = 0; i < 100; i++, next = (next + 1) % LEAVES)
        hasher.foldBranch(leaves.subarray(32 * next, 32 * next + 32), branch, next)
    }),
  ])
}

/** Best time of each piece of a repeated work, and their sum. */
class BestTimes {
  readonly #best = new Map<number, number>()

  time(piece: number, work: () => void): void {
    const start = cpuMs()
    work()
    const elapsed = cpuMs() - start
    this.#best.set(piece, Math.min(this.#best.get(piece) ?? Infinity, elapsed))
  }

  /** Milliseconds of CPU time. */
  get sum(): number {
    let sum = 0
    for (const elapsed of this.#best.values()) sum += elapsed
    return sum
  }
}
