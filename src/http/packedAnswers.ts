import { randomInt } from 'node:crypto'
import type { AnswerLife } from '../api/present/present.js'
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
 *   place of the record before it in its bucket f64 | tokens f64 | hash u32 | length of the body u32 | length of the name u16 |
 *   length of the tag u8 | kind u8 | 4 unused | name, 2 bytes per letter | tag | body
 */
const BEFORE = 0
const TOKENS = 8
const HASH = 16
const BODY_LENGTH = 20
const NAME_LENGTH = 24
const TAG_LENGTH = 26
const KIND = 27
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
/** Kinds of answers differ in status and headers; there are a dozen. */
const MAX_KINDS = 256

/** What many answers have in common. */
type Kind = Pick<CachedAnswer, 'status' | 'cacheControl' | 'lines' | 'bodyLines' | 'life'>

interface Segment {
  readonly bytes: Buffer
  readonly view: DataView
  startedAtMs: number
  used: number
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
      return kept
    }
    // Not zeroed: what was never written takes no memory.
    const bytes = Buffer.allocUnsafeSlow(this.segmentBytes)
    // Memory that could not be had must not count, or the cache would look for it for ever.
    this.count++
    return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), startedAtMs, used: 0 }
  }

  /** @param segment whose bytes nobody reads any more. */
  give(segment: Segment): void {
    this.empty.push(segment)
  }

  /** Forgets an empty segment. */
  dropEmpty(): void {
    if (this.empty.pop() === undefined) return
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
  private readonly kinds: Kind[] = []
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
      const { view, bytes } = this.segmentAt(place)
      const at = place % this.segmentBytes
      if (
        view.getUint32(at + HASH, true) === hash &&
        isName(bytes, at + HEAD_BYTES, view.getUint16(at + NAME_LENGTH, true), name)
      )
        return place
      place = view.getFloat64(at + BEFORE, true)
    }
    return undefined
  }

  /** Whether what lies at `place` is still here. */
  has(place: number): boolean {
    return place >= this.firstSegment * this.segmentBytes
  }

  /** @param place of `find`. */
  read(place: number): CachedAnswer {
    const { view, bytes } = this.segmentAt(place)
    const at = place % this.segmentBytes
    const tagAt = at + HEAD_BYTES + 2 * view.getUint16(at + NAME_LENGTH, true)
    const bodyAt = tagAt + view.getUint8(at + TAG_LENGTH)
    const { status, cacheControl, lines, bodyLines, life } = this.kinds[view.getUint8(at + KIND)]!
    return {
      status,
      // No `Buffer`, whose `slice` is no copy.
      body: new Uint8Array(bytes.buffer, bytes.byteOffset + bodyAt, view.getUint32(at + BODY_LENGTH, true)),
      // The segment is written again once it was dropped.
      isLent: true,
      cacheControl,
      lines,
      bodyLines,
      etag: bytes.toString('latin1', tagAt, bodyAt),
      life,
      tokens: view.getFloat64(at + TOKENS, true),
    }
  }

  /** Bytes that `put` would take besides those of the pool: a segment, or none. */
  bytesFor(name: string, answer: CachedAnswer): number {
    return this.hasRoom(name, answer) || this.pool.hasEmpty ? 0 : this.segmentBytes
  }

  /** Copies an answer that `takes` allows. One of that name that is here already stays: both were made from the same version. */
  put(name: string, answer: CachedAnswer): void {
    if (this.find(name) !== undefined) return
    const kind = this.kindOf(answer)
    if (kind === undefined) return
    const { body, etag, tokens } = answer
    if (!this.hasRoom(name, answer)) this.segments.push(this.pool.take(this.now()))
    const segment = this.segments.at(-1)!
    const { bytes, view, used: at } = segment
    const hash = this.hashOf(name)
    const bucket = hash & (this.buckets.length - 1)
    view.setFloat64(at + BEFORE, this.buckets[bucket]!, true)
    view.setFloat64(at + TOKENS, tokens, true)
    view.setUint32(at + HASH, hash, true)
    view.setUint32(at + BODY_LENGTH, body.length, true)
    view.setUint16(at + NAME_LENGTH, name.length, true)
    view.setUint8(at + TAG_LENGTH, etag.length)
    view.setUint8(at + KIND, kind)
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

  private hasRoom(name: string, { body, etag }: CachedAnswer): boolean {
    const last = this.segments.at(-1)
    return last !== undefined && last.used + sizeOf(name, etag, body) <= this.segmentBytes
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

  private kindOf({ status, cacheControl, lines, bodyLines, life }: CachedAnswer): number | undefined {
    const { kinds } = this
    const known = kinds.findIndex(
      (kind) =>
        kind.status === status &&
        kind.life === life &&
        kind.cacheControl === cacheControl &&
        kind.lines === lines &&
        kind.bodyLines === bodyLines,
    )
    if (known >= 0) return known
    if (kinds.length === MAX_KINDS) return undefined
    return kinds.push({ status, cacheControl, lines, bodyLines, life }) - 1
  }
}

/** A multiple of 8, so that the next record begins at one. */
function sizeOf(name: string, etag: string, body: Uint8Array): number {
  return 8 * Math.ceil((HEAD_BYTES + 2 * name.length + etag.length + body.length) / 8)
}

function isName(bytes: Buffer, at: number, length: number, name: string): boolean {
  if (length !== name.length) return false
  for (let letter = 0, from = at; letter < length; letter++, from += 2)
    if ((bytes[from]! | (bytes[from + 1]! << 8)) !== name.charCodeAt(letter)) return false
  return true
}
