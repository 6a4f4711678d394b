import type { Hash } from '../../protocol/chainEvent.js'
import type { LeafCount, Lineage } from '../../protocol/units.js'
import { readUint32 } from '../../store/layout/bytes.js'
import {
  bucketCount,
  bucketKey,
  bucketOf,
  decodeHashRunDirectory,
  directoryKey,
  type HashRun,
  type HashRunLayout,
  hashRunLayouts,
} from '../../store/layout/hashRun.js'
import type { LocalExitRootEntry } from '../../store/layout/smallRows.js'
import { type HashKind, hashKinds } from '../../store/layout/tables.js'
import type { ReadView } from '../../store/shardStore.types.js'

/** Kinds that keep the first 8 bytes of a hash. */
export type PrefixKind = Exclude<HashKind, typeof hashKinds.localExitRoots>

/**
 * Rows of a hash (of their transaction, or of their leaf), and of hashes that start with the same 8 bytes: the caller compares the rest.
 * @returns ordinals, ascending.
 */
export function findByPrefix(view: ReadView, kind: PrefixKind, hash: Hash): number[] {
  const ordinals: number[] = []
  visitEntries(view, kind, hash, (bucket, payload) => {
    ordinals.push(readUint32(bucket, payload))
  })
  return ordinals
}

/** Lineage and leaf count of a local exit root at a block's end; undefined when it is not stored. */
export function findRootAtBlockEnd(view: ReadView, root: Hash): LocalExitRootEntry | undefined {
  let found: LocalExitRootEntry | undefined
  // The newest entry counts: a root that comes again after a cut belongs to the newer lineage.
  visitEntries(view, hashKinds.localExitRoots, root, (bucket, payload) => {
    found = {
      lineage: readUint32(bucket, payload) as Lineage,
      leafCount: readUint32(bucket, payload + 4) as LeafCount,
    }
  })
  return found
}

/** Calls `visit` for each entry of the hash, oldest first; the bucket is valid during the call. */
function visitEntries(
  view: ReadView,
  kind: HashKind,
  hash: Hash,
  visit: (bucket: Uint8Array, payload: number) => void,
): void {
  const layout = hashRunLayouts[kind]
  const firstWord = readUint32(hash, 0)
  for (const { number, size } of decodeHashRunDirectory(view.get('hashRuns', directoryKey(kind))).runs) {
    const bucket = view.get(
      'hashRuns',
      bucketKey(kind, number, bucketOf(firstWord, bucketCount(layout, size))),
    )
    if (bucket === undefined) continue
    const entryBytes = 4 * layout.entryWords
    let at = entryBytes * firstNotBelow(bucket, layout, firstWord)
    for (; at < bucket.length && readUint32(bucket, at) === firstWord; at += entryBytes)
      if (holdsHash(bucket, at, hash, layout)) visit(bucket, at + 4 * layout.hashWords)
  }
}

/** Index of the first entry of a bucket whose first word is not below `firstWord`. */
function firstNotBelow(bucket: Uint8Array, { entryWords }: HashRunLayout, firstWord: number): number {
  let low = 0
  let high = bucket.length / (4 * entryWords)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (readUint32(bucket, 4 * entryWords * middle) < firstWord) low = middle + 1
    else high = middle
  }
  return low
}

/** Whether the entry at `at` belongs to the hash. The caller has compared the first word. */
function holdsHash(bucket: Uint8Array, at: number, hash: Hash, { hashWords }: HashRunLayout): boolean {
  for (let index = 4; index < 4 * hashWords; index++) if (bucket[at + index] !== hash[index]) return false
  return true
}

/** Yields every entry of a kind, oldest run first. */
export function* entriesOfKind(view: ReadView, kind: HashKind): Generator<Uint32Array> {
  const layout = hashRunLayouts[kind]
  for (const run of decodeHashRunDirectory(view.get('hashRuns', directoryKey(kind))).runs) {
    const words = readRun(view, kind, layout, run)
    for (let at = 0; at < words.length; at += layout.entryWords)
      yield words.subarray(at, at + layout.entryWords)
  }
}

/** Decodes an entry of kind `localExitRoots`. @returns copies. */
export function exitRootOf(words: Uint32Array): LocalExitRootEntry & { readonly root: Hash } {
  const root = new Uint8Array(bytesOfEntries(words.subarray(0, 8)))
  return { root, lineage: words[8] as Lineage, leafCount: words[9] as LeafCount }
}

/** Reads all entries of a run. @returns fresh memory. */
export function readRun(
  view: ReadView,
  kind: HashKind,
  layout: HashRunLayout,
  { number, size }: HashRun,
): Uint32Array {
  const words = new Uint32Array(size * layout.entryWords)
  const bytes = bytesOfEntries(words)
  let length = 0
  for (let bucket = 0; bucket < bucketCount(layout, size); bucket++) {
    const stored = view.get('hashRuns', bucketKey(kind, number, bucket))
    if (stored === undefined) continue
    bytes.set(stored, length)
    length += stored.length
  }
  return words.subarray(0, length / 4)
}

/** The same memory as bytes. */
export function bytesOfEntries(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}
