import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { placesOfAll } from '../../../../src/shard/queries/pageOfAll.js'
import { listOf } from '../../../../src/shard/sets/ordinalList.js'

/** Times of one network's rows, in the order of its chain. */
const times = (minLength: number) =>
  fc.array(fc.integer({ min: 0, max: 60 }), { minLength, maxLength: 900, size: 'max' })

function strandOf(own: readonly number[]) {
  // Every second row matches.
  const ordinals = own.map((_, at) => 2 * at)
  return { rows: listOf(ordinals), timeOf: (ordinal: number) => own[ordinal / 2]! }
}

/** Newest first, one row after another; of equal times the later strand's. Ascending: oldest first, of equal times the earlier strand's. */
function allRows(networks: readonly (readonly number[])[], isAscending: boolean) {
  const rest = networks.map((own) => own.map((time, at) => ({ time, ordinal: 2 * at })))
  const rows: { readonly strand: number; readonly ordinal: number }[] = []
  for (;;) {
    const heads = rest.flatMap((own, strand) => {
      const head = own.at(isAscending ? 0 : -1)
      return head === undefined ? [] : [{ strand, ...head }]
    })
    if (heads.length === 0) return rows
    heads.sort((one, other) => one.time - other.time || one.strand - other.strand)
    const { strand, ordinal } = heads.at(isAscending ? 0 : -1)!
    if (isAscending) rest[strand]!.shift()
    else rest[strand]!.pop()
    rows.push({ strand, ordinal })
  }
}

test('each page of all networks is a part of their rows in one order, however far back it is', () => {
  let far = 0
  fc.assert(
    fc.property(
      fc.tuple(times(800), times(0), times(300)),
      fc.boolean(),
      fc.boolean(),
      fc.nat({ max: 1_200 }),
      fc.integer({ min: 1, max: 40 }),
      (drawn, doTimesFall, isAscending, skipped, count) => {
        const networks = doTimesFall ? drawn : drawn.map((own) => [...own].sort((a, b) => a - b))
        const strands = networks.map((own) => strandOf(own))
        const page = placesOfAll(strands, skipped, count, isAscending)
        assert.deepEqual(page, allRows(networks, isAscending).slice(skipped, skipped + count))
        if (skipped > 1_000) far++
      },
    ),
    { numRuns: 100 },
  )
  assert.ok(far > 0)
})

/** Counts the rows whose times are looked at. */
function countingStrands(networks: readonly (readonly number[])[]) {
  const counted = { reads: 0 }
  const strands = networks.map((own) => {
    const { rows, timeOf } = strandOf(own)
    return {
      rows,
      timeOf: (ordinal: number) => {
        counted.reads++
        return timeOf(ordinal)
      },
    }
  })
  return { counted, strands }
}

test('a page behind the last row reads nothing, and one far back no more rows than lie in front of it', () => {
  // All in one second, as after an import: no time divides them.
  const { counted, strands } = countingStrands([new Array(50_000).fill(7), new Array(50_000).fill(7)])
  assert.deepEqual(placesOfAll(strands, 100_000, 25, false), [])
  assert.equal(counted.reads, 0)
  assert.equal(placesOfAll(strands, 1_001, 25, false).length, 25)
  assert.ok(counted.reads <= 1_001 + 25 + 2, `${counted.reads} rows`)
})
