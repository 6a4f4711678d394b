import { readUint32, writeUint32, writeUint32BigEndian } from './bytes.js'
import { type HashKind, hashKinds } from './tables.js'

/**
 * Hash runs: look-ups by hashes, which come in no order. One entry per hash in a B-tree would dirty a page of its own each;
 * so the hashes of a transaction are sorted and stored together as a run, and small runs are merged into larger ones now
 * and then. An entry is the begin of the hash and what it leads to, in words of 32 bits; entries stand in the order of
 * their first word, those of one hash in the order of their arrival. A run is cut into buckets of equal shares of the first
 * word's range: a look-up reads one bucket per run.
 */
export interface HashRunLayout {
  /** Words of the hash that are kept. */
  readonly hashWords: number
  /** Words of the hash and of what it leads to. */
  readonly entryWords: number
  /** Entries that a bucket has on average, at most: a quarter more than that fits one page. */
  readonly bucketEntries: number
}

const transactions: HashRunLayout = { hashWords: 2, entryWords: 3, bucketEntries: 256 }

export const hashRunLayouts: Readonly<Record<HashKind, HashRunLayout>> = {
  [hashKinds.depositsByTransaction]: transactions,
  [hashKinds.claimsByTransaction]: transactions,
  [hashKinds.localExitRoots]: { hashWords: 8, entryWords: 10, bucketEntries: 80 },
}

/** One run, as the directory of its kind names it. */
export interface HashRun {
  readonly number: number
  /** Entries that it was made with: some may have been taken out since. */
  readonly size: number
}

/** The runs of a kind, oldest first. */
export interface HashRunDirectory {
  /** Number of the next run: above all that were ever made. */
  readonly next: number
  readonly runs: readonly HashRun[]
}

export function encodeHashRunDirectory({ next, runs }: HashRunDirectory): Uint8Array {
  const bytes = new Uint8Array(4 + 8 * runs.length)
  writeUint32(bytes, 0, next)
  runs.forEach(({ number, size }, index) => {
    writeUint32(bytes, 4 + 8 * index, number)
    writeUint32(bytes, 8 + 8 * index, size)
  })
  return bytes
}

export function decodeHashRunDirectory(bytes: Uint8Array | undefined): HashRunDirectory {
  if (bytes === undefined) return { next: 0, runs: [] }
  const runs: HashRun[] = []
  for (let offset = 4; offset < bytes.length; offset += 8)
    runs.push({ number: readUint32(bytes, offset), size: readUint32(bytes, offset + 4) })
  return { next: readUint32(bytes, 0), runs }
}

export function bucketCount(layout: HashRunLayout, size: number): number {
  return Math.max(1, Math.ceil(size / layout.bucketEntries))
}

/** Bucket of an entry by its first word. */
export function bucketOf(firstWord: number, buckets: number): number {
  return Math.floor((firstWord * buckets) / 2 ** 32)
}

export function directoryKey(kind: HashKind): Uint8Array {
  return Uint8Array.of(kind)
}

export function bucketKey(kind: HashKind, run: number, bucket: number): Uint8Array {
  const key = new Uint8Array(9)
  key[0] = kind
  writeUint32BigEndian(key, 1, run)
  writeUint32BigEndian(key, 5, bucket)
  return key
}
