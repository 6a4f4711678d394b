import assert from 'node:assert/strict'
import test from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { getAddress as checksum } from 'viem/utils'
import { checksumMask } from '../../../src/protocol/checksumAddress.js'
import { type FieldPlaces, MAX_ROWS, NO_VALUE, ROW_BASES, ROW_VALUES } from '../../../src/query/packedRows.js'
import type { Encoding, RowTemplate } from '../../../src/query/rowTemplate.js'
import { compileMerkleModule, createRowWriter, type MerkleBuild } from '../../../src/wasm/wasmModule.js'

const builds: readonly MerkleBuild[] = ['simd', 'scalar', 'simd-debug', 'scalar-debug']

/** One field of each kind, its bytes one after another from base 0. */
const at = { hash: 0, address: 32, amount: 57, uint8: 89, uint32: 90, uint48: 94, bytes: 100 } as const

const places: FieldPlaces = {
  hash: { kind: 'hash', base: 0, offset: at.hash },
  address: { kind: 'address', base: 0, offset: at.address },
  amount: { kind: 'amount', base: 0, offset: at.amount },
  uint8: { kind: 'uint8', base: 0, offset: at.uint8 },
  uint32: { kind: 'uint32', base: 0, offset: at.uint32 },
  uint48: { kind: 'uint48', base: 0, offset: at.uint48 },
  bytes: { kind: 'bytes', base: 1, lengthValue: 0 },
  value: { kind: 'value', value: 1 },
  flag: { kind: 'flag', value: 2 },
  index: { kind: 'hexValue', value: 3, head: 'ff' },
  none: { kind: 'hash', base: 2, offset: 7 },
  same: { kind: 'constant', number: 77 },
}

const encodings: Readonly<Record<string, Encoding>> = {
  hash: 'hex',
  address: 'checksum',
  amount: 'digits',
  flag: 'boolean',
  bytes: 'hex',
  index: 'hex',
  none: 'hex',
}

const part = (key: string, field = key, isOptional = false): RowTemplate[number] => ({
  ...{ key, field, isOptional },
  encoding: encodings[field] ?? 'number',
})

const template: RowTemplate = [...Object.keys(places).map((key) => part(key)), part('rare', 'rare', true)]

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
    same: 77,
  })
}

for (const build of builds)
  test(`rows are written as the JSON of their values: ${build}`, () => {
    const writer = createRowWriter(compileMerkleModule(build))
    writer.use(template, places)
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

test('a template chooses the fields, their order and their keys; of two, each page has its own', () => {
  const writer = createRowWriter(compileMerkleModule())
  const view = new DataView(writer.input.buffer, writer.input.byteOffset, writer.input.length)
  view.setUint8(at.uint8, 8)
  view.setUint32(at.uint32, 32, true)
  writer.numbers.fill(writer.inputAddress, 0, 2)
  const text = (used: RowTemplate): string => {
    writer.use(used, places)
    return Buffer.from(writer.write(1)).toString()
  }
  const [one, other] = [
    [part('same'), part('b', 'uint32'), part('a', 'uint8')],
    [part('a', 'uint8'), part('s', 'same')],
  ]
  for (const _ of [1, 2]) {
    assert.equal(text(one), '{"same":77,"b":32,"a":8}')
    assert.equal(text(other), '{"a":8,"s":77}')
  }
})

test('a template with more than the module has room for, or with what it cannot spell, is refused', () => {
  const writer = createRowWriter(compileMerkleModule())
  const use = (...parts: RowTemplate) => writer.use(parts, places)
  assert.throws(() => use(...Array.from({ length: 24 }, () => part('uint8'))), RangeError)
  assert.throws(() => use(part('x'.repeat(2048), 'uint8')), RangeError)
  assert.throws(() => use(part('unknown')), /no field unknown/)
  assert.throws(() => use({ ...part('hash'), encoding: 'number' }), /hash can't be spelled as number/)
  assert.throws(() => use({ ...part('same'), encoding: 'hex' }), /same can't be spelled as hex/)
})
