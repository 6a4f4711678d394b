import assert from 'node:assert/strict'
import test from 'node:test'
import { bytesToHex, getAddress } from 'viem/utils'
import { JsonWriter } from '../../../../src/api/present/jsonWriter.js'
import { compileMerkleModule, createHasher } from '../../../../src/wasm/wasmModule.js'
import { checksumAddress, uint256 } from '../../../support/sampleRecords.js'

function written(write: (writer: JsonWriter) => void): string {
  const writer = new JsonWriter(1)
  write(writer)
  return new TextDecoder().decode(writer.bytes.subarray(0, writer.length))
}

test('amounts are written as the decimal digits of the uint256, at every power of two and ten', () => {
  const values = [0n, 1n]
  for (let bit = 1n; bit < 256n; bit++) values.push((1n << bit) - 1n, 1n << bit, (1n << bit) + 1n)
  for (let power = 1n; power < 10n ** 77n; power *= 10n) values.push(power - 1n, power, power + 1n)
  values.push((1n << 256n) - 1n)
  assert.equal(values.length, 2 + 3 * 255 + 3 * 77 + 1)
  for (const value of values)
    assert.equal(
      written((writer) => writer.amount(uint256(value))),
      `"${value}"`,
    )
})

test('numbers are written in decimal up to the largest safe integer', () => {
  const values = [
    0,
    9,
    10,
    99,
    4_294_967_295,
    4_294_967_296,
    42_949_672_960,
    2 ** 48,
    Number.MAX_SAFE_INTEGER,
  ]
  for (const value of values)
    assert.equal(
      written((writer) => writer.uint(value)),
      String(value),
    )
})

test('addresses are written with EIP-55 checksums', () => {
  for (let seed = 0; seed < 200; seed++) {
    const bytes = Uint8Array.from({ length: 20 }, (_, at) => (seed * 89 + at * 151 + (seed * at) ** 2) & 0xff)
    const text = bytesToHex(bytes)
    assert.equal(
      written((writer) => writer.address(checksumAddress(text))),
      `"${getAddress(text)}"`,
    )
  }
})

test('bytes are written as lower-case hexadecimal, all 256 values, and the empty array too', () => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  assert.equal(
    written((writer) => writer.hex(all)),
    `"${bytesToHex(all)}"`,
  )
  assert.equal(
    written((writer) => writer.hex(new Uint8Array(0))),
    '"0x"',
  )
})

test('text is escaped as JSON requires', () => {
  for (const text of ['', 'plain', '"\\\n\u0007', 'ünïcödé 🌉', '\ud800 alone'])
    assert.equal(
      written((writer) => writer.text(text)),
      JSON.stringify(text),
    )
})

test('truncate drops a half-written answer and keeps the one before', () => {
  const writer = new JsonWriter(1)
  writer.uint(12)
  const mark = writer.length
  writer.text('half of something')
  writer.truncate(mark)
  writer.uint(34)
  assert.equal(new TextDecoder().decode(writer.bytes.subarray(0, writer.length)), '1234')
})

test('nodes are written as hexadecimal strings with commas between them, by either formatter', () => {
  const nodes = Uint8Array.from({ length: 96 }, (_, at) => at * 7)
  const strings = [0, 32, 64].map((at) => `"${bytesToHex(nodes.subarray(at, at + 32))}"`)
  const hasher = createHasher(compileMerkleModule())
  for (const writer of [new JsonWriter(1), new JsonWriter(1, (...part) => hasher.formatNodes(...part))]) {
    writer.uint(7)
    writer.nodes(nodes)
    assert.equal(new TextDecoder().decode(writer.bytes.subarray(0, writer.length)), `7${strings.join(',')}`)
  }
})
