import { hash } from 'node:crypto'
import type { AnswerLife } from '../api/present/present.js'
import { type AnswerVersion, hasOnlyGrown, isSameVersion, NO_VERSION } from '../board/version.js'
import type { ContentCoding } from '../pool/contentCoding.js'
import type { OperationId } from '../query/queries.js'
import type { Outgoing } from './wire/exchange.js'

/** An answer that may be given again. */
export interface CachedAnswer extends Outgoing {
  readonly body: Uint8Array
  readonly life: AnswerLife
  /** What the answer costs under a rate limit. */
  readonly tokens: number
}

export interface CacheStats {
  readonly hits: number
  readonly misses: number
  readonly bytes: number
}

/** What an entry costs besides its name and its body: heap growth measured over 100,000 entries of 10 bytes. */
const ENTRY_BYTES = 640

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
  private readonly live = new Shelf()
  /** Answers that hold until the next reorg or halt. */
  private readonly lasting = new Shelf()
  private readonly spellings = new Spellings()
  private readonly trials = new Map<OperationId, Trial>()
  private hits = 0
  private misses = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** False while the route is switched off: then neither `find` nor `keep` is worth its time. */
  isWorthwhile(operation: OperationId): boolean {
    if (this.maxBytes === 0) return false
    return this.trialOf(operation).isOn()
  }

  /** Looks a query up as the client spelled it. A miss here is not counted: `find` may still know the parsed query. */
  findSpelling(
    operation: OperationId,
    rawQuery: string,
    coding: ContentCoding,
    version: AnswerVersion,
  ): CachedAnswer | undefined {
    this.moveTo(version)
    const found = this.spellings.find(operation, coding, rawQuery)
    if (found === undefined) return undefined
    this.trialOf(operation).count(true)
    this.hits++
    return found
  }

  find(
    operation: OperationId,
    key: string,
    coding: ContentCoding,
    version: AnswerVersion,
  ): CachedAnswer | undefined {
    this.moveTo(version)
    const found = this.entryOf(operation, coding, key)?.answer
    this.trialOf(operation).count(found !== undefined)
    if (found === undefined) this.misses++
    else this.hits++
    return found
  }

  /** Remembers which entry `rawQuery` leads to. */
  addSpelling(operation: OperationId, rawQuery: string, coding: ContentCoding, key: string): void {
    if (rawQuery.length > MAX_SPELLING_LENGTH) return
    const entry = this.entryOf(operation, coding, key)
    if (entry !== undefined) this.spellings.add(operation, coding, rawQuery, entry)
  }

  /** Keeps a copy of `answer`, unless the shards have moved since it was made. */
  keep(
    operation: OperationId,
    key: string,
    coding: ContentCoding,
    answer: CachedAnswer,
    madeFrom: AnswerVersion,
    now: AnswerVersion,
  ): void {
    this.moveTo(now)
    const isCurrent = answer.life === 'epoch' ? hasOnlyGrown(madeFrom, now) : isSameVersion(madeFrom, now)
    const name = nameOf(operation, coding, key)
    const size = name.length + answer.body.length + ENTRY_BYTES
    // One page must not empty the cache for everybody else.
    if (!isCurrent || size > this.maxBytes / 16) return
    const shelf = answer.life === 'epoch' ? this.lasting : this.live
    // The body is lent: the next batch overwrites it.
    shelf.put(name, { ...answer, body: answer.body.slice(), isLent: false }, size)
    while (this.live.bytes + this.lasting.bytes > this.maxBytes)
      (this.live.bytes > 0 ? this.live : this.lasting).dropOldest()
  }

  stats(): CacheStats {
    return { hits: this.hits, misses: this.misses, bytes: this.live.bytes + this.lasting.bytes }
  }

  /** Drops what does not hold at `version`. */
  private moveTo(version: AnswerVersion): void {
    if (isSameVersion(version, this.current)) return
    this.spellings.clear()
    this.live.clear()
    if (!hasOnlyGrown(version, this.current)) this.lasting.clear()
    this.current = version
  }

  private entryOf(operation: OperationId, coding: ContentCoding, key: string): Entry | undefined {
    const name = nameOf(operation, coding, key)
    return this.live.get(name) ?? this.lasting.get(name)
  }

  private trialOf(operation: OperationId): Trial {
    let trial = this.trials.get(operation)
    if (trial === undefined) {
      trial = new Trial()
      this.trials.set(operation, trial)
    }
    return trial
  }
}

function nameOf(operation: OperationId, coding: ContentCoding, key: string): string {
  return `${operation} ${coding} ${key.length > MAX_KEY_LENGTH ? hash('sha256', key, 'base64') : key}`
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
  /** Undefined once the entry was dropped, so that a spelling that still leads to it does not keep the body in memory. */
  answer: CachedAnswer | undefined
  readonly size: number
}

/** Raw query → its entry, in one map per operation and coding, so that a look-up joins no strings. */
class Spellings {
  private size = 0
  private readonly maps: { [K in OperationId]?: { [Coding in ContentCoding]?: Map<string, Entry> } } = {}

  find(operation: OperationId, coding: ContentCoding, rawQuery: string): CachedAnswer | undefined {
    return this.maps[operation]?.[coding]?.get(rawQuery)?.answer
  }

  add(operation: OperationId, coding: ContentCoding, rawQuery: string, entry: Entry): void {
    if (this.size >= MAX_SPELLINGS) this.clear()
    this.maps[operation] ??= {}
    this.maps[operation][coding] ??= new Map()
    this.maps[operation][coding].set(rawQuery, entry)
    this.size++
  }

  clear(): void {
    if (this.size === 0) return
    for (const codings of Object.values(this.maps)) for (const map of Object.values(codings)) map.clear()
    this.size = 0
  }
}

/** Entries by name. It counts their bytes and can drop the oldest. */
class Shelf {
  bytes = 0
  private readonly entries = new Map<string, Entry>()

  get(name: string): Entry | undefined {
    return this.entries.get(name)
  }

  put(name: string, answer: CachedAnswer, size: number): void {
    this.drop(name)
    this.entries.set(name, { answer, size })
    this.bytes += size
  }

  dropOldest(): void {
    for (const name of this.entries.keys()) {
      this.drop(name)
      return
    }
  }

  clear(): void {
    if (this.entries.size > 0) this.entries.clear()
    this.bytes = 0
  }

  private drop(name: string): void {
    const entry = this.entries.get(name)
    if (entry === undefined) return
    this.entries.delete(name)
    this.bytes -= entry.size
    entry.answer = undefined
  }
}
