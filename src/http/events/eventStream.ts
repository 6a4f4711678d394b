import type { Wire } from '../wire/wire.js'
import type { EventFilter, ToldEvent } from './eventFilter.js'
import type { EventReader } from './eventHub.js'

/** Time that a client waits before it comes again: as many as there are must not come at once. */
const LEAST_RETRY_MS = 1_000
const MOST_RETRY_MS = 5_000

export interface EventStreamOptions {
  readonly filter: EventFilter
  /** Its status and headers are written already. */
  readonly wire: Wire
  /** Most bytes that wait for a client that is slow. */
  readonly maxBufferBytes: number
  /** 0 ≤ value < 1. */
  readonly random: () => number
  /** The client has taken all that it was sent. */
  onDrained(): void
  /** The client was too slow, and is cut off: its connection is told to be gone. */
  onCut(): void
  /** The stream has ended in order. */
  onEnd(): void
}

/**
 * One connection that gets Server-Sent Events. What its client does not take at once waits here, up to a bound, beyond which the client is
 * cut off: it comes again and goes on from where it was. Others wait for nothing.
 */
export class EventStream implements EventReader {
  readonly filter: EventFilter
  readonly #options: EventStreamOptions
  readonly #wire: Wire
  /** What the transport has not been given yet. */
  #waiting: string[] = []
  #waitingBytes = 0
  /** Whether the transport still has some of what it was given. */
  #isFull = false
  #isOver = false

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.#wire = options.wire
    this.filter = options.filter
    options.wire.onWritable(() => {
      this.#flush()
      return true
    })
  }

  send(event: ToldEvent, ids: string): void {
    this.#write(event.frame(ids))
  }

  ping(ids: string): void {
    // An id without data is kept by readers, and no event to them.
    this.#write(`:\nid: ${ids}\n\n`)
  }

  isBehind(): boolean {
    return this.#isFull
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { random, onEnd } = this.#options
    const retryMs = Math.round(LEAST_RETRY_MS + random() * (MOST_RETRY_MS - LEAST_RETRY_MS))
    if (this.#isFull) {
      this.#wire.close()
      return
    }
    this.#wire.cork(() => this.#wire.end(`retry: ${retryMs}\n\n`, true))
    onEnd()
  }

  /** The connection has ended. */
  gone(): void {
    this.#isOver = true
    this.#waiting = []
  }

  #write(text: string): void {
    if (this.#isOver) return
    if (!this.#isFull) {
      this.#wire.cork(() => {
        this.#isFull = !this.#wire.write(text)
      })
      return
    }
    this.#waiting.push(text)
    this.#waitingBytes += text.length
    if (this.#waitingBytes <= this.#options.maxBufferBytes) return
    this.#options.onCut()
    this.#isOver = true
    this.#waiting = []
    this.#wire.close()
  }

  /** The client takes more: as much as the transport says. */
  #flush(): void {
    if (this.#isOver) return
    const text = this.#waiting.join('')
    this.#waiting = []
    this.#waitingBytes = 0
    // Without a write uWebSockets.js would not go on with what it has.
    this.#isFull = !this.#wire.write(text === '' ? ':\n\n' : text)
    if (!this.#isFull) this.#options.onDrained()
  }
}
