import type { QueryReply } from './batchMessages.js'
import type { NamedQuery } from './queryCodec.js'

/** A query that waits for its answer. */
export interface PoolRequest extends NamedQuery {
  /** Takes the answer. Called once, and only after `submit` has returned. The body is valid until it returns. Must not throw. */
  deliver(reply: QueryReply): void
}

/** Bounds how long the first request of a batch waits for the last. */
const MAX_BATCH_REQUESTS = 256
/** Most estimated bytes of answers per batch: about six pages of 100, 0.3 ms. Batches of 64 pages of 36 KB had a p99 of 10 ms. */
const MAX_BATCH_BYTES = 768 * 1024
/** An answer estimated above this goes alone, in the lane for large ones. */
const LARGE_BYTES = 256 * 1024
/** Splitting a smaller batch costs more in messages than a second thread gains. */
const MIN_SHARE = 16

interface Waiting {
  readonly request: PoolRequest
  readonly estimatedBytes: number
}

/** Requests that wait for a batch: point queries and usual pages in one lane, large pages in the other, each in order. */
export class RequestLanes {
  private readonly usual = new Queue<Waiting>()
  private readonly large = new Queue<Waiting>()

  get size(): number {
    return this.usual.size + this.large.size
  }

  get hasUsual(): boolean {
    return this.usual.size > 0
  }

  get usualSize(): number {
    return this.usual.size
  }

  get hasLarge(): boolean {
    return this.large.size > 0
  }

  /** @returns the lane that the request was put into. */
  add(request: PoolRequest, estimatedBytes: number): 'usual' | 'large' {
    const lane = estimatedBytes > LARGE_BYTES ? 'large' : 'usual'
    this[lane].push({ request, estimatedBytes })
    return lane
  }

  /** Takes a batch from the usual lane, sized so that `idleWorkers` share what waits. */
  takeUsual(idleWorkers: number): PoolRequest[] {
    const share = Math.max(MIN_SHARE, Math.ceil(this.usual.size / Math.max(1, idleWorkers)))
    const limit = Math.min(MAX_BATCH_REQUESTS, share)
    const batch: PoolRequest[] = []
    let bytes = 0
    while (batch.length < limit) {
      const next = this.usual.peek()
      if (next === undefined || (batch.length > 0 && bytes + next.estimatedBytes > MAX_BATCH_BYTES)) break
      this.usual.shift()
      bytes += next.estimatedBytes
      batch.push(next.request)
    }
    return batch
  }

  takeLarge(): PoolRequest[] {
    const next = this.large.shift()
    return next === undefined ? [] : [next.request]
  }
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
}
