import { LIST_CHUNK } from '../../store/layout/tables.js'

/**
 * Ascending deposit counts or claim ordinals that match a filter. Every filter and combination of filters becomes one of these, so
 * totals, pages, ranges and cursors are computed in one way for all (`pageOf`).
 */
export interface OrdinalList {
  readonly length: number
  /** Number of ordinals below `value`. @param low, high bounds that the caller knows for the result. */
  rank(value: number, low?: number, high?: number): number
  /** Ordinals at positions `from` … `to` − 1, ascending; `to` is at most `length`. */
  slice(from: number, to: number): number[]
}

/** A list with direct access to any position. */
export interface IndexedList extends OrdinalList {
  /** @returns the ordinal at `position`, which must be below `length`. */
  at(position: number): number
}

/** Base of lists with direct access: `rank` and `slice` follow from `at`. */
export abstract class AnyIndexedList implements IndexedList {
  abstract readonly length: number

  abstract at(position: number): number

  rank(value: number, low = 0, high = this.length): number {
    let first = low
    let end = high
    while (first < end) {
      const middle = Math.floor((first + end) / 2)
      if (this.at(middle) < value) first = middle + 1
      else end = middle
    }
    return first
  }

  slice(from: number, to: number): number[] {
    const ordinals: number[] = []
    for (let position = from; position < to; position++) ordinals.push(this.at(position))
    return ordinals
  }
}

class ChunkedList extends AnyIndexedList {
  readonly length: number
  readonly #readChunk: (chunk: number) => Uint32Array
  #current: Uint32Array | undefined
  #currentNumber = -1

  constructor(length: number, readChunk: (chunk: number) => Uint32Array) {
    super()
    this.length = length
    this.#readChunk = readChunk
  }

  at(position: number): number {
    const chunk = Math.floor(position / LIST_CHUNK)
    if (this.#current === undefined || chunk !== this.#currentNumber) {
      this.#current = this.#readChunk(chunk)
      this.#currentNumber = chunk
    }
    return this.#current[position % LIST_CHUNK]!
  }
}

class ListInMemory extends AnyIndexedList {
  readonly #ordinals: readonly number[]

  constructor(ordinals: readonly number[]) {
    super()
    this.#ordinals = ordinals
  }

  get length(): number {
    return this.#ordinals.length
  }

  at(position: number): number {
    return this.#ordinals[position]!
  }

  override slice(from: number, to: number): number[] {
    return this.#ordinals.slice(from, to)
  }
}

class WholeRange extends AnyIndexedList {
  readonly length: number

  constructor(length: number) {
    super()
    this.length = length
  }

  at(position: number): number {
    return position
  }

  override rank(value: number, low = 0, high = this.length): number {
    return Math.min(Math.max(value, low), high)
  }
}

/**
 * A list over stored chunks: reading a page costs a few reads at any depth. Keeps the chunk read last.
 * @param readChunk returns the ordinals of chunk n in fresh memory.
 */
export function chunkedList(length: number, readChunk: (chunk: number) => Uint32Array): IndexedList {
  return new ChunkedList(length, readChunk)
}

/** A list in memory. @param ordinals ascending, without repeats. */
export function listOf(ordinals: readonly number[]): IndexedList {
  return new ListInMemory(ordinals)
}

/** The ordinals 0 … length − 1: the list without a filter. */
export function wholeRange(length: number): IndexedList {
  return new WholeRange(length)
}

export function listHas(list: IndexedList, ordinal: number): boolean {
  const rank = list.rank(ordinal)
  return rank < list.length && list.at(rank) === ordinal
}
