import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { decodeGlobalIndex, encodeGlobalIndex } from '../../src/protocol/globalIndex.js'
import { asDepositCount, asNetworkId } from '../../src/protocol/units.js'
import { sharedPath } from '../support/sharedFolder.js'

test('vectors/zkevm-commonjs: global indexes of all deposits that a chain can have are as given', () => {
  interface Vector {
    readonly indexLocal: string
    readonly indexRollup: string
    readonly isMainnet: boolean
    readonly expectedGlobalIndex: string
  }
  const path = sharedPath('vectors/zkevm-commonjs/global-index.json')
  const vectors: readonly Vector[] = JSON.parse(readFileSync(path, 'utf8'))
  // Two rows have 64-bit deposit counts, which no chain has.
  const possible = vectors.filter(({ indexLocal }) => BigInt(indexLocal) < 2n ** 32n)
  assert.deepEqual([vectors.length, possible.length], [8, 6])
  for (const { indexLocal, indexRollup, isMainnet, expectedGlobalIndex } of possible) {
    const sourceNetwork = asNetworkId(isMainnet ? 0 : Number(indexRollup) + 1)
    const depositCount = asDepositCount(Number(indexLocal))
    const globalIndex = BigInt(expectedGlobalIndex)
    assert.equal(encodeGlobalIndex(sourceNetwork, depositCount), globalIndex)
    assert.deepEqual(decodeGlobalIndex(globalIndex), { sourceNetwork, depositCount })
  }
})
