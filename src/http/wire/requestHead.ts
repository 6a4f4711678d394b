import { randomBytes } from 'node:crypto'
import type { WireRequest } from './wire.js'

/**
 * The headers that the service uses, read in one walk over all headers of a request. `getHeader` does not suffice: it returns
 * only the first of several headers, and '' both for an empty and for an absent one, but an empty `Content-Length` must be
 * noticed. The walk takes 0.1 µs per header; with three headers it is as fast as four `getHeader` calls (November 2026, Node 20).
 */
export class RequestHead {
  requestId = ''
  connection = ''
  ifNoneMatch = ''
  acceptEncoding = ''
  lastEventId = ''
  /**
   * Whether a body may follow the head: there is a `Transfer-Encoding`, or any `Content-Length` other than a single `0`. Servers
   * and proxies disagree on where such a body ends: what one takes for the body, another takes for the next request.
   */
  mayHaveBody = false
  /** Whether the client wants a WebSocket: it has sent a key for one. */
  wantsSocket = false
  private hasLength = false

  /** Reads the headers of `request`. They are valid until the next call: one object serves all requests. */
  read(request: WireRequest): this {
    this.requestId = ''
    this.connection = ''
    this.ifNoneMatch = ''
    this.acceptEncoding = ''
    this.lastEventId = ''
    this.mayHaveBody = false
    this.wantsSocket = false
    this.hasLength = false
    request.forEach(this.take)
    return this
  }

  private readonly take = (name: string, value: string): void => {
    // The length alone rules out most names.
    switch (name.length) {
      case 10:
        if (this.connection === '' && name === 'connection') this.connection = value
        return
      case 12:
        if (this.requestId === '' && name === 'x-request-id') this.requestId = value
        return
      case 13:
        if (this.ifNoneMatch === '' && name === 'if-none-match') this.ifNoneMatch = value
        else if (this.lastEventId === '' && name === 'last-event-id') this.lastEventId = value
        return
      case 14:
        if (name !== 'content-length') return
        if (this.hasLength || value !== '0') this.mayHaveBody = true
        this.hasLength = true
        return
      case 15:
        if (this.acceptEncoding === '' && name === 'accept-encoding') this.acceptEncoding = value
        return
      case 17:
        if (name === 'transfer-encoding') this.mayHaveBody = true
        else if (name === 'sec-websocket-key') this.wantsSocket = true
    }
  }
}

/** Ids that may go into a log line and a header unchanged. Any other id that a client sends is ignored. */
const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/

const processPart = randomBytes(6).toString('hex')
let counter = 0

/** @returns the client's own id if it may be echoed and logged, else ''. */
export function acceptRequestId(header: string): string {
  return header !== '' && ACCEPTABLE.test(header) ? header : ''
}

/** A new id: a counter behind a random part of each process, so that ids of two processes differ. */
export function makeRequestId(): string {
  counter++
  return `${processPart}-${counter.toString(36)}`
}
