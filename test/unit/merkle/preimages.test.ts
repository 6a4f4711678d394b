import assert from 'node:assert/strict'
import { test } from 'node:test'
import { depositLeafPreimage, l1InfoLeafPreimage } from '../../../src/merkle/leafHashes.js'
import { asNetworkId } from '../../../src/protocol/units.js'

const deposit = {
  leafType: 1,
  originNetwork: asNetworkId(0x01020304),
  originAddress: new Uint8Array(20).fill(0xaa),
  destinationNetwork: asNetworkId(0x05060708),
  destinationAddress: new Uint8Array(20).fill(0xbb),
  amount: 0x11n << 248n,
}
const metadataHash = new Uint8Array(32).fill(0xcc)

test("a deposit leaf packs its fields in the contract's order, big-endian", () => {
  assert.equal(
    Buffer.from(depositLeafPreimage(deposit, metadataHash)).toString('hex'),
    `0101020304${'aa'.repeat(20)}05060708${'bb'.repeat(20)}11${'00'.repeat(31)}${'cc'.repeat(32)}`,
  )
})

test('an L1 info leaf packs root, parent hash and the timestamp, big-endian', () => {
  const leaf = {
    globalExitRoot: new Uint8Array(32).fill(0x11),
    parentHash: new Uint8Array(32).fill(0x22),
    timestampSec: 0x0102030405,
  }
  assert.equal(
    Buffer.from(l1InfoLeafPreimage(leaf)).toString('hex'),
    `${'11'.repeat(32)}${'22'.repeat(32)}0000000102030405`,
  )
})

test('a field that exceeds its width is refused', () => {
  const refused: ReadonlyArray<readonly [object, RegExp]> = [
    [{ amount: 2n ** 256n }, /is not a uint256/],
    [{ amount: -1n }, /-1 is not a uint256/],
    [{ leafType: 256 }, /leaf type 256 is out of range/],
    [{ originAddress: new Uint8Array(19) }, /origin address has 19 bytes, not 20/],
  ]
  for (const [field, message] of refused)
    assert.throws(() => depositLeafPreimage({ ...deposit, ...field }, metadataHash), message)
  assert.throws(() => depositLeafPreimage(deposit, new Uint8Array(31)), /metadata hash has 31 bytes, not 32/)
})

test('a timestamp that no uint64 is, or a number that may have been rounded, is refused', () => {
  const hash = new Uint8Array(32)
  const packed = (timestampSec: number | bigint) =>
    Buffer.from(l1InfoLeafPreimage({ globalExitRoot: hash, parentHash: hash, timestampSec }))
  assert.equal(packed(2n ** 64n - 1n).toString('hex', 64), 'f'.repeat(16))
  for (const timestampSec of [2n ** 64n, -1n]) assert.throws(() => packed(timestampSec), /is not a uint64/)
  for (const timestampSec of [2 ** 53, -1, 1.5, Number.NaN])
    assert.throws(() => packed(timestampSec), /timestamp .* is out of range/)
})
