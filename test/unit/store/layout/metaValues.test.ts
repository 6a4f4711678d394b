import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  appendRewind,
  decodeEpoch,
  decodeReorgs,
  type Rewind,
  untouchedBy,
} from '../../../../src/store/layout/metaValues.js'

const uint32 = fc.nat({ max: 0xffff_ffff })
const step = fc.record({ deposits: uint32, claims: uint32, tokenMappings: uint32, isReorg: fc.boolean() })

const least = (rewinds: readonly Rewind[], field: keyof Rewind) =>
  Math.min(...rewinds.map((rewind) => rewind[field]))

test('for any number of missed rewinds the stored record gives the rows that none of them changed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), fc.nat({ max: 160 }), (steps, missed) => {
      let entry: Uint8Array | undefined
      for (const rewind of steps) entry = appendRewind(entry, rewind, rewind)
      assert.equal(decodeReorgs(entry), steps.filter(({ isReorg }) => isReorg).length)
      assert.equal(decodeEpoch(entry), steps.length)
      const recent = missed === 0 ? [] : steps.slice(-missed)
      assert.deepEqual(
        untouchedBy(entry, missed),
        missed > Math.min(steps.length, 64)
          ? { deposits: 0, claims: 0, tokenMappings: 0 }
          : {
              deposits: least(recent, 'deposits'),
              claims: least(recent, 'claims'),
              tokenMappings: least(recent, 'tokenMappings'),
            },
      )
    }),
  )
})

test('a number of reorgs that is stored alone, as in shards of schema 1, is continued', () => {
  const alone = Uint8Array.of(7, 0, 0, 0)
  assert.deepEqual([decodeReorgs(alone), decodeEpoch(alone)], [7, 0])
  const next = appendRewind(alone, { deposits: 5, claims: 6, tokenMappings: 7 }, { isReorg: true })
  assert.deepEqual([decodeReorgs(next), decodeEpoch(next)], [8, 1])
  assert.deepEqual(untouchedBy(next, 1), { deposits: 5, claims: 6, tokenMappings: 7 })
})
