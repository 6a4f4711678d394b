import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { InvariantError } from '../../../../src/errors/invariantError.js'
import { type FieldPlaces, ROW_BASES } from '../../../../src/query/packedRows.js'
import type { RowTemplate } from '../../../../src/query/rowTemplate.js'
import { NOWHERE } from '../../../../src/shard/rows/arenaSlots.js'
import { RowArena } from '../../../../src/shard/rows/rowArena.js'
import { compileMerkleModule, createRowWriter } from '../../../../src/wasm/wasmModule.js'
import { slotCounts } from '../../../support/bothTexts.js'

const compiled = compileMerkleModule()

/** A row is its stored bytes in hexadecimal. */
const template: RowTemplate = [{ key: 'b', field: 'bytes', encoding: 'hex', isOptional: false }]
const places: FieldPlaces = { bytes: { kind: 'bytes', base: 0, lengthValue: 0 } }

const newArena = (slots: number) => new RowArena(createRowWriter(compiled), slotCounts(slots))

/** Adds a row that shows the bytes at a place. */
function addRow(arena: RowArena, place: number, length: number): void {
  const at = arena.addRow(length)
  arena.numbers[at] = arena.address(place)
  arena.numbers[at + ROW_BASES] = length
}

test('what is found is what was put there last under this number and stamp, however few slots there are', () => {
  const step = fc.record({
    owner: fc.nat({ max: 3 }),
    number: fc.nat({ max: 40 }),
    stamp: fc.nat({ max: 2 }),
    bytes: fc.option(fc.uint8Array({ maxLength: 32 }), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.constantFrom(1, 2, 4, 16, 32), fc.array(step, { maxLength: 300 }), (count, steps) => {
      const arena = newArena(count)
      const { tokens } = arena.slots
      const stored = new Map<string, { readonly stamp: number; readonly bytes: readonly number[] }>()
      for (const { owner, number, stamp, bytes } of steps) {
        tokens.put(owner, number, stamp, bytes)
        stored.set(`${owner} ${number}`, { stamp, bytes: [...(bytes ?? [])] })
        for (const [key, newest] of stored) {
          const [ofOwner, ofNumber] = key.split(' ').map(Number)
          for (const asked of [0, 1, 2]) {
            const place = tokens.find(ofOwner!, ofNumber!, asked, 0)
            if (key === `${owner} ${number}`) assert.equal(place !== NOWHERE, asked === stamp)
            if (place === NOWHERE) continue
            assert.equal(asked, newest.stamp)
            const end = place + tokens.lengthOf(ofOwner!, ofNumber!)
            assert.deepEqual([...arena.input.subarray(place, end)], newest.bytes)
          }
        }
      }
    }),
    { numRuns: 50 },
  )
})

test('bytes that are too long for a slot are refused, and those of its neighbours stay', () => {
  const arena = newArena(4)
  const { metadata } = arena.slots
  const placed = [0, 1, 2].map((id) => metadata.put(0, id, 1, new Uint8Array(384).fill(id + 1)))
  for (const length of [385, 4096])
    assert.throws(() => metadata.put(0, 1, 1, new Uint8Array(length).fill(9)), InvariantError)
  for (const [id, place] of placed.entries())
    assert.deepEqual(arena.input.slice(place, place + 384), new Uint8Array(384).fill(id + 1))
})

test('rows are written before the slot that they lie in gets other bytes, and after a page that failed none is left', () => {
  const arena = newArena(1)
  const { tokens } = arena.slots
  const texts: string[] = []
  const sink = { append: (rows: Uint8Array) => texts.push(Buffer.from(rows).toString()) }
  const put = (number: number) => tokens.put(0, number, 1, Uint8Array.of(number))
  const failing = {
    append: () => {
      throw new RangeError('the answer is too long')
    },
  }
  arena.begin(template, places, failing)
  addRow(arena, put(1), 1)
  assert.throws(() => put(2), /too long/)
  arena.begin(template, places, sink)
  addRow(arena, put(3), 1)
  addRow(arena, tokens.find(0, 3, 1, 1), 1)
  addRow(arena, put(4), 1)
  arena.end()
  assert.deepEqual(texts, ['{"b":"0x03"},{"b":"0x03"}', '{"b":"0x04"}'])
})

test('a row that the row writer refuses fails the page, and what was placed is read again', () => {
  const arena = newArena(4)
  const { tokens } = arena.slots
  arena.begin(template, places, { append: () => assert.fail('a wrong row was written') })
  tokens.put(0, 1, 1, Uint8Array.of(1))
  assert.notEqual(tokens.find(0, 1, 1, 0), NOWHERE)
  addRow(arena, arena.input.length + 1, 1_000)
  assert.throws(() => arena.end(), InvariantError)
  assert.equal(tokens.find(0, 1, 1, 0), NOWHERE)
  let text = ''
  arena.begin(template, places, { append: (rows) => (text += Buffer.from(rows).toString()) })
  addRow(arena, tokens.put(0, 1, 1, Uint8Array.of(7)), 1)
  arena.end()
  assert.equal(text, '{"b":"0x07"}')
})

test('rows of any length are written whole, in as many pieces as the row writer has room for', () => {
  const arena = newArena(64)
  const { longMetadata } = arena.slots
  let text = ''
  let pieces = 0
  const sink = {
    append: (rows: Uint8Array) => {
      text += `${pieces++ > 0 ? ',' : ''}${Buffer.from(rows).toString()}`
    },
  }
  const lengths = Array.from({ length: 400 }, (_, at) => (at % 3 === 0 ? 4_096 : (at * 37) % 4_097))
  arena.begin(template, places, sink)
  for (const [at, length] of lengths.entries())
    addRow(arena, longMetadata.put(0, at, 1, new Uint8Array(length).fill(at)), length)
  arena.end()
  const expected = lengths.map(
    (length, at) => `{"b":"0x${(at & 255).toString(16).padStart(2, '0').repeat(length)}"}`,
  )
  assert.equal(text, expected.join(','))
  assert.ok(pieces > 5, `${pieces} pieces`)
})
