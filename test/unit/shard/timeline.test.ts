import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { listOf } from '../../../src/shard/ordinalList.js'
import { type Strand, Timeline, type TimelinePlace } from '../../../src/shard/timeline.js'

/** Times of a network's rows, and which of them match: many share a time, within the network and across. */
const strand = fc.array(fc.record({ step: fc.nat(2), isIn: fc.boolean() }), { maxLength: 40 })

function strandOf(networkId: number, steps: readonly { step: number; isIn: boolean }[]): Strand {
  let time = 100
  const timestampsSec = steps.map(({ step }) => (time += step))
  const rows = listOf(steps.flatMap(({ isIn }, ordinal) => (isIn ? [ordinal] : [])))
  return { networkId, rows, timestampsSec }
}

const isBefore = (left: TimelinePlace, right: TimelinePlace) =>
  left.timestampSec - right.timestampSec || left.networkId - right.networkId || left.ordinal - right.ordinal

test('rows of all networks are one list by time, network and position, from any row to any other', () => {
  fc.assert(
    fc.property(fc.array(strand, { maxLength: 5 }), fc.nat(150), fc.nat(30), (made, from, limit) => {
      // The networks are given in no order.
      const strands = made.map((steps, at) => strandOf((at * 7) % 5, steps))
      const all = strands
        .flatMap(({ networkId, rows, timestampsSec }) =>
          rows
            .slice(0, rows.length)
            .map((ordinal) => ({ networkId, ordinal, timestampSec: timestampsSec[ordinal]! })),
        )
        .sort(isBefore)
      const timeline = new Timeline(strands)
      assert.equal(timeline.length, all.length)
      const start = Math.min(from, all.length)
      const end = Math.min(start + limit, all.length)
      assert.deepEqual(timeline.slice(start, end), all.slice(start, end))
      all.forEach((place, rank) => {
        assert.equal(timeline.rank(place), rank)
      })
    }),
  )
})
