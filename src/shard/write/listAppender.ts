import { InvariantError } from '../../errors/invariantError.js'
import { copyBytes } from '../../protocol/abiBytes.js'
import { writeUint32 } from '../../store/layout/bytes.js'
import { latin1, listChunkKey } from '../../store/layout/keys.js'
import {
  decodeListChunk,
  decodeListTail,
  encodeListHead,
  listLength,
  listTailStart,
} from '../../store/layout/listEntry.js'
import { LIST_CHUNK, type ListKind } from '../../store/layout/tables.js'
import type { ReadView, WriteView } from '../../store/shardStore.types.js'
import type { AddressBook } from './addressBook.js'
import { MOST_SORTED, orderByWord, wordStart } from './wordOrder.js'

/** Holds a list kind and a list key; the longest key is a hash. */
const keyBytes = Buffer.alloc(1 + 32)
/** The list head that is being changed: length u32, then the ordinals after the last full chunk. */
const headBytes = new Uint8Array(4 + 4 * LIST_CHUNK)
const tailBytes = headBytes.subarray(4)

/** Ordinals to add to lists of addresses, in the order of arrival. */
interface AddressPending {
  /** Numbers in the address book. */
  readonly numbers: number[]
  readonly ordinals: number[]
}

/**
 * Appends to chunked lists of ordinals inside one transaction. Ordinals are collected by list, and `flush` writes them in the order of
 * the keys. That takes one read and one write per list instead of per row, and neighbouring pages of the B-tree are written together.
 */
export class ListAppender {
  readonly #view: WriteView
  readonly #addresses: AddressBook
  /** Kind → list key as text → ordinals to add. */
  readonly #pending = new Map<ListKind, Map<string, number[]>>()
  readonly #byAddress = new Map<ListKind, AddressPending>()

  constructor(view: WriteView, addresses: AddressBook) {
    this.#view = view
    this.#addresses = addresses
  }

  /** @param keyText list key as `latin1` text, at most 32 bytes. @param ordinal higher than all in the list. */
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

  /** Adds to the list of an address. @param address its number in the address book. */
  appendByAddress(kind: ListKind, address: number, ordinal: number): void {
    let pending = this.#byAddress.get(kind)
    if (pending === undefined) {
      pending = { numbers: [], ordinals: [] }
      this.#byAddress.set(kind, pending)
    }
    pending.numbers.push(address)
    pending.ordinals.push(ordinal)
    if (pending.numbers.length < MOST_SORTED) return
    this.#flushAddresses(kind, pending)
    this.#byAddress.delete(kind)
  }

  flush(): void {
    for (const kind of this.#pending.keys()) this.flushKind(kind)
    for (const [kind, pending] of this.#byAddress) this.#flushAddresses(kind, pending)
    this.#byAddress.clear()
  }

  /** Writes what `append` has added to the lists of one kind, but not what `appendByAddress` has. */
  flushKind(kind: ListKind): void {
    const lists = this.#pending.get(kind)
    if (lists === undefined) return
    keyBytes[0] = kind
    for (const keyText of [...lists.keys()].sort()) {
      const length = 1 + keyBytes.write(keyText, 1, 'latin1')
      appendToList(this.#view, keyBytes.subarray(0, length), lists.get(keyText)!)
    }
    this.#pending.delete(kind)
  }

  #flushAddresses(kind: ListKind, { numbers, ordinals }: AddressPending): void {
    const order = new Float64Array(numbers.length)
    for (let index = 0; index < order.length; index++)
      order[index] = this.#addresses.firstWord(numbers[index]!)
    orderByWord(order)
    keyBytes[0] = kind
    const key = keyBytes.subarray(0, 21)
    const added: number[] = []
    for (let from = 0; from < order.length; ) {
      const base = wordStart(order[from]!)
      let to = from + 1
      while (to < order.length && order[to]! - base < MOST_SORTED) to++
      // Positions `from` … `to` − 1 share the first word of their address. Other addresses with that word are rare: they are kept for the next round.
      while (from < to) {
        const number = numbers[order[from]! - base]!
        added.length = 0
        let others = from
        for (let index = from; index < to; index++) {
          const position = order[index]! - base
          if (numbers[position] === number) added.push(ordinals[position]!)
          else order[others++] = order[index]!
        }
        const left = others - from
        order.copyWithin(to - left, from, others)
        from = to - left
        this.#addresses.copyBytes(number, key, 1)
        appendToList(this.#view, key, added)
      }
    }
  }
}

function appendToList(view: WriteView, headKey: Uint8Array, added: readonly number[]): void {
  const head = view.get('listHeads', headKey)
  const before = listLength(head)
  if (head !== undefined) copyBytes(head, 4, head.length - 4, headBytes, 4)
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

/** Reads all ordinals of a list, ascending: for rare events that must look at each. */
export function readWholeList(view: ReadView, headKey: Uint8Array): number[] {
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

/** Removes the ordinals at or above `limit` from the end of a list. Call `flush` before. */
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
