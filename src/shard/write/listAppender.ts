import { InvariantError } from '../../errors/invariantError.js'
import { writeUint32 } from '../../store/codecs/bytes.js'
import { latin1, listChunkKey } from '../../store/codecs/keys.js'
import {
  decodeListChunk,
  decodeListTail,
  encodeListHead,
  listLength,
  listTailStart,
} from '../../store/codecs/listEntry.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import { LIST_CHUNK, type ListKind } from '../../store/tables.js'

/** Room for a kind and the longest list key, a hash. */
const keyBytes = Buffer.alloc(1 + 32)
/** A head that grows: length u32, then a tail that a full chunk takes away. */
const headBytes = new Uint8Array(4 + 4 * LIST_CHUNK)
const tailBytes = headBytes.subarray(4)

/**
 * Appends to chunked ordinal lists inside one transaction. What a stretch of blocks adds is gathered per list and written
 * in key order: one read and one write per list instead of one per row, and neighbours in the tree of pages together.
 */
export class ListAppender {
  readonly #view: WriteView
  /** Kind → list key as text → ordinals to add. */
  readonly #pending = new Map<ListKind, Map<string, number[]>>()

  constructor(view: WriteView) {
    this.#view = view
  }

  /** @param keyText list key as `latin1` text, at most 32 bytes. @param ordinal above all that the list holds. */
  append(kind: ListKind, keyText: string, ordinal: number): void {
    let lists = this.#pending.get(kind)
    if (lists === undefined) {
      lists = new Map()
      this.#pending.set(kind, lists)
    }
    const ordinals = lists.get(keyText)
    if (ordinals === undefined) lists.set(keyText, [ordinal])
    else ordinals.push(ordinal)
  }

  flush(): void {
    for (const [kind, lists] of this.#pending) {
      keyBytes[0] = kind
      for (const keyText of [...lists.keys()].sort()) {
        const length = 1 + keyBytes.write(keyText, 1, 'latin1')
        appendToList(this.#view, keyBytes.subarray(0, length), lists.get(keyText)!)
      }
    }
    this.#pending.clear()
  }
}

function appendToList(view: WriteView, headKey: Uint8Array, added: readonly number[]): void {
  const head = view.get('listHeads', headKey)
  const before = listLength(head)
  if (head !== undefined) headBytes.set(head)
  let chunk = Math.floor(before / LIST_CHUNK)
  let tail = before % LIST_CHUNK
  for (const ordinal of added) {
    writeUint32(tailBytes, 4 * tail++, ordinal)
    if (tail < LIST_CHUNK) continue
    view.put('lists', listChunkKey(headKey, chunk++), tailBytes)
    tail = 0
  }
  writeUint32(headBytes, 0, before + added.length)
  view.put('listHeads', headKey, headBytes.subarray(0, 4 + 4 * tail))
}

/** All ordinals of a list, ascending: for the rare events that must look at each. */
export function readList(view: ReadView, headKey: Uint8Array): number[] {
  const head = view.get('listHeads', headKey)
  if (head === undefined) return []
  const length = listLength(head)
  const tail = decodeListTail(head)
  const ordinals: number[] = []
  for (let chunk = 0; chunk < listTailStart(length) / LIST_CHUNK; chunk++)
    ordinals.push(...readFullChunk(view, headKey, chunk))
  ordinals.push(...tail)
  return ordinals
}

/** Takes the ordinals at or above `limit` off the end of a list. Pending additions must be flushed before. */
export function truncateList(view: WriteView, headKey: Uint8Array, limit: number): void {
  const head = view.get('listHeads', headKey)
  if (head === undefined) return
  let tail = decodeListTail(head)
  let fullChunks = Math.floor(listLength(head) / LIST_CHUNK)
  tail = tail.filter((ordinal) => ordinal < limit)
  while (tail.length === 0 && fullChunks > 0) {
    const chunk = readFullChunk(view, headKey, fullChunks - 1).filter((ordinal) => ordinal < limit)
    if (chunk.length === LIST_CHUNK) break
    fullChunks--
    view.remove('lists', listChunkKey(headKey, fullChunks))
    tail = chunk
  }
  const length = LIST_CHUNK * fullChunks + tail.length
  if (length === 0) view.remove('listHeads', headKey)
  else view.put('listHeads', headKey, encodeListHead(length, tail))
}

function readFullChunk(view: ReadView, headKey: Uint8Array, chunk: number): number[] {
  const bytes = view.get('lists', listChunkKey(headKey, chunk))
  if (bytes === undefined) throw new InvariantError(`list ${latin1(headKey)} lacks chunk ${chunk}`)
  return decodeListChunk(bytes)
}
