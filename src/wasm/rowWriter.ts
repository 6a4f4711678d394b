import {
  type FieldSource,
  MAX_ROWS,
  ROW_BASES,
  ROW_VALUES,
  type RowField,
  type RowWriter,
} from '../query/packedRows.js'

interface Place {
  readonly value: number
}

/** Exports of assembly/index.ts that write rows. */
export interface RowExports {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly ROW_FIELDS: Place
  readonly ROW_TEXTS: Place
  readonly ROW_NUMBERS: Place
  readonly ROW_INPUT: Place
  readonly ROW_OUTPUT: Place
  writeRows(count: number, fields: number): number
}

// Sizes in assembly/rowLayout.ts.
const MAX_FIELDS = 24
const FIELD_WORDS = 5
const TEXTS_BYTES = 2_048
const INPUT_BYTES = 15_728_640
const OUTPUT_BYTES = 262_144

/** As in assembly/rows.ts. */
const kinds: { readonly [Kind in Exclude<FieldSource['kind'], 'constant'>]: number } = {
  hash: 1,
  address: 2,
  uint8: 3,
  uint32: 4,
  uint48: 5,
  amount: 6,
  bytes: 7,
  value: 8,
  flag: 9,
  hexValue: 10,
}

export function createWasmRowWriter(wasm: RowExports): RowWriter {
  const { buffer } = wasm.memory
  const fieldWords = new Uint32Array(buffer, wasm.ROW_FIELDS.value, MAX_FIELDS * FIELD_WORDS)
  const texts = new Uint8Array(buffer, wasm.ROW_TEXTS.value, TEXTS_BYTES)
  const output = new Uint8Array(buffer, wasm.ROW_OUTPUT.value, OUTPUT_BYTES)
  let current: readonly RowField[] = []

  return {
    input: new Uint8Array(buffer, wasm.ROW_INPUT.value, INPUT_BYTES),
    inputAddress: wasm.ROW_INPUT.value,
    numbers: new Uint32Array(buffer, wasm.ROW_NUMBERS.value, MAX_ROWS * (ROW_BASES + ROW_VALUES)),

    use(fields) {
      if (fields === current) return
      if (fields.length > MAX_FIELDS) throw new RangeError(`${fields.length} fields exceed ${MAX_FIELDS}`)
      let textAt = 0
      for (let index = 0; index < fields.length; index++) {
        const { text, source } = fields[index]!
        // The kernel reads texts 16 bytes at a time.
        if (textAt + text.length + 16 > TEXTS_BYTES) throw new RangeError(`texts exceed ${TEXTS_BYTES} bytes`)
        for (let at = 0; at < text.length; at++) texts[textAt + at] = text.charCodeAt(at)
        const [place, offset] = source === undefined ? [0, 0] : placeOf(source)
        const kind = source === undefined ? 0 : kinds[source.kind]
        fieldWords.set([wasm.ROW_TEXTS.value + textAt, text.length, kind, place, offset], FIELD_WORDS * index)
        textAt += text.length
      }
      current = fields
    },

    write(count) {
      return output.subarray(0, wasm.writeRows(count, current.length))
    },
  }
}

/** Which base or value, and what more the kernel wants to know. */
function placeOf(source: NonNullable<RowField['source']>): [place: number, offset: number] {
  switch (source.kind) {
    case 'bytes':
      return [source.base, source.lengthValue]
    case 'value':
    case 'flag':
    case 'hexValue':
      return [source.value, 0]
    default:
      return [source.base, source.offset]
  }
}
