import { NO_VERSION } from '../board/version.js'
import { InvariantError } from '../errors/invariantError.js'
import type { PoolMetrics } from '../telemetry/frontCounts.js'
import type { Logger } from '../telemetry/logger.js'
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
  /**
   * Hands a batch to a worker. Rejects when the worker died or the whole batch failed.
   * @returns the reply if it does not fit into its slot, else undefined.
   */
  run(task: BatchTask): Promise<ArrayBuffer | undefined>
  /** One slot more than `maxInFlight`. */
  readonly slots: SlotMemory
  readonly workers: number
  readonly maxInFlight: number
  /** Most requests that wait in one lane. */
  readonly maxWaiting: number
  readonly logger: Logger
  readonly metrics: PoolMetrics
  /** Milliseconds of running time: time in which the process was stopped does not count. */
  readonly now: () => number
  onCorruptStore(networkId: number | null, message: string): void
  /** Called once, when nothing is in flight any more. */
  endThreads(): Promise<void>
}

/** A batch in flight for longer than this is stuck: the slowest page takes milliseconds. */
const STALLED_MS = 10_000
/** A busy worker is sent a second batch once this many requests wait. */
const MIN_SECOND_BATCH = 16
/** After this many failed batches in a row the pool counts as dead: its workers do not come up. */
const FAILURES_TO_DIE = 3

/**
 * Makes batches of requests, keeps a bounded number of them in flight, and gives each request exactly one answer.
 *
 * Running tasks are never aborted: that would kill their thread. When a whole batch fails because its worker died, its
 * requests are sent again one at a time, with nothing else in flight, so that only the one that kills a worker again fails.
 */
export class BatchDispatcher {
  private readonly options: BatchDispatcherOptions
  private readonly lanes: RequestLanes
  private readonly writer = new QueryWriter()
  private readonly slots: BatchSlots
  private readonly freeSlots: number[]
  /** Batches that workers have, and when they were sent. */
  private readonly inFlight = new Set<{ readonly startedAtMs: number }>()
  /** Requests of failed batches: one of them may have killed its worker. */
  private suspects: PoolRequest[] = []
  private largeInFlight = 0
  /** Places for large answers that are kept empty for a while (`endLarge`). */
  private largePaused = 0
  /** Whether a usual request came since the last large answer. */
  private hadUsual = false
  private isScheduled = false
  private isClosing = false
  private failuresInARow = 0
  private whenIdle: (() => void) | undefined
  private readonly counts = { requests: 0, batches: 0, failedBatches: 0 }
  private readonly flush = (): void => {
    this.isScheduled = false
    this.lanes.endTurn()
    this.pump()
  }

  constructor(options: BatchDispatcherOptions) {
    this.options = options
    this.lanes = new RequestLanes(options.maxWaiting)
    this.slots = new BatchSlots(options.slots)
    this.freeSlots = Array.from({ length: options.slots.count }, (_, slot) => slot)
  }

  submit(request: PoolRequest): boolean {
    if (this.isClosing) return this.refuse('draining')
    const kind = this.lanes.add(request)
    if (!this.isScheduled) {
      this.isScheduled = true
      // Runs after all requests that this turn of the loop has read from the sockets.
      setImmediate(this.flush)
    }
    if (kind === undefined) return this.refuse('queue_full')
    if (kind === 'usual') this.hadUsual = true
    this.counts.requests++
    return true
  }

  isAlive(): boolean {
    if (this.failuresInARow >= FAILURES_TO_DIE) return false
    const limit = this.options.now() - STALLED_MS
    for (const { startedAtMs } of this.inFlight) if (startedAtMs < limit) return false
    return true
  }

  stats(): PoolStats {
    return {
      waiting: this.lanes.size + this.suspects.length,
      batchesInFlight: this.inFlight.size,
      ...this.counts,
    }
  }

  /** Refuses new requests from now on, ends the threads when everything that waited has its answer. */
  async close(): Promise<void> {
    this.isClosing = true
    if (!this.isIdle())
      await new Promise<void>((resolve) => {
        this.whenIdle = resolve
      })
    await this.options.endThreads()
  }

  private refuse(reason: 'queue_full' | 'draining'): false {
    this.options.metrics.rejected(reason)
    return false
  }

