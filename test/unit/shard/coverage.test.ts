import assert from 'node:assert/strict'
import test from 'node:test'
import type { BlockNumber, LeafCount } from '../../../src/protocol/units.js'
import { Coverage } from '../../../src/shard/coverage.js'
import { L1InfoColumns } from '../../../src/shard/l1InfoColumns.js'
import { SettledCoverage, type Settlement } from '../../../src/shard/settledCoverage.js'
import { UNRESOLVABLE_VERSION } from '../../../src/store/tables.js'

/** A local exit root that stands for a number. */
const rootOf = (number: number): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? number : 0))

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

/** Settlements of versions 1, 2, … whose roots cover the given numbers of deposits; the source knows those in `known`. */
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
    ...{ networkId: 1, epoch: 0, lineage: 0, leafCount: 0 },
    findCoveredCount: (root: Uint8Array) => {
      lookups++
      return known.get(root[31]!)
    },
  }
  return { l1, source, known, lookups: () => lookups }
}

test('a leaf whose root is not known covers nothing, and the first leaf that covers is found around it', () => {
  const { l1, source, known } = settlements([10, 11, 12])
  known.set(10, 4)
  known.set(12, 9)
  const settled = new SettledCoverage()
  settled.update(l1, source)
  const coverage = new Coverage()
  coverage.update(columns([0, UNRESOLVABLE_VERSION, 1, 1, 2, 3]), settled)
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

test('a root that the source learns later is filled in when the source has moved, and not looked up before', () => {
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

test('a source far behind costs each task a bounded number of look-ups, and all are made in the end', () => {
  const roots = Array.from({ length: 3000 }, () => 200)
  const { l1, source, known, lookups } = settlements(roots)
  const settled = new SettledCoverage()
  settled.update(l1, source)
  const before = lookups()
  known.set(200, 5)
  for (let task = 1; task <= 3; task++) {
    settled.update(l1, { ...source, leafCount: 1 })
    assert.equal(lookups() - before, Math.min(3000, 1024 * task))
  }
  assert.deepEqual([settled.at(1), settled.at(1500), settled.at(3000)], [5, 5, 5])
})

test('a reorg of either side and a cut of the exit tree start anew', () => {
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
