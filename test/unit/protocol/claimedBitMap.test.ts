import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimedWordPosition } from '../../../src/protocol/claimedBitMap.js'
import { asNetworkId } from '../../../src/protocol/units.js'

test('the position of a claimed bitmap word has source network and word number, and for network 1 on the L1 the word number alone', () => {
  const place = (networkId: number, sourceNetwork: number, word: number) =>
    claimedWordPosition(networkId, { sourceNetwork: asNetworkId(sourceNetwork), word })
  assert.deepEqual(
    [place(1, 0, 3), place(0, 1, 3), place(2, 1, 3), place(0, 2, 3)],
    [3, 3, 2 ** 24 + 3, 2 ** 25 + 3],
  )
  // The last word of the last network is 2^56 − 1, which is no safe integer, but network ids are rollup ids.
  assert.equal(place(0, 100_000, 2 ** 24 - 1), 100_001 * 2 ** 24 - 1)
})
