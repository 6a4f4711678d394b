import type { Encoding, RowTemplate } from '../../query/rowTemplate.js'
import { asciiBytes, type JsonWriter } from './jsonWriter.js'

export type WriteValue<Value> = (writer: JsonWriter, value: Value) => void

const END_OBJECT = asciiBytes('}')
const OPEN_LIST = asciiBytes('[')
const CLOSE_LIST = asciiBytes(']')

/** A list of the 32-byte nodes of a branch. */
export function writeNodes(writer: JsonWriter, branch: Uint8Array): void {
  writer.raw(OPEN_LIST)
  writer.nodes(branch)
  writer.raw(CLOSE_LIST)
}

const writers = {
  hex: (writer, value: Uint8Array) => writer.hex(value),
  checksum: (writer, value: Parameters<JsonWriter['address']>[0]) => writer.address(value),
  number: (writer, value: number) => writer.uint(value),
  digits: (writer, value: Uint8Array) => writer.amount(value),
  boolean: (writer, value: boolean) => writer.boolean(value),
  text: (writer, value: string) => writer.text(value),
  nodes: writeNodes,
} as const satisfies { readonly [E in Exclude<Encoding, 'record'>]: WriteValue<never> }

interface Part {
  readonly key: Uint8Array
  readonly field: string
  readonly isOptional: boolean
  readonly write: WriteValue<unknown>
}

/**
 * Writes records, field by field, as a template says. The first field must not be optional: the opening brace is written with it.
 * @param own writers of single fields, instead of those of their encodings; each record within the record needs one.
 */
export function recordWriter<Row extends object>(
  template: RowTemplate,
  own: { readonly [Field in keyof Row]?: WriteValue<Row[Field]> } = {},
): WriteValue<Row> {
  const ownWriters: Readonly<Record<string, WriteValue<never> | undefined>> = own
  const parts = template.map(({ key, field, encoding, isOptional }, at): Part => {
    const write = ownWriters[field] ?? (encoding === 'record' ? undefined : writers[encoding])
    if (write === undefined) throw new TypeError(`the record ${field} has no writer`)
    return {
      key: asciiBytes(`${at === 0 ? '{' : ','}"${key}":`),
      field,
      isOptional,
      // A record has values of the types that its definition says; the compiler does not connect them with the encodings.
      write: write as WriteValue<unknown>,
    }
  })
  return (writer, row) => {
    const values = row as Readonly<Record<string, unknown>>
    for (let at = 0; at < parts.length; at++) {
      const { key, field, isOptional, write } = parts[at]!
      const value = values[field]
      if (isOptional && value === undefined) continue
      writer.raw(key)
      if (value === null) writer.null()
      else write(writer, value)
    }
    writer.raw(END_OBJECT)
  }
}
