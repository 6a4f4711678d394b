import { readUint32, writeUint32 } from './bytes.js'
import { LIST_CHUNK } from './tables.js'

/**
 * Chunked lists of ordinals. Table `lists` holds the full chunks of LIST_CHUNK ordinals. The head in table `listHeads` holds the
 * length of the whole list, then the ordinals after the last full chunk.
 */

/** Number of ordinals in the list. */
export function listLength(head: Uint8Array | undefined): number {
  return head === undefined ? 0 : readUint32(head, 0)
}

/** Position in the list of the first ordinal that the head holds. */
export function listTailStart(length: number): number {
  return length - (length % LIST_CHUNK)
}

/** Ordinals of a full chunk, as a copy. Values are little-endian, as the machine is, so copying the bytes decodes them. */
export function chunkOrdinals(chunk: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(chunk).buffer)
}

/** Ordinals of a head, which are those after the last full chunk, as a copy. */
export function headOrdinals(head: Uint8Array): Uint32Array {
  return new Uint32Array(new Uint8Array(head.subarray(4)).buffer)
}

/** @param tail ordinals after the last full chunk. @returns fresh bytes. */
export function encodeListHead(length: number, tail: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 + 4 * tail.length)
  writeUint32(bytes, 0, length)
  for (let index = 0; index < tail.length; index++) writeUint32(bytes, 4 + 4 * index, tail[index]!)
  return bytes
}

/** As `headOrdinals`, as an array that can grow. */
export function decodeListTail(head: Uint8Array): number[] {
  const tail: number[] = []
  for (let offset = 4; offset < head.length; offset += 4) tail.push(readUint32(head, offset))
  return tail
}

export function decodeListChunk(chunk: Uint8Array): number[] {
  const ordinals: number[] = []
  for (let offset = 0; offset < chunk.length; offset += 4) ordinals.push(readUint32(chunk, offset))
  return ordinals
}
