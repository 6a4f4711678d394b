import { hash } from 'node:crypto'
import { type AnswerVersion, hasOnlyGrown, isSameVersion, NO_VERSION } from '../board/version.js'
import type { ContentCoding } from '../pool/contentCoding.js'
import { collectGarbage } from '../telemetry/processMemory.js'
import { type CachedAnswer, PackedAnswers, SegmentPool } from './packedAnswers.js'
import { copyOf, giveBackNeedless, letGo } from './wire/bodyMemory.js'

export interface CacheStats {
  readonly hits: number
  readonly misses: number
  readonly bytes: number
}

/** What a long answer costs besides its name and its body: heap growth measured over 100,000 of 10 bytes, and a head of 500 bytes. */
const ENTRY_BYTES = 1_200

/** No answer is kept longer, so that the memory is given back after many were asked for. Making one anew so seldom costs nothing. */
const KEPT_MS = 20_000
/** How often memory is looked for that was not used meanwhile. */
const TRIM_MS = 10_000
/** Such memory is collected from so many bytes on once nobody asks any more: V8 collects nothing while a thread rests. */
const COLLECTED_BYTES = 4 * 1024 ** 2

/** A longer key is known by its SHA-256, so that no client fills the memory with keys. Usual keys are shorter. */
const MAX_KEY_LENGTH = 128

/** Most spellings that are remembered. With those of the greatest length they take 2 MB. */
const MAX_SPELLINGS = 4_096
/** A longer one is parsed at each request, and found by its key. */
const MAX_SPELLING_LENGTH = 512

/** Look-ups after which a route's hit rate is judged. */
const TRIAL_LOOKUPS = 2_048
/** A route with a lower hit rate is switched off: a cache that never hits costs 16 % of the throughput. */
const POOR_HIT_RATE = 0.05
/** Requests for which a route stays off before it is tried again. */
const PAUSE_LOOKUPS = 32_768

/**
 * Answers made from the current version of all shards, by operation and query. No answer is served that a commit, halt or
 * reorg may have changed: every look-up first drops those. Bounded in bytes; a route that hardly hits is switched off for a
 * while.
 */
export class AnswerCache {
  private readonly maxBytes: number
  private current: AnswerVersion = NO_VERSION
  /** Answers that hold until the next commit of any shard. */
  private readonly live: Shelf
  /** Answers that hold until the next reorg or halt. */
  private readonly lasting: Shelf
  private readonly spellings = new Spellings()
  private readonly trials = new Map<string, Trial>()
  private hits = 0
  private misses = 0
  private readonly pool: SegmentPool
  private readonly now: () => number
  private readonly collect: () => void
  private trimmedAtMs: number
  private lookupsAtTrim = 0
  /** Bytes of what was dropped since garbage was last collected. */
  private droppedBytes = 0

  constructor(
    maxBytes: number,
    now: () => number = () => performance.now(),
    collect: () => void = collectGarbage,
  ) {
    this.maxBytes = maxBytes
    this.now = now
    this.collect = collect
    this.trimmedAtMs = now()
    this.pool = new SegmentPool(maxBytes)
    this.live = new Shelf(this.pool, now)
    this.lasting = new Shelf(this.pool, now)
  }

  /** False while the route is switched off: then neither `find` nor `keep` is worth its time. */
  isWorthwhile(label: string): boolean {
    if (this.maxBytes === 0) return false
    return this.trialOf(label).isOn()
  }

  /** Looks a query up as the client spelled it. A miss here is not counted: `find` may still know the parsed query. */
  findSpelling(
    label: string,
    rawQuery: string,
    coding: ContentCoding,
    version: AnswerVersion,
  ): CachedAnswer | undefined {
    this.moveTo(version)
    const found = this.spellings.find(label, coding, rawQuery)
    if (found === undefined) return undefined
    this.trialOf(label).count(true)
    this.hits++
    return found
  }

  find(label: string, key: string, coding: ContentCoding, version: AnswerVersion): CachedAnswer | undefined {
    this.moveTo(version)
    const found = this.entryOf(label, coding, key)?.answer
    this.trialOf(label).count(found !== undefined)
    if (found === undefined) this.misses++
    else this.hits++
    return found
  }

