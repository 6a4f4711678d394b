import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeHex, decodeHexAt, decodeUint32At, encodeHex } from '../../../src/protocol/hex.js'

test('hex text and bytes convert into each other, in either letter case', () => {
  const everyByte = Uint8Array.from({ length: 256 }, (_, value) => value)
  const text = `0x${Array.from(everyByte, (value) => value.toString(16).padStart(2, '0')).join('')}`
  assert.deepEqual(decodeHex(text), everyByte)
  assert.deepEqual(decodeHex(`0x${text.slice(2).toUpperCase()}`), everyByte)
  assert.equal(encodeHex(everyByte), text)
  assert.deepEqual(decodeHex('0x'), new Uint8Array(0))
})

test('text that is not hex, or has half a byte, is refused', () => {
  const wrong = [
    '',
    '0',
    '0x0',
    '12',
    '0xzz',
    '0x0g',
    '0x g',
    '0xé0',
    '0x\u{1F600}',
    '0x００',
    '0x\u0130\u0131',
    'x012',
  ]
  for (const text of wrong) assert.equal(decodeHex(text), undefined, JSON.stringify(text))
})

test('reading past the end returns nothing', () => {
  assert.equal(decodeHexAt('0x0102', 2, 3), undefined)
  assert.deepEqual(decodeHexAt('0x0102', 4, 1), Uint8Array.of(2))
  assert.equal(decodeUint32At('0x0000000', 2), -1)
})

test('eight digits are read as an unsigned 32-bit number', () => {
  assert.equal(decodeUint32At('0x00000000', 2), 0)
  assert.equal(decodeUint32At('0xffffffff', 2), 2 ** 32 - 1)
  assert.equal(decodeUint32At('0x8000000a', 2), 0x8000_000a)
  assert.equal(decodeUint32At('0x1234567g', 2), -1)
})
