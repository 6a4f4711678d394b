import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { BitSet } from '../../../src/shard/bitSet.js'

const setOf = (members: Iterable<number>): BitSet => {
  const set = new BitSet()
  for (const member of members) set.add(member)
  return set
}
const descending = (members: Iterable<number>): number[] => [...members].sort((a, b) => b - a)
const members = fc.uniqueArray(fc.integer({ min: 0, max: 3000 }), { maxLength: 400 })

test('a set lists its members from the highest down, and any page of them', () => {
  fc.assert(
    fc.property(members, fc.nat(450), fc.nat(450), (all, skip, limit) => {
      assert.deepEqual(setOf(all).listDescending(skip, limit), descending(all).slice(skip, skip + limit))
      assert.equal(setOf(all).count(), all.length)
    }),
    { numRuns: 200 },
  )
})

test('difference and complement stop exactly at their end', () => {
  fc.assert(
    fc.property(members, members, fc.nat(3100), (all, except, end) => {
      const difference = new BitSet()
      difference.addDifference(setOf(all), setOf(except), end)
      assert.deepEqual(
        difference.listDescending(0, 9999),
        descending(all.filter((member) => member < end && !except.includes(member))),
      )
      const complement = new BitSet()
      complement.addComplement(setOf(except), end)
      const expected = Array.from({ length: end }, (_, at) => at).filter((at) => !except.includes(at))
      assert.deepEqual(complement.listDescending(0, 9999), expected.reverse())
    }),
    { numRuns: 200 },
  )
})

test('a removed member is gone, and removing what was never there changes nothing', () => {
  const set = setOf([1, 32, 5000])
  set.remove(32)
  set.remove(99_999)
  assert.deepEqual(set.listDescending(0, 10), [5000, 1])
  assert.equal(set.has(32), false)
  assert.equal(set.has(4_000_000_000), false)
})
