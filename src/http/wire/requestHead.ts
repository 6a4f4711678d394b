import { randomBytes } from 'node:crypto'
import type { HttpRequest } from './uws.js'

/**
 * The headers that the service uses, read in one walk over all headers of a request. `getHeader` would not do: it returns only
 * the first of several headers, and '' for an empty as for an absent one, while an empty `Content-Length` must be noticed. The
 * walk takes about 0.1 µs per header; with three headers that is as fast as four `getHeader` calls (November 2026, Node 20).
 */
export class RequestHead {
  requestId = ''
  connection = ''
  ifNoneMatch = ''
  acceptEncoding = ''
  /**
   * Whether something may follow the head: a `Transfer-Encoding`, or any `Content-Length` but one `0`. Servers and proxies
   * disagree on how long that is, and what one takes for a body is another one's next request.
   */
  mayHaveBody = false
  private hasLength = false

  /** Valid until the next call: one object serves all requests. */
  read(req: HttpRequest): this {
    this.requestId = ''
    this.connection = ''
    this.ifNoneMatch = ''
    this.acceptEncoding = ''
    this.mayHaveBody = false
    this.hasLength = false
    req.forEach(this.take)
    return this
  }

  private readonly take = (name: string, value: string): void => {
    // Most names are told apart by their length, which is at hand.
    switch (name.length) {
      case 10:
        if (this.connection === '' && name === 'connection') this.connection = value
        return
      case 12:
        if (this.requestId === '' && name === 'x-request-id') this.requestId = value
        return
      case 13:
        if (this.ifNoneMatch === '' && name === 'if-none-match') this.ifNoneMatch = value
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
    }
  }
}

/** What a log line and a header can carry as it is; anything else that a client sends is ignored. */
const ACCEPTABLE = /^[A-Za-z0-9._:-]{1,128}$/

const processPart = randomBytes(6).toString('hex')
let counter = 0

/** The client's own id when it is fit to be echoed and logged, else ''. */
export function acceptRequestId(header: string): string {
  return header !== '' && ACCEPTABLE.test(header) ? header : ''
}

/** A new id, unique among all processes of a fleet for all that matters. */
export function makeRequestId(): string {
  counter++
  return `${processPart}-${counter.toString(36)}`
}