  /** Remembers which entry `rawQuery` leads to. */
  addSpelling(label: string, rawQuery: string, coding: ContentCoding, key: string): void {
    if (rawQuery.length > MAX_SPELLING_LENGTH) return
    const entry = this.entryOf(label, coding, key)
    if (entry !== undefined) this.spellings.add(label, coding, rawQuery, entry)
  }

  /**
   * Keeps a copy of `answer`, unless the shards have moved since it was made.
   * @returns the copy, where it can be sent in place of the answer, so that it need not be copied for a client that is slow to take it.
   */
  keep(
    label: string,
    key: string,
    coding: ContentCoding,
    answer: CachedAnswer,
    madeFrom: AnswerVersion,
    now: AnswerVersion,
  ): CachedAnswer | undefined {
    this.moveTo(now)
    const isCurrent = answer.life === 'epoch' ? hasOnlyGrown(madeFrom, now) : isSameVersion(madeFrom, now)
    if (!isCurrent) return undefined
    const shelf = answer.life === 'epoch' ? this.lasting : this.live
    const name = nameOf(label, coding, key)
    const more = shelf.bytesFor(name, answer)
    // One page must not empty the cache for everybody else.
    if (more > this.maxBytes / 16) return undefined
    while (this.heldBytes() + shelf.bytesFor(name, answer) > this.maxBytes) this.makeRoom()
    return shelf.put(name, answer)
  }

  /** Drops what was kept for long, and gives memory back that is not needed any more. To be called about once a second. */
  expire(): void {
    const nowMs = this.now()
    for (const shelf of [this.live, this.lasting]) this.droppedBytes += shelf.dropOlder(nowMs - KEPT_MS)
    if (nowMs - this.trimmedAtMs < TRIM_MS) return
    this.trimmedAtMs = nowMs
    giveBackNeedless()
    const trimmedBytes = this.pool.trim()
    if (trimmedBytes > 0) this.spellings.clear()
    this.droppedBytes += trimmedBytes
    const lookups = this.hits + this.misses
    const isAsked = lookups > this.lookupsAtTrim
    this.lookupsAtTrim = lookups
    // Whoever asks meanwhile would wait for it.
    if (isAsked || this.droppedBytes < COLLECTED_BYTES) return
    this.droppedBytes = 0
    this.collect()
  }

  stats(): CacheStats {
    return { hits: this.hits, misses: this.misses, bytes: this.live.bytes + this.lasting.bytes }
  }

  private heldBytes(): number {
    return this.pool.bytes + this.live.longBytes + this.lasting.longBytes
  }

  private makeRoom(): void {
    if (this.pool.hasEmpty) {
      // Those that still lead there would keep its memory.
      this.spellings.clear()
      this.pool.dropEmpty()
    } else if (this.live.bytes > 0) this.live.dropOldest()
    else this.lasting.dropOldest()
  }

  /** Drops what does not hold at `version`. */
  private moveTo(version: AnswerVersion): void {
    if (isSameVersion(version, this.current)) return
    this.spellings.clear()
    this.live.clear()
    if (!hasOnlyGrown(version, this.current)) this.lasting.clear()
    this.current = version
  }

  private entryOf(label: string, coding: ContentCoding, key: string): Entry | undefined {
    const name = nameOf(label, coding, key)
    return this.live.get(name) ?? this.lasting.get(name)
  }

  private trialOf(label: string): Trial {
    let trial = this.trials.get(label)
    if (trial === undefined) {
      trial = new Trial()
      this.trials.set(label, trial)
    }
    return trial
  }
}

function nameOf(label: string, coding: ContentCoding, key: string): string {
  return `${label} ${coding} ${key.length > MAX_KEY_LENGTH ? hash('sha256', key, 'base64') : key}`
}

/** Decides whether looking up a route's answers is worth the time. */
class Trial {
  private lookups = 0
  private hits = 0
  private pause = 0

  isOn(): boolean {
    if (this.pause === 0) return true
    this.pause--
    return false
  }

  count(isHit: boolean): void {
    this.lookups++
    if (isHit) this.hits++
    if (this.lookups < TRIAL_LOOKUPS) return
    if (this.hits < this.lookups * POOR_HIT_RATE) this.pause = PAUSE_LOOKUPS
    this.lookups = 0
    this.hits = 0
  }
}

