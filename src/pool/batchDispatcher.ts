import { NO_VERSION } from '../board/shardVersion.js'
import { InvariantError } from '../errors/invariantError.js'
import type { Logger } from '../telemetry/logger.js'
import type { PoolMetrics } from '../telemetry/metrics.js'
import { decodeReplies, type QueryReply } from './batchMessages.js'
import { BatchSlots, type BatchTask, type SlotMemory } from './batchSlots.js'
import { QueryWriter } from './queryCodec.js'
import { type PoolRequest, RequestLanes } from './requestLanes.js'

export interface PoolStats {
  /** Requests that wait for a batch. */
  readonly waiting: number
  readonly batchesInFlight: number
  readonly requests: number
  readonly batches: number
  readonly failedBatches: number
}

export interface BatchDispatcherOptions {
  /** Hands a batch to a worker; rejects when the worker died or the whole batch failed. @returns a reply that its slot can't hold. */
  run(task: BatchTask): Promise<ArrayBuffer | undefined>
  /** One slot more than `maxInFlight`. */
  readonly slots: SlotMemory
  readonly workers: number
  readonly maxInFlight: number
  readonly maxWaiting: number
  readonly logger: Logger
  readonly metrics: PoolMetrics
  /** Milliseconds in which this thread ran. */
  readonly now: () => number
  onCorruptStore(networkId: number | null, message: string): void
}

/** A batch out for longer than this is stuck: the slowest page takes milliseconds. */
const STALLED_MS = 10_000
/** A worker that has a batch gets another one beside it once so many requests wait. */
const MIN_SECOND_BATCH = 16
/** So many batches in a row that failed whole: the workers do not come up. */
const FAILURES_TO_DIE = 3

/**
 * Makes batches of requests, keeps a bounded number of them out, and gives each request exactly one answer.
 *
 * Running tasks are never aborted (that kills their thread). When a batch fails whole, because its worker died, its
 * requests are asked once more, one at a time with nothing else out, so that only the request that kills again fails.
 */
export class BatchDispatcher {
  private readonly options: BatchDispatcherOptions
  private readonly lanes = new RequestLanes()
  private readonly writer = new QueryWriter()
  private readonly slots: BatchSlots
  private readonly freeSlots: number[]
  private readonly startedAt = new Set<{ readonly atMs: number }>()
  private suspects: PoolRequest[] = []
  private largeInFlight = 0
  /** Places for large answers that stay empty for a while. */
  private largeResting = 0
  /** Whether a usual request came since the last large answer. */
  private hasOthers = false
  private isScheduled = false
  private isClosing = false
  private failuresInARow = 0
  private whenIdle: (() => void) | undefined
  private readonly counts = { requests: 0, batches: 0, failedBatches: 0 }
  private readonly flush = (): void => {
    this.isScheduled = false
    this.pump()
  }

  constructor(options: BatchDispatcherOptions) {
    this.options = options
    this.slots = new BatchSlots(options.slots)
    this.freeSlots = Array.from({ length: options.slots.count }, (_, slot) => slot)
  }

  submit(request: PoolRequest, estimatedBytes: number): boolean {
    if (this.isClosing) return this.refuse('draining')
    if (this.lanes.size + this.suspects.length >= this.options.maxWaiting) return this.refuse('queue_full')
    if (this.lanes.add(request, estimatedBytes) === 'usual') this.hasOthers = true
    this.counts.requests++
    if (!this.isScheduled) {
      this.isScheduled = true
      // Runs after all requests that this turn of the loop has read from the sockets.
      setImmediate(this.flush)
    }
    return true
  }

  isAlive(): boolean {
    if (this.failuresInARow >= FAILURES_TO_DIE) return false
    const limit = this.options.now() - STALLED_MS
    for (const { atMs } of this.startedAt) if (atMs < limit) return false
    return true
  }

  stats(): PoolStats {
    return {
      waiting: this.lanes.size + this.suspects.length,
      batchesInFlight: this.startedAt.size,
      ...this.counts,
    }
  }

  /** Refuses what is new from now on. @returns when everything that waited has its answer. */
  async drain(): Promise<void> {
    this.isClosing = true
    if (this.isIdle()) return
    await new Promise<void>((resolve) => {
      this.whenIdle = resolve
    })
  }

  private refuse(reason: 'queue_full' | 'draining'): false {
    this.options.metrics.rejected(reason)
    return false
  }

  private isIdle(): boolean {
    return this.lanes.size === 0 && this.suspects.length === 0 && this.startedAt.size === 0
  }

