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
import { type Encoding, type FieldPart, isFixed, type RowTemplate } from '../query/rowTemplate.js'

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
  | 'ROW_SETS'
  | 'ROW_MAX_WORDS'
  | 'ROW_WORD_BYTES'
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
  | 'ROW_LOWER_ADDRESS'
  | 'ROW_MILLISECONDS'
  | 'ROW_ROLLUP_INDEX'
  | 'ROW_ULID'
  | 'ROW_WORD_OF_UINT8'
  | 'ROW_WORD_OF_UINT32'
  | 'ROW_BYTES'
  | 'ROW_VALUE'
  | 'ROW_FLAG'
  | 'ROW_HEX_VALUE'
  | 'ROW_WORD_OF_VALUE'

/** Exports of assembly/index.ts that write rows. */
export interface RowExports extends Readonly<Record<RowConstant, { readonly value: number }>> {
  readonly memory: { readonly buffer: ArrayBuffer }
  /** @returns characters of the longest row; 0 when a field can't be. */
  setFields(set: number, count: number): number
  /** Chooses a set that `setFields` has taken. @returns characters of its longest row. */
  useFields(set: number): number
  /** @returns characters, or one of the negative constants. */
  writeRows(count: number): number
}

type StoredPlace = Exclude<FieldPlace, { readonly kind: 'constant' }>

/** What is done with a value that is stored so and to be spelled so. What has no entry, the kernel can't do. */
const kernelKinds: { readonly [E in Encoding]?: { readonly [K in StoredPlace['kind']]?: KernelKind } } = {
  hex: { hash: 'ROW_HASH', bytes: 'ROW_BYTES', hexValue: 'ROW_HEX_VALUE' },
  checksum: { address: 'ROW_ADDRESS' },
  lowerCase: { address: 'ROW_LOWER_ADDRESS' },
  number: { uint8: 'ROW_UINT8', uint32: 'ROW_UINT32', uint48: 'ROW_UINT48', value: 'ROW_VALUE' },
  quotedNumber: { uint8: 'ROW_UINT8', uint32: 'ROW_UINT32', uint48: 'ROW_UINT48', value: 'ROW_VALUE' },
  milliseconds: { uint48: 'ROW_MILLISECONDS' },
  rollupIndex: { uint32: 'ROW_ROLLUP_INDEX' },
  ulid: { ulid: 'ROW_ULID' },
  word: { uint8: 'ROW_WORD_OF_UINT8', uint32: 'ROW_WORD_OF_UINT32', value: 'ROW_WORD_OF_VALUE' },
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
  /** What stands in the place of `text` and the value where that is null. */
  readonly nullText: string
  /** Behind a number: a quote, or nothing. */
  readonly closing: '"' | ''
  readonly words: readonly string[] | undefined
}

/** The steps of a template, and which of the module's sets they are in, if they still are. */
interface Steps {
  readonly steps: readonly Step[]
  set: number
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
  const sets = wasm.ROW_SETS.value
  const setWords = wasm.ROW_MAX_FIELDS.value * stepWords
  const fields = new Uint32Array(buffer, wasm.ROW_FIELDS.value, sets * setWords)
  const texts = Buffer.from(buffer, wasm.ROW_TEXTS.value, sets * textsBytes)
  const output = new Uint8Array(buffer, wasm.ROW_OUTPUT.value, wasm.ROW_OUTPUT_BYTES.value)
  /** Made once: a shard has the same places each time, and there are as many templates as dialects. */
  const made = new WeakMap<FieldPlaces, Map<RowTemplate, Steps>>()
  const faults = new Map([
    [wasm.ROW_OUTSIDE_INPUT.value, "a row points out of the row writer's memory"],
    [wasm.ROW_OUTPUT_FULL.value, `rows are longer than ${wasm.ROW_OUTPUT_BYTES.value} characters`],
    [wasm.ROW_TOO_MANY.value, `more than ${MAX_ROWS} rows at once`],
  ])
  /** What each set holds. Two templates in turn, or the networks of one page, so cost no more than one. */
  const held: (Steps | undefined)[] = Array.from({ length: sets }, () => undefined)
  let nextSet = 0
  let current: { readonly template: RowTemplate; readonly places: FieldPlaces } | undefined
  let longestRow = 0

  function stepsOf(template: RowTemplate, places: FieldPlaces): Steps {
    let ofPlaces = made.get(places)
    if (ofPlaces === undefined) {
      ofPlaces = new Map()
      made.set(places, ofPlaces)
    }
    let steps = ofPlaces.get(template)
    if (steps === undefined) {
      steps = { steps: makeSteps(template, places), set: 0 }
      ofPlaces.set(template, steps)
    }
    return steps
  }

