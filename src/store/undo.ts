import { readUint32, writeUint32 } from './layout/bytes.js'
import { blockKey, latin1 } from './layout/keys.js'
import { type TableName, tables } from './layout/tables.js'

/**
 * The old value of one key that a block changed. The store itself records old values as it writes, so undoing a block needs no code
 * that knows the tables.
 *
 * A block's undo may be written in several parts, since senders are resolved later. Parts are put back newest first, so the oldest
 * value of a key wins. This is right as long as each key is written in the order of the blocks.
 */
export interface OldValue {
  readonly table: TableName
  readonly key: Uint8Array
  /** undefined: the key was absent. */
  readonly value: Uint8Array | undefined
}

/** A table's position in `tables` is its number in undo records, which are on disk: new tables go to the end. */
const tableNames = Object.keys(tables) as TableName[]
const tableNumbers = new Map(tableNames.map((name, index) => [name, index]))

const ABSENT = 0xffff_ffff
/** table u8, key length u16, value length u32. */
const ENTRY_HEAD_BYTES = 7

/** Key of part `part` of a block's undo record. */
export function undoKey(block: number, part: number): Uint8Array {
  const key = new Uint8Array(8)
  key.set(blockKey(block))
  key[6] = part >>> 8
  key[7] = part
  return key
}

/** The old values of one part of a block's undo, collected while the block is written. */
export class UndoPart {
  /** By table and key, as text. */
  readonly #oldValues = new Map<string, OldValue>()
  #bytes = 0

  get isEmpty(): boolean {
    return this.#oldValues.size === 0
  }

  /** Keeps a copy of the old value the first time that a key is changed. @param oldValue called only that time. */
  record(table: TableName, key: Uint8Array, oldValue: () => Uint8Array | undefined): void {
    const text = String.fromCharCode(tableNumbers.get(table)!) + latin1(key)
    if (this.#oldValues.has(text)) return
    const value = oldValue()
    const copy = value === undefined ? undefined : new Uint8Array(value)
    this.#oldValues.set(text, { table, key: new Uint8Array(key), value: copy })
    this.#bytes += ENTRY_HEAD_BYTES + key.length + (value?.length ?? 0)
  }

  /** Entries are sorted by key, so that the record does not depend on the order of the writes. @returns fresh bytes. */
  encode(): Uint8Array {
    const bytes = new Uint8Array(this.#bytes)
    let offset = 0
    for (const text of [...this.#oldValues.keys()].sort()) {
      const { table, key, value } = this.#oldValues.get(text)!
      bytes[offset] = tableNumbers.get(table)!
      bytes[offset + 1] = key.length
      bytes[offset + 2] = key.length >>> 8
      writeUint32(bytes, offset + 3, value === undefined ? ABSENT : value.length)
      offset += ENTRY_HEAD_BYTES
      bytes.set(key, offset)
      offset += key.length
      if (value !== undefined) {
        bytes.set(value, offset)
        offset += value.length
      }
    }
    return bytes
  }
}

/** @returns views into `bytes`. */
export function decodeUndoPart(bytes: Uint8Array): OldValue[] {
  const oldValues: OldValue[] = []
  let offset = 0
  while (offset < bytes.length) {
    const table = tableNames[bytes[offset]!]!
    const keyLength = bytes[offset + 1]! | (bytes[offset + 2]! << 8)
    const valueLength = readUint32(bytes, offset + 3)
    offset += ENTRY_HEAD_BYTES
    const key = bytes.subarray(offset, offset + keyLength)
    offset += keyLength
    if (valueLength === ABSENT) {
      oldValues.push({ table, key, value: undefined })
    } else {
      oldValues.push({ table, key, value: bytes.subarray(offset, offset + valueLength) })
      offset += valueLength
    }
  }
  return oldValues
}