  private isIdle(): boolean {
    return this.lanes.size === 0 && this.suspects.length === 0 && this.inFlight.size === 0
  }

  private pump(): void {
    if (this.suspects.length > 0 && this.inFlight.size > 0) return
    for (let suspect = this.suspects.shift(); suspect !== undefined; suspect = this.suspects.shift()) {
      if (!suspect.isWanted()) continue
      this.dispatch([suspect], 'alone')
      return
    }
    const { maxInFlight, workers } = this.options
    while (this.inFlight.size < maxInFlight) {
      // At most one large answer per worker, so that the usual ones always have a place.
      if (this.lanes.hasLarge && this.largeInFlight + this.largePaused < workers)
        this.dispatch(this.lanes.takeLarge(), 'large')
      else if (this.isUsualDue()) this.dispatch(this.lanes.takeUsual(workers - this.inFlight.size), 'usual')
      else break
    }
    if (this.isClosing && this.isIdle()) this.whenIdle?.()
  }

  /**
   * Whether to send a batch of the usual lane now: at once when a worker is idle, or busy with a large answer. Behind another
   * usual batch it pays to wait until more requests have come: a batch costs as much as ten point queries.
   */
  private isUsualDue(): boolean {
    const { lanes, inFlight, largeInFlight } = this
    if (!lanes.hasUsual) return false
    return inFlight.size < this.options.workers || largeInFlight > 0 || lanes.usualSize >= MIN_SECOND_BATCH
  }

  private dispatch(requests: readonly PoolRequest[], kind: 'usual' | 'large' | 'alone'): void {
    if (requests.length === 0) return
    for (const request of requests) this.writer.append(request)
    const slot = this.freeSlots.pop()
    if (slot === undefined) throw new InvariantError('a batch is to be sent while all slots are taken')
    const started = { startedAtMs: this.options.now() }
    this.inFlight.add(started)
    if (kind === 'large') this.largeInFlight++
    this.counts.batches++
    const finish = (): void => {
      this.inFlight.delete(started)
      if (kind === 'large') this.endLarge(started.startedAtMs)
      this.options.metrics.batchFinished(requests.length, (this.options.now() - started.startedAtMs) / 1000)
    }
    this.options.run(this.slots.putQueries(slot, this.writer.take())).then(
      (reply) => {
        finish()
        this.failuresInARow = 0
        // The worker gets its next batch before this thread writes the answers of the last one.
        this.pump()
        const bytes = reply === undefined ? this.slots.replyOf(slot) : new Uint8Array(reply)
        this.deliverAll(requests, decodeReplies(bytes))
        this.freeSlots.push(slot)
        this.pump()
      },
      (error: unknown) => {
        // The worker is gone, or no longer uses the slot.
        this.slots.drop(slot)
        this.freeSlots.push(slot)
        finish()
        this.failuresInARow++
        this.counts.failedBatches++
        this.options.logger.error('query batch failed', { requests: requests.length, error })
        if (kind === 'alone') this.deliver(requests[0]!, deathReply(requests[0]!, error))
        else this.suspects.push(...requests)
        this.pump()
      },
    )
  }

  /**
   * After a large answer its place stays empty for as long as the answer took, if usual requests came since the large answer
   * before it. So beside usual requests, large answers take at most half of a worker's time, and they load the front less, too.
   */
  private endLarge(startedAtMs: number): void {
    this.largeInFlight--
    const { hadUsual } = this
    this.hadUsual = false
    if (!hadUsual || this.isClosing) return
    this.largePaused++
    const pause = setTimeout(() => {
      this.largePaused--
      this.pump()
    }, this.options.now() - startedAtMs)
    // The timer alone must not keep the process alive.
    pause.unref()
  }

  private deliverAll(requests: readonly PoolRequest[], replies: readonly QueryReply[]): void {
    for (let index = 0; index < requests.length; index++) {
      const reply = replies[index]!
      if (reply.fault?.isInvariant === true)
        this.options.onCorruptStore(reply.fault.networkId, reply.fault.message)
      this.deliver(requests[index]!, reply)
    }
  }

  private deliver(request: PoolRequest, reply: QueryReply): void {
    try {
      request.deliver(reply)
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
