import { randomInt } from 'node:crypto'
import type { AnswerLife } from '../api/present/present.js'
import { givePagesBack, takePages } from './wire/bodyMemory.js'
import type { Outgoing } from './wire/exchange.js'

/** An answer that may be given again. */
export interface CachedAnswer extends Outgoing {
  readonly body: Uint8Array
  readonly life: AnswerLife
  /** What the answer costs under a rate limit. */
  readonly tokens: number
}

/**
 * A record in a segment, from a multiple of 8 bytes on:
 *
 *   place of the record before it in its bucket f64 | tokens f64 | hash u32 | length of the body u32 | length of the name u16,
 *   length of the tag u8, kind u8 in one u32 | 4 unused | name, 2 bytes per letter | tag | body
 */
const BEFORE = 0
const TOKENS = 8
const HASH = 16
const BODY_LENGTH = 20
/** Length of the name, length of the tag and kind in one number, from the lowest bits on. */
const LENGTHS = 24
const HEAD_BYTES = 32

const MAX_NAME_LENGTH = 1_024
const MAX_TAG_LENGTH = 255
/** Longer bodies have an object each, which all clients that are slow to take it share, and which costs little beside the body. */
const MAX_BODY_BYTES = 16 * 1024
/** So much of a segment is lost at most, at its end. */
const RECORDS_PER_SEGMENT = 8
const SEGMENTS = 64
const MIN_BUCKETS = 64
const MAX_BUCKETS = 2 ** 18
const BYTES_PER_BUCKET = 1_024
/** Names that were chosen to fall into one bucket cost a look-up no more than so many comparisons. */
const MAX_COMPARED = 32
/** Kinds of answers differ in status and headers. There are a dozen for each place in the feeds that answers were made at. */
const MAX_KINDS = 256

/** What many answers have in common. */
type Kind = Pick<CachedAnswer, 'status' | 'cacheControl' | 'lines' | 'bodyLines' | 'life'>

interface Segment {
  readonly bytes: Buffer
  // Of the same memory. A `DataView` of pages takes ten times as long as these, and bytes one by one twice as long as letters.
  readonly letters: Uint16Array
  readonly words: Uint32Array
  readonly doubles: Float64Array
  startedAtMs: number
  used: number
  /** Of its answers. All segments together would have another one after each commit, for ever. */
  readonly kinds: Kind[]
}

/** The segments of all packed answers. Those that are empty are used again, and given back after they were not needed for a while. */
export class SegmentPool {
  /** Bytes of one segment. */
  readonly segmentBytes: number
  private readonly empty: Segment[] = []
  private count = 0
  /** Fewest empty ones since the last `trim`. */
  private needless = 0

  constructor(maxBytes: number) {
    // Not 0: places are multiples of it. One of 8 takes no answer.
    this.segmentBytes = 8 * Math.max(1, Math.floor(maxBytes / SEGMENTS / 8))
  }

  /** Bytes of all segments, empty or not. */
  get bytes(): number {
    return this.count * this.segmentBytes
  }

  get hasEmpty(): boolean {
    return this.empty.length > 0
  }

  take(startedAtMs: number): Segment {
    const kept = this.empty.pop()
    this.needless = Math.min(this.needless, this.empty.length)
    if (kept !== undefined) {
      kept.startedAtMs = startedAtMs
      kept.used = 0
      kept.kinds.length = 0
      return kept
    }
    // What was never written takes no memory. In a heap of the C library other things come to lie between segments, and keep what was theirs:
    // a cache of 20 MB had let one grow by 117 MB.
    const pages = takePages(this.segmentBytes)
    const bytes =
      pages === undefined
        ? Buffer.allocUnsafeSlow(this.segmentBytes)
        : Buffer.from(pages, 0, this.segmentBytes)
    // Memory that could not be had must not count, or the cache would look for it for ever.
    this.count++
    const { buffer } = bytes
    const letters = new Uint16Array(buffer, 0, this.segmentBytes / 2)
    const words = new Uint32Array(buffer, 0, this.segmentBytes / 4)
    const doubles = new Float64Array(buffer, 0, this.segmentBytes / 8)
    return { bytes, letters, words, doubles, startedAtMs, used: 0, kinds: [] }
  }

