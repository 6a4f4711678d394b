import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUint256Text, uint256OfParts, writeUint256 } from '../../../src/protocol/uint256.js'

const values = [
  0n,
  1n,
  2n ** 32n,
  2n ** 63n,
  2n ** 64n - 1n,
  2n ** 64n,
  2n ** 128n + 7n,
  2n ** 192n,
  2n ** 255n + 2n ** 100n,
  2n ** 256n - 1n,
]

test('writing a uint256 overwrites its 32 bytes and no others', () => {
  for (const value of values) {
    const bytes = new Uint8Array(40).fill(0xee)
    writeUint256(bytes, 5, value)
    const expected = `${'ee'.repeat(5)}${value.toString(16).padStart(64, '0')}${'ee'.repeat(3)}`
    assert.equal(Buffer.from(bytes).toString('hex'), expected)
  }
})

test('eight 32-bit parts make the number that their digits spell', () => {
  for (const value of values) {
    const digits = value.toString(16).padStart(64, '0')
    const part = (index: number) => Number.parseInt(digits.slice(8 * index, 8 * index + 8), 16)
    assert.equal(uint256OfParts(part), value)
  }
})

test('a number outside of uint256 is refused', () => {
  for (const value of [-1n, 2n ** 256n, 2n ** 300n])
    assert.throws(() => writeUint256(new Uint8Array(32), 0, value), RangeError)
})

test('text of a number says whether it is below 2^256', () => {
  const texts = [2n ** 256n - 1n, 2n ** 256n, 10n ** 77n, 10n ** 78n - 1n, 2n ** 255n, 0n, 7n].map(String)
  assert.deepEqual(
    texts.map(isUint256Text),
    texts.map((text) => BigInt(text) < 2n ** 256n),
  )
  assert.ok(isUint256Text(`0x${'f'.repeat(64)}`))
})
