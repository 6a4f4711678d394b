import assert from 'node:assert/strict'
import test from 'node:test'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { getAddress as checksum } from 'viem/utils'
import { InvariantError } from '../../../src/errors/invariantError.js'
import { checksumMask } from '../../../src/protocol/checksumAddress.js'
import {
  type FieldPlace,
  type FieldPlaces,
  MAX_ROWS,
  NO_VALUE,
  ROW_BASES,
  ROW_VALUES,
  type RowWriter,
} from '../../../src/query/packedRows.js'
import type { Encoding, FieldPart, RowTemplate } from '../../../src/query/rowTemplate.js'
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
  lower: { kind: 'address', base: 0, offset: at.address },
  quoted: { kind: 'uint48', base: 0, offset: at.uint48 },
  milliseconds: { kind: 'uint48', base: 0, offset: at.uint48 },
  rollupIndex: { kind: 'uint32', base: 0, offset: at.uint32 },
  ulid: { kind: 'ulid', base: 0, offset: at.hash },
  wordOfByte: { kind: 'uint8', base: 0, offset: at.uint8 },
  wordOfNumber: { kind: 'uint32', base: 0, offset: at.uint32 },
  wordOfValue: { kind: 'value', value: 2 },
  omitted: { kind: 'hash', base: 2, offset: 7 },
  empty: { kind: 'uint48', base: 2, offset: 0 },
}

const encodings: Readonly<Record<string, Encoding>> = {
  hash: 'hex',
  address: 'checksum',
  amount: 'digits',
  flag: 'boolean',
  bytes: 'hex',
  index: 'hex',
  none: 'hex',
  lower: 'lowerCase',
  quoted: 'quotedNumber',
  milliseconds: 'milliseconds',
  rollupIndex: 'rollupIndex',
  ulid: 'ulid',
  wordOfByte: 'word',
  wordOfNumber: 'word',
  wordOfValue: 'word',
  omitted: 'hex',
  empty: 'quotedNumber',
}

/** The longest word that there is room for, and the shortest. */
const words = ['"abcdefghijklmnopqrstuvwxyz"', '1', '"last one"'] as const
const word = (number: number) => JSON.parse(words[Math.min(number, 2)]!) as unknown

const more: Readonly<Record<string, Partial<FieldPart>>> = {
  wordOfByte: { words },
  wordOfNumber: { words },
  wordOfValue: { words },
  omitted: { omitsNull: true },
  empty: { ofNull: '""' },
}

const part = (key: string, field = key, isOptional = false): FieldPart => ({
  ...{ key, field, isOptional },
  encoding: encodings[field] ?? 'number',
  ...more[field],
})

