import type { Wire, WireSocket } from '../wire/wire.js'
import type { ToldEvent } from './eventFilter.js'

/** How one connection is told of events. */
export interface EventChannel {
  textOf(event: ToldEvent, ids: string): string
  /** What shows that the connection lives, and where its reader is: to be sent now. */
  lifeText(ids: string): string
  /** Sends texts in order; none lets the transport go on. @returns false when the client does not take all of it now. */
  write(texts: readonly string[]): boolean
  /** Ends it in order. @param retryMs when the client may come again. */
  end(retryMs: number): void
  /** Ends it at once. */
  close(): void
}

/** Server-Sent Events. @param wire its status and headers are written already. */
export function streamChannel(wire: Wire): EventChannel {
  return {
    textOf: (event, ids) => event.frame(ids),
    // An id without data is kept by readers, and no event to them.
    lifeText: (ids) => `:\nid: ${ids}\n\n`,
    write: (texts) => {
      let isTaken = false
      wire.cork(() => {
        // Without a write uWebSockets.js would not go on with what it has.
        isTaken = wire.write(texts.length === 0 ? ':\n\n' : texts.join(''))
      })
      return isTaken
    },
    end: (retryMs) => wire.cork(() => wire.end(`retry: ${retryMs}\n\n`, true)),
    close: () => wire.close(),
  }
}

/** `Service Restart`, by which clients know that they may come again (IANA's list of close codes). */
const COME_AGAIN = 1012
/** `Unsupported Data`. */
const NOTHING_IS_READ = 1003
/** `Policy Violation`. */
const TOO_MANY = 1008
/** Most pings and pongs of a client between two signs of life of ours that it takes. */
const MOST_CONTROLS = 64

/** WebSocket: a message for each event. The client has nothing to say. */
export class SocketChannel implements EventChannel {
  readonly #socket: WireSocket
  #controls = 0
  /** Whether the client has not taken all that was written. */
  #isFull = false

  constructor(socket: WireSocket) {
    this.#socket = socket
  }

  textOf(event: ToldEvent, ids: string): string {
    return event.message(ids)
  }

  lifeText(ids: string): string {
    // Behind what a client does not take its answers to pings would pile up without a bound.
    if (!this.#isFull) this.#controls = 0
    return `{"position":"${ids}"}`
  }

  write(texts: readonly string[]): boolean {
    let isTaken = true
    for (const text of texts) isTaken = this.#socket.send(text)
    this.#isFull = !isTaken
    return isTaken
  }

  end(retryMs: number): void {
    this.#socket.end(COME_AGAIN, `come again in ${retryMs} ms`)
  }

  close(): void {
    this.#socket.close()
  }

  /** The client has sent something: a message, or more than keeps a connection alive, ends its connection. */
  received(kind: 'message' | 'control'): void {
    if (kind === 'message') this.#socket.end(NOTHING_IS_READ, 'no message is read here')
    else if (++this.#controls > MOST_CONTROLS) this.#socket.end(TOO_MANY, 'too many pings')
  }
}
