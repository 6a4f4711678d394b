import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { listOf } from '../../../../src/shard/sets/ordinalList.js'
import {
  orderByTime,
  ordinalBoundBefore,
  type Strand,
  Timeline,
  type TimelineKey,
} from '../../../../src/shard/sets/timeline.js'

interface Row {
  readonly step: number
  readonly isIn: boolean
}

/**
 * Times of a network's rows, and which of them match. Many rows share a time, within a network and across, and
 * some networks' times decrease.
 */
const strand = fc
  .tuple(fc.array(fc.record({ step: fc.nat(4), isIn: fc.boolean() }), { maxLength: 40 }), fc.boolean())
  .map(([rows, doFall]) => rows.map(({ step, isIn }) => ({ step: doFall ? step - 2 : step, isIn })))

function timesOf(rows: readonly Row[]): number[] {
  let time = 100
  return rows.map(({ step }) => (time += step))
}

function strandOf(networkId: number, made: readonly Row[]): Strand {
  const timestampsSec = timesOf(made)
  const isRising = timestampsSec.every((time, at) => at === 0 || time >= timestampsSec[at - 1]!)
  const order = isRising ? { timestampsSec } : orderByTime(timestampsSec)
  const places = made.flatMap(({ isIn }, ordinal) => (isIn ? [order.mixed?.places[ordinal] ?? ordinal] : []))
  return { networkId, rows: listOf(places.sort((a, b) => a - b)), order }
}

const isBefore = (left: TimelineKey, right: TimelineKey) =>
  left.timestampSec - right.timestampSec || left.networkId - right.networkId || left.ordinal - right.ordinal

test('rows of all networks are one list by time, network and position, from any row to any other', () => {
  fc.assert(
    fc.property(fc.array(strand, { maxLength: 5 }), fc.nat(150), fc.nat(30), (made, from, limit) => {
      // The networks are passed in arbitrary order.
      const idOf = (at: number) => (at * 7) % 5
      const strands = made.map((rows, at) => strandOf(idOf(at), rows))
      const all = made
        .flatMap((rows, at) => {
          const times = timesOf(rows)
          return rows.flatMap(({ isIn }, ordinal) =>
            isIn ? [{ networkId: idOf(at), ordinal, timestampSec: times[ordinal]! }] : [],
          )
        })
        .sort(isBefore)
      const timeline = new Timeline(strands)
      assert.equal(timeline.length, all.length)
      const start = Math.min(from, all.length)
      const end = Math.min(start + limit, all.length)
      assert.deepEqual(timeline.slice(start, end), all.slice(start, end))
      all.forEach((place, rank) => {
        assert.equal(timeline.rank(place), rank)
        const own = strands.find(({ networkId }) => networkId === place.networkId)!
        const before = all.slice(0, rank).filter(({ networkId }) => networkId === place.networkId)
        assert.ok(before.every(({ ordinal }) => ordinal < ordinalBoundBefore(own, place)))
      })
    }),
  )
})
