import { InvariantError } from '../../errors/invariantError.js'
import { latin1, listChunkKey } from '../../store/codecs/keys.js'
import {
  decodeListChunk,
  decodeListTail,
  encodeListChunk,
  encodeListHead,
  listLength,
  listTailStart,
} from '../../store/codecs/listEntry.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import { LIST_CHUNK, type ListKind } from '../../store/tables.js'

/**
 * Appends to chunked ordinal lists inside one transaction. What a stretch of blocks adds is gathered per list and written
 * in key order: one read and one write per list instead of one per row, and neighbours in the tree of pages together.
 */
export class ListAppender {
  readonly #view: WriteView
  /** Head key as text → ordinals to add. */
  readonly #pending = new Map<string, number[]>()

  constructor(view: WriteView) {
    this.#view = view
  }

  /** @param keyText list key as `latin1` text. @param ordinal above all that the list holds. */
  append(kind: ListKind, keyText: string, ordinal: number): void {
    const text = String.fromCharCode(kind) + keyText
    const ordinals = this.#pending.get(text)
    if (ordinals === undefined) this.#pending.set(text, [ordinal])
    else ordinals.push(ordinal)
  }

  flush(): void {
    if (this.#pending.size === 0) return
    for (const text of [...this.#pending.keys()].sort())
      appendToList(this.#view, Buffer.from(text, 'latin1'), this.#pending.get(text)!)
    this.#pending.clear()
  }
}

function appendToList(view: WriteView, headKey: Uint8Array, added: readonly number[]): void {
  const head = view.get('listHeads', headKey)
  const before = listLength(head)
  let tail = head === undefined ? [] : decodeListTail(head)
  let chunk = Math.floor(before / LIST_CHUNK)
  for (const ordinal of added) {
    tail.push(ordinal)
    if (tail.length < LIST_CHUNK) continue
    view.put('lists', listChunkKey(headKey, chunk++), encodeListChunk(tail))
    tail = []
  }
  view.put('listHeads', headKey, encodeListHead(before + added.length, tail))
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