interface Entry {
  /** Undefined once the entry was dropped. */
  readonly answer: CachedAnswer | undefined
}

/** Raw query → its entry, in one map per operation and coding, so that a look-up joins no strings. */
class Spellings {
  private size = 0
  private readonly maps: Record<string, { [Coding in ContentCoding]?: Map<string, Entry> } | undefined> = {}

  find(label: string, coding: ContentCoding, rawQuery: string): CachedAnswer | undefined {
    return this.maps[label]?.[coding]?.get(rawQuery)?.answer
  }

  add(label: string, coding: ContentCoding, rawQuery: string, entry: Entry): void {
    if (this.size >= MAX_SPELLINGS) this.clear()
    this.maps[label] ??= {}
    this.maps[label][coding] ??= new Map()
    this.maps[label][coding].set(rawQuery, entry)
    this.size++
  }

  clear(): void {
    if (this.size === 0) return
    for (const codings of Object.values(this.maps))
      for (const map of Object.values(codings ?? {})) map.clear()
    this.size = 0
  }
}

/** An answer among packed ones. */
class PackedEntry implements Entry {
  private readonly packed: PackedAnswers
  private readonly place: number
  private readonly found: CachedAnswer

  constructor(packed: PackedAnswers, place: number) {
    this.packed = packed
    this.place = place
    this.found = packed.read(place)
  }

  get answer(): CachedAnswer | undefined {
    return this.packed.has(this.place) ? this.found : undefined
  }
}

/** An answer too long to be packed. */
interface LongEntry extends Entry {
  /** Undefined so that a spelling that still leads to it does not keep the body in memory. */
  answer: CachedAnswer | undefined
  readonly size: number
  readonly keptAtMs: number
}

/** Answers by name. It counts their bytes and can drop the oldest. */
class Shelf {
  longBytes = 0
  private readonly packed: PackedAnswers
  private readonly long = new Map<string, LongEntry>()
  private readonly now: () => number

  constructor(pool: SegmentPool, now: () => number) {
    this.packed = new PackedAnswers(pool, now)
    this.now = now
  }

  get bytes(): number {
    return this.packed.bytes + this.longBytes
  }

  get(name: string): Entry | undefined {
    const place = this.packed.find(name)
    return place === undefined ? this.long.get(name) : new PackedEntry(this.packed, place)
  }

  /** Bytes that `put` would take besides those of the pool. */
  bytesFor(name: string, answer: CachedAnswer): number {
    if (this.packed.takes(name, answer)) return this.packed.bytesFor(name, answer)
    return name.length + answer.body.length + ENTRY_BYTES
  }

  /** Keeps a copy: the body is lent, the next batch overwrites it. @returns the copy, if it is not packed. */
  put(name: string, answer: CachedAnswer): CachedAnswer | undefined {
    if (this.packed.takes(name, answer)) {
      this.packed.put(name, answer)
      return undefined
    }
    this.drop(name)
    const size = this.bytesFor(name, answer)
    const kept = { ...answer, body: copyOf(answer.body), isLent: false }
    this.long.set(name, { answer: kept, size, keptAtMs: this.now() })
    this.longBytes += size
    return kept
  }

  dropOldest(): void {
    if (this.packed.bytes > this.longBytes) this.packed.dropOldest()
    else this.dropOldestLong()
  }

  /** @returns the bytes of long answers that were dropped. */
  dropOlder(beforeMs: number): number {
    while ((this.packed.oldestAtMs() ?? beforeMs) < beforeMs) this.packed.dropOldest()
    const { longBytes } = this
    for (const [name, { keptAtMs }] of this.long) {
      if (keptAtMs >= beforeMs) break
      this.drop(name)
    }
    return longBytes - this.longBytes
  }

  clear(): void {
    this.packed.clear()
    for (const name of this.long.keys()) this.drop(name)
  }

  private dropOldestLong(): void {
    for (const name of this.long.keys()) {
      this.drop(name)
      return
    }
  }

  private drop(name: string): void {
    const entry = this.long.get(name)
    if (entry === undefined) return
    this.long.delete(name)
    this.longBytes -= entry.size
    if (entry.answer !== undefined) letGo(entry.answer.body)
    entry.answer = undefined
  }
}