  /** @param segment whose bytes nobody reads any more. */
  give(segment: Segment): void {
    this.empty.push(segment)
  }

  /** Forgets an empty segment, whose bytes nobody must read any more. */
  dropEmpty(): void {
    const segment = this.empty.pop()
    if (segment === undefined) return
    givePagesBack(segment.bytes.buffer)
    this.count--
    this.needless = Math.min(this.needless, this.empty.length)
  }

  /** Forgets the segments that were empty ever since the last call. @returns their bytes. */
  trim(): number {
    const { needless } = this
    for (let left = needless; left > 0; left--) this.dropEmpty()
    this.needless = this.empty.length
    return needless * this.segmentBytes
  }
}

/**
 * Short answers by name, packed into segments of memory outside the JavaScript heap, where each takes its bytes and 32 more. As objects they
 * took 3 KB each: V8 lets garbage of old objects grow to several times what is alive before it collects. The oldest segment goes as a
 * whole.
 */
export class PackedAnswers {
  private readonly pool: SegmentPool
  private readonly segmentBytes: number
  private readonly largest: number
  private readonly seed = randomInt(2 ** 31)
  /** Bucket → place of its newest record. A place before the first segment is empty. */
  private readonly buckets: Float64Array
  /** By number, from `firstSegment` on. */
  private readonly segments: Segment[] = []
  private firstSegment = 1
  private readonly now: () => number

  constructor(pool: SegmentPool, now: () => number) {
    const { segmentBytes } = pool
    this.pool = pool
    this.segmentBytes = segmentBytes
    this.largest = Math.min(
      segmentBytes / RECORDS_PER_SEGMENT,
      HEAD_BYTES + 2 * MAX_NAME_LENGTH + MAX_BODY_BYTES,
    )
    const wanted = Math.min(MAX_BUCKETS, Math.max(MIN_BUCKETS, (SEGMENTS * segmentBytes) / BYTES_PER_BUCKET))
    this.buckets = new Float64Array(2 ** Math.ceil(Math.log2(wanted)))
    this.now = now
  }

  /** Bytes of the segments that hold answers. */
  get bytes(): number {
    return this.segments.length * this.segmentBytes
  }

  /** Whether an answer is short enough. */
  takes(name: string, { body, etag }: CachedAnswer): boolean {
    return (
      name.length <= MAX_NAME_LENGTH &&
      etag.length <= MAX_TAG_LENGTH &&
      sizeOf(name, etag, body) <= this.largest
    )
  }

  /** @returns where the answer lies, or undefined. */
  find(name: string): number | undefined {
    const hash = this.hashOf(name)
    let place = this.buckets[hash & (this.buckets.length - 1)]!
    const first = this.firstSegment * this.segmentBytes
    for (let left = MAX_COMPARED; left > 0 && place >= first; left--) {
      const { letters, words, doubles } = this.segmentAt(place)
      const at = place % this.segmentBytes
      if (
        words[(at + HASH) >> 2] === hash &&
        isName(letters, (at + HEAD_BYTES) >> 1, words[(at + LENGTHS) >> 2]! & 0xffff, name)
      )
        return place
      place = doubles[(at + BEFORE) >> 3]!
    }
    return undefined
  }

  /** Whether what lies at `place` is still here. */
  has(place: number): boolean {
    return place >= this.firstSegment * this.segmentBytes
  }

  /** @param place of `find`. */
  read(place: number): CachedAnswer {
    const { bytes, words, doubles, kinds } = this.segmentAt(place)
    const at = place % this.segmentBytes
    const lengths = words[(at + LENGTHS) >> 2]!
    const tagAt = at + HEAD_BYTES + 2 * (lengths & 0xffff)
    const bodyAt = tagAt + ((lengths >> 16) & 0xff)
    const { status, cacheControl, lines, bodyLines, life } = kinds[lengths >>> 24]!
    return {
      status,
      // No `Buffer`, whose `slice` is no copy.
      body: new Uint8Array(bytes.buffer, bodyAt, words[(at + BODY_LENGTH) >> 2]),
      // The segment is written again once it was dropped.
      isLent: true,
      cacheControl,
      lines,
      bodyLines,
      etag: bytes.toString('latin1', tagAt, bodyAt),
      life,
      tokens: doubles[(at + TOKENS) >> 3]!,
    }
  }