  /** Writes steps into a set. @returns characters of the longest row. */
  function setSteps(of: Steps): number {
    const { steps } = of
    if (steps.length * stepWords > setWords) throw new RangeError(`${steps.length} fields are too many`)
    const set = nextSet
    nextSet = (set + 1) % sets
    held[set] = undefined
    const end = textsBytes * (set + 1)
    let textAt = textsBytes * set
    /** @returns address of bytes that were given room. */
    const room = (size: number): number => {
      const at = textAt
      // The kernel reads texts 16 bytes at a time.
      if (at + size + 16 > end) throw new RangeError(`texts exceed ${textsBytes} bytes`)
      textAt += size
      return at
    }
    const putText = (text: string): number => {
      const at = room(text.length)
      texts.write(text, at, 'latin1')
      return wasm.ROW_TEXTS.value + at
    }
    const putWords = (words: readonly string[]): number => {
      const wordBytes = wasm.ROW_WORD_BYTES.value
      const at = room(4 + wordBytes * words.length)
      texts.writeUInt32LE(words.length, at)
      for (const [index, word] of words.entries()) {
        const wordAt = at + 4 + wordBytes * index
        if (word.length > wordBytes - 4)
          throw new RangeError(`${word} has more than ${wordBytes - 4} characters`)
        texts.writeUInt32LE(word.length, wordAt)
        texts.write(word, wordAt + 4, 'latin1')
      }
      return wasm.ROW_TEXTS.value + at
    }
    for (const [index, { text, kind, index: place, offset, nullText, closing, words }] of steps.entries())
      fields.set(
        [
          ...[putText(text), text.length, wasm[kind].value, place, offset],
          ...[putText(nullText), nullText.length],
          words === undefined ? (closing === '' ? 0 : closing.charCodeAt(0)) : putWords(words),
        ],
        setWords * set + stepWords * index,
      )
    const longest = wasm.setFields(set, steps.length)
    if (longest === 0) throw new InvariantError('the row writer refuses a field')
    held[set] = of
    of.set = set
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
      const steps = stepsOf(template, places)
      longestRow = held[steps.set] === steps ? wasm.useFields(steps.set) : setSteps(steps)
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

const NULL = 'null'

/** Constants, keys and brackets become part of the texts between the fields. */
function makeSteps(template: RowTemplate, places: FieldPlaces): readonly Step[] {
  const steps: Step[] = []
  let text = '{'
  for (const part of template) {
    // A row that has it is written alone.
    if (!isFixed(part) && part.isOptional && places[part.field] === undefined) continue
    const before = text
    text += `${text === '{' && steps.length === 0 ? '' : ','}"${part.key}":`
    if (isFixed(part)) {
      text += part.fixed
      continue
    }
    const { field, encoding, omitsNull = false, ofNull = NULL } = part
    if (omitsNull && before === '{') throw new TypeError(`${field} comes first and can't be left out`)
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
    const nullText = omitsNull ? before : text + ofNull
    const { opening, where, closing, behind } = surroundings(place, part)
    steps.push({ text: text + opening, kind, ...where, nullText, closing, words: wordsOf(part) })
    text = behind
  }
  steps.push({
    text: `${text}}`,
    kind: 'ROW_TEXT_ALONE',
    index: 0,
    offset: 0,
    nullText: '',
    closing: '',
    words: undefined,
  })
  return steps
}

function wordsOf({ field, encoding, words = [] }: FieldPart): readonly string[] | undefined {
  if (encoding !== 'word') return undefined
  if (words.length === 0) throw new TypeError(`${field} has no words`)
  return words
}

/** What the kernel does not write of a value that it does, or not of one that is null. */
interface Surroundings {
  readonly opening: string
  readonly where: Pick<Step, 'index' | 'offset'>
  readonly closing: Step['closing']
  /** Of a value that is never null. */
  readonly behind: string
}

/** Quotes, and of a number of which one part is the same in all rows, that part. */
function surroundings(place: StoredPlace, { encoding, field }: FieldPart): Surroundings {
  const closing = encoding === 'quotedNumber' || encoding === 'digits' ? '"' : ''
  if (place.kind === 'hexValue') {
    if (encoding === 'hex')
      return { opening: `"0x${place.head}`, where: wherein(place), closing: '', behind: '"' }
    const { decimal } = place
    if (decimal === undefined) throw new TypeError(`${field} can't be spelled as ${encoding}`)
    const where = { index: decimal.base, offset: decimal.offset }
    return { opening: closing + decimal.head, where, closing, behind: '' }
  }
  // The kernel quotes an amount by itself.
  const opening = encoding === 'quotedNumber' ? closing : ''
  return { opening, where: wherein(place), closing: opening, behind: '' }
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
