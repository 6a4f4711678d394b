/**
 * Place in a list, as `pagination.next_cursor` hands it out: opaque to callers, so its layout may change with its version.
 * version u8, flags u8, hash of the filters u32, then numbers u48, big-endian; base64url on the wire.
 */
export interface Cursor {
  readonly isAscending: boolean
  /** Of the query that it continues. */
  readonly filterHash: number
  /** What the list needs to find the place again. */
  readonly numbers: readonly number[]
}

const VERSION = 1
const FLAG_ASCENDING = 1
const HEAD_BYTES = 6
const NUMBER_BYTES = 6
/** Longest text of a cursor that is looked at. */
export const MAX_CURSOR_LENGTH = 64

/** What says where a page lies, and not what is in the list. */
const pagingFields = new Set(['pageNumber', 'pageSize', 'isAscending', 'cursor'])

/** @param numbers integers below 2^48. @returns base64url. */
export function encodeCursor({ isAscending, filterHash, numbers }: Cursor): string {
  const bytes = Buffer.alloc(HEAD_BYTES + NUMBER_BYTES * numbers.length)
  bytes[0] = VERSION
  bytes[1] = isAscending ? FLAG_ASCENDING : 0
  bytes.writeUInt32BE(filterHash, 2)
  for (let index = 0; index < numbers.length; index++)
    bytes.writeUIntBE(numbers[index]!, HEAD_BYTES + NUMBER_BYTES * index, NUMBER_BYTES)
  return bytes.toString('base64url')
}

/** @returns undefined for bytes that no version of ours wrote. */
export function decodeCursor(bytes: Uint8Array): Cursor | undefined {
  const length = bytes.length - HEAD_BYTES
  if (bytes[0] !== VERSION || length < NUMBER_BYTES || length % NUMBER_BYTES !== 0) return undefined
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const numbers: number[] = []
  for (let at = HEAD_BYTES; at < bytes.length; at += NUMBER_BYTES)
    numbers.push(buffer.readUIntBE(at, NUMBER_BYTES))
  return { isAscending: bytes[1] === FLAG_ASCENDING, filterHash: buffer.readUInt32BE(2), numbers }
}

/**
 * Tells lists and filters apart: a cursor must not continue another list than its own. Does not depend on the order in which
 * the query's fields were set.
 */
export function filterHash(operation: string, query: object): number {
  let hash = hashText(operation)
  for (const [name, value] of Object.entries(query)) {
    if (pagingFields.has(name) || value === undefined) continue
    const text = value instanceof Uint8Array ? Uint8Array.prototype.join.call(value, ',') : String(value)
    hash = (hash + hashText(`${name}=${text}`)) >>> 0
  }
  return hash
}

/** FNV-1a. */
function hashText(text: string): number {
  let hash = 0x811c_9dc5
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x0100_0193)
  return hash >>> 0
}
