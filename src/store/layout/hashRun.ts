import { readUint32, writeUint32, writeUint32BigEndian } from './bytes.js'
import { type HashKind, hashKinds } from './tables.js'

/**
 * Hash runs find rows by hash. Hashes come in random order, so adding them to a B-tree one by one would change a page for each.
 * So the hashes of one write transaction are sorted and stored together as a run, and small runs are merged into larger ones from
 * time to time. An entry is the first words (32 bits each) of the hash, then what the hash leads to: the number of a row, or
 * lineage and leaf count of a root. Entries are sorted by their first word; entries of one hash keep the order of arrival. A run
 * is cut into buckets, one for each equal part of the range of the first word, so a look-up reads one bucket per run.
 */
export interface HashRunLayout {
  /** Words of the hash that an entry keeps. */
  readonly hashWords: number
  /** Words of an entry: those of the hash, then those of what it leads to. */
  readonly entryWords: number
  /** Upper limit of a bucket's average number of entries. A page holds at least a quarter more, which leaves room for buckets above the average. */
  readonly bucketEntries: number
}

/** Whoever looks up compares the rest of the hash with the row. */
const byPrefix: HashRunLayout = { hashWords: 2, entryWords: 3, bucketEntries: 256 }

export const hashRunLayouts: Readonly<Record<HashKind, HashRunLayout>> = {
  [hashKinds.depositsByTransaction]: byPrefix,
  [hashKinds.claimsByTransaction]: byPrefix,
  [hashKinds.localExitRoots]: { hashWords: 8, entryWords: 10, bucketEntries: 80 },
  [hashKinds.depositsByLeafHash]: byPrefix,
}

/** One run, as the directory of its kind lists it. */
export interface HashRun {
  readonly number: number
  /** Number of entries that it was written with. Some may have been removed since. */
  readonly size: number
}

/** The runs of a kind, oldest first. */
export interface HashRunDirectory {
  /** Number of the next run: higher than that of any earlier run. */
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