  private pump(): void {
    if (this.suspects.length > 0) {
      if (this.startedAt.size === 0) this.dispatch([this.suspects.shift()!], 'alone')
      return
    }
    const { maxInFlight, workers } = this.options
    while (this.startedAt.size < maxInFlight) {
      // At most one large answer per worker, so that the usual ones always have a place.
      if (this.lanes.hasLarge && this.largeInFlight + this.largeResting < workers)
        this.dispatch(this.lanes.takeLarge(), 'large')
      else if (this.isUsualDue()) this.dispatch(this.lanes.takeUsual(workers - this.startedAt.size), 'usual')
      else break
    }
    if (this.isClosing && this.isIdle()) this.whenIdle?.()
  }

  /**
   * Whether the usual lane should go now. An idle worker gets what there is at once, and so does one that is busy with a large
   * answer; behind another batch it pays to wait until there are some: a batch costs as much as ten points.
   */
  private isUsualDue(): boolean {
    const { lanes, startedAt, largeInFlight } = this
    if (!lanes.hasUsual) return false
    return startedAt.size < this.options.workers || largeInFlight > 0 || lanes.usualSize >= MIN_SECOND_BATCH
  }

  private dispatch(requests: readonly PoolRequest[], kind: 'usual' | 'large' | 'alone'): void {
    for (const request of requests) this.writer.append(request)
    const slot = this.freeSlots.pop()
    if (slot === undefined) throw new InvariantError('a batch goes out and all slots are taken')
    const started = { atMs: this.options.now() }
    this.startedAt.add(started)
    if (kind === 'large') this.largeInFlight++
    this.counts.batches++
    const finish = (): void => {
      this.startedAt.delete(started)
      if (kind === 'large') this.endLarge(started.atMs)
      this.options.metrics.batchFinished(requests.length, (this.options.now() - started.atMs) / 1000)
    }
    this.options.run(this.slots.putQueries(slot, this.writer.take())).then(
      (reply) => {
        finish()
        this.failuresInARow = 0
        // The worker gets its next batch before this thread writes the answers of the last one.
        this.pump()
        const bytes = reply === undefined ? this.slots.replyOf(slot) : new Uint8Array(reply)
        this.settleAll(requests, decodeReplies(bytes))
        this.freeSlots.push(slot)
        this.pump()
      },
      (error: unknown) => {
        // Its worker is gone, or has nothing more to do with the slot.
        this.freeSlots.push(slot)
        finish()
        this.failuresInARow++
        this.counts.failedBatches++
        this.options.logger.error('query batch failed', { requests: requests.length, error })
        if (kind === 'alone') this.settle(requests[0]!, deathReply(requests[0]!, error))
        else this.suspects.push(...requests)
        this.pump()
      },
    )
  }

  /**
   * Behind a large answer its place stays empty for as long as it took, if others came since the last one: beside them large
   * answers get half of a worker's time at most, and as much less of the front's and of the cores that all share.
   */
  private endLarge(startedAtMs: number): void {
    this.largeInFlight--
    const { hasOthers } = this
    this.hasOthers = false
    if (!hasOthers || this.isClosing) return
    this.largeResting++
    const rest = setTimeout(() => {
      this.largeResting--
      this.pump()
    }, this.options.now() - startedAtMs)
    // It alone is nothing to live for.
    rest.unref()
  }

  private settleAll(requests: readonly PoolRequest[], replies: readonly QueryReply[]): void {
    for (let index = 0; index < requests.length; index++) {
      const reply = replies[index]!
      if (reply.fault?.isInvariant === true)
        this.options.onCorruptStore(reply.fault.networkId, reply.fault.message)
      this.settle(requests[index]!, reply)
    }
  }

  private settle(request: PoolRequest, reply: QueryReply): void {
    try {
      request.settle(reply)
    } catch (error) {
      // One answer that can't be written must not keep the others of its batch waiting.
      this.options.logger.error('answer not delivered', { operation: request.operation, error })
    }
  }
}

function deathReply({ query }: PoolRequest, error: unknown): QueryReply {
  const cause = error instanceof Error ? error : new Error(String(error))
  return {
    status: 500,
    body: new Uint8Array(0),
    coding: 'identity',
    tag: new Uint8Array(0),
    retryAfterSec: 0,
    life: undefined,
    version: NO_VERSION,
    fault: {
      name: cause.name,
      message: `worker died twice on this query: ${cause.message}`,
      stack: cause.stack ?? '',
      isInvariant: false,
      networkId: query.networkId ?? null,
    },
  }
}
