import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  decodeGlobalIndex,
  decodeGlobalIndexBytes,
  decodeV1Index,
  encodeGlobalIndex,
} from '../../../src/protocol/globalIndex.js'
import { writeUint256 } from '../../../src/protocol/uint256.js'
import { asDepositCount, asNetworkId } from '../../../src/protocol/units.js'

test('a global index has flag, rollup index and deposit count where the contract packs them', () => {
  const cases: [number, number, bigint][] = [
    [0, 0, 0x1_0000_0000_0000_0000n],
    [0, 0xffff_ffff, 0x1_0000_0000_ffff_ffffn],
    [1, 0, 0n],
    [1, 7, 7n],
    [20, 5, 0x13_0000_0005n],
    [0xffff_ffff, 0xffff_ffff, 0xffff_fffe_ffff_ffffn],
  ]
  for (const [network, depositCount, packed] of cases) {
    assert.equal(encodeGlobalIndex(asNetworkId(network), asDepositCount(depositCount)), packed)
    assert.deepEqual(decodeGlobalIndex(packed), { sourceNetwork: network, depositCount })
  }
})

test('unused bits of a global index are ignored, and with the mainnet flag the rollup index too', () => {
  assert.deepEqual(decodeGlobalIndex((1n << 255n) | (1n << 65n) | (4n << 32n) | 9n), {
    sourceNetwork: 5,
    depositCount: 9,
  })
  assert.deepEqual(decodeGlobalIndex((1n << 64n) | (4n << 32n) | 9n), { sourceNetwork: 0, depositCount: 9 })
})

test('a V1 index names a deposit of network 1 when it is claimed on the L1, and of the L1 elsewhere', () => {
  assert.deepEqual(decodeV1Index(9n, asNetworkId(0)), { sourceNetwork: 1, depositCount: 9 })
  assert.deepEqual(decodeV1Index(9n, asNetworkId(1)), { sourceNetwork: 0, depositCount: 9 })
})

test('a global index decodes from bytes as from the number', () => {
  const bytes = new Uint8Array(40).fill(0xff)
  const indexes = [
    ...[0n, 7n, 0x13_0000_0005n, 0xffff_ffff_ffff_ffffn, 1n << 64n, (1n << 64n) | (4n << 32n) | 9n],
    ...[(1n << 65n) | (4n << 32n) | 9n, 2n ** 256n - 1n, (2n ** 256n - 1n) ^ (1n << 64n)],
  ]
  for (const index of indexes) {
    writeUint256(bytes, 3, index)
    assert.deepEqual(decodeGlobalIndexBytes(bytes, 3), decodeGlobalIndex(index), String(index))
  }
})
