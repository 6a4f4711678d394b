import { shapes } from './wireDefinition.js'
import { camelCase } from './wireNames.js'

/** JSON that is not what the definition says. The message names the place and never the value. */
export class WrongShape extends Error {}

type Json = unknown
/** @returns undefined for what is not of this kind. */
type Reader = (value: Json) => unknown

const matches = (pattern: RegExp) => (value: Json) =>
  typeof value === 'string' && pattern.test(value) ? value : undefined

const isHash = matches(/^0x[\da-f]{64}$/i)
const isDecimal = matches(/^\d{1,78}$/)
const isType = (type: 'boolean' | 'string') => (value: Json) => (typeof value === type ? value : undefined)

/** By the letters that `shapes` has. Numbers too large for the number type are texts on the wire and become a bigint at once. */
const readers: Readonly<Record<string, readonly [kind: string, read: Reader]>> = {
  h: ['32 bytes in hexadecimal', isHash],
  a: ['an address', matches(/^0x[\da-f]{40}$/i)],
  // Not `(?:[\da-f]{2})*`: with the 32 million digits of the longest metadata JavaScriptCore (Bun 1.4, Safari) says that it does not match.
  x: [
    'bytes in hexadecimal',
    (value) => ((matches(/^0x[\da-f]*$/i)(value)?.length ?? 1) % 2 === 0 ? value : undefined),
  ],
  d: ['a decimal integer', (value) => toBigInt(isDecimal(value))],
  g: ['32 bytes in hexadecimal', (value) => toBigInt(isHash(value))],
  n: ['an integer', (value) => (Number.isSafeInteger(value) ? value : undefined)],
  b: ['a boolean', isType('boolean')],
  t: ['a text', isType('string')],
}

function toBigInt(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text)
}

interface FieldReader {
  readonly wire: string
  readonly name: string
  readonly letters: string
  readonly isList: boolean
  readonly isNullable: boolean
  readonly isOptional: boolean
}

const fieldReaders = new Map<string, readonly FieldReader[]>()

function fieldsOf(shape: keyof typeof shapes): readonly FieldReader[] {
  const kept = fieldReaders.get(shape)
  if (kept !== undefined) return kept
  const fields = shapes[shape].split(' ').map((text): FieldReader => {
    const [wire = '', spelling = ''] = text.split(':')
    return {
      wire,
      name: camelCase(wire),
      letters: spelling.replace(/\W/g, ''),
      isList: spelling.includes('*'),
      isNullable: spelling.includes('~'),
      isOptional: spelling.includes('?'),
    }
  })
  fieldReaders.set(shape, fields)
  return fields
}

/**
 * The answer under the client's names, with a bigint for each amount and global index. Fields that the definition does not name are left
 * out: a newer service may send more.
 * @param place path of the value in the answer, for the message.
 * @returns fresh objects, of the type that `shape` names in `wireDefinition.ts`.
 * @throws WrongShape.
 */
export function decodeAnswer(shape: keyof typeof shapes, value: Json, place = ''): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new WrongShape(`${place || 'the answer'} is not an object`)
  const from = value as Readonly<Record<string, Json>>
  const record: Record<string, unknown> = {}
  for (const field of fieldsOf(shape)) {
    const own = from[field.wire]
    const ownPlace = place === '' ? field.wire : `${place}.${field.wire}`
    if (own === undefined) {
      if (!field.isOptional) throw new WrongShape(`${ownPlace} is missing`)
    } else record[field.name] = own === null && field.isNullable ? null : decodeField(field, own, ownPlace)
  }
  return record
}

function decodeField(field: FieldReader, value: Json, place: string): unknown {
  if (!field.isList) return decodeValue(field, value, place)
  if (!Array.isArray(value)) throw new WrongShape(`${place} is not a list`)
  return value.map((item: Json, index) => decodeValue(field, item, `${place}[${index}]`))
}

function decodeValue({ letters }: FieldReader, value: Json, place: string): unknown {
  const reader = readers[letters]
  // What is no letter is the name of a shape, as the generator wrote it.
  if (reader === undefined) return decodeAnswer(letters as keyof typeof shapes, value, place)
  const [kind, read] = reader
  const decoded = read(value)
  if (decoded === undefined) throw new WrongShape(`${place} is not ${kind}`)
  return decoded
}