  /** Bytes that `put` would take besides those of the pool: a segment, or none. */
  bytesFor(name: string, answer: CachedAnswer): number {
    return this.hasRoom(name, answer) || this.pool.hasEmpty ? 0 : this.segmentBytes
  }

  /** Copies an answer that `takes` allows. One of that name that is here already stays: both were made from the same version. */
  put(name: string, answer: CachedAnswer): void {
    if (this.find(name) !== undefined) return
    const { body, etag, tokens } = answer
    if (!this.hasRoom(name, answer)) this.segments.push(this.pool.take(this.now()))
    const segment = this.segments.at(-1)!
    const { bytes, words, doubles, used: at, kinds } = segment
    const kind = kindOf(kinds, answer)
    if (kind === kinds.length) {
      const { status, cacheControl, lines, bodyLines, life } = answer
      kinds.push({ status, cacheControl, lines, bodyLines, life })
    }
    const hash = this.hashOf(name)
    const bucket = hash & (this.buckets.length - 1)
    doubles[(at + BEFORE) >> 3] = this.buckets[bucket]!
    doubles[(at + TOKENS) >> 3] = tokens
    words[(at + HASH) >> 2] = hash
    words[(at + BODY_LENGTH) >> 2] = body.length
    words[(at + LENGTHS) >> 2] = name.length | (etag.length << 16) | (kind << 24)
    const tagAt = at + HEAD_BYTES + 2 * name.length
    bytes.write(name, at + HEAD_BYTES, 'utf16le')
    bytes.write(etag, tagAt, 'latin1')
    bytes.set(body, tagAt + etag.length)
    this.buckets[bucket] = (this.firstSegment + this.segments.length - 1) * this.segmentBytes + at
    segment.used += sizeOf(name, etag, body)
  }

  /** When the oldest answer was put here. */
  oldestAtMs(): number | undefined {
    return this.segments[0]?.startedAtMs
  }

  dropOldest(): void {
    const oldest = this.segments.shift()
    if (oldest === undefined) return
    this.firstSegment++
    this.pool.give(oldest)
  }

  clear(): void {
    while (this.segments.length > 0) this.dropOldest()
  }

  private hasRoom(name: string, answer: CachedAnswer): boolean {
    const last = this.segments.at(-1)
    if (last === undefined) return false
    const { used, kinds } = last
    const hasKind = kinds.length < MAX_KINDS || kindOf(kinds, answer) < MAX_KINDS
    return hasKind && used + sizeOf(name, answer.etag, answer.body) <= this.segmentBytes
  }

  private segmentAt(place: number): Segment {
    return this.segments[Math.floor(place / this.segmentBytes) - this.firstSegment]!
  }

  private hashOf(name: string): number {
    let hash = this.seed
    for (let at = 0; at < name.length; at++)
      hash = Math.imul(hash ^ name.charCodeAt(at), 0x9e3779b1) ^ (hash >>> 15)
    return (hash ^ (hash >>> 16)) >>> 0
  }
}

/** @returns the place of an answer's kind; the next free one where it is new. */
function kindOf(kinds: readonly Kind[], answer: Kind): number {
  const known = kinds.findLastIndex(
    (kind) =>
      kind.status === answer.status &&
      kind.life === answer.life &&
      kind.cacheControl === answer.cacheControl &&
      kind.lines === answer.lines &&
      kind.bodyLines === answer.bodyLines,
  )
  return known < 0 ? kinds.length : known
}

/** A multiple of 8, so that the next record begins at one. */
function sizeOf(name: string, etag: string, body: Uint8Array): number {
  return 8 * Math.ceil((HEAD_BYTES + 2 * name.length + etag.length + body.length) / 8)
}

/** @param letters as UTF-16 of this machine: all that this runs on have the low byte first. */
function isName(letters: Uint16Array, at: number, length: number, name: string): boolean {
  if (length !== name.length) return false
  for (let letter = 0; letter < length; letter++)
    if (letters[at + letter] !== name.charCodeAt(letter)) return false
  return true
}