/** 16 bytes, five bits a digit. */
function ulidOf(bytes: Uint8Array): string {
  const bits = [...bytes.subarray(0, 16)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = `00${bits}`.match(/.{5}/g)!
  return groups.map((five) => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[Number.parseInt(five, 2)]).join('')
}

/** A number that JSON.stringify would round. */
const MILLISECONDS = 'milliseconds to come'
const withMilliseconds = (json: string, seconds: bigint) =>
  json.replace(`"${MILLISECONDS}"`, String(1000n * seconds))

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
  const json = JSON.stringify({
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
    lower: hex(address),
    quoted: String(uint48),
    milliseconds: MILLISECONDS,
    rollupIndex: Number(uint32) === 0 ? 0 : Number(uint32) - 1,
    ulid: ulidOf(hash),
    wordOfByte: word(Number(uint8)),
    wordOfNumber: word(Number(uint32)),
    wordOfValue: word(flag ? 1 : 0),
    empty: '',
  })
  return withMilliseconds(json, uint48)
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

test('more templates in turn than the module has room for are each written as they say', () => {
  const writer = createRowWriter(compileMerkleModule())
  writer.input[at.uint8] = 9
  writer.numbers[0] = writer.inputAddress
  const templates = Array.from({ length: 40 }, (_, index) => [part(`key${index}`, 'uint8')])
  for (const step of [1, 7, 39])
    for (let turn = 0; turn < 80; turn++) {
      const index = (turn * step) % templates.length
      writer.use(templates[index]!, places)
      assert.equal(Buffer.from(writer.write(1)).toString(), `{"key${index}":9}`)
    }
})

test('a field that is left out, or has a text for null, leaves the constants around it in their places', () => {
  const writer = createRowWriter(compileMerkleModule())
  writer.numbers.fill(0)
  const fixed = (key: string): RowTemplate[number] => ({ key, fixed: '1' })
  const text = (...parts: RowTemplate): string => {
    writer.use(parts, places)
    return Buffer.from(writer.write(1)).toString()
  }
  assert.equal(text(fixed('a'), part('omitted'), fixed('b'), part('omitted')), '{"a":1,"b":1}')
  assert.equal(text(part('empty'), part('omitted'), fixed('b')), '{"empty":"","b":1}')
  assert.equal(
    text(fixed('a'), part('none'), part('empty'), fixed('b')),
    '{"a":1,"none":null,"empty":"","b":1}',
  )
})

test('a template with more than the module has room for, or with what it cannot spell, is refused', () => {
  const writer = createRowWriter(compileMerkleModule())
  const use = (...parts: RowTemplate) => writer.use(parts, places)
  assert.throws(() => use(...Array.from({ length: 24 }, () => part('uint8'))), RangeError)
  assert.throws(() => use(part('x'.repeat(2048), 'uint8')), RangeError)
  assert.throws(() => use(part('unknown')), /no field unknown/)
  assert.throws(() => use({ ...part('hash'), encoding: 'number' }), /hash can't be spelled as number/)
  assert.throws(() => use({ ...part('same'), encoding: 'hex' }), /same can't be spelled as hex/)
  assert.throws(() => use(part('omitted'), part('uint8')), /omitted comes first and can't be left out/)
  const words = (...some: string[]) => ({ ...part('wordOfByte'), words: some })
  assert.throws(() => use(words()), /wordOfByte has no words/)
  assert.throws(() => use(words('1', 'x'.repeat(29))), /more than 28 characters/)
  assert.throws(() => use(words(...Array.from({ length: 9 }, () => '1'))), /refuses a field/)
})

test('a field whose place no row has is refused by its name, with the limit', () => {
  const writer = createRowWriter(compileMerkleModule())
  const use = (place: FieldPlace) => writer.use([part('newcomer', 'first')], { first: place })
  assert.throws(() => use({ kind: 'value', value: ROW_VALUES }), {
    name: 'RangeError',
    message: `first lies at value ${ROW_VALUES}, but a row has ${ROW_VALUES} (values 0 to ${ROW_VALUES - 1})`,
  })
  assert.throws(
    () => use({ kind: 'uint8', base: ROW_BASES, offset: 0 }),
    new RegExp(`first lies at base ${ROW_BASES}, but a row has ${ROW_BASES}`),
  )
  assert.ok(use({ kind: 'value', value: ROW_VALUES - 1 }) > 0)
})

test('after a template that is refused, the one before it is written as before', () => {
  const writer = createRowWriter(compileMerkleModule())
  writer.input[at.uint8] = 8
  writer.numbers[0] = writer.inputAddress
  const good = [part('first', 'uint8'), part('second', 'uint8')]
  const text = (): string => {
    writer.use(good, places)
    return Buffer.from(writer.write(1)).toString()
  }
  const expected = '{"first":8,"second":8}'
  assert.equal(text(), expected)
  assert.throws(() => writer.use([part('y'.repeat(99), 'uint8'), part('x'.repeat(2048), 'uint8')], places))
  assert.equal(text(), expected)
})

/** The whole memory of a writer's module, and what of it writing rows may change: its output and the digits of an amount. */
function memoryOf(writer: RowWriter) {
  const memory = new Uint8Array(writer.input.buffer)
  const output = writer.write(0).byteOffset
  const afterOutput = output + writer.maxText
  /** Digits and words of amounts lie behind the output and the pairs of digits. */
  const isScratch = (place: number) => place >= afterOutput + 200 && place < afterOutput + 320
  const inputEnd = writer.inputAddress + writer.input.length
  const parts = [
    [0, writer.inputAddress],
    [inputEnd, output],
    [afterOutput, memory.length],
  ] as const
  const copy = () => parts.map(([from, to]) => memory.slice(from, to))
  return {
    copy,
    /** Places outside of input and output that changed and must not have. */
    strayFrom: (before: readonly Uint8Array[]): number[] =>
      copy().flatMap((now, part) =>
        Buffer.compare(now, before[part]!) === 0
          ? []
          : [...now.keys()]
              .filter((at) => now[at] !== before[part]![at])
              .map((at) => parts[part]![0] + at)
              .filter((place) => !isScratch(place)),
      ),
  }
}

/** What a row says whose bases and values are these: a model of the kernel that reads the same memory. */
function modelText(writer: RowWriter, numbers: readonly number[]): string {
  const memory = Buffer.from(writer.input.buffer)
  const [first, second, none] = numbers as [number, number, number]
  const [length, value, flag, index] = numbers.slice(ROW_BASES) as [number, number, number, number]
  const read = <T>(base: number, of: (from: number) => T): T | null => (base === 0 ? null : of(base))
  const bytes = (from: number, size: number) => hex(memory.subarray(from, from + size))
  const address = (from: number) => {
    const bits = BigInt(bytes(from + 20, 5))
    const digits = [...memory.subarray(from, from + 20).toString('hex')]
    return `0x${digits.map((digit, place) => ((bits >> BigInt(39 - place)) & 1n ? shifted(digit) : digit)).join('')}`
  }
  const json = JSON.stringify({
    hash: read(first, (base) => bytes(base + at.hash, 32)),
    address: read(first, (base) => address(base + at.address)),
    amount: read(first, (base) => String(BigInt(bytes(base + at.amount, 32)))),
    uint8: read(first, (base) => memory.readUInt8(base + at.uint8)),
    uint32: read(first, (base) => memory.readUInt32LE(base + at.uint32)),
    uint48: read(first, (base) => memory.readUIntLE(base + at.uint48, 6)),
    bytes: read(second, (base) => bytes(base, length)),
    value: value === NO_VALUE ? null : value,
    flag: (flag & 1) === 1,
    index: `0xff${index.toString(16).padStart(8, '0')}`,
    none: read(none, (base) => bytes(base + 7, 32)),
    same: 77,
    lower: read(first, (base) => bytes(base + at.address, 20)),
    quoted: read(first, (base) => String(memory.readUIntLE(base + at.uint48, 6))),
    milliseconds: read(first, () => MILLISECONDS),
    rollupIndex: read(first, (base) => Math.max(0, memory.readUInt32LE(base + at.uint32) - 1)),
    ulid: read(first, (base) => ulidOf(memory.subarray(base, base + 16))),
    wordOfByte: read(first, (base) => word(memory.readUInt8(base + at.uint8))),
    wordOfNumber: read(first, (base) => word(memory.readUInt32LE(base + at.uint32))),
    wordOfValue: word(flag),
    omitted: read(none, (base) => bytes(base + 7, 32)) ?? undefined,
    empty: read(none, (base) => String(memory.readUIntLE(base, 6))) ?? '',
  })
  return withMilliseconds(json, first === 0 ? 0n : BigInt(memory.readUIntLE(first + at.uint48, 6)))
}

/** A capital in the place of a small letter is 32 below it. Masks that no address has make other characters of digits. */
const shifted = (digit: string) => String.fromCharCode(digit.charCodeAt(0) - 32)

/** Fills the input with bytes of which a mask never meets a digit, so that all texts are printable. */
function fillInput(writer: RowWriter, random: (place: number) => number): void {
  for (let place = 0; place < 65_536; place++) writer.input[place] = random(place) & 0xff
  const { length } = writer.input
  for (let place = length - 65_536; place < length; place++) writer.input[place] = random(place) & 0xff
}

/** Bytes that look random, and are letters a … f in hexadecimal: a mask of any bits is right for them. */
const letters = (place: number) => {
  const mixed = Math.imul(place + 1, 0x9e37_79b1) >>> 0
  return ((10 + (mixed % 6)) << 4) | (10 + ((mixed >>> 8) % 6))
}

test('an address that leads out of the input is refused for every kind of field, and the last that does not is written', () => {
  for (const build of builds) {
    const writer = createRowWriter(compileMerkleModule(build))
    fillInput(writer, letters)
    const end = writer.inputAddress + writer.input.length
    for (const kind of ['hash', 'address', 'amount', 'uint8', 'uint32', 'uint48'] as const) {
      const offset = kind === 'hash' ? 40 : 0
      const own: FieldPlaces = { field: { kind, base: 3, offset } }
      const encoding = kind === 'address' ? 'checksum' : (encodings[kind] ?? 'number')
      writer.use([{ key: 'f', field: 'field', encoding, isOptional: false }], own)
      const text = (base: number): string => {
        writer.numbers[3] = base
        return Buffer.from(writer.write(1)).toString()
      }
      assert.match(text(end - offset), /^\{"f":\S+\}$/)
      assert.match(text(writer.inputAddress), /^\{"f":\S+\}$/)
      const outside = [1, offset, writer.inputAddress - offset - 1, end - offset + 1, end, 0x7fff_ffff]
      for (const base of [...outside, 0x8000_0000, 0xffff_ffff - offset, 0xffff_ffff])
        if (base > 0 && (base + offset < writer.inputAddress || base + offset > end))
          assert.throws(() => text(base), InvariantError, `${kind} at ${base} by ${build}`)
    }
  }
})

test('bytes end where the input and the output do, and one more is refused', () => {
  for (const build of builds) {
    const writer = createRowWriter(compileMerkleModule(build))
    fillInput(writer, letters)
    const own: FieldPlaces = { bytes: { kind: 'bytes', base: 0, lengthValue: 2 } }
    const longest = writer.use([part('bytes')], own)
    const text = (place: number, length: number): string => {
      writer.numbers[0] = writer.inputAddress + place
      writer.numbers[ROW_BASES + 2] = length
      return Buffer.from(writer.write(1)).toString()
    }
    const { length: inputEnd } = writer.input
    for (const length of [0, 1, 15, 16, 17, 4_096]) {
      const place = inputEnd - length
      assert.equal(text(place, length), `{"bytes":"${hex(writer.input.slice(place))}"}`)
    }
    for (const length of [64, 4_096])
      for (const past of [64, length, 0x7000_0000])
        assert.throws(() => text(inputEnd - length + past, length), /points out/, `${past} by ${build}`)
    const most = Math.floor((writer.maxText - 2 * longest) / 2)
    assert.equal(text(0, most).length, 2 * most + '{"bytes":"0x"}'.length)
    for (const length of [
      writer.maxText / 2,
      writer.maxText,
      0x7fff_ffff,
      0x8000_0000,
      0xffff_fff0,
      0xffff_ffff,
    ])
      assert.throws(() => text(0, length), /longer than/, `${length} by ${build}`)
  }
})

test('rows are refused before they reach the end of the output', () => {
  const writer = createRowWriter(compileMerkleModule())
  const own: FieldPlaces = { bytes: { kind: 'bytes', base: 0, lengthValue: 0 } }
  writer.use([part('bytes')], own)
  const tell = (length: number): number => {
    for (let row = 0; row < MAX_ROWS; row++) {
      writer.numbers[row * (ROW_BASES + ROW_VALUES)] = writer.inputAddress
      writer.numbers[row * (ROW_BASES + ROW_VALUES) + ROW_BASES] = length
    }
    return writer.write(MAX_ROWS).length
  }
  const memory = memoryOf(writer)
  writer.numbers.fill(0)
  const before = memory.copy()
  const fits: number[] = []
  for (let length = 1_900; length < 2_200; length++) {
    try {
      assert.equal(tell(length), MAX_ROWS * (2 * length + 15) - 1)
      fits.push(length)
    } catch (error) {
      assert.ok(error instanceof InvariantError)
    }
  }
  assert.deepEqual([fits.at(0), fits.length > 100 && fits.length < 299], [1_900, true])
  assert.throws(() => writer.write(MAX_ROWS + 1), InvariantError)
  assert.throws(() => writer.write(0xffff_ffff), InvariantError)
  writer.numbers.fill(0)
  assert.deepEqual(memory.strayFrom(before), [])
})

for (const build of builds)
  test(`of any numbers, rows become what stands there or are refused, and nothing else in memory changes: ${build}`, () => {
    const writer = createRowWriter(compileMerkleModule(build))
    fillInput(writer, letters)
    writer.use(template, places)
    const memory = memoryOf(writer)
    const input = writer.input.slice()
    const from = writer.inputAddress
    const to = from + writer.input.length
    const anyAddress = fc.oneof(
      { weight: 16, arbitrary: fc.integer({ min: from, max: from + 60_000 }) },
      { weight: 2, arbitrary: fc.integer({ min: to - 300, max: to + 300 }) },
      { weight: 1, arbitrary: fc.integer({ min: from - 300, max: from }) },
      { weight: 1, arbitrary: fc.nat({ max: 0xffff_ffff }) },
      { weight: 1, arbitrary: fc.constantFrom(0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff) },
    )
    const anyLength = fc.oneof(
      { weight: 12, arbitrary: fc.nat({ max: 300 }) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 140_000 }) },
      { weight: 1, arbitrary: fc.nat({ max: 0xffff_ffff }) },
    )
    const uint32 = fc.nat({ max: 0xffff_ffff })
    const UNUSED = Array.from({ length: ROW_BASES - 3 }, () => 0)
    const anyRow = fc
      .tuple(anyAddress, anyAddress, anyAddress, anyLength, uint32, fc.nat({ max: 2 }), uint32)
      .map(([first, second, third, ...values]) => [first, second, third, ...UNUSED, ...values])
    let written = 0
    let refused = 0
    fc.assert(
      fc.property(fc.array(anyRow, { minLength: 1, maxLength: 3 }), (rows) => {
        for (const [row, numbers] of rows.entries())
          writer.numbers.set(numbers, row * (ROW_BASES + ROW_VALUES))
        const before = memory.copy()
        // Every field of the first base lies below this, and one of the third.
        const isInside = (base: number, size: number) => base === 0 || (base >= from && base + size <= to)
        const isGood = rows.every(
          ([first, second, third, ...others]) =>
            isInside(first!, at.uint48) && isInside(second!, others[ROW_BASES - 3]!) && isInside(third!, 7),
        )
        let text: string | undefined
        try {
          text = Buffer.from(writer.write(rows.length)).toString()
          written++
        } catch (error) {
          assert.ok(error instanceof InvariantError)
          refused++
        }
        if (text === undefined) {
          const length = rows.reduce((sum, row) => sum + 2 * row[ROW_BASES]!, 0)
          assert.ok(!isGood || length > writer.maxText - 20_000, 'good rows were refused')
        } else assert.equal(text, rows.map((row) => modelText(writer, row)).join(','))
        assert.deepEqual(memory.strayFrom(before), [])
      }),
      { numRuns: build.endsWith('debug') ? 80 : 400 },
    )
    assert.ok(Buffer.compare(writer.input, input) === 0)
    assert.ok(written > 10 && refused > 10, `${written} written, ${refused} refused`)
  })

test('the longest row is as long as the writer says, at most', () => {
  const writer = createRowWriter(compileMerkleModule())
  const most = writer.use(template, places)
  writer.input.fill(0xff, 0, 256)
  writer.numbers.set([writer.inputAddress, writer.inputAddress, writer.inputAddress])
  writer.numbers.set([0, 0xffff_fffe, 0, 0xffff_ffff], ROW_BASES)
  const { length } = writer.write(1)
  assert.ok(length > 400 && length < most, `${length} of ${most}`)
})
