import { type HeadPlace, headPlaces } from '../board/statusBoard.js'
import { equalBytes } from '../protocol/abiBytes.js'
import type { Address, BlockHeader, Hash, Sender } from '../protocol/chainEvent.js'
import type { BlockNumber, NetworkId } from '../protocol/units.js'
import { ADDRESS_BYTES } from './commandMemory.js'
import type { CommandReader } from './commandReader.js'
import type { CommandWriter } from './commandWriter.js'

/**
 * How one kind of value is written in a command and read again: both directions of a layout stand in one place. Properties, not
 * methods, so that a field of fewer values than its property has does not compile.
 */
export interface Field<Value> {
  /** Bytes that one takes at least: so a count is checked against the bytes that are left before anything is allocated. */
  readonly least: number
  /** @param name of the field, for errors. @throws RangeError when the value is not of its type. */
  readonly write: (to: CommandWriter, value: Value, name: string) => void
  /** @throws CommandFormatError */
  readonly read: (from: CommandReader, name: string) => Value
}

/** A field that may be absent from its record. */
interface OptionalField<Value> extends Field<Value | undefined> {
  readonly isOptional: true
}

/** The field of each property. A property that is missing, or optional in one of the two places only, does not compile. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K>
    ? OptionalField<Exclude<T[K], undefined>>
    : Field<T[K]> & { readonly isOptional?: never }
}

/** Properties one behind the other, in the order of `fields`, without their names. */
export function record<T extends object>(fields: FieldsOf<T>): Field<T> {
  // Object.entries forgets which property a field belongs to.
  const entries = Object.entries(fields) as [keyof T & string, Field<unknown> & { isOptional?: true }][]
  return {
    least: entries.reduce((sum, [, { least }]) => sum + least, 0),
    write(to, value) {
      for (const [name, field] of entries) field.write(to, value[name], name)
    },
    read(from) {
      const value: Partial<Record<keyof T, unknown>> = {}
      for (const [name, field] of entries) {
        const read = field.read(from, name)
        if (read !== undefined || field.isOptional !== true) value[name] = read
      }
      // Every field of T was read by the field that its type asks for.
      return value as T
    },
  }
}

/** Any number of values behind their count. */
export function list<Item>(item: Field<Item>): Field<readonly Item[]> {
  return {
    least: 1,
    write(to, items, name) {
      to.integer(items.length, Number.MAX_SAFE_INTEGER, name)
      for (const each of items) item.write(to, each, name)
    },
    read(from, name) {
      const count = from.count(item.least, name)
      const items: Item[] = []
      for (let index = 0; index < count; index++) items.push(item.read(from, name))
      return items
    },
  }
}

/** 0, or 1 and the value. */
export function orUndefined<Value>(field: Field<Value>): Field<Value | undefined> {
  return {
    least: 1,
    write(to, value, name) {
      to.integer(value === undefined ? 0 : 1, 1, name)
      if (value !== undefined) field.write(to, value, name)
    },
    read: (from, name) => (from.integer(1, name) === 0 ? undefined : field.read(from, name)),
  }
}

/** As `orUndefined`, for a property that is absent instead. */
export function optional<Value>(field: Field<Value>): OptionalField<Value> {
  return { ...orUndefined(field), isOptional: true }
}

/**
 * Which values of a list that is only appended to came with which version of commands: version → the first of its own. Versions that added
 * none are left out, as is the first one.
 */
export type Additions<Value> = Readonly<Record<number, Value>>

/** Position of the last value that commands of a version may name. An older build has refused the others, so every later one does. */
export function lastOf<Value>(
  values: readonly Value[],
  additions: Additions<Value>,
  version: number,
): number {
  for (const [since, first] of Object.entries(additions))
    if (version < Number(since)) return values.indexOf(first) - 1
  return values.length - 1
}

/** The position of a value in a list. New values are appended: the numbers are part of the format. */
export function oneOf<const Value extends string>(
  values: readonly Value[],
  additions: Additions<Value> = {},
): Field<Value> {
  const isFixed = Object.keys(additions).length === 0
  const last = values.length - 1
  return {
    least: 1,
    write(to, value, name) {
      to.integer(values.indexOf(value), last, name)
    },
    read: (from, name) =>
      values[from.integer(isFixed ? last : lastOf(values, additions, from.version), name)]!,
  }
}

