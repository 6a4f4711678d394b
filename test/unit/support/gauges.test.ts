import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findGrowth, type Gauges } from '../../soak/gauges.js'

const flat: Gauges = { rssMb: 200, fileMb: 10, handles: 60, threads: 20 }

test('a soak whose gauges level off counts as flat, whatever growth came before', () => {
  const warm = Array.from({ length: 10 }, (_, at): Gauges => ({ ...flat, rssMb: 20 * at }))
  assert.deepEqual(findGrowth([...warm, ...Array<Gauges>(20).fill(flat)]), [])
})

test('a soak in which one gauge keeps growing names it', () => {
  const leaking = Array.from({ length: 30 }, (_, at): Gauges => ({ ...flat, handles: 60 + 5 * at }))
  assert.deepEqual(findGrowth(leaking), ['handles grew from 135.0 to 185.0'])
})

test('a soak with too few samples proves nothing', () => {
  assert.deepEqual(findGrowth([flat, flat]), ['2 samples tell nothing'])
})
