import assert from 'node:assert/strict'
import test from 'node:test'
import { encodeAbiParameters, hexToBytes, parseAbiParameters } from 'viem/utils'
import { decodeTokenMetadata } from '../../../src/protocol/metadata.js'

const NOTHING = { name: null, symbol: null, decimals: null }

function encode(name: string, symbol: string, decimals: number): Uint8Array {
  return hexToBytes(
    encodeAbiParameters(parseAbiParameters('string, string, uint8'), [name, symbol, decimals]),
  )
}

test('metadata that the bridge encodes decodes to name, symbol and decimals', () => {
  const tokens: [string, string, number][] = [
    ['USD Coin', 'USDC', 6],
    ['', '', 0],
    ['x'.repeat(100), 'ünïcödé 🌉', 255],
  ]
  for (const [name, symbol, decimals] of tokens)
    assert.deepEqual(decodeTokenMetadata(encode(name, symbol, decimals)), { name, symbol, decimals })
})

test('metadata at an odd offset in a larger buffer decodes from its own start', () => {
  const whole = new Uint8Array(1_000).fill(0xee)
  const metadata = encode('Token', 'TKN', 18)
  whole.set(metadata, 5)
  assert.deepEqual(decodeTokenMetadata(whole.subarray(5, 5 + metadata.length)), {
    name: 'Token',
    symbol: 'TKN',
    decimals: 18,
  })
})

test('metadata cut anywhere inside its data does not decode and does not throw', () => {
  const metadata = encode('Token', 'TKN', 18)
  // The last 29 bytes are the padding of the symbol.
  for (let size = 0; size < metadata.length - 29; size++)
    assert.deepEqual(decodeTokenMetadata(metadata.subarray(0, size)), NOTHING, `first ${size} bytes`)
})

test('metadata with offsets, lengths or decimals out of range does not decode', () => {
  for (const [at, byte] of [
    [0, 0xff],
    [31, 0xff],
    [32 + 28, 0xff],
    [64 + 30, 1],
    [96 + 31, 0xff],
  ] as const) {
    const metadata = encode('Token', 'TKN', 18)
    metadata[at] = byte
    assert.deepEqual(decodeTokenMetadata(metadata), NOTHING, `byte ${at} = ${byte}`)
  }
})

test('a name that is not UTF-8 is null, and the other fields decode', () => {
  const metadata = encode('Token', 'TKN', 18)
  metadata[4 * 32] = 0xff
  assert.deepEqual(decodeTokenMetadata(metadata), { name: null, symbol: 'TKN', decimals: 18 })
})