/** A field that commands have since a version. @param before what it is in those of older ones. */
export function since<Value>(version: number, field: Field<Value>, before: Value): Field<Value> {
  return {
    least: 0,
    write: field.write,
    read: (from, name) => (from.version < version ? before : field.read(from, name)),
  }
}

/** As `since`, of a property that is absent from commands of older versions. */
export function optionalSince<Value>(version: number, field: Field<Value>): OptionalField<Value> {
  return { ...since(version, orUndefined(field), undefined), isOptional: true }
}

function integer<Unit extends number>(most: number, lowest = 0): Field<Unit> {
  return {
    least: 1,
    write(to, value, name) {
      if (value < lowest) throw new RangeError(`${name} ${value} is below ${lowest}`)
      to.integer(value, most, name)
    },
    read(from, name) {
      const { at } = from
      const value = from.integer(most, name)
      if (value < lowest) return from.fail(name, `${value} is below ${lowest}`, at)
      // The limits of the unit are the only thing that its `as…` function checks.
      return value as Unit
    },
  }
}

export const uint8: Field<number> = integer(0xff)
/** Also those that have a unit of their own: network ids, counts and indices. */
export const uint32 = <Unit extends number = number>(): Field<Unit> => integer(0xffff_ffff)
/** A network that is a rollup: its leaf in the rollup exit tree is one less, and the L1 has none. */
export const rollupId: Field<NetworkId> = integer(0xffff_ffff, 1)
/** What a number can hold exactly. */
export const uint53: Field<number> = integer(Number.MAX_SAFE_INTEGER)

/** Unix seconds that the store keeps. */
export const uint48: Field<number> = integer(2 ** 48 - 1)

/** The store keeps 6 bytes. */
export const MOST_BLOCK = 2 ** 48 - 1
export const blockNumber: Field<BlockNumber> = integer(MOST_BLOCK)

/** The number of a place: those of the board are its numbers here, too. */
export const headPlace: Field<HeadPlace> = integer(headPlaces.unseen)

/** A length and so many bytes. */
export function bytes(fewest: number, most: number): Field<Uint8Array> {
  return {
    least: 1 + fewest,
    write(to, value, name) {
      if (value.length < fewest) throw new RangeError(`${name} has ${value.length} bytes, not ${fewest}`)
      to.integer(value.length, most, `length of ${name}`)
      to.bytes(value)
    },
    read(from, name) {
      const { at } = from
      const length = from.integer(most, `length of ${name}`)
      if (length < fewest) return from.fail(name, `${length} bytes, not ${fewest}`, at)
      return from.copy(length, name)
    },
  }
}

/** Unix milliseconds, which need not be whole. */
export const milliseconds: Field<number> = {
  least: 8,
  write: (to, value, name) => to.double(value, name),
  read: (from, name) => from.double(name),
}

export const boolean: Field<boolean> = {
  least: 1,
  write: (to, value, name) => to.integer(value ? 1 : 0, 1, name),
  read: (from, name) => from.integer(1, name) === 1,
}

export const hash: Field<Hash> = {
  least: 32,
  write: (to, value, name) => to.hash(value, name),
  read: (from, name) => from.hash(name),
}

/** Of an event or a row: those that come again are only named, so they are no `hash`. @throws RangeError */
export function assertTransactionHash({ length }: Hash): void {
  if (length !== hash.least) throw new RangeError(`transactionHash has ${length} bytes, not ${hash.least}`)
}

export const address: Field<Address> = {
  least: 1,
  write(to, value, name) {
    if (value.length !== ADDRESS_BYTES)
      throw new RangeError(`${name} has ${value.length} bytes, not ${ADDRESS_BYTES}`)
    to.address(value, 0)
  },
  read: (from, name) => from.address(name),
}

/** Of the last address before: in a record they stand behind the address of the token. */
export const metadata: Field<Uint8Array> = {
  least: 1,
  write: (to, value) => to.metadata(value, 0, value.length),
  read: (from, name) => from.metadata(name),
}

const bigint = (bytes: number): Field<bigint> => ({
  least: 1,
  write: (to, value, name) => to.bigint(value, bytes, name),
  read: (from, name) => from.bigint(bytes, name),
})

export const uint256 = bigint(32)
export const uint64 = bigint(8)

