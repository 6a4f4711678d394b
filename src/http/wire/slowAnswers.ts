import type { SlowReaderLimit } from '../../telemetry/frontCounts.js'
import { hold, letGo } from './bodyMemory.js'

/** An answer that is on its way out. */
interface Outbound {
  /** When it was ready. */
  readonly startedAtMs: number
  /** Ends its connection, and calls `SlowAnswers.delete`. */
  cut(): void
}

/** Most bytes of answers that wait in memory for their clients. */
const MOST_HELD_BYTES = 64 * 1024 ** 2

/**
 * Answers that are not out yet, because they are long or their clients are slow. What they hold of memory is bounded: beyond the bound
 * the clients that have taken nothing for longest are cut off. The system's own buffers hold a part of an answer, too, but some 100 KB
 * on a usual line, so that clients who ask for pages and take none would fill gigabytes within seconds.
 */
export class SlowAnswers<Answer extends Outbound> {
  /** What each answer is sent from, oldest first. */
  private readonly bodies = new Map<Answer, Uint8Array>()
  /** The one whose client has taken nothing for longest first. */
  private readonly bySilence = new Set<Answer>()
  /** How many answers are sent from the same body: all that find it in the cache. */
  private readonly readers = new Map<Uint8Array, number>()
  private readonly onCut: (limit: SlowReaderLimit) => void
  private readonly mostHeldBytes: number
  private heldBytes = 0
  private isScheduled = false
  private readonly relieve = (): void => {
    this.isScheduled = false
    for (const answer of this.bySilence) {
      // One answer alone may be longer than that.
      if (this.heldBytes <= this.mostHeldBytes || this.bySilence.size === 1) return
      this.cut(answer, 'memory')
    }
  }

  /** @param onCut called for each client that is cut off. */
  constructor(onCut: (limit: SlowReaderLimit) => void, mostHeldBytes = MOST_HELD_BYTES) {
    this.onCut = onCut
    this.mostHeldBytes = mostHeldBytes
  }

  get size(): number {
    return this.bodies.size
  }

  /** @param body memory that is kept until the answer is out. */
  add(answer: Answer, body: Uint8Array): void {
    hold(body)
    this.bodies.set(answer, body)
    this.bySilence.add(answer)
    const readers = this.readers.get(body) ?? 0
    this.readers.set(body, readers + 1)
    if (readers === 0) this.heldBytes += body.length
    if (this.heldBytes <= this.mostHeldBytes || this.isScheduled) return
    this.isScheduled = true
    // Not here, where another connection is being written to.
    setImmediate(this.relieve)
  }

  /** The client has taken some of it. */
  progress(answer: Answer): void {
    if (this.bySilence.delete(answer)) this.bySilence.add(answer)
  }

  delete(answer: Answer): void {
    const body = this.bodies.get(answer)
    if (body === undefined) return
    this.bodies.delete(answer)
    this.bySilence.delete(answer)
    const readers = this.readers.get(body)! - 1
    if (readers > 0) this.readers.set(body, readers)
    else {
      this.readers.delete(body)
      this.heldBytes -= body.length
    }
    letGo(body)
  }

  /** Cuts off clients whose answers were ready before then. */
  cutBefore(timeMs: number): void {
    for (const answer of this.bodies.keys()) {
      if (answer.startedAtMs > timeMs) return
      this.cut(answer, 'time')
    }
  }

  private cut(answer: Answer, limit: SlowReaderLimit): void {
    this.onCut(limit)
    answer.cut()
  }
}
