import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  chunkedList,
  newestOf,
  newestPositionsExcept,
  type OrdinalList,
  wholeRange,
} from '../../../src/shard/ordinalList.js'
import { LIST_CHUNK } from '../../../src/store/tables.js'

function stored(ordinals: readonly number[], onRead: () => void = () => {}): OrdinalList {
  return chunkedList(ordinals.length, (chunk) => {
    onRead()
    return Uint32Array.from(ordinals.slice(chunk * LIST_CHUNK, (chunk + 1) * LIST_CHUNK))
  })
}

/** Ordinals 0 … dealt out to `lists` lists (or to none), as a bridge's deposits to its destinations. */
const dealt = (lists: number) =>
  fc
    .array(fc.integer({ min: 0, max: lists }), { maxLength: 1500 })
    .map((choices) =>
      Array.from({ length: lists }, (_, list) =>
        choices.flatMap((choice, ordinal) => (choice === list ? [ordinal] : [])),
      ),
    )

test('a page of several lists is the page of their union, newest first, at any depth', () => {
  fc.assert(
    fc.property(dealt(4), fc.nat(1600), fc.nat(60), (lists, skip, limit) => {
      const union = lists.flat().sort((a, b) => b - a)
      assert.deepEqual(
        newestOf(
          lists.map((list) => stored(list)),
          skip,
          limit,
        ),
        union.slice(skip, skip + limit),
      )
    }),
    { numRuns: 300 },
  )
})

test('ordinals at the edge of uint32 are found', () => {
  const lists = [stored([5, 4_294_967_294]), stored([0, 4_294_967_295])]
  assert.deepEqual(newestOf(lists, 1, 9), [4_294_967_294, 5, 0])
  assert.deepEqual(newestOf(lists, 3, 9), [0])
  assert.deepEqual(newestOf(lists, 4, 9), [])
})

test('a deep page of a long list reads some tens of its chunks, not all', () => {
  let reads = 0
  const count = () => reads++
  const even = stored(
    Array.from({ length: 100_000 }, (_, at) => 2 * at),
    count,
  )
  const odd = stored(
    Array.from({ length: 100_000 }, (_, at) => 2 * at + 1),
    count,
  )
  const page = newestOf([even, odd], 123_456, 100)
  assert.equal(page[0], 199_999 - 123_456)
  assert.ok(reads < 150, `${reads} chunks read of ${2 * Math.ceil(100_000 / LIST_CHUNK)}`)
})

test('positions that do not count are neither listed nor skipped over', () => {
  fc.assert(
    fc.property(
      fc.nat(300),
      fc.uniqueArray(fc.nat(299), { maxLength: 300 }),
      fc.nat(320),
      fc.nat(40),
      (length, chosen, skip, limit) => {
        const excluded = chosen.filter((position) => position < length).sort((a, b) => a - b)
        const expected = Array.from({ length }, (_, at) => length - 1 - at).filter(
          (at) => !excluded.includes(at),
        )
        assert.deepEqual(
          newestPositionsExcept(length, excluded, skip, limit),
          expected.slice(skip, skip + limit),
        )
      },
    ),
    { numRuns: 300 },
  )
})

test('no filter lists every ordinal', () => {
  assert.deepEqual(newestOf([wholeRange(5)], 2, 10), [2, 1, 0])
  assert.deepEqual(newestOf([wholeRange(0)], 0, 10), [])
})
