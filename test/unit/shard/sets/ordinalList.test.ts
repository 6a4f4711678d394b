import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { unionOf, within, withMore, without } from '../../../../src/shard/sets/listAlgebra.js'
import {
  chunkedList,
  type IndexedList,
  listHas,
  listOf,
  type OrdinalList,
  wholeRange,
} from '../../../../src/shard/sets/ordinalList.js'
import { LIST_CHUNK } from '../../../../src/store/layout/tables.js'

function stored(ordinals: readonly number[], onRead: () => void = () => {}): IndexedList {
  return chunkedList(ordinals.length, (chunk) => {
    onRead()
    return Uint32Array.from(ordinals.slice(chunk * LIST_CHUNK, (chunk + 1) * LIST_CHUNK))
  })
}

/** Ordinals 0 … distributed over `lists` lists (or to none), as a bridge's deposits over destinations. */
const dealt = (lists: number) =>
  fc
    .array(fc.integer({ min: 0, max: lists }), { maxLength: 1500 })
    .map((choices) =>
      Array.from({ length: lists }, (_, list) =>
        choices.flatMap((choice, ordinal) => (choice === list ? [ordinal] : [])),
      ),
    )

function assertIs(list: OrdinalList, expected: readonly number[], from: number, limit: number): void {
  assert.equal(list.length, expected.length)
  const start = Math.min(from, expected.length)
  const end = Math.min(start + limit, expected.length)
  assert.deepEqual(list.slice(start, end), expected.slice(start, end))
  for (const value of [0, from, from + limit, 2000])
    assert.equal(list.rank(value), expected.filter((ordinal) => ordinal < value).length, `below ${value}`)
}

test('a list with additional ordinals is one sorted list, at any depth', () => {
  fc.assert(
    fc.property(dealt(2), fc.nat(1600), fc.nat(60), ([list, more], from, limit) => {
      const whole = withMore(stored(list!), listOf(more!))
      const expected = [...list!, ...more!].sort((a, b) => a - b)
      assertIs(whole, expected, from, limit)
      for (let position = 0; position < expected.length; position += 7)
        assert.equal(whole.at(position), expected[position])
      assert.equal(
        expected.every((ordinal) => listHas(whole, ordinal)),
        true,
      )
    }),
  )
})

test('a union of lists without common ordinals is one sorted list, at any depth', () => {
  fc.assert(
    fc.property(dealt(4), fc.nat(1600), fc.nat(60), (lists, from, limit) => {
      const union = unionOf(lists.map((list) => stored(list)))
      assertIs(
        union,
        lists.flat().sort((a, b) => a - b),
        from,
        limit,
      )
    }),
    { numRuns: 300 },
  )
})

test('a list without some ordinals has neither them nor gaps in their place', () => {
  fc.assert(
    fc.property(dealt(2), fc.array(fc.nat(1600)), fc.nat(1600), fc.nat(60), (lists, some, from, limit) => {
      const [list = [], others = []] = lists
      const left = [...new Set([...some, ...others.slice(0, 50), ...list.filter((_, at) => at % 7 === 0)])]
      assertIs(
        without(
          stored(list),
          left.sort((a, b) => a - b),
        ),
        list.filter((ordinal) => !left.includes(ordinal)),
        from,
        limit,
      )
    }),
    { numRuns: 300 },
  )
})

test('ordinals at the edge of uint32 are found', () => {
  const union = unionOf([stored([5, 4_294_967_294]), stored([0, 4_294_967_295])])
  assert.deepEqual(union.slice(0, 4), [0, 5, 4_294_967_294, 4_294_967_295])
  assert.deepEqual(union.slice(2, 3), [4_294_967_294])
  assert.equal(union.rank(4_294_967_295), 3)
})

test('a deep page of a long list reads some tens of its chunks, not all', () => {
  let reads = 0
  const count = () => reads++
  const everySecond = (first: number) => Array.from({ length: 100_000 }, (_, at) => 2 * at + first)
  const union = unionOf([stored(everySecond(0), count), stored(everySecond(1), count)])
  assert.equal(union.slice(123_456, 123_556)[0], 123_456)
  assert.ok(reads < 150, `${reads} chunks read of ${2 * Math.ceil(100_000 / LIST_CHUNK)}`)
})

test('without a filter every ordinal is listed', () => {
  assertIs(wholeRange(5), [0, 1, 2, 3, 4], 1, 3)
  assertIs(wholeRange(0), [], 0, 10)
})

test('a list says of each ordinal whether it has it', () => {
  const list = listOf([2, 5, 9])
  assert.deepEqual(
    Array.from({ length: 11 }, (_, ordinal) => ordinal).filter((ordinal) => listHas(list, ordinal)),
    [2, 5, 9],
  )
})

test('a list within ranges has exactly its ordinals within them, at every position', () => {
  const bordersUpTo = (most: number) =>
    fc.uniqueArray(fc.nat(600), { maxLength: most }).map((all) => all.sort((a, b) => a - b))
  // With few ranges the list is searched, with many it is read.
  const borders = fc.oneof(bordersUpTo(5), bordersUpTo(60))
  fc.assert(
    fc.property(fc.nat(5), borders, fc.nat(600), fc.nat(40), (share, borders, from, limit) => {
      const ordinals = Array.from({ length: 590 }, (_, ordinal) => ordinal).filter(
        (ordinal) => (ordinal * 7) % 5 < share,
      )
      const stretches = Array.from({ length: Math.floor(borders.length / 2) }, (_, at) => ({
        from: borders[2 * at]!,
        below: borders[2 * at + 1]!,
      }))
      const expected = ordinals.filter((ordinal) =>
        stretches.some((stretch) => stretch.from <= ordinal && ordinal < stretch.below),
      )
      const list = within(listOf(ordinals), stretches)
      assert.equal(list.length, expected.length)
      const start = Math.min(from, expected.length)
      const end = Math.min(start + limit, expected.length)
      assert.deepEqual(list.slice(start, end), expected.slice(start, end))
      for (let value = 0; value < 602; value += 1 + (value % 3))
        assert.equal(list.rank(value), expected.filter((ordinal) => ordinal < value).length)
    }),
  )
})
