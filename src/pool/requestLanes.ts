import type { QueryReply } from './batchMessages.js'
import { estimateBytes, estimateWork, isLarge, isPoint } from './estimates.js'
import type { NamedQuery } from './queryCodec.js'

/** A query that waits for its answer. */
export interface PoolRequest extends NamedQuery {
  /** False once nobody waits for the answer any more: the client has gone, or was told that it takes too long. */
  isWanted(): boolean
  /** Takes the answer. Called at most once, and only after `submit` has returned. The body is valid until it returns. Must not throw. */
  deliver(reply: QueryReply): void
}

/** Bounds how long the first request of a batch waits for the last. */
const MAX_BATCH_REQUESTS = 256
/** Most estimated bytes of answers per batch: about six pages of 100, 0.3 ms. Batches of 64 pages of 36 KB had a p99 of 10 ms. */
const MAX_BATCH_BYTES = 768 * 1024
/** Most estimated work of the points of a batch, and of its pages: two of 100 rows that are compressed, some 2 ms. */
const MAX_BATCH_WORK = 1_100_000
/** Splitting a smaller batch costs more in messages than a second thread gains. */
const MIN_SHARE = 16

interface Waiting {
  readonly request: PoolRequest
  readonly bytes: number
  readonly work: number
}

/**
 * Requests that wait for a batch, in lanes by their work, each in order and with a bound of its own: points (a record, a proof, a few
 * rows), pages, and large pages. So no number of pages keeps a point waiting for long, or has it refused.
 */
export class RequestLanes {
  private readonly points = new Queue<Waiting>()
  private readonly pages = new Queue<Waiting>()
  private readonly large = new Queue<Waiting>()
  private readonly maxWaiting: number
  private isSwept = false

  /** @param maxWaiting most requests of a lane. */
  constructor(maxWaiting: number) {
    this.maxWaiting = maxWaiting
  }

  get size(): number {
    return this.usualSize + this.large.size
  }

  get hasUsual(): boolean {
    return this.usualSize > 0
  }

  get usualSize(): number {
    return this.points.size + this.pages.size
  }

  get hasLarge(): boolean {
    return this.large.size > 0
  }

  /** @returns the kind of batch that the request will be part of; undefined when its lane is full. */
  add(request: PoolRequest): 'usual' | 'large' | undefined {
    const bytes = request.isTagless === true ? 0 : estimateBytes(request)
    const work = estimateWork(request, bytes)
    const isForLarge = isLarge(bytes) || work > MAX_BATCH_WORK
    const lane = isForLarge ? this.large : isPoint(work) ? this.points : this.pages
    if (lane.size >= this.maxWaiting && !this.hasRoomOnceSwept(lane)) return undefined
    lane.push({ request, bytes, work })
    return isForLarge ? 'large' : 'usual'
  }

  /** A turn of the event loop has ended. */
  endTurn(): void {
    this.isSwept = false
  }

  /**
   * Takes a batch of points and pages, sized so that `idleWorkers` share what waits. Each batch has some of both lanes. It may be empty:
   * what nobody waits for any more is left out.
   */
  takeUsual(idleWorkers: number): PoolRequest[] {
    const batch: PoolRequest[] = []
    const { points, pages } = this
    let bytes = 0
    let work = 0
    let end = shareOf(points.size, idleWorkers)
    for (let next = points.peek(); next !== undefined && batch.length < end; next = points.peek()) {
      if (next.request.isWanted()) {
        if (bytes + next.bytes > MAX_BATCH_BYTES || work + next.work > MAX_BATCH_WORK) break
        bytes += next.bytes
        work += next.work
        batch.push(next.request)
      }
      points.shift()
    }
    work = 0
    end = batch.length + shareOf(pages.size, idleWorkers)
    for (let next = pages.peek(); next !== undefined && batch.length < end; next = pages.peek()) {
      if (next.request.isWanted()) {
        // One page at least, or an endless stream of points would keep it waiting.
        if (work > 0 && (work + next.work > MAX_BATCH_WORK || bytes + next.bytes > MAX_BATCH_BYTES)) break
        bytes += next.bytes
        work += next.work
        batch.push(next.request)
      }
      pages.shift()
    }
    return batch
  }

  /** @returns one large page; nothing when nobody waits for one any more. */
  takeLarge(): PoolRequest[] {
    for (let next = this.large.shift(); next !== undefined; next = this.large.shift())
      if (next.request.isWanted()) return [next.request]
    return []
  }

  /** Clients that ask and leave must not have others refused. Once per turn, since it looks at all that wait. */
  private hasRoomOnceSwept(lane: Queue<Waiting>): boolean {
    if (this.isSwept) return false
    this.isSwept = true
    for (const each of [this.points, this.pages, this.large]) each.keep(({ request }) => request.isWanted())
    return lane.size < this.maxWaiting
  }
}

function shareOf(size: number, idleWorkers: number): number {
  return Math.min(MAX_BATCH_REQUESTS, Math.max(MIN_SHARE, Math.ceil(size / Math.max(1, idleWorkers))))
}

/** First in, first out; taking one does not move the others. */
class Queue<T> {
  private items: T[] = []
  private head = 0

  get size(): number {
    return this.items.length - this.head
  }

  push(item: T): void {
    this.items.push(item)
  }

  peek(): T | undefined {
    return this.items[this.head]
  }

  shift(): T | undefined {
    const item = this.items[this.head]
    if (item === undefined) return undefined
    this.head++
    if (this.head === this.items.length || this.head > 1024) {
      this.items = this.items.slice(this.head)
      this.head = 0
    }
    return item
  }

  keep(isKept: (item: T) => boolean): void {
    this.items = this.items.slice(this.head).filter(isKept)
    this.head = 0
  }
}
