import type { EventChannel } from './eventChannels.js'
import type { EventFilter, ToldEvent } from './eventFilter.js'
import type { EventReader } from './eventHub.js'

/** Time that a client waits before it comes again: as many as there are must not come at once. */
const LEAST_RETRY_MS = 1_000
const MOST_RETRY_MS = 5_000

export interface EventStreamOptions {
  readonly filter: EventFilter
  readonly channel: EventChannel
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
 * One connection that gets events. What its client does not take at once waits here, up to a bound, beyond which the client is
 * cut off: it comes again and goes on from where it was. Others wait for nothing.
 */
export class EventStream implements EventReader {
  readonly filter: EventFilter
  readonly #options: EventStreamOptions
  readonly #channel: EventChannel
  /** What the transport has not been given yet. */
  #waiting: string[] = []
  #waitingBytes = 0
  /** Whether the transport still has some of what it was given. */
  #isFull = false
  #isOver = false

  constructor(options: EventStreamOptions) {
    this.#options = options
    this.#channel = options.channel
    this.filter = options.filter
  }

  send(event: ToldEvent, ids: string): void {
    this.#write(this.#channel.textOf(event, ids))
  }

  ping(ids: string): void {
    this.#write(this.#channel.lifeText(ids))
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
      this.#channel.close()
      return
    }
    this.#channel.end(retryMs)
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
      this.#isFull = !this.#channel.write([text])
      return
    }
    this.#waiting.push(text)
    this.#waitingBytes += text.length
    if (this.#waitingBytes <= this.#options.maxBufferBytes) return
    this.#options.onCut()
    this.#isOver = true
    this.#waiting = []
    this.#channel.close()
  }

  /** The client takes more. */
  flush(): void {
    if (this.#isOver) return
    const texts = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#isFull = !this.#channel.write(texts)
    if (!this.#isFull) this.#options.onDrained()
  }
}
