import assert from 'node:assert/strict'
import test from 'node:test'
import type { BlockNumber, LeafCount } from '../../../../src/protocol/units.js'
import type { Settlement } from '../../../../src/shard/localExitRoots.types.js'
import { Coverage } from '../../../../src/shard/readiness/coverage.js'
import { L1InfoColumns } from '../../../../src/shard/readiness/l1InfoColumns.js'
import { SettledCoverage } from '../../../../src/shard/readiness/settledCoverage.js'
import { CountRanges } from '../../../../src/shard/sets/countRanges.js'
import { UNRESOLVABLE_VERSION } from '../../../../src/store/layout/tables.js'

/** A local exit root that encodes a number. */
function rootOf(number: number): Uint8Array {
  const root = new Uint8Array(32)
  new DataView(root.buffer).setUint32(28, number)
  return root
}

/** L1 info leaves with these versions, one block each. */
function columns(versions: readonly number[]): L1InfoColumns {
  const made = new L1InfoColumns()
  made.update({
    epoch: 0,
    leafCount: versions.length,
    getLeafNumbers: (index) => ({
      blockNumber: index as BlockNumber,
      mainnetLeafCount: 0 as LeafCount,
      rollupExitVersion: versions[index]!,
    }),
  })
  return made
}

/** Settlements of versions 1, 2, … whose roots cover the given numbers of deposits. The source has the roots in `known`. */
function settlements(roots: readonly number[]) {
  const known = new Map<number, number>()
  let lookups = 0
  const l1 = {
    epoch: 0,
    newestVersion: roots.length,
    listSettlements: (_: number, from: number, to: number): Settlement[] =>
      roots
        .map((root, at) => ({ version: at + 1, localExitRoot: rootOf(root) }))
        .filter(({ version }) => version >= from && version <= to),
  }
  const source = {
    ...{ networkId: 1, epoch: 0, lineage: 0, leafCount: 0, settledInsideBlocks: 0 },
    findCovered: (root: Uint8Array) => {
      lookups++
      const below = known.get(new DataView(root.buffer).getUint32(28))
      return below === undefined ? undefined : { below, former: undefined }
    },
  }
  return { l1, source, known, lookups: () => lookups }
}

test('a leaf with an unknown root covers no deposit, and the first covering leaf is found in spite of it', () => {
  const { l1, source, known } = settlements([10, 11, 12])
  known.set(10, 4)
  known.set(12, 9)
  const settled = new SettledCoverage()
  settled.update(l1, source)
  const coverage = new Coverage()
  coverage.update(columns([0, UNRESOLVABLE_VERSION, 1, 1, 2, 3]), settled, () => CountRanges.none)
  const exact = Array.from({ length: 6 }, (_, index) => coverage.exact.at(index))
  assert.deepEqual(exact, [0, 0, 4, 4, 0, 9])
  assert.deepEqual(
    [0, 3, 4, 8, 9].map((depositCount) => coverage.findFirst(depositCount)),
    [2, 2, 5, 5, undefined],
  )
  assert.deepEqual(
    [0, 2, 3, 5, 6].map((leaves) => coverage.coveredByFirst(leaves)),
    [0, 0, 4, 4, 9],
  )
})

test('a root that the source learns later is looked up when the source has moved, and not before', () => {
  const { l1, source, known, lookups } = settlements([10, 11])
  const settled = new SettledCoverage()
  settled.update(l1, source)
  assert.deepEqual([settled.at(1), settled.at(2)], [0, 0])
  const generation = settled.generation
  known.set(10, 4)
  known.set(11, 6)
  settled.update(l1, source)
  assert.equal(lookups(), 2)
  assert.equal(settled.generation, generation)
  settled.update(l1, { ...source, leafCount: 6 })
  assert.deepEqual([settled.at(0), settled.at(1), settled.at(2), settled.at(9)], [0, 4, 6, 6])
  assert.notEqual(settled.generation, generation)
  settled.update(l1, { ...source, leafCount: 7 })
  assert.equal(lookups(), 4)
})

test('each task makes a bounded number of failing look-ups for a source far behind, and all are made in the end', () => {
  const roots = Array.from({ length: 3000 }, (_, at) => 1000 + at)
  const { l1, source, known, lookups } = settlements(roots)
  const settled = new SettledCoverage()
  settled.update(l1, source)
  const before = lookups()
  // Settled after many roots that the source never has: found when its turn comes.
  known.set(roots[2500]!, 5)
  for (let task = 1; task <= 3; task++) {
    assert.equal(settled.at(3000), 0)
    settled.update(l1, { ...source, leafCount: 1 })
    assert.equal(lookups() - before, Math.min(3000, 1024 * task))
  }
  assert.deepEqual([settled.at(2501), settled.isBehind], [5, false])
})

test('all roots that a source has caught up with count in the same task, however many they are', () => {
  const roots = Array.from({ length: 9000 }, (_, at) => 1000 + at)
  const { l1, source, known } = settlements(roots)
  const follower = new SettledCoverage()
  follower.update(l1, source)
  // Every tenth root is of a tree that the source never had.
  const learn = (from: number, below: number) => {
    for (let at = from; at < below; at++) if (at % 10 !== 3) known.set(roots[at]!, at + 1)
  }
  for (const end of [1, 3000, 7999]) {
    learn(0, end)
    const moved = { ...source, leafCount: end }
    const fresh = new SettledCoverage()
    fresh.update(l1, moved)
    follower.update(l1, moved)
    for (const version of [1, 2, 2500, end, 9000])
      assert.equal(follower.at(version), fresh.at(version), `version ${version} of ${end}`)
    assert.equal(follower.at(end), end)
  }
})

test('coverage starts anew after a reorg of either network and after a cut of the exit tree', () => {
  const { l1, source, known } = settlements([10])
  known.set(10, 4)
  const settled = new SettledCoverage()
  settled.update(l1, source)
  for (const [changedL1, changedSource, covered] of [
    [{ ...l1, epoch: 1 }, source, 5],
    [l1, { ...source, epoch: 1 }, 6],
    [l1, { ...source, lineage: 1 }, 7],
  ] as const) {
    known.set(10, covered)
    settled.update(changedL1, changedSource)
    assert.equal(settled.at(1), covered)
    settled.update(l1, source)
  }
})