/**
 * What stands in front of a sender's addresses: 0 for nobody, else 1, plus 1 when the caller made the transaction, plus 2 when
 * `isProvisional` is there and false, plus 4 when it is true.
 */
export const MOST_SENDER_CODE = 6

export function senderCode(sender: Sender | null): number {
  if (sender === null) return 0
  const { caller, transactionSender, isProvisional } = sender
  const isSame = caller === transactionSender || equalBytes(caller, transactionSender)
  return 1 + (isSame ? 1 : 0) + (isProvisional === undefined ? 0 : isProvisional ? 4 : 2)
}

/** Writes what follows `senderCode`. */
export function writeSender(to: CommandWriter, sender: Sender | null, code: number): void {
  if (sender === null) return
  address.write(to, sender.caller, 'caller')
  if (code % 2 === 1) address.write(to, sender.transactionSender, 'transactionSender')
}

export function readSender(from: CommandReader, code: number): Sender | null {
  if (code === 0) return null
  const caller = from.address('caller')
  const isSame = code % 2 === 0
  const { at } = from
  const transactionSender = isSame ? caller : from.address('transactionSender')
  if (!isSame && equalBytes(caller, transactionSender))
    return from.fail('transactionSender', 'the caller is written again', at)
  return code < 3 ? { caller, transactionSender } : { caller, transactionSender, isProvisional: code > 4 }
}

export const nullableSender: Field<Sender | null> = {
  least: 1,
  write(to, sender, name) {
    const code = senderCode(sender)
    to.integer(code, MOST_SENDER_CODE, name)
    writeSender(to, sender, code)
  },
  read: (from, name) => readSender(from, from.integer(MOST_SENDER_CODE, name)),
}

export const sender: Field<Sender> = {
  least: 2,
  write: nullableSender.write,
  read(from, name) {
    const { at } = from
    return nullableSender.read(from, name) ?? from.fail(name, 'nobody', at)
  },
}

const HAS_PARENT = 1
const IS_LOWER = 2
const IS_EARLIER = 4

/**
 * Block and time are distances from the header before. They may be negative: whether blocks are in order is for the shard to say,
 * on every instance alike.
 */
export const header: Field<BlockHeader> = {
  least: 35,
  write(to, { number, hash: own, parentHash, timestampSec }) {
    const { memory } = to
    const blocks = number - memory.blockNumber
    const seconds = timestampSec - memory.timestampSec
    const flags =
      (parentHash === undefined ? 0 : HAS_PARENT) |
      (blocks < 0 ? IS_LOWER : 0) |
      (seconds < 0 ? IS_EARLIER : 0)
    to.integer(flags, HAS_PARENT | IS_LOWER | IS_EARLIER, 'flags of a header')
    to.integer(Math.abs(blocks), MOST_BLOCK, 'number')
    to.integer(Math.abs(seconds), Number.MAX_SAFE_INTEGER, 'timestampSec')
    to.hash(own, 'hash')
    if (parentHash !== undefined) to.hash(parentHash, 'parentHash')
    memory.blockNumber = number
    memory.timestampSec = timestampSec
  },
  read(from) {
    const { memory } = from
    const flags = from.integer(HAS_PARENT | IS_LOWER | IS_EARLIER, 'flags of a header')
    const number = readDistance(from, memory.blockNumber, (flags & IS_LOWER) !== 0, MOST_BLOCK, 'number')
    const timestampSec = readDistance(
      from,
      memory.timestampSec,
      (flags & IS_EARLIER) !== 0,
      Number.MAX_SAFE_INTEGER,
      'timestampSec',
    )
    const own = from.hash('hash')
    memory.blockNumber = number
    memory.timestampSec = timestampSec
    // The limit above is that of its unit.
    const read = { number: number as BlockNumber, hash: own, timestampSec }
    return (flags & HAS_PARENT) === 0 ? read : { ...read, parentHash: from.hash('parentHash') }
  },
}

/** @returns a number 0 … `most`. */
function readDistance(
  from: CommandReader,
  before: number,
  isLower: boolean,
  most: number,
  name: string,
): number {
  const { at } = from
  const distance = from.integer(most, name)
  if (isLower && distance === 0) return from.fail(name, 'lower by nothing', at)
  const value = isLower ? before - distance : before + distance
  if (value < 0 || value > most) return from.fail(name, `${value} is not a whole number up to ${most}`, at)
  return value
}
