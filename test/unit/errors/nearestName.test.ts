import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance, nearestName } from '../../../src/errors/nearestName.js'

test('the edit distance counts letters inserted, deleted, changed and swapped', () => {
  const cases: [string, string, number][] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['port', 'port', 0],
    ['prot', 'port', 1],
    ['por', 'port', 1],
    ['sport', 'port', 1],
    ['part', 'port', 1],
    ['form_address', 'from_address', 1],
    ['kitten', 'sitting', 3],
  ]
  for (const [a, b, distance] of cases) {
    assert.equal(editDistance(a, b), distance, `${a} → ${b}`)
    assert.equal(editDistance(b, a), distance, `${b} → ${a}`)
  }
})

test('an edit distance up to the limit is exact, and a larger one is only reported as larger', () => {
  const letters = ['a', 'b', 'c']
  const words = Array.from({ length: 60 }, (_, at) =>
    Array.from({ length: at % 7 }, (_, position) => letters[(at * 7 + position * position) % 3]).join(''),
  )
  for (const a of words)
    for (const b of words)
      for (const limit of [0, 1, 2, 3]) {
        const whole = editDistance(a, b)
        const limited = editDistance(a, b, limit)
        assert.ok(whole <= limit ? limited === whole : limited > limit, `${a} → ${b} within ${limit}`)
      }
})

test('the nearest name is found regardless of case and dashes, and no name is suggested when none is near', () => {
  const known = ['page_size', 'page_number', 'port']
  assert.equal(nearestName('Page-Size', known), 'page_size')
  assert.equal(nearestName('prot', known), 'port')
  assert.equal(nearestName('pge_numbr', known), 'page_number')
  assert.equal(nearestName('colour', known), undefined)
})

test('a name with words missing or added at its end is near, a part of a word is not', () => {
  const known = ['rpc', 'rpc_timeout_ms', 'bridge', 'global_exit_root_manager', 'rollup_manager']
  assert.equal(nearestName('rpc_url', known), 'rpc')
  assert.equal(nearestName('bridge_address', known), 'bridge')
  assert.equal(nearestName('Global-Exit-Root', known), 'global_exit_root_manager')
  assert.equal(nearestName('rpc_timeout_ms_of_one_answer', known), 'rpc_timeout_ms')
  assert.equal(nearestName('rpc_timeout_of', ['rpc_a', 'rpc_b']), undefined)
  assert.equal(nearestName('page', ['page_number', 'page_size_now']), undefined)
  assert.equal(nearestName('bridgeheads', known), undefined)
})
