import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { allBelow, type Bits, hasBit, listOfBits } from '../../../../src/shard/sets/bits.js'
import { CountedBits } from '../../../../src/shard/sets/countedBits.js'
import { SignedBits } from '../../../../src/shard/sets/signedBits.js'

/** Some ranges of 32,768 bits, so that every level of the counts is used. */
const LIMIT = 100_000

/** Clusters, so that whole blocks are full, sparse and empty. */
const members = fc
  .array(fc.tuple(fc.nat(LIMIT - 1), fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 40 })), {
    maxLength: 12,
  })
  .map((clusters) => {
    const set = new Set<number>()
    for (const [start, length, step] of clusters)
      for (let at = start; at < Math.min(LIMIT, start + length); at += step) set.add(at)
    return set
  })

const ascending = (set: Iterable<number>) => [...set].sort((a, b) => a - b)

function bitsOf(set: Iterable<number>): CountedBits {
  const bits = new CountedBits()
  for (const member of set) bits.add(member)
  return bits
}

function assertIs(bits: Bits, expected: readonly number[], from: number, limit: number, value: number): void {
  const list = listOfBits(bits)
  assert.equal(list.length, expected.length)
  const start = Math.min(from, expected.length)
  const end = Math.min(start + limit, expected.length)
  assert.deepEqual(list.slice(start, end), expected.slice(start, end))
  assert.equal(list.rank(value), expected.filter((member) => member < value).length)
  assert.equal(hasBit(bits, value), expected.includes(value))
}

test('a set of bits has the members that were added and not removed', () => {
  fc.assert(
    fc.property(
      members,
      members,
      fc.nat(LIMIT),
      fc.nat(5000),
      fc.nat(300),
      fc.nat(LIMIT),
      (added, removed, end, from, limit, value) => {
        const bits = bitsOf(added)
        for (const member of removed) assert.equal(bits.remove(member), added.has(member))
        const left = ascending(added).filter((member) => !removed.has(member))
        assertIs(bits, left, from, limit, value)
        assert.equal(bits.end, (left.at(-1) ?? -1) + 1)
        bits.truncate(end)
        assertIs(
          bits,
          left.filter((member) => member < end),
          from,
          limit,
          value,
        )
        for (const member of left) bits.add(member)
        assertIs(bits, left, from, limit, value)
      },
    ),
    { numRuns: 150 },
  )
})

test('retaining keeps the members that are in all other sets', () => {
  fc.assert(
    fc.property(members, members, members, fc.nat(2000), fc.nat(300), (one, two, three, from, limit) => {
      const bits = new CountedBits()
      bits.copyFrom(bitsOf(one))
      bits.retain([bitsOf(two), bitsOf(three)])
      const kept = ascending(one).filter((member) => two.has(member) && three.has(member))
      assertIs(bits, kept, from, limit, kept[0] ?? 7)
    }),
    { numRuns: 100 },
  )
})

test('a set less a second one plus a part of that one, both below a mark, is counted and listed like the same set made directly', () => {
  fc.assert(
    fc.property(
      members,
      members,
      fc.nat(LIMIT),
      fc.nat(LIMIT),
      fc.nat(LIMIT),
      fc.nat(300),
      (sent, some, mark, count, from, limit) => {
        const claimed = new Set([...some].filter((member) => sent.has(member)))
        const below = Math.min(mark, count)
        const signed = new SignedBits([
          { bits: allBelow(count), sign: 1, below: Number.POSITIVE_INFINITY },
          { bits: bitsOf(sent), sign: -1, below },
          { bits: bitsOf(claimed), sign: 1, below },
        ])
        const expected = Array.from({ length: count }, (_, member) => member).filter(
          (member) => !(sent.has(member) && member < below) || claimed.has(member),
        )
        assertIs(signed, expected, from, limit, mark)
      },
    ),
    { numRuns: 60 },
  )
})

test('members at the edge of uint32 are counted and found', () => {
  const list = listOfBits(
    new SignedBits([{ bits: allBelow(2 ** 32), sign: 1, below: Number.POSITIVE_INFINITY }]),
  )
  assert.equal(list.length, 2 ** 32)
  assert.deepEqual(list.slice(2 ** 32 - 2, 2 ** 32), [2 ** 32 - 2, 2 ** 32 - 1])
  assert.equal(list.rank(2 ** 32 - 1), 2 ** 32 - 1)
})
