import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isL1, L1_NETWORK_ID, networkIdOf, rollupIndexOf } from '../../../src/protocol/networks.js'
import { asNetworkId, asRollupIndex } from '../../../src/protocol/units.js'

test('network n ≥ 1 is leaf n − 1 of the rollup exit tree, and back', () => {
  for (const networkId of [1, 2, 7, 2 ** 32 - 1]) {
    assert.equal(rollupIndexOf(asNetworkId(networkId)), networkId - 1)
    assert.equal(networkIdOf(asRollupIndex(networkId - 1)), networkId)
  }
})

test('the L1 has no rollup index, and the largest rollup index has no network', () => {
  assert.equal(isL1(L1_NETWORK_ID), true)
  assert.equal(isL1(asNetworkId(1)), false)
  assert.throws(() => rollupIndexOf(L1_NETWORK_ID), RangeError)
  assert.throws(() => networkIdOf(asRollupIndex(2 ** 32 - 1)), RangeError)
})
