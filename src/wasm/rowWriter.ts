import { InvariantError } from '../errors/invariantError.js'
import {
  type FieldPlace,
  type FieldPlaces,
  MAX_ROWS,
  NO_VALUE,
  ROW_BASES,
  ROW_VALUES,
  type RowWriter,
} from '../query/packedRows.js'
import { type Encoding, isFixed, type RowTemplate } from '../query/rowTemplate.js'

/** Constants of assembly/ that the module exports: they stand there and nowhere else. */
type RowConstant =
  | 'ROW_FIELDS'
  | 'ROW_TEXTS'
  | 'ROW_NUMBERS'
  | 'ROW_INPUT'
  | 'ROW_OUTPUT'
  | 'ROW_MAX_ROWS'
  | 'ROW_BASES'
  | 'ROW_VALUES'
  | 'ROW_NO_VALUE'
  | 'ROW_MAX_FIELDS'
  | 'ROW_FIELD_BYTES'
  | 'ROW_TEXTS_BYTES'
  | 'ROW_INPUT_BYTES'
  | 'ROW_OUTPUT_BYTES'
  | 'ROW_READ_BYTES'
  | 'ROW_OUTSIDE_INPUT'
  | 'ROW_OUTPUT_FULL'
  | 'ROW_TOO_MANY'
  | KernelKind

/** What the kernel can do with a field. */
type KernelKind =
  | 'ROW_TEXT_ALONE'
  | 'ROW_HASH'
  | 'ROW_ADDRESS'
  | 'ROW_UINT8'
  | 'ROW_UINT32'
  | 'ROW_UINT48'
  | 'ROW_AMOUNT'
  | 'ROW_BYTES'
  | 'ROW_VALUE'
  | 'ROW_FLAG'
  | 'ROW_HEX_VALUE'

/** Exports of assembly/index.ts that write rows. */
export interface RowExports extends Readonly<Record<RowConstant, { readonly value: number }>> {
  readonly memory: { readonly buffer: ArrayBuffer }
  /** @returns characters of the longest row; 0 when a field can't be. */
  setFields(count: number): number
  /** @returns characters, or one of the negative constants. */
  writeRows(count: number): number
}

type StoredPlace = Exclude<FieldPlace, { readonly kind: 'constant' }>

/** What is done with a value that is stored so and to be spelled so. What has no entry, the kernel can't do. */
const kernelKinds: { readonly [E in Encoding]?: { readonly [K in StoredPlace['kind']]?: KernelKind } } = {
  hex: { hash: 'ROW_HASH', bytes: 'ROW_BYTES', hexValue: 'ROW_HEX_VALUE' },
  checksum: { address: 'ROW_ADDRESS' },
  number: { uint8: 'ROW_UINT8', uint32: 'ROW_UINT32', uint48: 'ROW_UINT48', value: 'ROW_VALUE' },
  digits: { amount: 'ROW_AMOUNT', hash: 'ROW_AMOUNT', hexValue: 'ROW_UINT48' },
  bareDigits: { hexValue: 'ROW_UINT48' },
  boolean: { flag: 'ROW_FLAG' },
}

/** One step of the kernel: the text that leads to a field, and what is done with it. */
interface Step {
  readonly text: string
  readonly kind: KernelKind
  /** Which base or value. */
  readonly index: number
  /** What more the kernel wants to know. */
  readonly offset: number
}

export function createWasmRowWriter(wasm: RowExports): RowWriter {
  assertEqual('rows', wasm.ROW_MAX_ROWS.value, MAX_ROWS)
  assertEqual('bases', wasm.ROW_BASES.value, ROW_BASES)
  assertEqual('values', wasm.ROW_VALUES.value, ROW_VALUES)
  // i32 and u32 are one type to WebAssembly.
  assertEqual('the value that is null', wasm.ROW_NO_VALUE.value >>> 0, NO_VALUE)
  const { buffer } = wasm.memory
  const stepWords = wasm.ROW_FIELD_BYTES.value / 4
  const textsBytes = wasm.ROW_TEXTS_BYTES.value
  const words = new Uint32Array(buffer, wasm.ROW_FIELDS.value, wasm.ROW_MAX_FIELDS.value * stepWords)
  const texts = new Uint8Array(buffer, wasm.ROW_TEXTS.value, textsBytes)
  const output = new Uint8Array(buffer, wasm.ROW_OUTPUT.value, wasm.ROW_OUTPUT_BYTES.value)
  /** Made once: a shard has the same places each time, and there are as many templates as dialects. */
  const made = new WeakMap<FieldPlaces, Map<RowTemplate, readonly Step[]>>()
  const faults = new Map([
    [wasm.ROW_OUTSIDE_INPUT.value, "a row points out of the row writer's memory"],
    [wasm.ROW_OUTPUT_FULL.value, `rows are longer than ${wasm.ROW_OUTPUT_BYTES.value} characters`],
    [wasm.ROW_TOO_MANY.value, `more than ${MAX_ROWS} rows at once`],
  ])
  let current: { readonly template: RowTemplate; readonly places: FieldPlaces } | undefined
  let longestRow = 0

  function stepsOf(template: RowTemplate, places: FieldPlaces): readonly Step[] {
    let ofPlaces = made.get(places)
    if (ofPlaces === undefined) {
      ofPlaces = new Map()
      made.set(places, ofPlaces)
    }
    let steps = ofPlaces.get(template)
    if (steps === undefined) {
      steps = makeSteps(template, places)
      ofPlaces.set(template, steps)
    }
    return steps
  }

  /** @returns characters of the longest row. */
  function setSteps(steps: readonly Step[]): number {
    if (steps.length * stepWords > words.length) throw new RangeError(`${steps.length} fields are too many`)
    let textAt = 0
    for (let index = 0; index < steps.length; index++) {
      const { text, kind, index: place, offset } = steps[index]!
      // The kernel reads texts 16 bytes at a time.
      if (textAt + text.length + 16 > textsBytes) throw new RangeError(`texts exceed ${textsBytes} bytes`)
      for (let at = 0; at < text.length; at++) texts[textAt + at] = text.charCodeAt(at)
      words.set(
        [wasm.ROW_TEXTS.value + textAt, text.length, wasm[kind].value, place, offset],
        stepWords * index,
      )
      textAt += text.length
    }
    const longest = wasm.setFields(steps.length)
    if (longest === 0) throw new InvariantError('the row writer refuses a field')
    return longest
  }

  return {
    // Its end is left free: the kernel reads past the end of a field.
    input: new Uint8Array(
      buffer,
      wasm.ROW_INPUT.value,
      wasm.ROW_INPUT_BYTES.value - wasm.ROW_READ_BYTES.value,
    ),
    inputAddress: wasm.ROW_INPUT.value,
    numbers: new Uint32Array(buffer, wasm.ROW_NUMBERS.value, MAX_ROWS * (ROW_BASES + ROW_VALUES)),
    maxText: output.length,

    use(template, places) {
      if (template === current?.template && places === current.places) return longestRow
      // What a template that is refused leaves behind is no template.
      current = undefined
      longestRow = setSteps(stepsOf(template, places))
      current = { template, places }
      return longestRow
    },

    write(count) {
      const length = wasm.writeRows(count)
      if (length < 0) throw new InvariantError(faults.get(length) ?? `rows end with ${length}`)
      return output.subarray(0, length)
    },
  }
}

