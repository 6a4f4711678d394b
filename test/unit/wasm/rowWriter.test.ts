import assert from 'node:assert/strict'
import test from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { checksumAddress as checksum } from 'viem'
import { checksumMask } from '../../../src/protocol/checksumAddress.js'
import { MAX_ROWS, NO_VALUE, ROW_BASES, ROW_VALUES, type RowField } from '../../../src/query/packedRows.js'
import { compileMerkleModule, createRowWriter, type MerkleBuild } from '../../../src/wasm/wasmModule.js'

const builds: readonly MerkleBuild[] = ['simd', 'scalar', 'simd-debug', 'scalar-debug']

/** One field of each kind, its bytes one after another from base 0. */
const at = { hash: 0, address: 32, amount: 57, uint8: 89, uint32: 90, uint48: 94, bytes: 100 } as const

const fields: readonly RowField[] = [
  { text: '{"hash":', source: { kind: 'hash', base: 0, offset: at.hash } },
  { text: ',"address":', source: { kind: 'address', base: 0, offset: at.address } },
  { text: ',"amount":', source: { kind: 'amount', base: 0, offset: at.amount } },
  { text: ',"uint8":', source: { kind: 'uint8', base: 0, offset: at.uint8 } },
  { text: ',"uint32":', source: { kind: 'uint32', base: 0, offset: at.uint32 } },
  { text: ',"uint48":', source: { kind: 'uint48', base: 0, offset: at.uint48 } },
  { text: ',"bytes":', source: { kind: 'bytes', base: 1, lengthValue: 0 } },
  { text: ',"value":', source: { kind: 'value', value: 1 } },
  { text: ',"flag":', source: { kind: 'flag', value: 2 } },
  { text: ',"index":"0xff', source: { kind: 'hexValue', value: 3, head: 'ff' } },
  { text: '","none":', source: { kind: 'hash', base: 2, offset: 7 } },
  { text: '}', source: undefined },
]

/** Numbers of every length, and those around powers of ten. */
const uint = (bits: number) =>
  fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }),
    fc
      .tuple(fc.nat({ max: Math.floor(bits * 0.301) }), fc.integer({ min: -1, max: 1 }))
      .map(([power, more]) => 10n ** BigInt(power) + BigInt(more))
      .filter((value) => value >= 0n && value < 2n ** BigInt(bits)),
    fc.nat({ max: bits }).map((power) => 2n ** BigInt(power) - 1n),
  )

const row = fc.record({
  hash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }),
  amount: uint(256),
  uint8: uint(8),
  uint32: uint(32),
  uint48: uint(48),
  bytes: fc.uint8Array({ maxLength: 70 }),
  value: uint(32),
  flag: fc.boolean(),
  index: uint(32),
})
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`

function textOf({ hash, address, amount, uint8, uint32, uint48, bytes, value, flag, index }: Row): string {
  const numbers = { uint8: Number(uint8), uint32: Number(uint32), uint48: Number(uint48) }
  return JSON.stringify({
    hash: hex(hash),
    address: checksum(hex(address) as `0x${string}`),
    amount: String(amount),
    ...numbers,
    bytes: hex(bytes),
    value: Number(value) === NO_VALUE ? null : Number(value),
    flag,
    index: `0xff${index.toString(16).padStart(8, '0')}`,
    none: null,
  })
}

for (const build of builds)
  test(`rows are written as the JSON of their values: ${build}`, () => {
    const writer = createRowWriter(compileMerkleModule(build))
    writer.use(fields)
    const view = new DataView(writer.input.buffer, writer.input.byteOffset, writer.input.length)
    const put = (rows: readonly Row[]): void => {
      rows.forEach((one, index) => {
        const from = 256 * index
        writer.input.set(one.hash, from + at.hash)
        writer.input.set(one.address, from + at.address)
        writer.input.set(checksumMask(one.address, keccak_256), from + at.address + 20)
        writer.input.set(Buffer.from(one.amount.toString(16).padStart(64, '0'), 'hex'), from + at.amount)
        view.setUint8(from + at.uint8, Number(one.uint8))
        view.setUint32(from + at.uint32, Number(one.uint32), true)
        view.setUint32(from + at.uint48, Number(one.uint48 & 0xffff_ffffn), true)
        view.setUint16(from + at.uint48 + 4, Number(one.uint48 >> 32n), true)
        writer.input.set(one.bytes, from + at.bytes)
        const numbers = (ROW_BASES + ROW_VALUES) * index
        writer.numbers.set([writer.inputAddress + from, writer.inputAddress + from + at.bytes, 0], numbers)
        const values = [one.bytes.length, Number(one.value), one.flag ? 1 : 0, Number(one.index)]
        writer.numbers.set(values, numbers + ROW_BASES)
      })
    }
    fc.assert(
      fc.property(fc.array(row, { maxLength: MAX_ROWS }), (rows) => {
        put(rows)
        assert.equal(Buffer.from(writer.write(rows.length)).toString(), rows.map(textOf).join(','))
      }),
      { numRuns: build.endsWith('debug') ? 20 : 150 },
    )
  })

test('more fields or longer texts than there is room for are refused', () => {
  const writer = createRowWriter(compileMerkleModule())
  assert.throws(() => writer.use(Array.from({ length: 25 }, () => fields[0]!)), RangeError)
  assert.throws(() => writer.use([{ text: 'x'.repeat(2048), source: undefined }]), RangeError)
})
