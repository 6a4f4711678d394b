import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { listOfBits } from '../../../../src/shard/sets/bits.js'
import { CountedBits } from '../../../../src/shard/sets/countedBits.js'
import { CountRanges } from '../../../../src/shard/sets/countRanges.js'
import { RangedBits } from '../../../../src/shard/sets/rangedBits.js'

const SIZE = 70_000

/** Ranges as pairs, and all numbers in them. */
const someRanges = fc
  .array(fc.tuple(fc.nat(SIZE), fc.integer({ min: 1, max: 3_000 })), { maxLength: 12 })
  .map((pairs) => CountRanges.union(pairs.map(([from, length]) => new CountRanges([from, from + length]))))

const membersOf = (ranges: CountRanges): number[] =>
  Array.from({ length: SIZE + 3_000 }, (_, count) => count).filter((count) => ranges.has(count))

test('a union of ranges has the counts of both, its ranges do not touch, and a part of it ends at the given bounds', () => {
  fc.assert(
    fc.property(someRanges, someRanges, fc.nat(SIZE), fc.nat(SIZE), (left, right, from, end) => {
      const both = CountRanges.union([left, right])
      const wanted = new Set([...membersOf(left), ...membersOf(right)])
      assert.deepEqual(
        membersOf(both),
        [...wanted].sort((one, other) => one - other),
      )
      assert.ok(both.bounds.every((bound, at) => at === 0 || both.bounds[at - 1]! < bound))
      const part = both.within(from, end)
      assert.deepEqual(
        membersOf(part),
        [...wanted].filter((count) => count >= from && count < end).sort((one, other) => one - other),
      )
      assert.ok(part.equals(new CountRanges([...part.bounds])))
      assert.equal(part.equals(both), part.bounds.join() === both.bounds.join())
    }),
    { numRuns: 25 },
  )
})

test('members of a set within ranges are counted and listed as a set of their own', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(SIZE), { maxLength: 2_000 }),
      someRanges,
      fc.array(fc.nat(SIZE), { maxLength: 20 }),
      (ordinals, ranges, asked) => {
        const [all, some] = [new CountedBits(), new CountedBits()]
        for (const ordinal of ordinals) {
          all.add(ordinal)
          if (ranges.has(ordinal)) some.add(ordinal)
        }
        const ranged = new RangedBits(all, ranges)
        const list = listOfBits(ranged)
        assert.equal(list.length, some.length)
        assert.deepEqual(list.slice(0, list.length), some.slice(0, some.length))
        assert.deepEqual(list.slice(3, 9), some.slice(3, 9))
        for (const value of [...asked, ...ranges.bounds]) assert.equal(ranged.rank(value), some.rank(value))
      },
    ),
    { numRuns: 100 },
  )
})
