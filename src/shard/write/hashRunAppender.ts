import type { Hash } from '../../protocol/chainEvent.js'
import { readUint32 } from '../../store/layout/bytes.js'
import {
  bucketCount,
  bucketKey,
  bucketOf,
  decodeHashRunDirectory,
  directoryKey,
  encodeHashRunDirectory,
  type HashRun,
  type HashRunLayout,
  hashRunLayouts,
} from '../../store/layout/hashRun.js'
import type { HashKind } from '../../store/layout/tables.js'
import type { WriteView } from '../../store/shardStore.types.js'
import { bytesOfEntries, readRun } from '../snapshot/hashRuns.js'
import { MOST_SORTED, orderByWord, wordStart } from './wordOrder.js'

/**
 * A stored run with fewer than this many times the entries of the new run is merged with it. So a kind of n entries has at most log4 n
 * runs, and each entry is rewritten only a few times per size of run.
 */
const GROWTH = 4

/** Entries that are not stored yet, in the order of arrival. */
interface Pending {
  words: Uint32Array
  length: number
}

/** Adds entries to hash runs inside one transaction. Each `flush` makes one run of each kind from the entries added before it. */
export class HashRunAppender {
  readonly #view: WriteView
  readonly #pending = new Map<HashKind, Pending>()

  constructor(view: WriteView) {
    this.#view = view
  }

  /** Adds an entry. @param offset of the hash in `bytes`. @param second used only by kinds with two words after the hash. */
  append(kind: HashKind, bytes: Uint8Array, offset: number, first: number, second = 0): void {
    const { hashWords, entryWords } = hashRunLayouts[kind]
    const pending = this.#room(kind, entryWords)
    const { words } = pending
    let at = pending.length
    for (let word = 0; word < hashWords; word++) words[at++] = readUint32(bytes, offset + 4 * word)
    words[at++] = first
    if (entryWords > hashWords + 1) words[at++] = second
    pending.length = at
  }

  flush(): void {
    for (const [kind, pending] of this.#pending) {
      if (pending.length === 0) continue
      const layout = hashRunLayouts[kind]
      addRun(this.#view, kind, layout, sorted(pending.words.subarray(0, pending.length), layout.entryWords))
      pending.length = 0
    }
  }

  #room(kind: HashKind, entryWords: number): Pending {
    let pending = this.#pending.get(kind)
    if (pending === undefined) {
      pending = { words: new Uint32Array(64 * entryWords), length: 0 }
      this.#pending.set(kind, pending)
    }
    if (pending.length + entryWords > pending.words.length) {
      const larger = new Uint32Array(2 * pending.words.length)
      larger.set(pending.words)
      pending.words = larger
    }
    return pending
  }
}

/** Removes the entries of a hash that lead to `limit` or above. Call `flush` before. */
export function truncateEntries(view: WriteView, kind: HashKind, hash: Hash, limit: number): void {
  const layout = hashRunLayouts[kind]
  const { hashWords, entryWords } = layout
  const firstWord = readUint32(hash, 0)
  for (const { number, size } of decodeHashRunDirectory(view.get('hashRuns', directoryKey(kind))).runs) {
    const key = bucketKey(kind, number, bucketOf(firstWord, bucketCount(layout, size)))
    const words = wordsOf(view.get('hashRuns', key))
    const kept: number[] = []
    for (let at = 0; at < words.length; at += entryWords) {
      let isCutOff = words[at + hashWords]! >= limit
      for (let word = 0; isCutOff && word < hashWords; word++)
        isCutOff = words[at + word] === readUint32(hash, 4 * word)
      if (!isCutOff) kept.push(...words.subarray(at, at + entryWords))
    }
    if (kept.length === words.length) continue
    if (kept.length === 0) view.remove('hashRuns', key)
    else view.put('hashRuns', key, bytesOfEntries(Uint32Array.from(kept)))
  }
}

function addRun(view: WriteView, kind: HashKind, layout: HashRunLayout, added: Uint32Array): void {
  const directory = decodeHashRunDirectory(view.get('hashRuns', directoryKey(kind)))
  const runs = [...directory.runs]
  let words = added
  for (let last = runs.at(-1); last !== undefined; last = runs.at(-1)) {
    const size = words.length / layout.entryWords
    if (last.size >= GROWTH * size && last.size + size > layout.bucketEntries) break
    words = merged(readRun(view, kind, layout, last), words, layout.entryWords)
    for (let bucket = 0; bucket < bucketCount(layout, last.size); bucket++)
      view.remove('hashRuns', bucketKey(kind, last.number, bucket))
    runs.pop()
  }
  const run = { number: directory.next, size: words.length / layout.entryWords }
  writeRun(view, kind, layout, run, words)
  const next = { next: directory.next + 1, runs: [...runs, run] }
  view.put('hashRuns', directoryKey(kind), encodeHashRunDirectory(next))
}

function writeRun(
  view: WriteView,
  kind: HashKind,
  layout: HashRunLayout,
  { number, size }: HashRun,
  words: Uint32Array,
): void {
  const buckets = bucketCount(layout, size)
  const bytes = bytesOfEntries(words)
  for (let from = 0; from < words.length; ) {
    const bucket = bucketOf(words[from]!, buckets)
    let to = from + layout.entryWords
    while (to < words.length && bucketOf(words[to]!, buckets) === bucket) to += layout.entryWords
    view.put('hashRuns', bucketKey(kind, number, bucket), bytes.subarray(4 * from, 4 * to))
    from = to
  }
}

/** Sorts entries by their first word; entries with the same word keep their order. */
function sorted(words: Uint32Array, entryWords: number): Uint32Array {
  const count = words.length / entryWords
  if (count > MOST_SORTED) {
    const middle = entryWords * Math.floor(count / 2)
    const halves = [words.subarray(0, middle), words.subarray(middle)] as const
    return merged(sorted(halves[0], entryWords), sorted(halves[1], entryWords), entryWords)
  }
  const order = new Float64Array(count)
  for (let index = 0; index < count; index++) order[index] = words[entryWords * index]!
  orderByWord(order)
  const result = new Uint32Array(words.length)
  for (let index = 0, at = 0; index < count; index++) {
    const placed = order[index]!
    const from = entryWords * (placed - wordStart(placed))
    for (let word = 0; word < entryWords; word++) result[at++] = words[from + word]!
  }
  return result
}

/** Merges two sorted runs; of entries with the same first word the older ones come first. */
function merged(older: Uint32Array, newer: Uint32Array, entryWords: number): Uint32Array {
  const result = new Uint32Array(older.length + newer.length)
  let to = 0
  let from = 0
  for (let at = 0; at < newer.length; at += entryWords) {
    const before = from
    while (from < older.length && older[from]! <= newer[at]!) from += entryWords
    for (let word = before; word < from; word++) result[to++] = older[word]!
    for (let word = 0; word < entryWords; word++) result[to++] = newer[at + word]!
  }
  result.set(older.subarray(from), to)
  return result
}

function wordsOf(bytes: Uint8Array | undefined): Uint32Array {
  return bytes === undefined ? new Uint32Array(0) : new Uint32Array(new Uint8Array(bytes).buffer)
}