/** Constants, keys and brackets become part of the texts between the fields. */
function makeSteps(template: RowTemplate, places: FieldPlaces): readonly Step[] {
  const steps: Step[] = []
  let text = '{'
  for (const part of template) {
    const { key } = part
    // A row that has it is written alone.
    if (!isFixed(part) && part.isOptional && places[part.field] === undefined) continue
    text += `${text === '{' && steps.length === 0 ? '' : ','}"${key}":`
    if (isFixed(part)) {
      text += part.fixed
      continue
    }
    const { field, encoding } = part
    const place = places[field]
    if (place === undefined) throw new TypeError(`the rows have no field ${field}`)
    if (place.kind === 'constant') {
      if (encoding !== 'number') throw new TypeError(`${field} can't be spelled as ${encoding}`)
      text += place.number
      continue
    }
    const kind = kernelKinds[encoding]?.[place.kind]
    if (kind === undefined) throw new TypeError(`${field} can't be spelled as ${encoding}`)
    assertInRow(field, place)
    if (place.kind === 'hexValue') {
      const { before, step, behind } = spellValue(place, encoding, field)
      steps.push({ text: text + before, kind, ...step })
      text = behind
      continue
    }
    steps.push({ text, kind, ...wherein(place) })
    text = ''
  }
  steps.push({ text: `${text}}`, kind: 'ROW_TEXT_ALONE', index: 0, offset: 0 })
  return steps
}

/** A number of which one part is the same in all rows: that part, and the quotes, as text around the step. */
function spellValue(
  place: Extract<StoredPlace, { readonly kind: 'hexValue' }>,
  encoding: Encoding,
  field: string,
): { readonly before: string; readonly step: Pick<Step, 'index' | 'offset'>; readonly behind: string } {
  if (encoding === 'hex') return { before: `"0x${place.head}`, step: wherein(place), behind: '"' }
  const { decimal } = place
  if (decimal === undefined) throw new TypeError(`${field} can't be spelled as ${encoding}`)
  const quote = encoding === 'digits' ? '"' : ''
  const step = { index: decimal.base, offset: decimal.offset }
  return { before: quote + decimal.head, step, behind: quote }
}

function wherein(place: StoredPlace): Pick<Step, 'index' | 'offset'> {
  switch (place.kind) {
    case 'bytes':
      return { index: place.base, offset: place.lengthValue }
    case 'value':
    case 'flag':
    case 'hexValue':
      return { index: place.value, offset: 0 }
    default:
      return { index: place.base, offset: place.offset }
  }
}

/** @throws RangeError naming the field and the limit that its place exceeds. The kernel refuses it, too, but can't say which. */
function assertInRow(field: string, place: StoredPlace): void {
  const assertBelow = (what: string, index: number, limit: number): void => {
    if (index >= limit)
      throw new RangeError(
        `${field} lies at ${what} ${index}, but a row has ${limit} (${what}s 0 to ${limit - 1})`,
      )
  }
  if ('base' in place) assertBelow('base', place.base, ROW_BASES)
  if ('lengthValue' in place) assertBelow('value', place.lengthValue, ROW_VALUES)
  if ('value' in place) assertBelow('value', place.value, ROW_VALUES)
}

/** Shards count rows, bases and values with numbers of their own, which the compiler puts into their code. */
function assertEqual(what: string, inModule: number, here: number): void {
  if (inModule !== here)
    throw new InvariantError(`the WebAssembly module has ${inModule} for ${what}, the service ${here}`)
}
