import type { ChecksumAddress } from '../../protocol/checksumAddress.js'
import { isL1, rollupIndexOf } from '../../protocol/networks.js'
import type { NetworkId } from '../../protocol/units.js'
import { isInnerRecord, type RecordDefinition, type RecordOf } from '../../query/recordFields.js'
import {
  type Encoding,
  type FieldPart,
  isFixed,
  type RowTemplate,
  templateOf,
} from '../../query/rowTemplate.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'

export type WriteValue<Value> = (writer: JsonWriter, value: Value) => void

const END_OBJECT = asciiBytes('}')
const OPEN_LIST = asciiBytes('[')
const CLOSE_LIST = asciiBytes(']')
const COMMA = asciiBytes(',')
const QUOTE = asciiBytes('"')
const NULL = 'null'

/** A list of the 32-byte nodes of a branch. */
export function writeNodes(writer: JsonWriter, branch: Uint8Array): void {
  writer.raw(OPEN_LIST)
  writer.nodes(branch)
  writer.raw(CLOSE_LIST)
}

const writers = {
  hex: (writer, value: Uint8Array) => writer.hex(value),
  checksum: (writer, value: ChecksumAddress) => writer.address(value),
  lowerCase: (writer, value: ChecksumAddress) => writer.hex(value.bytes),
  number: (writer, value: number) => writer.uint(value),
  quotedNumber: (writer, value: number) => {
    writer.raw(QUOTE)
    writer.uint(value)
    writer.raw(QUOTE)
  },
  digits: (writer, value: Uint8Array) => writer.amount(value),
  bareDigits: (writer, value: Uint8Array) => writer.bareAmount(value),
  milliseconds: (writer, value: number) => writer.uint(1000 * value),
  rollupIndex: (writer, value: NetworkId) => writer.uint(isL1(value) ? 0 : rollupIndexOf(value)),
  ulid: (writer, value: Uint8Array) => writer.plain(`"${ulidOf(value)}"`),
  boolean: (writer, value: boolean) => writer.boolean(value),
  text: (writer, value: string) => writer.text(value),
  nodes: writeNodes,
} as const satisfies { readonly [E in Exclude<Encoding, 'record' | 'word'>]: WriteValue<never> }

const BASE_32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ULID_DIGITS = 26

/** @param value 16 bytes, big-endian. */
function ulidOf(value: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(value).toString('hex')}`)
  let digits = ''
  for (; digits.length < ULID_DIGITS; rest >>= 5n) digits = BASE_32.charAt(Number(rest & 31n)) + digits
  return digits
}

/** @param words JSON of 0, 1 and so on. */
function wordWriter(words: readonly string[]): WriteValue<number> {
  const texts = words.map(asciiBytes)
  return (writer, value) => writer.raw(texts[Math.min(value, texts.length - 1)]!)
}

/** @returns undefined for what only whoever writes the record can write. */
function writerOf({ encoding, words }: FieldPart): WriteValue<never> | undefined {
  if (encoding === 'word') return words && wordWriter(words)
  return encoding === 'record' ? undefined : writers[encoding]
}

interface Part {
  readonly key: Uint8Array
  /** Undefined: its value is a part of `key`. */
  readonly field: string | undefined
  readonly isOptional: boolean
  readonly omitsNull: boolean
  readonly ofNull: Uint8Array
  readonly write: WriteValue<unknown>
}

const NOTHING = new Uint8Array(0)

const writeNothing = (): void => undefined

/**
 * Writes records, field by field, as a template says. The first field must not be optional: the opening brace is written with it.
 * @param own writers of single fields, instead of those of their encodings; each record within the record needs one.
 */
export function recordWriter<Row extends object>(
  template: RowTemplate,
  own: { readonly [Field in keyof Row]?: WriteValue<Row[Field]> } = {},
): WriteValue<Row> {
  const ownWriters: Readonly<Record<string, WriteValue<never> | undefined>> = own
  const parts = template.map((part, at): Part => {
    const start = `${at === 0 ? '{' : ','}"${part.key}":`
    if (isFixed(part))
      return {
        key: asciiBytes(start + part.fixed),
        field: undefined,
        isOptional: false,
        omitsNull: false,
        ofNull: NOTHING,
        write: writeNothing,
      }
    const { field, isOptional, omitsNull = false, ofNull = NULL } = part
    const write = ownWriters[field] ?? writerOf(part)
    if (write === undefined) throw new TypeError(`the record ${field} has no writer`)
    return {
      key: asciiBytes(start),
      field,
      isOptional,
      omitsNull,
      ofNull: asciiBytes(ofNull),
      // A record has values of the types that its definition says; the compiler does not connect them with the encodings.
      write: write as WriteValue<unknown>,
    }
  })
  return (writer, row) => {
    const values = row as Readonly<Record<string, unknown>>
    for (let at = 0; at < parts.length; at++) {
      const { key, field, isOptional, omitsNull, ofNull, write } = parts[at]!
      if (field === undefined) {
        writer.raw(key)
        continue
      }
      const value = values[field]
      if ((isOptional && value === undefined) || (omitsNull && value === null)) continue
      writer.raw(key)
      if (value === null) writer.raw(ofNull)
      else write(writer, value)
    }
    writer.raw(END_OBJECT)
  }
}

/** Writes records with records and lists of records within, all fields in the order of the definitions. */
export function nestedWriter<D extends RecordDefinition>(definition: D): WriteValue<RecordOf<D>> {
  const own: Record<string, WriteValue<never>> = {}
  for (const [name, field] of Object.entries(definition.fields)) {
    if (!isInnerRecord(field)) continue
    const write: WriteValue<never> = nestedWriter(field.record)
    own[name] = field.isList ? listWriter(write) : write
  }
  // The definition says which values its records have; the compiler does not connect them with these writers.
  return recordWriter<RecordOf<D>>(templateOf(definition), own as object)
}

function listWriter<Value>(writeItem: WriteValue<Value>): WriteValue<readonly Value[]> {
  return (writer, items) => {
    writer.raw(OPEN_LIST)
    for (let at = 0; at < items.length; at++) {
      if (at > 0) writer.raw(COMMA)
      writeItem(writer, items[at]!)
    }
    writer.raw(CLOSE_LIST)
  }
}
