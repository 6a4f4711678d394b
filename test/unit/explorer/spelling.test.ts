import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ago,
  bytesOf,
  duration,
  exactAmount,
  exactTime,
  grouped,
  plainText,
  readableText,
  shortAmount,
  shortHex,
  tokenOfMetadata,
} from '../../../src/explorer/spelling.js'

const MAX = 2n ** 256n - 1n

test('amounts have their decimals, thousands apart, and six digits where they are short', () => {
  const rows: [bigint, number, string, string][] = [
    [0n, 18, '0', '0'],
    [1n, 0, '1', '1'],
    [12_500_000n, 6, '12.5', '12.5'],
    [1_234_567_890_123_456_789n, 18, '1.234567890123456789', '1.23456'],
    [1_999_999_999n, 6, '1,999.999999', '1,999.99'],
    [123_456_789_000_000n, 6, '123,456,789', '123,456,000'],
    [1n, 18, '0.000000000000000001', '1 × 10⁻¹⁸'],
    [5_000n, 9, '0.000005', '0.000005'],
  ]
  for (const [amount, decimals, exact, short] of rows) {
    assert.equal(exactAmount(amount, decimals), exact)
    assert.equal(shortAmount(amount, decimals), short)
  }
})

test('the largest amount of all fits a line, and its exact value has every digit', () => {
  assert.equal(shortAmount(MAX, 18), '1.15792 × 10⁵⁹')
  assert.equal(exactAmount(MAX, 0).replaceAll(',', ''), String(MAX))
  assert.equal(shortAmount(MAX, 255), '1.15792 × 10⁻¹⁷⁸')
})

test('no short amount is more than the exact one', () => {
  for (const [amount, decimals] of [
    [999_999_999n, 6],
    [19_999_999_999n, 3],
    [9_999_995n, 0],
  ] as const) {
    const short = Number(shortAmount(amount, decimals).replaceAll(',', ''))
    assert.ok(short <= Number(amount) / 10 ** decimals, String(amount))
  }
})

test('durations have one unit, or two where the first is small', () => {
  const rows: [number, string][] = [
    [0, '0 s'],
    [59, '59 s'],
    [240, '4 min'],
    [725, '12 min'],
    [3_600, '1 h'],
    [7_500, '2 h 5 min'],
    [40_000, '11 h'],
    [90_000, '1 d 1 h'],
    [864_000, '10 d'],
    [-3, '0 s'],
  ]
  for (const [seconds, text] of rows) assert.equal(duration(seconds), text)
})

test('times are told from now, and exactly', () => {
  assert.equal(ago(1_000, 1_002), 'just now')
  assert.equal(ago(1_000, 1_240), '4 min ago')
  assert.equal(exactTime(0), '1970-01-01 00:00:00 UTC')
})

test('numbers and hashes are easy to read', () => {
  assert.equal(grouped(1_234_567), '1,234,567')
  assert.equal(grouped(12), '12')
  assert.equal(shortHex(`0x${'12'.repeat(30)}abcd`), '0x1212…abcd')
  assert.equal(shortHex('0x1234'), '0x1234')
})

test('a hostile name of a token becomes one short line without marks that turn text around', () => {
  assert.equal(plainText('<script>alert(1)</script>'), '<script>alert(1)…')
  assert.equal(plainText('\u202eCDSU\u202c'), 'CDSU')
  assert.equal(plainText('US\u200bDC\n\u0000'), 'USDC')
  assert.equal(plainText('x'.repeat(10_000))?.length, 17)
  assert.equal(plainText('👩‍🚀'.repeat(40))?.includes('�'), false)
  assert.equal(plainText(' \u2066\u00ad '), undefined)
})

/** `abi.encode(string, string, uint8)` by hand, of texts up to 32 bytes. */
function metadataOf(name: string, symbol: string, decimals: number): string {
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const text = (value: string) =>
    word(Buffer.byteLength(value)) + Buffer.from(value).toString('hex').padEnd(64, '0')
  return `0x${word(96)}${word(160)}${word(decimals)}${text(name)}${text(symbol)}`
}

test("a bridge's metadata tell symbol and decimals of its token", () => {
  assert.deepEqual(tokenOfMetadata(metadataOf('USD Coin', 'USDC', 6)), { symbol: 'USDC', decimals: 6 })
  assert.equal(tokenOfMetadata(metadataOf('Nothing', '\u202e', 6)), undefined)
  assert.equal(tokenOfMetadata('0x'), undefined)
  assert.equal(tokenOfMetadata('0x12345'), undefined)
})

test('the data of a message are shown as text only where they are text', () => {
  assert.equal(readableText(bytesOf('0x68656c6c6f0a')!), 'hello\n')
  assert.equal(readableText(bytesOf('0x00ff')!), undefined)
  assert.equal(readableText(bytesOf('0xe280ae')!), undefined)
  assert.equal(readableText(bytesOf('0x')!), undefined)
  assert.equal(bytesOf('0xabc'), undefined)
})
