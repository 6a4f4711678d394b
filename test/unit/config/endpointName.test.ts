import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointName } from '../../../src/config/endpointName.js'

test('endpoints of a network are told apart by letters, as many as there may be', () => {
  assert.deepEqual(
    [0, 1, 25, 26, 31].map((position) => endpointName(7, position)),
    ['7-a', '7-b', '7-z', '7-aa', '7-af'],
  )
  assert.equal(new Set(Array.from({ length: 32 }, (_, position) => endpointName(1, position))).size, 32)
})
